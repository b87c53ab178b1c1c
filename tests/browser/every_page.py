"""Find all pages by following links."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from urllib.parse import parse_qsl, urljoin, urlsplit

import httpx2
from fastapi.routing import RouteContext, iter_route_contexts
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill.web import site
from tests.browser.world import BROKEN, FORBIDDEN, ServedSite, links
from tests.web.conftest import signed_in

HTML = {"Accept": "text/html"}
NUMBERED = re.compile(r".*[\d/].*|.{40,}")
"""A part of a path that is an id."""
MANY = 4
"""Variants of one page: tabs and filters."""
NO_LINK_LEADS_TO = ("/openings", "/my", "/sign-in", "/setup", "/demo", "/account")
VARIANTS = ("/sources?show=waiting", "/matches?status=dismissed")
"""Filters that show other parts than the page without them."""
ERRORS = (
    FORBIDDEN,
    BROKEN,
    "/nowhere",
    "/matches/999999999",
    "/hiring/999999999",
    "/my/broken",
    "/offer/broken",
    "/confirm/broken",
)


def shape(url: str) -> tuple[str, frozenset[tuple[str, str]]]:
    """The page without its ids and tokens."""
    parts = urlsplit(url)
    path = "/".join("*" if NUMBERED.fullmatch(part) else part for part in parts.path.split("/"))
    query = (
        (name, "*" if NUMBERED.fullmatch(part) else part) for name, part in parse_qsl(parts.query)
    )
    return path, frozenset(query)


def name(url: str) -> str:
    """The file name of its screenshot."""
    path, query = shape(url)
    words = [*path.split("/"), *(f"{parameter}-{value}" for parameter, value in sorted(query))]
    return re.sub(r"[^\w.-]+", "_", "-".join(word for word in words if word not in ("", "*"))) + (
        "-one" if path.endswith("*") else "" if path != "/" else "home"
    )


class Walk:
    """Visits every page once, and a few of its tabs and filters."""

    def __init__(self, client: httpx2.AsyncClient, starts: Iterable[str]) -> None:
        self._client = client
        self._left = list(starts)
        self._known = {shape(url) for url in self._left}
        self._kinds = Counter[str]()
        self.pages: dict[str, str] = {}
        """The HTML of each page before scripts run."""
        self.broken: list[str] = []

    async def walk(self) -> None:
        while self._left:
            url = self._left.pop(0)
            answer = await self._client.get(url, headers=HTML)
            if answer.status_code >= 400:
                self.broken.append(f"{url}: {answer.status_code}")
            elif answer.headers["content-type"].startswith("text/html"):
                self.pages[url] = answer.text
                self._note(url, Html(answer.text))

    def _note(self, here: str, page: Html) -> None:
        for link in page.css("a[href]:not([download])"):
            url = urljoin(here, link.attributes["href"] or "").partition("#")[0]
            kind = shape(url)
            if not url.startswith("/") or url.startswith("//") or kind in self._known:
                continue
            self._kinds[kind[0]] += 1
            if self._kinds[kind[0]] <= MANY:
                self._known.add(kind)
                self._left.append(url)


async def find(place: ServedSite) -> Walk:
    """All pages that respond, and broken links."""
    async with signed_in(place.origin, follow_redirects=True) as client:
        unlinked = (*NO_LINK_LEADS_TO, *VARIANTS, *await links(place.database))
        walk = Walk(client, ["/", *unlinked])
        await walk.walk()
        return walk


@cache
def page_routes() -> list[RouteContext]:
    """The routes that answer GET, but those of the API."""
    return [
        route
        for route in iter_route_contexts(site.list_routes())
        if "GET" in (route.methods or ()) and not str(route.path).startswith("/api/")
    ]


def find_route(url: str) -> str:
    """The route of a page; the path itself if there is none."""
    path = urlsplit(url).path
    return next((str(route.path) for route in page_routes() if route.path_regex.match(path)), path)


def one_per_route(pages: Mapping[str, str]) -> dict[str, str]:
    """The first page of each route, whatever its query and ids, and the variants and errors."""
    usual = [url for url in pages if url not in (*VARIANTS, *ERRORS)]
    first = {find_route(url): url for url in reversed(usual)}
    special = [url for url in (*VARIANTS, *ERRORS) if url in pages]
    return {url: pages[url] for url in (*first.values(), *special)}


async def read(place: ServedSite, urls: Iterable[str]) -> dict[str, str]:
    """Pages by URL, whatever their status."""
    async with signed_in(place.origin, follow_redirects=True) as client:
        return {url: (await client.get(url, headers=HTML)).text for url in urls}
