"""From a board to its requests: a platform with a checked config and API keys.

`url_detection` turns a URL into a `DetectedBoard`; this module turns that, or a source, into a
`ReadableBoard`.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from jobmill.catalog.posting import Posting
from jobmill.catalog.sources import Source
from jobmill.errors import Conflict, Unavailable
from jobmill.outside.request import Request, Validators
from jobmill.sandbox import CPU_SECONDS, read_untrusted

from . import api_keys, url_detection
from .adapters import find_platform
from .platform import BoardPage, Config, Platform

LARGE_RESPONSE = 2_000_000
LARGE_RESPONSE_CPU_SECONDS = 10.0


@dataclass(frozen=True, slots=True)
class ReadableBoard:
    """A board, with everything that requests to it need."""

    platform: Platform
    config: Config
    environ: Mapping[str, str] = field(repr=False)
    validators: Validators | None = None
    """From the last read, to ask only for changes."""

    @property
    def shared_platform(self) -> str | None:
        """The platform, if its outages affect the board; None where the board is a site of its own."""
        return self.platform.name if self.platform.is_shared_service else None

    @property
    def key_names(self) -> tuple[str, ...]:
        return api_keys.key_names(self.platform, self.config)

    def on_day(self, today: dt.date) -> ReadableBoard:
        """The board as it is read on this day: a search of the last days needs a date."""
        resolve = self.platform.resolve_dates
        return replace(self, config=resolve(self.config, today)) if resolve else self

    def first_request(self) -> Request:
        assert self.platform.first_request is not None
        return self.platform.first_request(self.config)

    def has_detail(self, posting: Posting) -> bool:
        """Whether a further request gets the full text of the posting."""
        return self.platform.detail_request is not None and posting.partial

    def detail_request(self, posting: Posting) -> Request:
        assert self.platform.detail_request is not None
        return self.platform.detail_request(posting, self.config)

    def with_keys(self, request: Request) -> Request:
        """The request with its API keys, which only the platform's own host gets."""
        own_host = urlsplit(self.first_request().url).netloc
        names = self.key_names if urlsplit(request.url).netloc == own_host else ()
        return api_keys.insert_keys(request, names, self.environ)

    def without_keys(self, request: Request) -> Request:
        """The request without keys that a site has written into its links."""
        return api_keys.mask_keys(request, self.key_names, self.environ)

    async def read(self, body: bytes, request: Request) -> BoardPage:
        return await read_response(self.platform, self.config, body, request)

    async def read_detail(self, body: bytes, posting: Posting) -> Posting:
        return await read_untrusted(
            _read_detail, self.platform.name, self.config, body, posting, cpu_seconds=_limit(body)
        )


async def read_response(
    platform: Platform, config: Config, body: bytes, request: Request
) -> BoardPage:
    """The page of a board, read in a child process: a site may send anything."""
    return await read_untrusted(
        _read_response, platform.name, config, body, request, cpu_seconds=_limit(body)
    )


def _read_response(platform: str, config: Config, body: bytes, request: Request) -> BoardPage:
    return find_platform(platform).read_response(body, request, config)


def _read_detail(platform: str, config: Config, body: bytes, posting: Posting) -> Posting:
    return find_platform(platform).read_detail_response(body, posting, config)


def _limit(body: bytes) -> float:
    """Seconds of CPU time; the largest boards need more than a page."""
    return CPU_SECONDS if len(body) < LARGE_RESPONSE else LARGE_RESPONSE_CPU_SECONDS


def open_board(
    platform: Platform,
    config: dict[str, Any],
    environ: Mapping[str, str],
    validators: Validators | None = None,
) -> ReadableBoard:
    """The board with this config. Raises Invalid for a wrong config, Conflict for a platform that is
    disabled or cannot be read, and Unavailable where an API key is missing."""
    checked = platform.parse_config(config)
    if platform.disabled:
        raise Conflict(f"{platform.title} is disabled: {platform.disabled}")
    if platform.first_request is None:
        raise Conflict(f"{platform.title} is recognised but cannot be read yet")
    if missing := api_keys.missing_keys(platform, checked, environ):
        raise Unavailable(f"{platform.title} needs a key: set {', '.join(missing)}")
    return ReadableBoard(platform, checked, environ, validators)


def board_of_source(source: Source, environ: Mapping[str, str]) -> ReadableBoard:
    """The board of a source; errors as for `open_board`."""
    validators = Validators(source.etag, source.last_modified, source.validators_url)
    return open_board(find_platform(source.source_type), source.config, environ, validators)


def board_at_url(url: str, environ: Mapping[str, str]) -> ReadableBoard | None:
    """The board that the URL names by itself, if it names one; errors as for `open_board`."""
    board = url_detection.detect_board(url)
    if board is None or board.config is None or board.token is None:
        return None
    return open_board(find_platform(board.platform), board.config, environ)


def read_saved_response(
    platform: Platform,
    body: bytes,
    *,
    url: str = "",
    token: str = "",
    config: dict[str, Any] | None = None,
) -> tuple[Posting, ...]:
    """The postings of a response; its board and request may be unknown."""
    checked = platform.parse_config(config) if config else _assumed_config(platform, url, token)
    return platform.read_response(body, Request(url), checked).postings


def _assumed_config(platform: Platform, url: str, token: str) -> Config:
    board = url_detection.detect_board(url) if url else None
    if board and board.platform == platform.name and board.config:
        return platform.parse_config(board.config)
    fields = platform.config.model_fields
    if "board_token" in fields:
        return platform.config.model_construct(board_token=token)
    # Nothing is requested, so the fields that say where to send requests may stay empty.
    required = [name for name, info in fields.items() if info.is_required()]
    blank: dict[str, Any] = dict.fromkeys(required, "")
    return platform.config.model_construct(None, **blank)
