"""Reads a company's site for its report: a bounded, polite crawl."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from jobmill.errors import OutsideError, RetryLater
from jobmill.outside.postponing_fetch import find_wait
from jobmill.outside.request import (
    Fetch,
    FetchFailure,
    FetchResult,
    NotModified,
    Ok,
    PageGone,
    Request,
    Truncated,
    Validators,
)
from jobmill.outside.robots import MAX_ROBOTS_BYTES, parse_rules
from jobmill.reports.crawl import CrawlFrontier, PageLink, extract_links, read_sitemap
from jobmill.reports.findings import CrawledPage
from jobmill.sandbox import read_untrusted

MAX_PAGE_BYTES = 2_000_000
MAX_PAGE_LENGTH = 500_000
"""Characters of a page that are analyzed."""
MAX_LLMS_TXT_BYTES = 200_000
MAX_RENDERED_PAGES = 3
MAX_NESTED_SITEMAPS = 2
MAX_NAMED_UNREAD = 10
CRAWL_SECONDS = 150.0
"""After this no further page is requested: the files at the root and rendering come after it."""
READING_SECONDS = 240.0
"""After this every request ends: the phase has five minutes, and the analysis comes after it."""
_PERMANENT_CAUSES = ("refused", "robots", "redirects", "auth", "forbidden")
_SCRIPT = re.compile(r"<script(?![^>]{0,200}json)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class SiteReading:
    site: str
    """The start page, after redirects."""
    pages: tuple[CrawledPage, ...]
    robots_txt: str | None
    llms_txt: str | None
    """The URL of llms.txt, if there is one."""
    notes: tuple[str, ...]
    """Where the reading was bounded."""


async def read_site(fetch: Fetch, site: str, max_pages: int) -> SiteReading:
    """The pages of a site. OutsideError if none can be read, RetryLater if the host wants us to wait."""
    bounded = _BoundedFetch(fetch, time.monotonic() + READING_SECONDS)
    crawl_until = time.monotonic() + CRAWL_SECONDS
    site, pages, notes = await _crawl(bounded, site, max_pages, crawl_until)
    robots = await bounded(Request(_at_root(site, "/robots.txt"), max_bytes=MAX_ROBOTS_BYTES))
    llms = await bounded(
        Request(_at_root(site, "/llms.txt"), page=True, max_bytes=MAX_LLMS_TXT_BYTES)
    )
    pages, render_notes = await _render(bounded, pages)
    return SiteReading(
        site,
        tuple(pages),
        parse_rules(robots) or None,
        llms.url if isinstance(llms, Ok) and "html" not in llms.content_type else None,
        (*notes, *render_notes, *bounded.describe_unread()),
    )


@dataclass(slots=True)
class _BoundedFetch:
    """Ends requests at a deadline. A `Fetch` that waits for its turn at a slow host has none."""

    fetch: Fetch
    deadline: float
    unread: list[str] = field(default_factory=list[str])

    async def __call__(self, request: Request, validators: Validators | None = None) -> FetchResult:
        try:
            async with asyncio.timeout(max(self.deadline - time.monotonic(), 0)):
                return await self.fetch(request, validators)
        except TimeoutError:
            self.unread.append(f"{request.url[:200]}{' (rendered)' if request.render else ''}")
            return FetchFailure(request.url, "timeout", "the time for reading the site was over")

    def describe_unread(self) -> list[str]:
        if not self.unread:
            return []
        named = ", ".join(self.unread[:MAX_NAMED_UNREAD])
        return [f"Not read within {READING_SECONDS:.0f} s: {named}"]


def _at_root(site: str, path: str) -> str:
    parts = urlsplit(site)
    return f"{parts.scheme}://{parts.netloc}{path}"


async def _crawl(
    fetch: Fetch, site: str, max_pages: int, deadline: float
) -> tuple[str, list[CrawledPage], list[str]]:
    frontier = CrawlFrontier(site, max_pages=max_pages)
    pages: list[CrawledPage] = []
    notes: list[str] = []
    while urls := frontier.next_urls():
        if time.monotonic() > deadline:
            named = ", ".join(urls[:MAX_NAMED_UNREAD])
            notes.append(f"The crawl ended after {CRAWL_SECONDS:.0f} s before it read {named}.")
            break
        answers = await asyncio.gather(*(_fetch_page(fetch, url) for url in urls))
        sitemaps: list[str] = []
        if not pages:
            _check_start_page(site, answers[0])
            if not frontier.is_on_site(answers[0].url):
                notes.append(f"{site} redirects to {answers[0].url[:200]}.")
                site = answers[0].url
                frontier = CrawlFrontier(site, max_pages=max_pages)
                urls = frontier.next_urls()
            sitemaps = await _fetch_sitemaps(fetch, site)
        batch = [describe_page(url, answer) for url, answer in zip(urls, answers, strict=True)]
        pages += [page for page in batch if frontier.is_on_site(page.url)]
        links = await read_untrusted(_read_links, batch, sitemaps, cpu_seconds=10.0)
        for url, page, page_links in zip(urls, batch, links.pages, strict=True):
            frontier.add_page(page, page_links, requested=url)
        frontier.add_sitemap(links.sitemaps)
    return site, pages, [*frontier.notes, *notes]


@dataclass(frozen=True, slots=True)
class _FoundLinks:
    pages: list[list[PageLink]]
    sitemaps: list[str]


def _read_links(pages: Sequence[CrawledPage], sitemaps: Sequence[str]) -> _FoundLinks:
    """The links of each page and the URLs of the sitemaps; runs in a child process."""
    return _FoundLinks(
        [extract_links(page.html, page.url) for page in pages],
        [url for sitemap in sitemaps for url in read_sitemap(sitemap)],
    )


async def _fetch_sitemaps(fetch: Fetch, site: str) -> list[str]:
    """The sitemap of a site, and the first of those that it lists."""
    first = await _fetch_sitemap(fetch, _at_root(site, "/sitemap.xml"))
    listed = await read_untrusted(read_sitemap, first)
    host = urlsplit(site).netloc
    nested = [url for url in listed if url.endswith(".xml") and urlsplit(url).netloc == host]
    return [first, *[await _fetch_sitemap(fetch, url) for url in nested[:MAX_NESTED_SITEMAPS]]]


async def _fetch_sitemap(fetch: Fetch, url: str) -> str:
    answer = await _fetch_page(fetch, url)
    return _text(answer) if isinstance(answer, Ok) else ""


async def _fetch_page(fetch: Fetch, url: str) -> FetchResult:
    return await fetch(Request(url, page=True, max_bytes=MAX_PAGE_BYTES))


def _check_start_page(site: str, answer: FetchResult) -> None:
    """Without its start page there is nothing to report about a site."""
    wait = find_wait(answer)
    if wait and isinstance(answer, FetchFailure):
        raise RetryLater(answer.detail, wait)
    if isinstance(answer, FetchFailure):
        permanent = answer.cause in _PERMANENT_CAUSES
        raise OutsideError(f"{site} could not be read: {answer.detail}", permanent=permanent)
    if isinstance(answer, PageGone):
        raise OutsideError(
            f"{site} could not be read: the page does not exist (status {answer.status})",
            permanent=True,
        )


def describe_page(url: str, answer: FetchResult) -> CrawledPage:
    """The page as the analysis reads it, with the reason if there is no content."""
    match answer:
        case Ok():
            html = _text(answer)
            return CrawledPage(answer.url, 200, html, robots_header=answer.robots_header[:1_000])
        case Truncated():
            limit = f"{answer.limit / 1_000_000:g} MB"
            start = Ok(answer.url, answer.body, answer.content_type, answer.charset)
            return CrawledPage(answer.url, 200, _text(start), failure=f"larger than {limit}")
        case PageGone():
            return CrawledPage(url, answer.status, "", failure="the page does not exist")
        case FetchFailure():
            failure = f"{answer.cause}: {answer.detail}"
            conclusive = answer.status is not None
            return CrawledPage(url, answer.status, "", failure=failure, conclusive=conclusive)
        case NotModified():
            return CrawledPage(url, 304, "", failure="the server sent no content")


def _text(answer: Ok) -> str:
    kind = answer.content_type.lower()
    if kind and not any(word in kind for word in ("html", "xml", "text")):
        return ""
    return answer.text[:MAX_PAGE_LENGTH].replace("\0", "")


async def _render(
    fetch: Fetch, pages: Sequence[CrawledPage]
) -> tuple[list[CrawledPage], list[str]]:
    """The pages, the first few with scripts also as a browser shows them."""
    rendered: dict[str, str] = {}
    notes: list[str] = []
    scripted = [page for page in pages if page.status == 200 and _SCRIPT.search(page.html)]
    for page in scripted[:MAX_RENDERED_PAGES]:
        answer = await fetch(Request(page.url, page=True, render=True, max_bytes=MAX_PAGE_BYTES))
        if isinstance(answer, FetchFailure) and answer.cause == "no_browser":
            return list(pages), [f"No page was rendered: {answer.detail}"]
        if isinstance(answer, Ok):
            rendered[page.url] = _text(answer)
        elif isinstance(answer, FetchFailure):
            notes.append(f"{page.url[:200]} was not rendered: {answer.detail[:200]}")
    return [replace(page, rendered_html=rendered.get(page.url)) for page in pages], notes
