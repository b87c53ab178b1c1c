"""Fixtures: Chromium, and sites with demo data."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.async_api import Browser, async_playwright
from psycopg.conninfo import make_conninfo
from selectolax.lexbor import LexborHTMLParser

from jobmill.db import connect
from tests.browser import every_page
from tests.browser.world import ServedSite, add_decisions, live_a_while, serve
from tests.conftest import clone, run
from tests.missing_browser import skip_or_fail

FINDER = Path(__file__).parents[2] / "scripts" / "browser"
ARGUMENTS = [
    # Block requests to other hosts.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    # Machines that run tests have none, and emulating one takes more time.
    "--disable-gpu",
]


@pytest.fixture(scope="session")
def executable() -> str:
    result = subprocess.run([FINDER], check=False, capture_output=True, text=True)
    if result.returncode:
        skip_or_fail(result.stderr.strip())
    return result.stdout.strip()


@pytest.fixture(scope="session")
async def browser(executable: str) -> AsyncIterator[Browser]:
    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield browser
        await browser.close()


@pytest.fixture(scope="session")
async def lived_in(server: str, template: str) -> AsyncIterator[str]:
    """The name of a database with demo data that tests clone."""
    name = f"world_{uuid.uuid4().hex}"
    run(server, "CREATE DATABASE {} TEMPLATE {} STRATEGY file_copy", name, template)
    async with connect(make_conninfo(server, dbname=name)) as database:
        await live_a_while(database)
    yield name
    run(server, "DROP DATABASE {} WITH (FORCE)", name)


@pytest.fixture(scope="session")
async def place(server: str, browser: Browser, lived_in: str) -> AsyncIterator[ServedSite]:
    """The demo data and decisions about some matches, shared by tests that only read."""
    with clone(server, lived_in) as url:
        async with connect(url) as database, serve(database) as place:
            await add_decisions(database)
            yield place


@pytest.fixture
async def own_place(server: str, browser: Browser, lived_in: str) -> AsyncIterator[ServedSite]:
    """The demo data, for one test that changes it."""
    with clone(server, lived_in) as url:
        async with connect(url) as database, serve(database) as place:
            yield place


@pytest.fixture(scope="session")
async def new_place(server: str, template: str, browser: Browser) -> AsyncIterator[ServedSite]:
    """A site with an empty database."""
    with clone(server, template) as url:
        async with connect(url) as database, serve(database) as place:
            yield place


@dataclass(frozen=True, slots=True)
class Tour:
    """The pages of a site with their HTML, and broken links."""

    name: str
    place: ServedSite
    pages: Mapping[str, str]
    broken: Sequence[str]
    checked: Mapping[str, str] = field(default_factory=dict[str, str])
    """Pages of another tour."""

    @property
    def distinct(self) -> Mapping[str, str]:
        """One page of each route: its filters and sort orders show the same parts. Not pages with the
        same content in another tour."""
        pages = every_page.one_per_route(self.pages)
        return {
            url: text
            for url, text in pages.items()
            if url not in self.checked or content(text) != content(self.checked[url])
        }


def content(page: str) -> str | None:
    main = LexborHTMLParser(page).css_first("main")
    return main and main.html


@pytest.fixture(scope="session")
async def tour_of_the_world(place: ServedSite) -> Tour:
    walk = await every_page.find(place)
    errors = await every_page.read(place, every_page.ERRORS)
    return Tour("lived in", place, walk.pages | errors, walk.broken)


@pytest.fixture(scope="session")
async def tour_of_nothing(new_place: ServedSite, tour_of_the_world: Tour) -> Tour:
    walk = await every_page.find(new_place)
    return Tour("new", new_place, walk.pages, walk.broken, tour_of_the_world.pages)


@pytest.fixture(params=["lived in", "new"])
def tour(request: pytest.FixtureRequest, tour_of_the_world: Tour, tour_of_nothing: Tour) -> Tour:
    """Every page, with demo data and with an empty database."""
    return tour_of_nothing if request.param == "new" else tour_of_the_world
