"""The rules of WCAG that a program can check, by axe-core (vendor/)."""

from __future__ import annotations

from pathlib import Path

from playwright.async_api import Page

AXE = (Path(__file__).parent / "vendor" / "axe.min.js").read_text()
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
OPEN = "for (const one of document.querySelectorAll('details')) one.open = true"
RUN = """
async tags => {
  const found = await axe.run(document, {
    runOnly: tags,
    rules: {"target-size": {enabled: true}},
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


async def violations(page: Page) -> list[str]:
    """What is wrong with the page as it is now, with all that unfolds unfolded."""
    if not await page.evaluate("'axe' in window"):
        await page.evaluate(OPEN)
        await page.evaluate(AXE)
    return await page.evaluate(RUN, TAGS)
