"""Find text that visitors cannot see, and text that gives instructions to language models."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from jobmill.extract.page import nesting_limit
from jobmill.matching.llm_review import prompt_injection

from .findings import CrawledPage, Evidence, HostileText
from .site_text import MAX_PAGE_LENGTH, quote_text

MAX_FINDINGS_PER_PAGE = 10
_MAX_NODES = 50_000
_MAX_TEXT = 2_000
_MAX_PAGE_TEXT = 300_000
"""Characters of a page that are examined."""
_MIN_HIDDEN_WORDS = 8
"""Shorter hidden texts are labels for screen readers, menus and forms."""
_INVISIBLE_STYLE = re.compile(
    r"visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0?\.?0+(?![\d.]*[1-9])\s*(?:;|!|$)"
    r"|font-size\s*:\s*0(?:\.0+)?[a-z%]*\s*(?:;|!|$)"
    r"|(?:left|top|right|text-indent|margin-left|margin-top)\s*:\s*-\s*\d{4,}"
    r"|clip-path\s*:\s*inset\(\s*(?:50|100)%|color\s*:\s*transparent",
    re.IGNORECASE,
)
_NOT_DISPLAYED = re.compile(r"display\s*:\s*none", re.IGNORECASE)
_COLOR = re.compile(r"(?:^|;|\s)color\s*:\s*([^;!]{1,40})", re.IGNORECASE)
_BACKGROUND = re.compile(r"background(?:-color)?\s*:\s*([^;!]{1,60})", re.IGNORECASE)
_COLOR_NAMES = {"white": "ffffff", "black": "000000", "red": "ff0000", "transparent": ""}
_CONTENT_TAGS = frozenset(
    ("p", "div", "span", "li", "section", "article", "td", "font", "h1", "h2")
)
_NO_TEXT_TAGS = frozenset(
    ("script", "style", "template", "svg", "noscript", "head", "select", "iframe", "textarea")
)
# Panels that a visitor opens, and dialogs of the site, are hidden until then.
_OPENED_LATER = re.compile(
    r"modal|dialog|menu|nav|dropdown|drop-down|tab|accordion|collapse|popup|pop-up|overlay|tooltip"
    r"|cookie|consent|banner|slide|carousel|panel|offcanvas|drawer|toast|alert|error|success|form|lightbox"
    r"|faq|toggle|expand|more|mobile|desktop|search|login|sr-only|screen-reader|visually-hidden|skip",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Look:
    """How an element is shown, as far as its own styles and those around it say."""

    hidden: bool
    opened_later: bool
    background: str


def find_hostile_text(pages: Sequence[CrawledPage]) -> tuple[HostileText, ...]:
    """Hidden texts and prompt injections of all pages, each text once."""
    findings: dict[tuple[str, str], HostileText] = {}
    for page in pages:
        for finding in _read_page(page):
            findings.setdefault((finding.kind, finding.evidence.quote), finding)
    return tuple(findings.values())


def _read_page(page: CrawledPage) -> list[HostileText]:
    body = page.html[:MAX_PAGE_LENGTH].encode("utf-8", "replace")
    tree = LexborHTMLParser(nesting_limit.truncate_deep_html(body))
    findings: list[HostileText] = []
    left = _MAX_PAGE_TEXT
    seen: set[str] = set()
    for text, look in _texts(tree):
        if text in seen:
            continue
        seen.add(text)
        if (left := left - len(text)) < 0:
            break
        evidence = Evidence(quote_text(text), page.url)
        if prompt_injection.find_injection(text) is not None:
            findings.append(HostileText("prompt_injection", evidence))
        elif look.hidden and not look.opened_later and text.count(" ") >= _MIN_HIDDEN_WORDS:
            findings.append(HostileText("hidden_text", evidence))
        if len(findings) == MAX_FINDINGS_PER_PAGE:
            break
    return findings


def _texts(tree: LexborHTMLParser) -> Iterator[tuple[str, _Look]]:
    """The text of each element, of comments and of invisible attributes."""
    start = tree.root
    waiting: list[tuple[LexborNode | None, _Look]] = [(start, _Look(False, False, "ffffff"))]
    for _ in range(_MAX_NODES):
        if not waiting:
            return
        node, look = waiting.pop()
        if node is None:
            continue
        waiting.append((node.next, look))
        if node.tag == "-comment":
            yield _squeeze(node.comment_content or ""), _Look(True, True, "")
        elif node.tag == "meta" or node.tag == "img":
            attributes = node.attributes
            text = attributes.get("content") or attributes.get("alt") or ""
            yield _squeeze(text), _Look(True, True, "")
        elif node.tag not in _NO_TEXT_TAGS or node.tag == "head":
            inner = _look(node, look)
            if text := _own_text(node):
                yield text, inner
            waiting.append((node.first_child, inner))


def _squeeze(text: str) -> str:
    return " ".join(text[:_MAX_TEXT].split())


def _own_text(node: LexborNode) -> str:
    """The text that stands directly in an element, with the text of inline elements in between."""
    if node.tag not in ("html", "body", "head"):
        parts: list[str] = []
        child = node.first_child
        while child is not None and len(parts) < 200:
            if child.tag == "-text":
                parts.append(child.text_content or "")
            elif child.tag in ("b", "i", "em", "strong", "a", "u", "code"):
                parts.append(child.text()[:_MAX_TEXT])
            child = child.next
        return _squeeze(" ".join(parts)) if any(part.strip() for part in parts) else ""
    return ""


def _look(node: LexborNode, outer: _Look) -> _Look:
    attributes = node.attributes
    style = (attributes.get("style") or "")[:_MAX_TEXT]
    names = f"{attributes.get('class') or ''} {attributes.get('id') or ''} {attributes.get('role') or ''}"
    opened_later = (
        outer.opened_later
        or node.tag in ("nav", "dialog", "form", "details")
        or (len(names) > 2 and bool(_OPENED_LATER.search(names[:500])))
    )
    background = _read_color(_BACKGROUND, style)
    background = outer.background if background is None else background
    hidden = (
        outer.hidden
        or "hidden" in attributes
        or attributes.get("aria-hidden") == "true"
        or bool(style and (_INVISIBLE_STYLE.search(style) or _NOT_DISPLAYED.search(style)))
        or _has_color_of_background(node, style, background)
    )
    return _Look(hidden, opened_later, background)


def _has_color_of_background(node: LexborNode, style: str, background: str) -> bool:
    color = _read_color(_COLOR, style)
    if color is None and node.tag == "font":
        color = _normalize_color(node.attributes.get("color") or "")
    return bool(color) and color == background and node.tag in _CONTENT_TAGS


def _read_color(pattern: re.Pattern[str], style: str) -> str | None:
    """The color as six hexadecimal digits; "" for one that cannot be compared, None without any."""
    match = pattern.search(style)
    return _normalize_color(match[1]) if match else None


def _normalize_color(words: str) -> str:
    words = words.strip().lower()
    if words in _COLOR_NAMES:
        return _COLOR_NAMES[words]
    if digits := re.fullmatch(r"#([0-9a-f]{3}|[0-9a-f]{6})", words):
        return digits[1] if len(digits[1]) == 6 else "".join(digit * 2 for digit in digits[1])
    if parts := re.fullmatch(r"rgba?\(\s*(\d{1,3})[,\s]+(\d{1,3})[,\s]+(\d{1,3})[^)]*\)", words):
        return "".join(f"{min(int(part), 255):02x}" for part in parts.groups())
    return ""
