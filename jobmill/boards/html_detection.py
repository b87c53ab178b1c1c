"""Recognises boards by what a page's HTML holds: links, frames, scripts, data and feeds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias
from urllib.parse import urljoin

from . import url_detection
from .adapters import PLATFORMS
from .name_matching import Names, about_work
from .platform import Confidence, Mark, Platform
from .url_detection import FEED, GENERIC, Found

_LONGEST_PAGE = 5_000_000
_MOST_URLS = 5_000
_MANY_BOARDS = 3
_ESCAPES = (("\\/", "/"), ("\\u002F", "/"), ("\\u002f", "/"), ("\\u0026", "&"), ("&amp;", "&"))
_ENTITIES = (("&#x2F;", "/"), ("&#x2f;", "/"), ("&#47;", "/"), ("&quot;", '"'), ('\\"', '"'))
_URL = re.compile(r"""//[^\s"'<>\\`|{}^]{4,1500}""")
_BARE = re.compile(
    r"""["'](?P<url>(?:[\w-]{1,63}\.){1,4}[a-zA-Z]{2,9}(?:/[^\s"'<>\\]{0,300})?)["']"""
)
# What stands in these is the page's own doing, not a word about somebody else.
_OWN_TAGS = frozenset(
    {"iframe", "script", "form", "embed", "object", "div", "section", "link", "meta"}
)
_TAG = re.compile(r"<([a-zA-Z]+)")
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{0,300})", re.IGNORECASE)
_ONE_POSTING = re.compile(r"\d{4,}|[\da-f]{8}-[\da-f]{4}-|/(?:j|job|o|p)/[^/]", re.IGNORECASE)
_CARRIES_URL = ("gh_jid=", "ashby_jid=", "=http", "CandidateExperience/")
_FEED_TYPE = re.compile(r"application/(?:rss|atom)\+xml", re.IGNORECASE)
_LINK_TAG = re.compile(r"<link\b[^<>]{0,1000}>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""\b(href|title)\s{0,3}=\s{0,3}["']([^"']{1,500})["']""", re.IGNORECASE)
_JOB_POSTING = re.compile(
    r""""@type"\s{0,9}:\s{0,9}(?:\[\s{0,9})?"JobPosting"|itemtype=["']https?://schema\.org/JobPosting""",
    re.IGNORECASE,
)
_Place: TypeAlias = tuple[int, str, Found]
"""Where in the text, the address as it stands there (none for a widget), and what it means."""
_LOWER: dict[Confidence, Confidence] = {"high": "medium", "medium": "low", "low": "low"}


@dataclass(frozen=True, slots=True)
class _Page:
    """A page, searched once."""

    url: str
    host: str
    text: str
    names: Names
    places: list[_Place]
    marks: list[tuple[Platform, Mark, re.Match[str]]]

    @classmethod
    def of(cls, url: str, html: str, company: str | None) -> _Page:
        text, parts = _plain(html), url_detection.split(url)
        return cls(
            url,
            parts.netloc if parts else "",
            text,
            Names.of(url, company),
            list(_addresses(text)),
            list(_marks(text)),
        )


@dataclass(slots=True)
class _Board:
    """A board, and all the ways in which a page speaks of it."""

    found: Found
    embedded: str = ""
    linked: bool = False
    postings: set[str] = field(default_factory=set[str])
    tied: bool = False

    @property
    def score(self) -> int:
        return (
            8 * bool(self.embedded) + 6 * self.tied + 4 * self.linked + min(len(self.postings), 4)
        )

    @property
    def strong(self) -> bool:
        return bool(self.embedded) or self.tied or len(self.postings) >= _MANY_BOARDS

    def describe(self) -> str:
        seen: list[str] = []
        if self.embedded:
            seen.append(f"embedded in the page ({self.embedded})")
        if self.linked:
            seen.append("linked from the page")
        if self.postings:
            seen.append(f"links to its postings: {len(self.postings)}")
        seen = seen or ["mentioned in the page"]
        return f"{', '.join(seen)}: {self.found.evidence.removeprefix('the address: ')}"


def from_page(url: str, html: str, *, company: str | None = None) -> list[Found]:
    """The boards that a page is about, the likeliest first; none where it only mentions others'."""
    page = _Page.of(url, html, company)
    found = _judge(page, _boards(page))
    named = {one.platform for one in found}
    hints = [one for one in _hints(page) if one.platform not in named]
    return [*found, *hints, *_feeds(url, page.text), *_structured(url, page.text)]


def _plain(html: str) -> str:
    """The page without comments, and without the escapes that hide URLs."""
    text = html[:_LONGEST_PAGE]
    for escaped, plain in (*_ESCAPES, *_ENTITIES):
        if escaped in text:
            text = text.replace(escaped, plain)
    return _without_comments(text)


def _without_comments(text: str) -> str:
    # By hand: a regex takes quadratic time on a page of comments that never end.
    kept: list[str] = []
    end = 0
    while (start := text.find("<!--", end)) >= 0:
        kept.append(text[end:start])
        end = text.find("-->", start + 4) + 3
        if end < 3:
            return "".join(kept) + text[start:]
    return "".join((*kept, text[end:]))


def _title(text: str) -> str:
    title = _TITLE.search(text)
    return title[1] if title else ""


