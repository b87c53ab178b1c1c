"""Reads the one posting behind a URL: by its board's own answers, else from its page."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from jobmill.catalog import urls
from jobmill.catalog.listings import is_minimal
from jobmill.catalog.platform_rules import PostingKey
from jobmill.catalog.posting import Posting
from jobmill.catalog.sources import Source, SourceId
from jobmill.db import Database
from jobmill.db.clock import server_time
from jobmill.errors import Conflict, Invalid, OutsideError, Unavailable
from jobmill.extract.page import page_reader
from jobmill.outside.request import Fetch, FetchFailure, Ok, PageGone, Request

from . import (
    api_keys,
    board_crawler,
    response_reader,
    saved_responses,
    source_lookup,
    source_run,
    url_detection,
)
from .adapters import PLATFORM_RULES
from .board_crawler import Target

LASTING = ("refused", "robots", "redirects", "auth")
"""What another try would not change."""


@dataclass(frozen=True, slots=True)
class Read:
    posting: Posting
    method: str
    """`source:greenhouse`, `board:greenhouse`, `json-ld`, `microdata`, `state` or `text`."""
    source_id: SourceId | None = None


@dataclass(frozen=True, slots=True)
class Over:
    """There is no such posting, or none any more."""

    why: str


@dataclass(frozen=True, slots=True)
class Unclear:
    """A page was there, and is not understood: somebody who reads may try."""

    url: str
    html: str
    posting: Posting | None
    """What little was understood."""


Found: TypeAlias = Read | Over | Unclear


async def read(db: Database, fetch: Fetch, url: str, environ: Mapping[str, str]) -> Found:
    """The posting of a page; OutsideError where the site could not be asked."""
    async with db.transaction() as tx:
        source = await source_lookup.source_for_url(tx, url)
        now = await server_time(tx)
    asked = await _by_board(fetch, url, source, environ)
    return asked or await _by_page(fetch, url, now)


async def _by_board(
    fetch: Fetch, url: str, source: Source | None, environ: Mapping[str, str]
) -> Read | None:
    """As the board that it belongs to tells it, whether we follow that board or only know it."""
    try:
        target = source_run.target(source, environ) if source else _target(url, environ)
    except (Conflict, Invalid, Unavailable):
        # Off, without its key, or set up for something else: the page may still do.
        return None
    posting = await _ask(fetch, target, url) if target else None
    if posting and source:
        # Some vendors never name the company.
        posting = replace(posting, company=posting.company or source.company_name)
    if target is None or posting is None or not is_minimal(posting):
        return None
    name = target.platform.name
    return Read(posting, f"source:{name}", source.id) if source else Read(posting, f"board:{name}")


def _target(url: str, environ: Mapping[str, str]) -> Target | None:
    found = url_detection.from_url(url)
    if found is None or found.config is None or found.token is None:
        return None
    platform = saved_responses.platform(found.platform)
    config = response_reader.configure(platform, found.config)
    source_run.check(platform, environ, api_keys.missing(platform, config, environ))
    return Target(platform, config, environ)


async def _ask(fetch: Fetch, target: Target, url: str) -> Posting | None:
    """By its own number where the platform answers so, else from the board's first page."""
    key = PLATFORM_RULES.posting_key(url)
    if key and target.platform.detail and target.platform.name == key[0]:
        stub = Posting("", url, platform=key[0], board=key[1], vendor_id=key[2], partial=True)
        try:
            told = await board_crawler.whole(fetch, target, stub)
        except OutsideError:
            return None
        return told if told.title else None
    seen = await board_crawler.look(fetch, target)
    ours = [one for one in seen.postings.values() if _is_at(one, url, key)]
    return await board_crawler.whole(fetch, target, ours[0]) if len(ours) == 1 else None


def _is_at(posting: Posting, url: str, key: PostingKey | None) -> bool:
    if key and key[2] == posting.vendor_id:
        return True
    return bool(posting.url) and PLATFORM_RULES.canonical(posting.url) == PLATFORM_RULES.canonical(
        url
    )


async def _by_page(fetch: Fetch, url: str, now: dt.datetime) -> Found:
    answer = await fetch(Request(url, page=True))
    match answer:
        case PageGone(status=status):
            return Over(f"the page is not there (status {status})")
        case Ok():
            return _judge(answer, now)
        case _:
            lasting = not isinstance(answer, FetchFailure) or answer.cause in LASTING
            why = board_crawler.explain(answer)[1]
            raise OutsideError(f"{url} could not be read: {why}", permanent=lasting)


def _judge(answer: Ok, now: dt.datetime) -> Found:
    # Whoever gives a URL says that a posting is there.
    seen = page_reader.read_posting(answer.body, answer.url, expected=True, now=now)
    if seen.closed:
        return Over("the page says that it is closed")
    posting = seen.posting and _at_home(seen.posting, answer.url)
    if posting and seen.method and is_minimal(posting):
        return Read(posting, seen.method)
    return Unclear(answer.url, answer.text, posting)


def _at_home(posting: Posting, page: str) -> Posting:
    """The posting at the address it gives itself, if that is on the page's own site: no page may
    speak for another's."""
    try:
        own = urls.domain(posting.url) == urls.domain(page)
    except Invalid:
        own = False
    return posting if own else replace(posting, url=page)
