"""Reads a posting from any page: from what it states for machines, else from what people see."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal
from urllib.parse import urlsplit

from selectolax.lexbor import LexborHTMLParser

from jobmill.catalog.posting import Posting
from jobmill.ingest.fields.fill import fill
from jobmill.ingest.page import (
    closing,
    depth,
    head,
    lines,
    microdata,
    records,
    state,
    structured,
    visible,
)
from jobmill.ingest.page.schema import Node, from_schema
from jobmill.ingest.page.words import squeeze, within

__all__ = ["Reading", "from_schema", "postings", "read"]

_LONGEST = 4_000_000
_MOST = 500
"""Postings of one page that are read."""
_CHARSET = re.compile(rb"""<meta[^>]{0,200}?charset\s*=\s*["']?([\w-]{2,30})""", re.IGNORECASE)

Method = Literal["json-ld", "microdata", "state", "text"]


@dataclass(frozen=True, slots=True)
class Reading:
    """What a page holds."""

    posting: Posting | None
    """None where the page is no single posting: a list, an error, an empty shell."""
    method: Method | None
    closed: bool
    """The page says that it is over."""


def read(html: str | bytes, url: str) -> Reading:
    """The one posting of a page, whole, by the best way that finds it."""
    tree = _parse(html)
    url = head.address(tree, url)
    found, method = _stated(tree, url)
    posting = found[0] if len(found) == 1 else None
    if posting and _is_whole(posting):
        lines.strip(tree)
    else:
        posting, method = _look_closer(tree, found, method, url)
    over = closing.is_over(tree.body.text(separator="\n")) if tree.body else False
    if not posting:
        return Reading(None, None, closed=over)
    if not posting.apply_url:
        posting = replace(posting, apply_url=visible.apply_link(tree, url))
    return Reading(fill(posting), method, closed=over or _is_past(posting.valid_through))


def postings(html: str | bytes, url: str) -> list[Posting]:
    """All postings that a page states for machines; a list page may have many."""
    tree = _parse(html)
    return _all(structured.nodes(tree), url) or _all(microdata.nodes(tree), url)


def _parse(html: str | bytes) -> LexborHTMLParser:
    body = html.encode("utf-8", "replace") if isinstance(html, str) else _utf8(html)
    return LexborHTMLParser(depth.limit(body[:_LONGEST]))


def _utf8(body: bytes) -> bytes:
    """The page in the one encoding the parser knows."""
    if body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return body.decode("utf-16", "replace").encode("utf-8", "replace")
    named = _CHARSET.search(body, 0, 4_096)
    charset = named[1].decode("ascii").lower() if named else "cp1252"
    if charset in ("utf-8", "utf8"):
        return body
    try:
        # What calls itself Latin-1, or nothing, is often UTF-8; the other way round is rare.
        body.decode("utf-8")
    except UnicodeDecodeError:
        return _decoded(body, charset).encode("utf-8", "replace")
    return body


def _decoded(body: bytes, charset: str) -> str:
    # What calls itself Latin-1 is Windows-1252 on the web.
    charset = "cp1252" if charset.lower() in ("iso-8859-1", "latin1", "us-ascii") else charset
    try:
        return body.decode(charset, "replace")
    except (LookupError, ValueError):
        return body.decode("cp1252", "replace")


def _stated(tree: LexborHTMLParser, url: str) -> tuple[list[Posting], Method | None]:
    """What the page states by the words of schema.org, and in which way."""
    if found := _all(structured.nodes(tree), url):
        return found, "json-ld"
    if found := _all(microdata.nodes(tree), url):
        return found, "microdata"
    return [], None


def _all(nodes: list[Node], url: str) -> list[Posting]:
    found = (from_schema(node, url) for node in nodes[:_MOST])
    return list(dict.fromkeys(posting for posting in found if posting))


def _look_closer(
    tree: LexborHTMLParser, found: list[Posting], method: Method | None, url: str
) -> tuple[Posting | None, Method | None]:
    """The one posting of a page that states many, none, or one with gaps."""
    about = head.read(tree, url)
    posting = _the_one(found, about, url)
    if not found and (posting := records.find(state.data(tree), url, about.title)):
        method = "state"
    lines.strip(tree)
    if not tree.body or (found and not posting):
        return posting, method
    seen = visible.see(tree.body, about)
    if posting:
        return visible.complete(posting, seen), method
    return visible.posting(seen, url), "text"


def _the_one(found: list[Posting], about: head.Head, url: str) -> Posting | None:
    """The posting this page is about: the only one, or the only one that has its text or title."""
    title = squeeze(f"{about.title} {about.shared}")
    tests: tuple[Callable[[Posting], bool], ...] = (
        lambda one: True,
        lambda one: bool(one.description),
        lambda one: _path(one.url) == _path(url),
        lambda one: within(squeeze(one.title), title),
    )
    for fits in tests:
        chosen = [one for one in found if fits(one)]
        if len({one.title for one in chosen}) == 1:
            return chosen[0]
    return None


def _path(url: str) -> str:
    try:
        return urlsplit(url).path
    except ValueError:
        return ""


def _is_whole(posting: Posting) -> bool:
    return bool(posting.company and posting.location and posting.posted_at and posting.description)


def _is_past(at: dt.datetime | None) -> bool:
    return at is not None and at < dt.datetime.now(dt.UTC)
