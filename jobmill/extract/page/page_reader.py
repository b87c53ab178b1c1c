"""Read a posting from any page: from structured data, else from script data or visible text."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from jobmill.catalog.posting import Posting, limit_lengths

from ..fields.missing_fields import fill_missing_fields
from . import (
    closed_notice,
    embedded_records,
    embedded_state,
    json_ld,
    microdata,
    nesting_limit,
    page_metadata,
    visible_lines,
    visible_posting,
)
from .schema_job_posting import SchemaNode, posting_from_schema
from .text_checks import contains_words, normalize
from .visible_lines import PageText

_MAX_PAGE_LENGTH = 4_000_000
_MAX_POSTINGS = 500
"""Postings of one page that are read."""
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?([\w-]{2,30})""", re.IGNORECASE)

Method = Literal["json-ld", "microdata", "state", "text"]


@dataclass(frozen=True, slots=True)
class PageReading:
    """The result of reading a page."""

    posting: Posting | None
    """None if the page is not a single posting but a list, an error or an empty shell."""
    method: Method | None
    closed: bool
    """The page says that the posting is closed."""


@dataclass(frozen=True, slots=True)
class _ParsedPage:
    tree: LexborHTMLParser
    scripts: list[LexborNode]
    url: str
    body: bytes


def read_posting(
    html: str | bytes, url: str, *, expected: bool = False, now: dt.datetime | None = None
) -> PageReading:
    """The posting of a page, by the best method that finds it. `expected`: the caller knows that
    the page is a posting, so it needs no proof. `now` decides whether the deadline is over: pass
    the server's time if a listing is closed because of it."""
    page = _parse(html, url)
    postings, method = _structured_postings(page)
    body = page.tree.body
    if len(postings) == 1 and _is_complete(postings[0]):
        posting, links = postings[0], page.tree.css("a")
        # Few pages say it; skimming the text rules it out without reading the lines.
        closed = closed_notice.may_say_closed(
            visible_lines.skim_texts(body)
        ) and closed_notice.says_closed(visible_lines.read_lines(body))
    else:
        page_text = visible_lines.read_lines(body)
        posting, method = _read_closely(page, page_text, postings, method, expected=expected)
        closed, links = closed_notice.says_closed(page_text), page_text.links
    if not posting:
        return PageReading(None, None, closed=closed)
    if not posting.apply_url:
        posting = replace(posting, apply_url=visible_posting.find_apply_link(links, page.url))
    posting = limit_lengths(fill_missing_fields(posting))
    return PageReading(posting, method, closed=closed or _is_past(posting.valid_through, now))


def read_postings(html: str | bytes, url: str) -> list[Posting]:
    """All postings in the structured data of a page; a list page may have many."""
    return _structured_postings(_parse(html, url))[0]


def _parse(html: str | bytes, url: str) -> _ParsedPage:
    body = html.encode("utf-8", "replace") if isinstance(html, str) else _to_utf8(html)
    tree = LexborHTMLParser(nesting_limit.truncate_deep_html(body[:_MAX_PAGE_LENGTH]))
    return _ParsedPage(tree, tree.css("script"), page_metadata.page_address(tree, url), body)


def _to_utf8(body: bytes) -> bytes:
    """Convert the page to UTF-8, the only encoding the parser knows."""
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return body.decode("utf-16", "replace").encode("utf-8", "replace")
    named = _CHARSET.search(body, 0, 4_096)
    charset = named[1].decode("ascii").lower() if named else "cp1252"
    if charset in ("utf-8", "utf8"):
        return body
    try:
        # Pages declared as Latin-1, or not at all, are often UTF-8; the reverse is rare.
        body.decode("utf-8")
    except UnicodeDecodeError:
        return _decode(body, charset).encode("utf-8", "replace")
    return body


def _decode(body: bytes, charset: str) -> str:
    # Pages declared as Latin-1 are Windows-1252 on the web.
    charset = "cp1252" if charset.lower() in ("iso-8859-1", "latin1", "us-ascii") else charset
    try:
        return body.decode(charset, "replace")
    except (LookupError, ValueError):
        return body.decode("cp1252", "replace")


def _structured_postings(page: _ParsedPage) -> tuple[list[Posting], Method | None]:
    """The postings in schema.org data, and the method that found them."""
    if postings := _to_postings(json_ld.find_job_postings(page.scripts), page.url):
        return postings, "json-ld"
    # Searching the bytes is cheaper than searching the elements.
    if b"JobPosting" in page.body and (
        postings := _to_postings(microdata.find_job_postings(page.tree), page.url)
    ):
        return postings, "microdata"
    return [], None


def _to_postings(nodes: list[SchemaNode], url: str) -> list[Posting]:
    postings = (posting_from_schema(node, url) for node in nodes[:_MAX_POSTINGS])
    return list(dict.fromkeys(posting for posting in postings if posting))


def _read_closely(
    page: _ParsedPage,
    page_text: PageText,
    postings: list[Posting],
    method: Method | None,
    *,
    expected: bool,
) -> tuple[Posting | None, Method | None]:
    """The posting of a page with many, no or incomplete postings in its structured data."""
    metadata = page_metadata.read_metadata(page.tree, page.url)
    posting = _choose_posting(postings, metadata, page.url)
    if not postings and (
        posting := embedded_records.find_posting(
            embedded_state.find_script_data(page.scripts), page.url, metadata.title
        )
    ):
        method = "state"
    if postings and not posting and not expected:
        return None, method
    visible_page = visible_posting.read_page(page_text, metadata)
    if posting:
        return visible_posting.complete_posting(posting, visible_page), method
    return visible_posting.read_posting(visible_page, page.url, expected=expected), "text"


def _choose_posting(
    postings: list[Posting], metadata: page_metadata.PageMetadata, url: str
) -> Posting | None:
    """The posting this page is about: the only one, or the only one with its text, URL or title."""
    title = normalize(f"{metadata.title} {metadata.shared_title}")
    tests: tuple[Callable[[Posting], bool], ...] = (
        lambda posting: True,
        lambda posting: bool(posting.description),
        lambda posting: _path(posting.url) == _path(url),
        lambda posting: contains_words(normalize(posting.title), title),
    )
    for fits in tests:
        chosen = [posting for posting in postings if fits(posting)]
        if len({posting.title for posting in chosen}) == 1:
            return chosen[0]
    return None


def _path(url: str) -> str:
    try:
        return urlsplit(url).path
    except ValueError:
        return ""


def _is_complete(posting: Posting) -> bool:
    return bool(posting.company and posting.location and posting.posted_at and posting.description)


def _is_past(at: dt.datetime | None, now: dt.datetime | None) -> bool:
    return at is not None and at < (now or dt.datetime.now(dt.UTC))