def _boards(page: _Page) -> list[_Board]:
    boards: dict[tuple[str, str], _Board] = {}
    for at, url, found in (*page.places, *_marked(page)):
        if found.token is None:
            continue
        key = found.platform, found.token.lower()
        board = boards.setdefault(key, _Board(found, tied=page.names.tie(found)))
        _note(board, page.text, at, url)
    return list(boards.values())


def _note(board: _Board, text: str, at: int, url: str) -> None:
    tag = _tag_around(text, at)
    if not url:
        board.embedded = board.embedded or "a widget"
    elif tag in _OWN_TAGS:
        board.embedded = board.embedded or tag
    elif _ONE_POSTING.search(url.partition("?")[0]):
        board.postings.add(url)
    elif tag == "a":
        board.linked = True


def _tag_around(text: str, at: int) -> str:
    """The tag in whose attributes a place lies; nothing in running text or a script's body."""
    opening = text.rfind("<", max(0, at - 600), at)
    if opening < 0 or text.find(">", opening, at) >= 0:
        return ""
    tag = _TAG.match(text, opening)
    return tag[1].lower() if tag else ""


def _addresses(text: str) -> Iterator[_Place]:
    """Each place where an address of a board stands."""
    known: dict[str, Found | None] = {}
    for match in (*_URL.finditer(text), *_BARE.finditer(text)):
        at, url = match.start(), match[match.lastgroup or 0].rstrip(".,;:!)]")
        if url not in known:
            if len(known) >= _MOST_URLS:
                return
            known[url] = url_detection.from_url(url) if _worth_a_look(url) else None
        found = known[url]
        if found:
            yield at, url, found


def _worth_a_look(url: str) -> bool:
    host = re.split(r"[/?#:]", url.removeprefix("//"), maxsplit=1)[0].lower().rpartition("@")[2]
    return url_detection.vendor_host(host.rstrip(".")) or any(sign in url for sign in _CARRIES_URL)


def _marks(text: str) -> Iterator[tuple[Platform, Mark, re.Match[str]]]:
    for platform in PLATFORMS:
        for mark in platform.marks:
            match = mark.pattern.search(text)
            if match:
                yield platform, mark, match


def _marked(page: _Page) -> Iterator[_Place]:
    """Boards whose token stands in a widget's own words."""
    for platform, mark, match in page.marks:
        token = match.groupdict().get("token")
        found = url_detection.board(platform.name, token, mark.what, "medium") if token else None
        if found:
            yield match.start(), "", found


def _hints(page: _Page) -> list[Found]:
    """Platforms that the page gives away without saying which board."""
    hints: dict[str, Found] = {}
    for platform, mark, _ in page.marks:
        hint = Found(platform.name, None, "medium", f"in the page: {mark.what}")
        if mark.hosted and "." in page.host:
            config = {"board_token": page.host, "base_url": f"https://{page.host}"}
            hint = replace(hint, token=page.host, config=config, url=config["base_url"])
        if hint.token or platform.name not in hints:
            hints[platform.name] = hint
    for _, _, found in page.places:
        if found.token is None:
            evidence = f"linked from the page: {found.evidence.removeprefix('the address: ')}"
            hint = replace(found, confidence="low", evidence=evidence)
            hints.setdefault(found.platform, hint)
    return list(hints.values())


def _judge(page: _Page, boards: list[_Board]) -> list[Found]:
    """What the boards of one page say about its owner."""
    careers = about_work(page.url, _title(page.text))
    if len(boards) >= _MANY_BOARDS:
        # A portfolio, a blog, a list of employers: only what is the owner's own counts.
        boards = [one for one in boards if one.tied or (one.embedded and careers)]
    boards = [one for one in boards if one.strong or careers]
    boards.sort(key=lambda one: one.score, reverse=True)
    rivals = len(boards) > 1 and boards[0].score - boards[1].score < 4
    return [_conclude(page, one, rivals or one is not boards[0]) for one in boards]


def _conclude(page: _Page, board: _Board, rivals: bool) -> Found:
    found, confidence = board.found, board.found.confidence
    if not board.strong:
        confidence = _LOWER[confidence]
    group = not board.tied and page.names.parent(found, page.text)
    if (rivals or group) and confidence == "high":
        confidence = "medium"
    evidence = board.describe()
    if group:
        evidence += "; the page speaks of it as the parent"
    return replace(
        found,
        confidence=confidence,
        evidence=evidence,
        relation="group" if group else "own",
    )


def _feeds(url: str, text: str) -> list[Found]:
    """Feeds that the page offers, if they are about work and not the blog's."""
    feeds: list[Found] = []
    for tag in _LINK_TAG.findall(text):
        if not _FEED_TYPE.search(tag):
            continue
        values = {name.lower(): value for name, value in _ATTRIBUTE.findall(tag)}
        href = urljoin(url, values.get("href", ""))
        if href.startswith("http") and about_work(href, values.get("title", "")):
            feeds.append(Found(FEED, href, "medium", "a feed that the page offers",
                               {"url": href}, url=href))  # fmt: skip
    return feeds


def _structured(url: str, text: str) -> list[Found]:
    if (
        "JobPosting" not in text
        or not _JOB_POSTING.search(text)
        or url_detection.split(url) is None
    ):
        return []
    return [Found(GENERIC, url, "low", "postings in the page's structured data", url=url)]
