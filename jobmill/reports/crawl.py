"""Which pages of a company's site a report reads, in which order. Nothing here talks to the network."""

from __future__ import annotations

import heapq
import html
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import urldefrag, urlsplit

from selectolax.lexbor import LexborHTMLParser

from jobmill.catalog import urls
from jobmill.catalog.urls import UrlParts
from jobmill.errors import Invalid
from jobmill.extract.page import nesting_limit
from jobmill.extract.page.text_checks import absolute_url

from .findings import CrawledPage

MAX_LINKS_PER_PAGE = 2_000
MAX_SITEMAP_URLS = 5_000
MAX_QUEUED_URLS = 5_000
BATCH_SIZE = 5
_MAX_SITEMAP_LENGTH = 5_000_000
_MAX_LINK_TEXT = 80
_MAX_URL = 500
_MAX_SAME_SHAPE = 3
"""Pages that differ by numbers or by the query only: pages of a calendar, a list or an archive."""
_MAX_SAME_SEGMENT = 2
_MAX_NAMED_PAGES = 3
"""Pages that a note names."""

_TOPICS = tuple(
    re.compile(pattern)
    for pattern in (
        (
            r"about(?:-us|-the-company|-\w+)?|company|who-we-are|(?:our-)?(?:story|mission|history)"
            r"|(?:ue|u)ber-uns|a-propos|(?:sobre-)?nosotros|chi-siamo|over-ons|o-nas|om-oss"
        ),
        (
            r"careers?|jobs?|join(?:-us|-our-team|-the-team)?|work(?:ing)?-(?:with|for|at|here)(?:-.*)?"
            r"|(?:job-|current-|open-)?(?:vacanc(?:y|ies)|openings|positions|roles)|life-at-.*|we-?re-hiring"
            r"|karriere|stellen(?:angebote)?|empleo|carrieres?|lavora-con-noi|employment|opportunities"
        ),
        r"(?:our-|the-)?(?:team|people|leadership|management|founders)|meet-the-team",
        (
            r"(?:our-)?(?:benefits|perks|culture|values|principles|compensation)(?:-and-.*)?|how-we-work"
            r"|(?:our-)?(?:interview|interviewing|hiring|recruitment|application|recruiting)(?:-process)?"
            r"|(?:careers?-)?faqs?|diversity.*|inclusion|remote(?:-work)?|internships?|students|graduates"
        ),
        r"(?:our-)?(?:products?|services?|solutions?|platform|features)|what-we-do",
        r"(?:our-|company-|engineering-|tech-)?(?:blog|news|stories|newsroom|insights)|press|handbook",
    )
)
CAREERS = 1
"""The topic of pages about careers."""
_LATER = re.compile(
    r"log-?in|sign-?(?:in|up)|register|cart|checkout|account|privacy|terms|legal|imprint|impressum"
    r"|cookies?|search|tags?|categor(?:y|ies)|author|print|share|feed|status|docs|support|help"
)
_PAGE_ROUND, _OTHER, _LAST = 10, 40, 90
"""Priorities: the nth page of a topic comes n rounds after the first; then other pages."""
_NOT_HTML = re.compile(
    r"\.(?:pdf|jpe?g|png|gif|svg|webp|ico|css|js|json|xml|rss|gz|zip|mp[34]|mov|avi|webm|docx?|xlsx?"
    r"|pptx?|exe|dmg|apk|ics|woff2?|ttf|txt)$",
    re.IGNORECASE,
)
_LOCATION = re.compile(r"<loc>\s{0,100}(?:<!\[CDATA\[)?\s{0,100}([^<\]\s]{1,2000})", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")


@dataclass(frozen=True, slots=True)
class PageLink:
    url: str
    text: str = ""


def extract_links(page_html: str, url: str) -> list[PageLink]:
    """The links of a page to other pages, in order, without duplicates."""
    body = nesting_limit.truncate_deep_html(page_html.encode("utf-8", "replace"))
    links: dict[str, PageLink] = {}
    for node in LexborHTMLParser(body).css("a[href]"):
        if len(links) == MAX_LINKS_PER_PAGE:
            break
        target = absolute_url((node.attributes.get("href") or "")[:_MAX_URL], url)
        if target and (target := urldefrag(target).url) not in links:
            text = " ".join(node.text()[:1_000].split())[:_MAX_LINK_TEXT]
            links[target] = PageLink(target, text)
    return list(links.values())


def read_sitemap(text: str) -> list[str]:
    """The URLs of a sitemap, or of the sitemaps in an index."""
    matches = _LOCATION.finditer(text[:_MAX_SITEMAP_LENGTH])
    locations = dict.fromkeys(html.unescape(match[1]) for match in matches)
    return list(locations)[:MAX_SITEMAP_URLS]


class CrawlFrontier:
    """The pages that are still to be read, the most telling first. `notes` say where it was bounded."""

    def __init__(self, site: str, *, max_pages: int = 25, max_depth: int = 3) -> None:
        self._site = urls.parse(site)
        self._max_pages = max_pages
        self._max_depth = max_depth
        self._handed_out = 0
        self._heap: list[tuple[int, int, str, str]] = []
        self._depths: dict[str, int] = {}
        self._read: set[str] = set()
        self._shapes: Counter[str] = Counter()
        self._topics: Counter[int] = Counter()
        self._skipped: dict[str, list[str]] = {}
        self._failures: list[str] = []
        self._push(site, self._site, 0, -1)

    @property
    def notes(self) -> tuple[str, ...]:
        notes = [_describe(reason, paths) for reason, paths in self._skipped.items()]
        unread = sum(1 for *_, key, _ in self._heap if key not in self._read)
        if self._handed_out >= self._max_pages and unread:
            notes.append(f"Stopped after {self._max_pages} pages; {unread} more were known.")
        return (*self._failures, *notes)

    def next_urls(self) -> list[str]:
        """The next pages to fetch; none when the crawl is over."""
        batch: list[str] = []
        while self._heap and len(batch) < BATCH_SIZE and self._handed_out < self._max_pages:
            _, _, key, url = heapq.heappop(self._heap)
            if key not in self._read:
                self._read.add(key)
                self._handed_out += 1
                batch.append(url)
        return batch

    def add_page(
        self, page: CrawledPage, links: Iterable[PageLink] = (), *, requested: str | None = None
    ) -> None:
        """Record a page that was fetched. `requested`: its URL before redirects."""
        parts = self._parse(page.url)
        if parts is None:
            self._failures.append(f"A page redirected to another site: {page.url[:200]}")
            return
        origin = self._parse(requested) if requested else None
        depth = self._depths.get((origin or parts).join(), 1)
        self._read.add(parts.join())
        if page.failure:
            self._failures.append(f"{page.url[:200]}: {page.failure[:200]}")
        for link in links:
            self._consider(link.url, link.text, depth + 1)

    def add_sitemap(self, sitemap_urls: Sequence[str]) -> None:
        for url in sitemap_urls[:MAX_SITEMAP_URLS]:
            self._consider(url, "", 1)

    def is_on_site(self, url: str) -> bool:
        return self._parse(url) is not None

    def _parse(self, url: str) -> UrlParts | None:
        """The URL in its normal form; None if it is not on the site."""
        try:
            parts = urls.parse(url)
        except Invalid:
            return None
        same_port = urlsplit(parts.root).port == urlsplit(self._site.root).port
        same_host = parts.host == self._site.host or parts.host.endswith(f".{self._site.host}")
        return parts if same_host and same_port else None

    def _consider(self, url: str, text: str, depth: int) -> None:
        parts = self._parse(url)
        if parts is None or _NOT_HTML.search(parts.path):
            return
        key = parts.join()
        if key in self._depths:
            self._depths[key] = min(self._depths[key], depth)
        elif reason := self._find_trap(parts, url, depth):
            self._skipped.setdefault(reason, []).append(parts.path[:100])
        else:
            self._push(url, parts, depth, self._find_topic(parts, text))

    def _find_trap(self, parts: UrlParts, url: str, depth: int) -> str | None:
        """Why a page is not read; None if it may be."""
        if depth > self._max_depth:
            return f"more than {self._max_depth} links from the home page"
        if len(self._depths) >= MAX_QUEUED_URLS or len(url) > _MAX_URL:
            return "more links, or longer ones, than a report follows"
        segments = Counter(parts.path.split("/"))
        if max(segments.values()) > _MAX_SAME_SEGMENT:
            return "a path that repeats itself"
        shape = f"{parts.host}{_DIGITS.sub('0', parts.path)}"
        if _DIGITS.search(parts.path) or parts.query:
            self._shapes[shape] += 1
            if self._shapes[shape] > _MAX_SAME_SHAPE:
                return "addresses that differ in numbers or parameters only"
        return None

    def _find_topic(self, parts: UrlParts, text: str) -> int | None:
        """The topic of a page by the last part of its path, its subdomain or the text of the link."""
        labels = [parts.path.rsplit("/", 1)[-1].lower().partition(".")[0]]
        if parts.path == "/" and parts.host != self._site.host:
            labels.append(parts.host.removesuffix(f".{self._site.host}"))
        labels.append("-".join(re.findall(r"[a-z]+", text.lower())))
        for topic, pattern in enumerate(_TOPICS):
            if not parts.query and any(pattern.fullmatch(label) for label in labels):
                return topic
        return None

    def _push(self, url: str, parts: UrlParts, depth: int, topic: int | None) -> None:
        key = parts.join()
        self._depths[key] = depth
        if topic is None:
            later = any(_LATER.fullmatch(step) for step in parts.path.lower().split("/"))
            priority = _LAST if later or parts.query else _OTHER
        else:
            priority = topic + _PAGE_ROUND * self._topics[topic]
            self._topics[topic] += 1
        heapq.heappush(self._heap, (min(priority, _LAST), depth, key, urldefrag(url).url))


def is_careers_page(url: str) -> bool:
    """Whether a part of the path is a word for careers; "/network" and "/our-work" are not."""
    parts = urlsplit(url).path.lower().split("/")
    return any(_TOPICS[CAREERS].fullmatch(part.partition(".")[0]) for part in parts)


def _describe(reason: str, paths: Sequence[str]) -> str:
    named = ", ".join(list(dict.fromkeys(paths))[:_MAX_NAMED_PAGES])
    return f"Skipped {len(paths)} {'link' if len(paths) == 1 else 'links'} ({reason}): {named}"


def is_same_host(url: str, other: str) -> bool:
    """Whether two URLs share a host and so a robots.txt; "www." is ignored."""
    try:
        return urls.parse(url).root == urls.parse(other).root
    except Invalid:
        return urlsplit(url).netloc == urlsplit(other).netloc
