"""A browser window that records script errors, failed requests and overflow."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Collection, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, cast

from playwright.async_api import Browser, ConsoleMessage, Dialog, Page, Request, WebError

from tests.web.conftest import local_cookies

Size: TypeAlias = Literal["wide", "phone"]
Theme: TypeAlias = Literal["light", "dark"]

PICTURED = "JOBMILL_PICTURES" in os.environ
PICTURES = Path(__file__).parents[2] / "build" / "screenshots"
SIZES: dict[Size, dict[str, Any]] = {
    "wide": {"viewport": {"width": 1280, "height": 900}},
    "phone": {
        "viewport": {"width": 390, "height": 844},
        "is_mobile": True,
        "has_touch": True,
        "device_scale_factor": 2,
    },
}
BUSY = ".htmx-request:not(#live), .htmx-settling, [aria-busy=true]"
"""Parts fade for a moment while they load."""
IS_BUSY = "selector => document.querySelector(selector) !== null"
NO_UPDATES = r"""
{
  const original = window.fetch;
  window.fetch = (resource, options) =>
    /\/live(\?|$)/.test(resource.url ?? resource)
      ? Promise.resolve(new Response(null, {status: 204}))
      : original(resource, options);
}
"""
"""Runs before the scripts of a page. Intercepting the requests instead would disable the cache."""
WIDTH = "document.scrollingElement.scrollWidth"
WIDEST = """
room => [...document.querySelectorAll("main *, header *, footer *")]
  .filter(one => one.getBoundingClientRect().right > room + 1 && !one.closest(".wide"))
  .map(one => `${one.localName}${one.id && "#" + one.id}.${one.className}`).slice(0, 3).join(", ")
"""
REFUSED = "Failed to load resource: the server responded with a status of "


@dataclass
class Window:
    page: Page
    origin: str
    size: Size
    theme: Theme
    expected: Collection[str] = ()
    """URLs that are expected to respond with an error."""
    faults: list[str] = field(default_factory=list[str])

    async def go(self, path: str) -> Page:
        """The page after it has finished loading."""
        await self.page.goto(path, wait_until="load")
        await self.page.wait_for_selector(BUSY, state="detached")
        return self.page

    async def visit(self, path: str) -> Page:
        """The same for tests that load all pages. It takes less CPU time if no locator follows: a locator
        first loads scripts of the driver into the page."""
        await self.page.goto(path, wait_until="load")
        if await self.page.evaluate(IS_BUSY, BUSY):
            await self.page.wait_for_selector(BUSY, state="detached")
        return self.page

    async def turn(self, theme: Theme) -> None:
        await self.page.emulate_media(color_scheme=theme)
        self.theme = theme

    async def resize(self, size: Size) -> None:
        await self.page.set_viewport_size(SIZES[size]["viewport"])
        self.size = size

    async def overflow(self) -> list[str]:
        """Elements wider than the window."""
        room: int = SIZES[self.size]["viewport"]["width"]
        # Not innerWidth: a phone zooms out until the page fits.
        width = await self.page.evaluate(WIDTH)
        if width <= room:
            return []
        return [f"{width} > {room}: {await self.page.evaluate(WIDEST, room)}"]

    async def shoot(self, name: str, *, full_page: bool = True) -> None:
        """Save a screenshot if screenshots are enabled."""
        if not PICTURED:
            return
        PICTURES.mkdir(parents=True, exist_ok=True)
        path = PICTURES / f"{name}-{self.size}-{self.theme}.png"
        await self.page.screenshot(path=path, full_page=full_page, scale="css")

    def watch(self) -> None:
        context = self.page.context
        context.on("console", self._hear)
        context.on("weberror", self._stumble)
        context.on("request", self._follow)
        context.on("dialog", self._dismiss)

    def _hear(self, message: ConsoleMessage) -> None:
        url = message.location["url"].removeprefix(self.origin)
        is_expected = message.text.startswith(REFUSED) and url in self.expected
        if message.type == "error" and not is_expected:
            self._note(f"console: {message.text}")

    def _stumble(self, error: WebError) -> None:
        self._note(f"script: {error.error}")

    def _follow(self, request: Request) -> None:
        if not request.url.startswith((f"{self.origin}/", "data:", "blob:")):
            self._note(f"request: {request.url}")

    async def _dismiss(self, dialog: Dialog) -> None:
        self._note(f"dialog: {dialog.message}")
        await dialog.dismiss()

    def _note(self, fault: str) -> None:
        self.faults.append(f"{self.page.url.removeprefix(self.origin)}: {fault}")


@asynccontextmanager
async def window(
    browser: Browser,
    origin: str,
    size: Size = "wide",
    theme: Theme = "light",
    *,
    scripts: bool = True,
    still: bool = False,
    expected: Collection[str] = (),
) -> AsyncIterator[Window]:
    """A window with its own cookies; fails at the end if something went wrong in it.

    `still`: no live updates, so that no part is replaced during the test.
    """
    context = await browser.new_context(
        base_url=origin,
        color_scheme=theme,
        reduced_motion="reduce",
        java_script_enabled=scripts,
        **cast(Any, SIZES[size]),
    )
    await context.add_cookies(
        [
            {"name": name, "value": value, "url": origin, "sameSite": "Strict"}
            for name, value in local_cookies(origin).items()
        ]
    )
    if still:
        await context.add_init_script(NO_UPDATES)
    try:
        made = Window(await context.new_page(), origin, size, theme, expected)
        made.watch()
        yield made
    finally:
        await context.close()
    assert not made.faults, format_faults(made.faults)


def format_faults(faults: Iterable[str]) -> str:
    return "\n" + "\n".join(dict.fromkeys(faults))
