"""Detects boards by the HTML of a page: links, frames, scripts, structured data and feeds."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from jobmill.extract.page.text_checks import absolute_url

from . import url_detection
from .adapters import PLATFORMS
from .name_matching import OwnerNames, is_about_jobs
from .platform import Confidence, HtmlMarker, Platform
from .url_detection import FEED, GENERIC, DetectedBoard

_MAX_PAGE_LENGTH = 5_000_000
_MAX_URLS = 5_000
_MANY_BOARDS = 3
_ESCAPES = (("\\/", "/"), ("\\u002F", "/"), ("\\u002f", "/"), ("\\u0026", "&"), ("&amp;", "&"))
_ENTITIES = (("&#x2F;", "/"), ("&#x2f;", "/"), ("&#47;", "/"), ("&quot;", '"'), ('\\"', '"'))
_URL = re.compile(r"""//[^\s"'<>\\`|{}^]{4,1500}""")
_BARE = re.compile(
    r"""["'](?P<url>(?:[\w-]{1,63}\.){1,4}[a-zA-Z]{2,9}(?:/[^\s"'<>\\]{0,300})?)["']"""
)
# Tags by which a page embeds its own board; links may lead to the boards of others.
_EMBEDDING_TAGS = frozenset(
    {"iframe", "script", "form", "embed", "object", "div", "section", "link", "meta"}
)
_TAG = re.compile(r"<([a-zA-Z]+)")
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{0,300})", re.IGNORECASE)
_ONE_POSTING = re.compile(r"\d{4,}|[\da-f]{8}-[\da-f]{4}-|/(?:j|job|o|p)/[^/]", re.IGNORECASE)
_FEED_TYPE = re.compile(r"application/(?:rss|atom)\+xml", re.IGNORECASE)
_LINK_TAG = re.compile(r"<link\b[^<>]{0,1000}>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""\b(href|title)\s{0,3}=\s{0,3}["']([^"']{1,500})["']""", re.IGNORECASE)
_JOB_POSTING = re.compile(
    r""""@type"\s{0,9}:\s{0,9}(?:\[\s{0,9})?"JobPosting"|itemtype=["']https?://schema\.org/JobPosting""",
    re.IGNORECASE,
)
_Mention: TypeAlias = tuple[int, str, DetectedBoard]
"""The position in the text, the URL as written there (empty for a widget), and the board it names."""
_LOWER: dict[Confidence, Confidence] = {"high": "medium", "medium": "low", "low": "low"}


@dataclass(frozen=True, slots=True)
class _Page:
    url: str
    host: str
    text: str
    names: OwnerNames
    mentions: list[_Mention]
    markers: list[tuple[Platform, HtmlMarker, re.Match[str]]]

    @classmethod
    def of(cls, url: str, html: str, company: str | None) -> _Page:
        text, parts = _unescaped(html), url_detection.split_url(url)
        return cls(
            url,
            parts.netloc if parts else "",
            text,
            OwnerNames.of(url, company),
            list(_find_mentions(text)),
            list(_find_markers(text)),
        )


@dataclass(slots=True)
class _Candidate:
    """A board, and how the page refers to it."""

    board: DetectedBoard
    embedded: str = ""
    """The tag that embeds it."""
    linked: bool = False
    postings: set[str] = field(default_factory=set[str])
    """Links to its postings."""
    has_owner_name: bool = False
    """Whether the page's owner and the board have the same name."""

    @property
    def score(self) -> int:
        return (
            8 * bool(self.embedded)
            + 6 * self.has_owner_name
            + 4 * self.linked
            + min(len(self.postings), 4)
        )

    @property
    def strong(self) -> bool:
        return bool(self.embedded) or self.has_owner_name or len(self.postings) >= _MANY_BOARDS

    def describe(self) -> str:
        references: list[str] = []
        if self.embedded:
            references.append(f"embedded in the page ({self.embedded})")
        if self.linked:
            references.append("linked from the page")
        if self.postings:
            references.append(f"links to its postings: {len(self.postings)}")
        references = references or ["mentioned in the page"]
        return f"{', '.join(references)}: {self.board.evidence.removeprefix('the URL: ')}"


def detect_boards(url: str, html: str, *, company: str | None = None) -> list[DetectedBoard]:
    """The boards of a page's owner, the likeliest first; boards of other companies that the page only
    mentions are left out."""
    page = _Page.of(url, html, company)
    boards = _select(page, _candidates(page))
    platforms = {board.platform for board in boards}
    hints = [hint for hint in _hints(page) if hint.platform not in platforms]
    return [*boards, *hints, *_feeds(url, page.text), *_structured(url, page.text)]


def _unescaped(html: str) -> str:
    """The page without comments and escapes."""
    text = html[:_MAX_PAGE_LENGTH]
    for escaped, plain in (*_ESCAPES, *_ENTITIES):
        if escaped in text:
            text = text.replace(escaped, plain)
    return _without_comments(text)


def _without_comments(text: str) -> str:
    # Not by a regex: it takes quadratic time on a page of unclosed comments.
    parts: list[str] = []
    end = 0
    while (start := text.find("<!--", end)) >= 0:
        parts.append(text[end:start])
        end = text.find("-->", start + 4) + 3
        if end < 3:
            return "".join(parts) + text[start:]
    return "".join((*parts, text[end:]))


def _title(text: str) -> str:
    title = _TITLE.search(text)
    return title[1] if title else ""


