"""Every page is accessible in both themes, works by keyboard and without scripts, fits small windows and
slow connections, and has valid HTML and links.

One visit serves all checks of a wide window: loading a page takes longer than most of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from playwright.async_api import Browser, Request
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill.web.dependencies import WEB_DIR
from tests.browser import axe, every_page, keyboard, validity
from tests.browser.conftest import Tour
from tests.browser.every_page import ERRORS, VARIANTS
from tests.browser.helpers import Window, format_faults, window

MOST_BYTES = 150_000
RELOADS = 'http-equiv="refresh"'
CONTENT = """
() => {
  const heading = document.querySelector("main h1");
  const isVisible = heading?.checkVisibility({visibilityProperty: true}) && heading.offsetHeight > 0;
  return [isVisible, document.querySelector("main")?.innerText ?? ""];
}
"""
"""Whether the title of a page is visible, and its text. One call takes less CPU time than two locators."""


async def test_every_page_is_accessible_usable_by_keyboard_and_light(
    browser: Browser, tour: Tour
) -> None:
    faults: list[str] = []
    sizes: dict[str, int] = {}
    style_sizes: list[int] = []
    menus: set[tuple[str, ...]] = set()
    async with window(browser, tour.place.origin, still=True, expected=ERRORS) as view:
        for url, text in tour.distinct.items():
            loaded = await load(view, url, sizes)
            style_sizes.append(loaded.get(f"{view.origin}/static/app.css", 0))
            weight = sum(loaded.values())
            faults += [f"{url}: {fault}" async for fault in check(view, text, weight, menus)]
    style = (WEB_DIR / "static" / "app.css").stat().st_size
    assert min(style_sizes) > style / 10, "a page was weighed without its style sheet"
    assert not faults, format_faults(faults)


async def check(
    view: Window, text: str, weight: int, checked_menus: set[tuple[str, ...]]
) -> AsyncIterator[str]:
    if weight > MOST_BYTES:
        yield f"{weight:,} bytes"
    for fault in (*await view.overflow(), *await keyboard.faults(view.page, checked_menus)):
        yield fault
    await view.resize("phone")
    for fault in await view.overflow():
        yield f"on a phone: {fault}"
    await view.resize("wide")
    # Last, because it opens all disclosures.
    for fault in await axe.faults(view):
        yield fault
    for fault in await axe.faults_of_dialogs(view) if "<dialog" in text else ():
        yield fault


async def load(view: Window, url: str, sizes: dict[str, int]) -> dict[str, int]:
    """Load a page; returns the bytes of each URL that a visitor without a cache transfers for it.

    `sizes` remembers what was transferred before, since later pages load it from the cache.
    """
    ended: list[Request] = []

    def note(request: Request) -> None:
        ended.append(request)

    view.page.on("requestfinished", note)
    await view.visit(url)
    view.page.remove_listener("requestfinished", note)
    for request, size in zip(
        ended, await asyncio.gather(*(request.sizes() for request in ended)), strict=True
    ):
        transferred = size["responseBodySize"] + size["responseHeadersSize"]
        sizes[request.url] = max(sizes.get(request.url, 0), transferred)
    return {request.url: sizes[request.url] for request in ended}


async def test_every_page_shows_its_content_without_scripts(
    browser: Browser, tour_of_the_world: Tour
) -> None:
    faults: list[str] = []
    origin = tour_of_the_world.place.origin
    pages = tour_of_the_world.distinct
    async with window(browser, origin, "phone", scripts=False, expected=ERRORS) as view:
        page = await view.visit("/openings")
        # Pages that reload themselves last, because they would replace the page after them.
        for url in sorted(pages, key=lambda url: RELOADS in pages[url]):
            if RELOADS in pages[url]:
                await view.visit(url)
            else:
                # Navigating takes five times as much CPU time, and the test above navigates to every page.
                await page.set_content(pages[url], wait_until="load")
            is_titled, text = await page.evaluate(CONTENT)
            if not is_titled:
                faults.append(f"{url}: no h1 is seen")
            if len(text) < 40:
                faults.append(f"{url}: main is empty")
            faults += [f"{url}: {fault}" for fault in await view.overflow()]
    assert not faults, format_faults(faults)


async def test_every_form_and_button_works_without_scripts(tour: Tour) -> None:
    faults: list[str] = []
    for url, text in tour.pages.items():
        page = Html(text)
        for form in page.css("form[hx-post]:not([method=post]), form:not([method])"):
            faults.append(f"{url}: form {form.attributes} has no method")
        for lone in page.css("button[hx-post], button[hx-get], a[hx-get]:not([href])"):
            faults.append(f"{url}: {lone.tag} {lone.attributes} needs a script")
    assert not faults, format_faults(faults)


NOT_ALWAYS = "about what the demo does not always have"
NOT_VISITED = {
    "not a page": (
        "/healthz", "/readyz", "/metrics", "/live", "/my/{token}/live", "/feeds/{token}.atom",
        "/openings/feed.json", "/openings/feed.xml", "/openings/company.css", "/openings/logo",
        "/openings/{opening_id}/fairness/log.jsonl",
        "/openings/{opening_id}/fairness/verify_fairness.py",
        "/documents/{document_id}/image/{version}/{number}",
    ),
    "a download": (
        "/my/{token}/export", "/my/{token}/applications/{application_id}/files/{file_id}",
        "/hiring/openings.csv", "/hiring/{opening_id}/people/{application_id}/files/{file_id}",
        "/matches/export.csv", "/matches/export.jsonl", "/applications/export.csv",
        "/applications/{match_id}/files/{file_id}", "/profile/export", "/reports/{report_id}/export",
        "/documents/{document_id}/file/{version}/{format}",
        "/documents/{document_id}/sent/{version}/{format}",
    ),
    "a part of another page": (
        "/openings/embed", "/hiring/{opening_id}/replay/frame", "/matches/news",
        "/matches/{match_id}/panel", "/matches/{match_id}/skill-gains", "/matches/{match_id}/what-if",
    ),
    "leads to another address": (
        "/rotation", "/rotation/{rest:path}", "/queue", "/queue/{rest:path}", "/matches/board",
        "/hiring/company/letters", "/hiring/company/letters/{rest:path}",
        "/people/keys", "/sign-in/local",
    ),
    "test_documents.py": ("/documents/{document_id}",),
    "test_passkeys.py": ("/account/two-factor", "/sign-in/code"),
    "test_reports.py": ("/reports/{report_id}",),
    NOT_ALWAYS: (
        "/account/notifications/channels/{channel_id}/remove", "/activity/alerts/{alert_id}/clear",
        "/activity/resume", "/activity/tasks/{item_id}/{change}", "/activity/unblock",
        "/hiring/company/webhooks/{webhook_id}", "/hiring/company/webhooks/{webhook_id}/delete",
        "/my/{token}/applications/{application_id}/interview", "/openings/{opening_id}/draw",
        "/openings/{opening_id}/fairness", "/people/{person_id}/erase-search", "/reports/compare", "/reports/{report_id}/delete",
        "/unsubscribe/{token}",
    ),
}  # fmt: skip
"""Routes that no page of the tour belongs to, and why."""


async def test_every_page_is_visited_or_listed_with_a_reason(tour_of_the_world: Tour) -> None:
    visited = {every_page.find_route(url) for url in tour_of_the_world.distinct}
    routes = {str(route.path) for route in every_page.page_routes()}
    listed = {path for paths in NOT_VISITED.values() for path in paths}
    assert routes - visited - listed == set()
    assert listed - routes == set()
    assert listed & visited <= set(NOT_VISITED[NOT_ALWAYS]), "not exempt any more"
    assert {*VARIANTS, *ERRORS} <= set(tour_of_the_world.distinct)


async def test_every_link_leads_to_a_page(tour: Tour) -> None:
    assert not tour.broken, format_faults(tour.broken)


async def test_every_page_is_valid_html(tour: Tour) -> None:
    faults = [
        f"{url}: {problem}" for url, text in tour.pages.items() for problem in validity.faults(text)
    ]
    assert not faults, format_faults(faults)
