"""Check that a page works with the keyboard alone."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from itertools import takewhile, zip_longest

from playwright.async_api import Page

FIRST, LAST = 30, 10
"""On long pages only the first and the last tab stops are checked."""
PATIENCE = 30

UNSEEN = """
() => window.trail.filter(entry => !entry.ring).map(entry => `no visible focus on ${entry.label}`)
"""
REACHED = "() => window.trail.map(entry => entry.stop).filter(stop => stop >= 0)"
STOPS = """
() => {
  const isVisible = element => element.checkVisibility({visibilityProperty: true}) && !element.closest("[inert]");
  const kinds = "a[href], button, input, select, textarea, summary, [tabindex], [contenteditable]";
  const isStop = element => {
    if (element.disabled || element.tabIndex < 0 || !isVisible(element)) return false;
    if (element.type !== "radio") return true;
    // A group is one stop.
    const group = [...document.getElementsByName(element.name)];
    const stop = group.find(other => other.checked) || group[0];
    return element === stop;
  };
  window.stops = [...document.querySelectorAll(kinds)].filter(isStop);
  window.trail = [];
  const describe = element => {
    const id = element.id ? `#${element.id}` : "";
    const text = (element.getAttribute("aria-label") || element.textContent).trim().slice(0, 30);
    return `${element.localName}${id} ${JSON.stringify(text)}`;
  };
  document.addEventListener("focusin", event => {
    const style = getComputedStyle(event.target);
    const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
    window.trail.push({
      stop: window.stops.indexOf(event.target),
      label: describe(event.target),
      ring: ring || style.boxShadow !== "none",
    });
  });
  return window.stops.map(element => [describe(element), !!element.closest("main")]);
}
"""


async def faults(page: Page, checked_menus: set[tuple[str, ...]]) -> list[str]:
    """Controls that Tab does not reach, reaches out of order, or reaches without visible focus.

    A menu before the content that another page has, too, is checked once.
    """
    stops: Sequence[tuple[str, bool]] = await page.evaluate(STOPS)
    labels = [label for label, _ in stops]
    menu = tuple(label for label, _ in takewhile(lambda stop: not stop[1], stops))
    begin = max(0, len(menu) - 1) if menu in checked_menus else 0
    checked_menus.add(menu)
    end = min(len(stops), begin + FIRST)
    problems = await _pass(page, labels, begin, end)
    if len(stops) > end:
        problems += await _pass(page, labels, max(end, len(stops) - LAST) - 1, len(stops))
    return problems


async def _pass(page: Page, stops: Sequence[str], begin: int, end: int) -> list[str]:
    """Tab from one stop to another, up to the first problem."""
    await page.evaluate("n => { window.stops[n].focus(); window.trail.length = 0; }", begin)
    expected = list(range(begin + 1, end))
    reached: list[int] = []
    left = len(expected) + PATIENCE
    # Date fields and scrollable regions have extra tab stops in the browser.
    while left > 0 and len(reached) < len(expected) and reached == expected[: len(reached)]:
        presses = min(len(expected) - len(reached), left)
        left -= presses
        # The key is held down and repeats, which takes half of the messages to the browser.
        await asyncio.gather(*(page.keyboard.down("Tab") for _ in range(presses)))
        reached = await page.evaluate(REACHED)
    await page.keyboard.up("Tab")
    for want, met in zip_longest(expected, reached):
        if want != met:
            end_of = "no stop" if met is None else stops[met]
            return [f"Tab should reach {stops[want]}, and reaches {end_of}"]
    return await page.evaluate(UNSEEN)
