"""How much of each page's text the server sends without JavaScript."""

from __future__ import annotations

import re
from collections.abc import Sequence

from selectolax.lexbor import LexborHTMLParser, LexborNode

from jobmill.extract.page import nesting_limit

from .findings import CrawledPage, PageProblem, PageReadability
from .site_text import MAX_PAGE_LENGTH

MIN_CHARACTERS = 200
"""A page with less text is empty."""
MIN_SHARE = 0.5
"""A page needs JavaScript if the server sends less than this share of its text."""
_INVISIBLE = frozenset(
    ("script", "style", "noscript", "template", "svg", "head", "title", "iframe", "-comment")
)
_MAX_NODES = 300_000
_MAX_TEXT_LENGTH = 1_000_000
_APP_ROOT = re.compile(
    r"""id=["']?(?:root|app|__next|__nuxt|gatsby-focus-wrapper|svelte)\b|<app-root|data-reactroot"""
    r"|enable javascript|requires javascript|javascript is (?:disabled|required)",
    re.IGNORECASE,
)
_CHALLENGE = re.compile(
    r"just a moment\.\.\.|checking your browser|verify(?:ing)? (?:that )?you are (?:a )?human"
    r"|attention required! \| cloudflare|access denied|request unsuccessful\. incapsula|cf-challenge"
    r"|px-captcha|are you a robot",
    re.IGNORECASE,
)
_TOO_LARGE = re.compile(r"too large|larger than|longer than|truncated", re.IGNORECASE)


def measure_readability(pages: Sequence[CrawledPage]) -> tuple[PageReadability, ...]:
    return tuple(_measure(page) for page in pages)


def count_text(html: str) -> int:
    """The characters of visible text, with runs of whitespace as one."""
    body = html[:MAX_PAGE_LENGTH].encode("utf-8", "replace")
    root = LexborHTMLParser(nesting_limit.truncate_deep_html(body)).body
    return _count(root) if root else 0


def _count(root: LexborNode) -> int:
    total = 0
    waiting = [root.first_child]
    for _ in range(_MAX_NODES):
        if not waiting or total > _MAX_TEXT_LENGTH:
            break
        node = waiting.pop()
        if node is None:
            continue
        waiting.append(node.next)
        if node.tag == "-text":
            words = (node.text_content or "").split()
            total += sum(map(len, words)) + len(words)
        elif node.tag not in _INVISIBLE:
            waiting.append(node.first_child)
    return total


def _measure(page: CrawledPage) -> PageReadability:
    raw = count_text(page.html)
    rendered = None if page.rendered_html is None else count_text(page.rendered_html)
    problem, reason = _find_problem(page, raw, rendered)
    return PageReadability(page.url, raw, rendered, problem, reason)


def _find_problem(
    page: CrawledPage, raw: int, rendered: int | None
) -> tuple[PageProblem | None, str]:
    if not page.conclusive:
        return None, page.failure
    if page.status in (401, 403, 407, 429) or (page.status == 503 and _is_challenge(page, raw)):
        return "blocked", f"The page answers {page.status}"
    if page.failure and _TOO_LARGE.search(page.failure):
        return "too_large", page.failure
    if page.status is None or page.status >= 400:
        return "failed", page.failure or f"The page answers {page.status}"
    if _is_challenge(page, raw):
        return "blocked", "The page asks visitors to prove that they are human"
    return _find_missing_text(page, raw, rendered)


def _is_challenge(page: CrawledPage, raw: int) -> bool:
    return raw < 5 * MIN_CHARACTERS and bool(_CHALLENGE.search(page.html[:100_000]))


def _find_missing_text(
    page: CrawledPage, raw: int, rendered: int | None
) -> tuple[PageProblem | None, str]:
    if rendered is not None and rendered >= MIN_CHARACTERS and raw < MIN_SHARE * rendered:
        share = raw / rendered
        return "needs_javascript", f"The server sends {share:.0%} of the text that a browser shows"
    if raw >= MIN_CHARACTERS or (rendered is not None and raw >= rendered > 0):
        return None, ""
    if rendered is None and _APP_ROOT.search(page.html[:MAX_PAGE_LENGTH]):
        return "needs_javascript", f"The server sends {raw} characters of text and an application"
    return "empty", f"The page has {max(raw, rendered or 0)} characters of text"
