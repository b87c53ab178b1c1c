"""Find all pages by following links."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from urllib.parse import parse_qsl, urljoin, urlsplit

import httpx2
from selectolax.lexbor import LexborHTMLParser as Html

from tests.browser.world import ServedSite, links
from tests.web.conftest import signed_in

HTML = {"Accept": "text/html"}
NUMBERED = re.compile(r".*[\d/].*|.{40,}")
"""A part of a path that is an id."""
MANY = 4
"""Variants of one page: tabs and filters."""
NO_LINK_LEADS_TO = ("/openings", "/my", "/sign-in", "/setup", "/demo")
ERRORS = (
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
        unlinked = [
            url
            for url in (*NO_LINK_LEADS_TO, *await links(place.database))
            if (await client.get(url, headers=HTML)).status_code == 200
        ]
        walk = Walk(client, ["/", *unlinked])
        await walk.walk()
        return walk


def one_per_path(pages: Mapping[str, str]) -> dict[str, str]:
    """The first page of each path, whatever its query and ids."""
    first = {shape(url)[0]: url for url in reversed(pages)}
    return {url: pages[url] for url in first.values()}


async def read(place: ServedSite, urls: Iterable[str]) -> dict[str, str]:
    """Pages by URL, whatever their status."""
    async with signed_in(place.origin, follow_redirects=True) as client:
        return {url: (await client.get(url, headers=HTML)).text for url in urls}
