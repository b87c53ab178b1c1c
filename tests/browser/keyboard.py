"""A page for somebody who has only a keyboard."""

from __future__ import annotations

from collections.abc import Sequence

from playwright.async_api import Page

FIRST, LAST = 40, 15
"""On a long page the first and the last stops stand for all."""
PATIENCE = 30

UNSEEN = """
() => window.trail.filter(one => !one.ring).map(one => `no visible focus on ${one.told}`)
"""
STOPS = """
() => {
  const seen = one => one.checkVisibility({visibilityProperty: true}) && !one.closest("[inert]");
  const kinds = "a[href], button, input, select, textarea, summary, [tabindex], [contenteditable]";
  const chosen = new Set();
  const isStop = one => {
    if (one.disabled || one.tabIndex < 0 || !seen(one)) return false;
    if (one.type !== "radio") return true;
    // A group is one stop.
    const group = [...document.getElementsByName(one.name)];
    const stop = group.find(other => other.checked) || group[0];
    return one === stop;
  };
  window.stops = [...document.querySelectorAll(kinds)].filter(isStop);
  window.trail = [];
  const told = one => {
    const id = one.id ? `#${one.id}` : "";
    const text = (one.getAttribute("aria-label") || one.textContent).trim().slice(0, 30);
    return `${one.localName}${id} ${JSON.stringify(text)}`;
  };
  document.addEventListener("focusin", event => {
    const style = getComputedStyle(event.target);
    const ring = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
    window.trail.push({
      stop: window.stops.indexOf(event.target),
      told: told(event.target),
      ring: ring || style.boxShadow !== "none",
    });
  });
  return window.stops.map(told);
}
"""


async def faults(page: Page) -> list[str]:
    """What Tab does not reach, reaches in another order than it stands, or reaches unseen."""
    stops: Sequence[str] = await page.evaluate(STOPS)
    many = len(stops)
    found = await _pass(page, stops, 0, min(many, FIRST))
    if many > FIRST:
        found += await _pass(page, stops, max(FIRST, many - LAST) - 1, many)
    return found


async def _pass(page: Page, stops: Sequence[str], begin: int, end: int) -> list[str]:
    """From one stop to another, or to where it goes astray."""
    await page.evaluate("n => { window.stops[n].focus(); window.trail.length = 0; }", begin)
    left = PATIENCE
    for wanted in range(begin + 1, end):
        # Fields of a date, and regions that scroll, are stops of the browser's own.
        while (reached := await _press(page)) in (None, -1) and left:
            left -= 1
        if reached != wanted:
            met = "no stop" if reached in (None, -1) else stops[reached]
            return [f"Tab should reach {stops[wanted]}, and reaches {met}"]
    return await page.evaluate(UNSEEN)


async def _press(page: Page) -> int | None:
    """The number of the stop that Tab leads to; None where the focus has not moved."""
    known = await page.evaluate("window.trail.length")
    await page.keyboard.press("Tab")
    return await page.evaluate("known => window.trail.slice(known).at(-1)?.stop ?? null", known)
