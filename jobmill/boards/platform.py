"""What an adapter declares about a platform: how to recognise, request and read its boards.

Adapters do no I/O: they build requests and read response bodies.
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError

from jobmill.catalog.platform_rules import PostingIds
from jobmill.catalog.posting import Posting, limit_lengths
from jobmill.errors import Invalid, OutsideError
from jobmill.extract.fields.missing_fields import fill_missing_fields
from jobmill.outside.request import Request

Confidence: TypeAlias = Literal["high", "medium", "low"]


MAX_POSTINGS = 20_000
"""Postings of one response; the largest boards have a tenth of this."""


class Config(BaseModel):
    """How a source is set up; each platform declares the fields it needs."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class BoardConfig(Config):
    """A board identified by its token, which is all that most platforms need."""

    board_token: str
    region: Literal["", "eu", "na"] = ""
    """Where the platform hosts the board, if not at its main site."""
    base_url: str | None = None
    """The board's own site (https://host), where the token does not determine it."""
    brand: str | None = None
    """Only postings of this company, on a board that a group shares."""


def base_url(config: BoardConfig, domain: str) -> str:
    """The site of a board: its own, or a subdomain of its platform's domain. Empty for a saved
    response of an unknown board."""
    if config.base_url or not config.board_token:
        return (config.base_url or "").rstrip("/")
    if not re.fullmatch(r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*", config.board_token):
        raise Invalid(f"{config.board_token!r} is not a valid board name at {domain}")
    return f"https://{config.board_token}.{domain}"


def board_token(config: BoardConfig, pattern: re.Pattern[str], url: str) -> str | None:
    """The configured token, or else the one in a posting's URL."""
    match = pattern.search(url)
    return config.board_token or (match[1] if match else None)


@dataclass(frozen=True, slots=True)
class BoardPage:
    """The content of one response."""

    postings: tuple[Posting, ...]
    next: tuple[Request, ...] = ()
    """Further requests that the complete board needs."""
    truncated: bool = False
    """The platform has more postings than it shows."""
    total: int | None = None
    """The number of postings that the platform states."""
    stubs: int = 0
    """Records too empty to be postings; they are skipped, but counted."""


@dataclass(frozen=True, slots=True)
class BoardUrl:
    """A form of URL that identifies a board. `host` and `path` are searched in the parsed URL; their
    named groups and the `query` parameters become the config (see `Platform.config_from_url`)."""

    host: re.Pattern[str]
    path: re.Pattern[str] = re.compile("")
    query: tuple[str, ...] = ()
    """Parameters that must be present; each is a group of the same name."""
    domain: str = ""
    """Only URLs on this domain and its subdomains are tried; empty for all URLs."""
    contains: str = ""
    """Without a domain: text that all these URLs contain, which finds them in a page."""


def board_url(
    domain: str, labels: str = "", path: str = "", query: tuple[str, ...] = ()
) -> BoardUrl:
    """URLs below a platform's domain. `labels` matches everything before the domain, `path` the beginning
    of the path, ignoring case."""
    before = rf"(?:{labels})\." if labels else ""
    return BoardUrl(
        host=re.compile(rf"^{before}{re.escape(domain)}$"),
        path=re.compile(rf"^{path}", re.IGNORECASE),
        query=query,
        domain=domain,
    )


@dataclass(frozen=True, slots=True)
class HtmlMarker:
    """Evidence of a platform in a page's HTML. The group `token`, if there is one, is the board's token.
    Patterns that begin with literal letters are searched about thirty times faster."""

    pattern: re.Pattern[str]
    description: str
    hosted: bool = False
    """Only pages that the platform serves contain it: such a page is the board itself."""


def html_marker(pattern: str, description: str, *, hosted: bool = False) -> HtmlMarker:
    return HtmlMarker(re.compile(pattern), description, hosted)


UrlGroups: TypeAlias = dict[str, str]


@dataclass(frozen=True, slots=True)
class Platform:
    """Everything known about one platform: a module of `adapters` defines one."""

    name: str
    title: str
    config: type[Config] = BoardConfig
    board_urls: tuple[BoardUrl, ...] = ()
    board_page: str | Callable[[dict[str, Any]], str] = ""
    """The board's page for people, as a template over the config; without it, the URL that matched."""
    posting_ids: PostingIds = field(default_factory=PostingIds)
    """How postings are identified: their URLs, and where their ids are unique."""
    html_markers: tuple[HtmlMarker, ...] = ()
    config_from_url: Callable[[UrlGroups], dict[str, Any] | None] | None = None
    """Builds the config from the groups of a matched URL; None where they name no board after all.
    Without it, the group `token` becomes `board_token`."""
    token: Callable[[Any], str] = lambda config: config.board_token
    """The name of the board: one word, or a/b."""
    first_request: Callable[[Any], Request] | None = None
    """None for platforms that are recognised but cannot be read."""
    read: Callable[[bytes, Request, Any], BoardPage] | None = None
    """Reads a response: body, request, config. It understands a list as well as a single posting, and
    raises `OutsideError(permanent=True)` for anything else."""
    detail_request: Callable[[Posting, Any], Request] | None = None
    """The request for the full text of a posting that is `partial`."""
    read_detail: Callable[[bytes, Posting, Any], Posting] | None = None
    """The fields that the response to `detail_request` adds; without it, `read` finds them."""
    guessable: bool = False
    """Whether a company's name may be its token, and postings show which company a board belongs
    to."""
    confidence: Confidence = "medium"
    """How certain a recognised board is before a test read it."""
    enable_on_response: bool = False
    """Whether a valid response is enough to enable a board that was recognised with high confidence."""
    enable_after_test: bool = False
    """Whether a board that was not recognised with high confidence is enabled by a successful test."""
    disabled: str | None = None
    """The reason why the platform is never called."""
    key_names: tuple[str, ...] = ()
    """Environment variables that hold its API keys; all must be set."""
    allow_empty: bool = True
    """Whether an empty board is believed; some platforms show one for boards that do not exist."""
    inventory: bool = True
    """Whether a complete read lists everything that is open; a search or a feed does not."""
    is_shared_service: bool = True
    """Whether an outage affects all sources of the platform; html, rss and api sources are separate sites."""
    min_interval: dt.timedelta | None = None
    """The shortest time between two reads that the site permits."""
    resolve_dates: Callable[[Any, dt.date], Config] | None = None
    """The config of a read on this day, where `days_back` needs a date."""

    def parse_config(self, config: dict[str, object]) -> Config:
        """The validated config; Invalid names every error."""
        try:
            return self.config.model_validate(config)
        except ValidationError as error:
            problems = "; ".join(
                f"{'.'.join(map(str, problem['loc'])) or 'config'}: {problem['msg']}"
                for problem in error.errors()
            )
            raise Invalid(f"the config of {self.title} is not valid: {problems}") from None

    def read_response(self, body: bytes, request: Request, config: Config) -> BoardPage:
        """The postings of a response, with missing fields filled in from their texts; OutsideError where
        the platform answered in a form we do not know."""
        if self.read is None:
            raise Invalid(f"{self.title} is recognised but cannot be read yet")
        try:
            page = self.read(body, request, config)
        except _READ_ERRORS as error:
            raise self._unreadable(error) from error
        postings = (
            limit_lengths(fill_missing_fields(replace(posting, platform=self.name)))
            for posting in page.postings[:MAX_POSTINGS]
        )
        truncated = page.truncated or len(page.postings) > MAX_POSTINGS
        return replace(page, postings=tuple(postings), truncated=truncated)

    def read_detail_response(self, body: bytes, posting: Posting, config: Config) -> Posting:
        """The complete posting; OutsideError as for `read_response`."""
        try:
            if self.read_detail:
                details = self.read_detail(body, posting, config)
            else:
                assert self.detail_request is not None
                assert self.read is not None
                request = self.detail_request(posting, config)
                (details,) = self.read(body, request, config).postings
        except _READ_ERRORS as error:
            raise self._unreadable(error) from error
        complete = replace(_merge_details(posting, details), platform=self.name, partial=False)
        return limit_lengths(fill_missing_fields(complete))

    def _unreadable(self, error: Exception) -> OutsideError:
        return OutsideError(
            f"{self.title} sent a response in an unknown format: {_first_line(error)}",
            permanent=True,
        )


# RecursionError: a page nested thousands of levels deep.
_READ_ERRORS = (OutsideError, ValidationError, ValueError, RecursionError)


def _merge_details(posting: Posting, details: Posting) -> Posting:
    """The posting completed with the values of its detail page; its identity stays the same."""
    identity = {"title", "url", "platform", "board", "vendor_id", "via"}
    identity = {name for name in identity if getattr(posting, name)}
    updates = {
        field.name: getattr(details, field.name)
        for field in fields(details)
        if field.name not in identity
    }
    return replace(posting, **{name: value for name, value in updates.items() if value})


def _first_line(error: Exception) -> str:
    if isinstance(error, ValidationError):
        first = error.errors()[0]
        return f"{'.'.join(map(str, first['loc'])) or 'the response'}: {first['msg']}"
    return (str(error).splitlines() or [type(error).__name__])[0][:200]
