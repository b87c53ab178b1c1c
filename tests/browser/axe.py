"""The rules of WCAG that a program can check, by axe-core (vendor/)."""

from __future__ import annotations

from playwright.async_api import Page

from tests.browser.helpers import Theme, Window
from tests.browser.world import AXE

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
COLOURS = ["color-contrast", "link-in-text-block"]
"""Rules that are checked again in the other theme."""
OTHER: dict[Theme, Theme] = {"light": "dark", "dark": "light"}
PREPARE = """
async url => {
  if ("axe" in window) return;
  for (const details of document.querySelectorAll("details")) details.open = true;
  const script = document.createElement("script");
  script.src = url;
  await new Promise((resolve, reject) => {
    script.onload = resolve;
    script.onerror = () => reject(new Error(`${url} did not load`));
    document.head.append(script);
  });
  script.remove();
}
"""
"""By a URL, so that the browser keeps the compiled script for the next page."""
DIALOGS = "[...document.querySelectorAll('dialog')].map(one => `#${one.id}`)"
RUN = """
async ([only, where]) => {
  const all = only[0].startsWith("wcag");
  const found = await axe.run(where, {
    runOnly: only,
    rules: all ? {"target-size": {enabled: true}} : {},
    resultTypes: ["violations"],
    preload: false,
  });
  return found.violations.map(rule => {
    const where = rule.nodes.map(node => node.target.join(" "));
    const [first] = rule.nodes;
    const why = [...first.any, ...first.all, ...first.none].map(check => check.message);
    const more = where.length > 3 ? ` and ${where.length - 3} more` : "";
    return `${rule.id} at ${where.slice(0, 3).join(", ")}${more}: ${why.join("; ")}`;
  });
}
"""


async def faults(window: Window, where: str = "html") -> list[str]:
    """Accessibility violations of a page in both themes, with all disclosures open."""
    theme = window.theme
    violations = await _run(window.page, TAGS, where)
    await window.turn(OTHER[theme])
    colours = await _run(window.page, COLOURS, where)
    await window.turn(theme)
    return [
        *(f"{violation} ({theme})" for violation in violations),
        *(f"{violation} ({OTHER[theme]})" for violation in colours),
    ]


async def faults_of_dialogs(window: Window) -> list[str]:
    """Accessibility violations of the dialogs of a page."""
    violations: list[str] = []
    for dialog in await window.page.evaluate(DIALOGS):
        await window.page.evaluate("id => document.querySelector(id).showModal()", dialog)
        violations += await faults(window, dialog)
        await window.page.evaluate("id => document.querySelector(id).close()", dialog)
    return violations


async def _run(page: Page, only: list[str], where: str) -> list[str]:
    await page.evaluate(PREPARE, AXE)
    return await page.evaluate(RUN, [only, where])
