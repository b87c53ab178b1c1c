"""Answers that were saved earlier: read without asking anybody."""

from __future__ import annotations

import difflib
import re
from typing import Any

from jobmill.catalog.posting import Posting
from jobmill.errors import Invalid
from jobmill.outside.request import Request

from . import response_reader, url_detection
from .adapters import BY_NAME
from .platform import Config, Platform

ALSO = {
    "hn": "hackernews",
    "wwr": "weworkremotely",
    "atom": "rss",
    "feed": "rss",
    "muse": "themuse",
}
"""What people call a platform besides."""


def platform(name: str) -> Platform:
    """A platform by its name, however it is written; Invalid proposes the nearest one."""
    plain = re.sub("[^a-z0-9]", "", name.lower())
    found = BY_NAME.get(name) or BY_NAME.get(ALSO.get(plain, plain))
    if found:
        return found
    close = difflib.get_close_matches(name.lower(), BY_NAME, n=1)
    hint = f": did you mean {close[0]}?" if close else "; `jobmill source platforms` lists them"
    raise Invalid(f"there is no platform {name}{hint}")


def read(
    platform: Platform,
    body: bytes,
    *,
    url: str = "",
    token: str = "",
    config: dict[str, Any] | None = None,
) -> tuple[Posting, ...]:
    """The postings of an answer, of which we may know neither the board nor the request."""
    chosen = (
        response_reader.configure(platform, config) if config else _config(platform, url, token)
    )
    return response_reader.read(platform, body, Request(url), chosen).postings


def _config(platform: Platform, url: str, token: str) -> Config:
    found = url_detection.from_url(url) if url else None
    if found and found.platform == platform.name and found.config:
        return response_reader.configure(platform, found.config)
    if "board_token" in platform.config.model_fields:
        return platform.config.model_construct(board_token=token)
    # Whoever only reads asks for nothing: what the config would say of where to ask stays empty.
    required = [name for name, one in platform.config.model_fields.items() if one.is_required()]
    blank: dict[str, Any] = dict.fromkeys(required, "")
    return platform.config.model_construct(None, **blank)
