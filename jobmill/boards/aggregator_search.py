"""Searches at sites that gather postings of many companies, and how far they are followed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated
from urllib.parse import urlencode

from pydantic import Field

from jobmill.outside.request import Request

from .platform import Config


class PagedSearch(Config):
    """A list that is read page by page."""

    max_pages: Annotated[int, Field(ge=1, le=100)] = 5


class KeywordSearch(PagedSearch):
    """What is looked for, and where."""

    keywords: str = ""
    location: str = ""


def search_token(config: Config) -> str:
    """What tells two searches apart: the settings that are not as they come."""
    return urlencode(config.model_dump(exclude_defaults=True), doseq=True) or "all"


def build_url(base: str, params: Mapping[str, object]) -> str:
    """The address with those parameters that say something."""
    said = {name: value for name, value in params.items() if value not in (None, "", (), [])}
    return f"{base}?{urlencode(said, doseq=True)}" if said else base


def next_page(
    config: PagedSearch, number: int, more: bool, ask: Callable[[int], Request]
) -> tuple[tuple[Request, ...], bool]:
    """The request for the page after the `number`th, and whether something stays unread."""
    if more and number < config.max_pages:
        return (ask(number + 1),), False
    return (), more