def _candidates(page: _Page) -> list[_Candidate]:
    candidates: dict[tuple[str, str], _Candidate] = {}
    for position, url, board in (*page.mentions, *_widget_mentions(page)):
        if board.token is None:
            continue
        key = board.platform, board.token.lower()
        candidate = _Candidate(board, has_owner_name=page.names.match_board(board))
        _add_mention(candidates.setdefault(key, candidate), page.text, position, url)
    return list(candidates.values())


def _add_mention(candidate: _Candidate, text: str, position: int, url: str) -> None:
    tag = _tag_around(text, position)
    if not url:
        candidate.embedded = candidate.embedded or "a widget"
    elif tag in _EMBEDDING_TAGS:
        candidate.embedded = candidate.embedded or tag
    elif _ONE_POSTING.search(url.partition("?")[0]):
        candidate.postings.add(url)
    elif tag == "a":
        candidate.linked = True


def _tag_around(text: str, position: int) -> str:
    """The tag that has the position in its attributes; empty in running text and script bodies."""
    opening = text.rfind("<", max(0, position - 600), position)
    if opening < 0 or text.find(">", opening, position) >= 0:
        return ""
    tag = _TAG.match(text, opening)
    return tag[1].lower() if tag else ""


def _find_mentions(text: str) -> Iterator[_Mention]:
    """Every position at which the URL of a board is written."""
    boards: dict[str, DetectedBoard | None] = {}
    for match in (*_URL.finditer(text), *_BARE.finditer(text)):
        position, url = match.start(), match[match.lastgroup or 0].rstrip(".,;:!)]")
        if url not in boards:
            if len(boards) >= _MAX_URLS:
                return
            may_match = url_detection.may_name_board(url)
            boards[url] = url_detection.detect_board(url) if may_match else None
        board = boards[url]
        if board:
            yield position, url, board


def _find_markers(text: str) -> Iterator[tuple[Platform, HtmlMarker, re.Match[str]]]:
    for platform in PLATFORMS:
        for marker in platform.html_markers:
            match = marker.pattern.search(text)
            if match:
                yield platform, marker, match


def _widget_mentions(page: _Page) -> Iterator[_Mention]:
    """Boards with a token in the code of a widget."""
    for platform, marker, match in page.markers:
        token = match.groupdict().get("token")
        if not token:
            continue
        board = url_detection.board_from_token(platform.name, token, marker.description, "medium")
        if board:
            yield match.start(), "", board


def _hints(page: _Page) -> list[DetectedBoard]:
    """Platforms of which the page shows traces, but not which board."""
    hints: dict[str, DetectedBoard] = {}
    for platform, marker, _ in page.markers:
        evidence = f"in the page: {marker.description}"
        hint = DetectedBoard(platform.name, None, "medium", evidence)
        if marker.hosted and "." in page.host:
            config = {"board_token": page.host, "base_url": f"https://{page.host}"}
            hint = replace(hint, token=page.host, config=config, url=config["base_url"])
        if hint.token or platform.name not in hints:
            hints[platform.name] = hint
    for _, _, board in page.mentions:
        if board.token is None:
            evidence = f"linked from the page: {board.evidence.removeprefix('the URL: ')}"
            hint = replace(board, confidence="low", evidence=evidence)
            hints.setdefault(board.platform, hint)
    return list(hints.values())


def _select(page: _Page, candidates: list[_Candidate]) -> list[DetectedBoard]:
    """The candidates that belong to the page's owner, the likeliest first."""
    careers = is_about_jobs(page.url, _title(page.text))
    if len(candidates) >= _MANY_BOARDS:
        # A portfolio, a blog or a list of employers: only boards that are clearly the owner's count.
        candidates = [
            candidate
            for candidate in candidates
            if candidate.has_owner_name or (candidate.embedded and careers)
        ]
    candidates = [candidate for candidate in candidates if candidate.strong or careers]
    candidates.sort(key=lambda candidate: candidate.score, reverse=True)
    rivals = len(candidates) > 1 and candidates[0].score - candidates[1].score < 4
    return [
        _conclude(page, candidate, rivals or candidate is not candidates[0])
        for candidate in candidates
    ]


def _conclude(page: _Page, candidate: _Candidate, rivals: bool) -> DetectedBoard:
    board, confidence = candidate.board, candidate.board.confidence
    if not candidate.strong:
        confidence = _LOWER[confidence]
    group = not candidate.has_owner_name and page.names.is_parent(board, page.text)
    if (rivals or group) and confidence == "high":
        confidence = "medium"
    evidence = candidate.describe()
    if group:
        evidence += "; the page speaks of it as the parent"
    return replace(
        board,
        confidence=confidence,
        evidence=evidence,
        relation="group" if group else "own",
    )


def _feeds(url: str, text: str) -> list[DetectedBoard]:
    """Feeds that the page offers, if they are about work."""
    feeds: list[DetectedBoard] = []
    for tag in _LINK_TAG.findall(text):
        if not _FEED_TYPE.search(tag):
            continue
        values = {name.lower(): value for name, value in _ATTRIBUTE.findall(tag)}
        href = absolute_url(values.get("href", ""), url)
        if href and is_about_jobs(href, values.get("title", "")):
            feeds.append(DetectedBoard(FEED, href, "medium", "a feed that the page offers",
                               {"url": href}, url=href))  # fmt: skip
    return feeds


def _structured(url: str, text: str) -> list[DetectedBoard]:
    if (
        "JobPosting" not in text
        or not _JOB_POSTING.search(text)
        or url_detection.split_url(url) is None
    ):
        return []
    return [DetectedBoard(GENERIC, url, "low", "postings in the page's structured data", url=url)]
