"""Convert a page to its visible lines, each with the tags and names of its elements."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import Any, TypeAlias

from selectolax.lexbor import LexborNode

from . import element_names
from .element_names import ElementRole
from .text_checks import normalize

_MAX_TEXTS = 600
"""Texts after which reading stops: known pages have less than half, and no posting starts later."""
_MAX_TOP_LINES = 400
"""Lines that may contain title, company and place."""
_MAX_TOP_LENGTH = 10_000
"""Characters of these lines; only the start of a long line counts."""
_SHORT_LINE = 160
_MIN_MENU_LINKS = 60
"""A list with more links is a menu, not part of a posting."""
_MAX_TEXT_LENGTH = 20_000
_MAX_PAGE_LENGTH = 40_000
"""Characters after which reading stops: no posting is that long."""

_INVISIBLE_TAG_NAMES = (
    "script style noscript template svg select textarea iframe datalist head title -comment"
)
_INVISIBLE_TAGS = frozenset(_INVISIBLE_TAG_NAMES.split())
_BARS = frozenset("|-\u2013·•/,>»:")
_BREAKS = frozenset(("br", "hr"))
# A link to the page of one company among many.
_COMPANY_LINK = re.compile(
    r"(?:compan(?:y|ies)|employers?)(?:/|_?(?:id|name)?=)[^/?#&=]", re.IGNORECASE
)
_CRUMBS = re.compile("breadcrumb|crumbs", re.IGNORECASE)
_HIDDEN_STYLE = re.compile("display: ?none", re.IGNORECASE)
_INLINE_TAG_NAMES = (
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q s samp"
    " small span strike strong sub sup time tt u var wbr"
)
_INLINE_TAGS = frozenset(_INLINE_TAG_NAMES.split())
_NAME_ATTRIBUTES = frozenset(
    ("class", "id", "itemprop", "data-testid", "data-test", "data-automation", "data-qa")
)
_Attributes: TypeAlias = dict[str, str | None]
_Position: TypeAlias = tuple[LexborNode, str, bool, str]
"""Where a text is: its block, its innermost tag, whether it is in a link, and the names of the
elements up to the block."""


@dataclass(slots=True)
class TextRun:
    """The text of one element within a line."""

    text: str
    tag: str
    in_link: bool
    roles: frozenset[ElementRole]


@dataclass(slots=True)
class TextLine:
    """The text of one block, up to a line break."""

    block: LexborNode = field(repr=False)
    tag: str
    runs: list[TextRun]
    text: str = ""
    roles: frozenset[ElementRole] = frozenset()
    """Roles of its first run."""
    is_link: bool = False
    """The whole line is a link."""
    key: str = ""
    """The normalized text, if the line is short and at the top of the page."""
    parts: list[tuple[str, frozenset[ElementRole]]] = field(default_factory=list[Any])
    """The line, or its parts with different roles."""


@dataclass(slots=True)
class PageText:
    """The visible content of a page, up to a limit."""

    texts: list[str] = field(default_factory=list[str])
    """With the original whitespace."""
    nodes: list[LexborNode] = field(default_factory=list[LexborNode], repr=False)
    """The text nodes, in the same order."""
    lines: list[TextLine] = field(default_factory=list[TextLine])
    links: list[LexborNode] = field(default_factory=list[LexborNode])
    hrefs: list[str] = field(default_factory=list[str])
    """The targets of the links, in the same order."""
    pictures: list[str] = field(default_factory=list[str])
    """Alternative texts."""
    times: set[str] = field(default_factory=set[str])
    """The `datetime` values of <time> elements."""
    crumbs: LexborNode | None = None
    """The first breadcrumb element."""
    hidden_text_budget: int = 200_000
    """Characters of hidden text that may still be measured."""
    menu_budget: int = 100
    """Lists that may still be measured."""


def skim_texts(root: LexborNode | None) -> list[str]:
    """All text that may be visible under a node: more than `read_lines` returns, but much faster."""
    nodes = islice(root.traverse(include_text=True), 10 * _MAX_TEXTS) if root else ()
    return [
        node.text_content or ""
        for node in nodes
        if node.is_text_node and node.parent and node.parent.tag not in _INVISIBLE_TAGS
    ]


def read_lines(root: LexborNode | None) -> PageText:
    """The visible content under a node, in order."""
    page_text = PageText()
    last, size = 0, 0
    for raw, node, place in _texts(root, page_text) if root else ():
        if not place:
            last = 0
            continue
        size += len(raw)
        if len(page_text.texts) == _MAX_TEXTS or size > _MAX_PAGE_LENGTH:
            break
        page_text.texts.append(raw)
        page_text.nodes.append(node)
        block, tag, link, names = place
        if block.mem_id != last:
            last = block.mem_id
            page_text.lines.append(TextLine(block, block.tag or "", []))
        _append_run(
            page_text.lines[-1],
            raw,
            TextRun(" ".join(raw.split()), tag, link, element_names.roles_of_names(names)),
        )
    for line in page_text.lines:
        _finish_line(line)
    return page_text


def _texts(
    root: LexborNode, page_text: PageText
) -> Iterator[tuple[str, LexborNode, _Position | None]]:
    """Every visible text with its position; no position for a line break."""
    top = _enter((root, "", False, ""), root, root.tag or "", root.attributes)
    waiting = [(root.first_child, top)]
    while waiting:
        node, place = waiting.pop()
        while node is not None:
            tag, after = node.tag or "", node.next
            if tag == "-text":
                raw = node.text_content
                if raw and not raw.isspace():
                    yield raw[:_MAX_TEXT_LENGTH], node, place
            elif tag in _BREAKS:
                yield "", node, None
            elif tag not in _INVISIBLE_TAGS:
                attributes = node.attributes
                if not _is_skipped(node, tag, attributes, page_text):
                    waiting.append((after, place))
                    place, after = _enter(place, node, tag, attributes), node.first_child
                    _collect(page_text, node, place, attributes)
            node = after


def _is_skipped(node: LexborNode, tag: str, attributes: _Attributes, page_text: PageText) -> bool:
    """Whether an element is hidden, or a menu so long that it would use up the limit."""
    if tag in ("nav", "ul") and _is_menu(node, page_text):
        return True
    if "hidden" not in attributes:
        style = attributes.get("style")
        if not style or not _HIDDEN_STYLE.search(style):
            return False
    if page_text.hidden_text_budget < 0:
        return False
    size = len(node.text())
    page_text.hidden_text_budget -= size
    # Long hidden texts are tabs and "read more" sections, which readers can open.
    return size < 1_000


def _is_menu(node: LexborNode, page_text: PageText) -> bool:
    if page_text.menu_budget < 0:
        return False
    page_text.menu_budget -= 1
    links = node.css("a")
    if len(links) <= _MIN_MENU_LINKS:
        return False
    # Its links are kept, because the targets reveal a list of postings.
    page_text.links += links[: 5 * _MIN_MENU_LINKS]
    page_text.hrefs += [link.attributes.get("href") or "" for link in links[: 5 * _MIN_MENU_LINKS]]
    return True


def _collect(
    page_text: PageText, node: LexborNode, place: _Position, attributes: _Attributes
) -> None:
    """Collect links, images, times and breadcrumbs during the same walk."""
    _, tag, _, named = place
    if tag == "a":
        page_text.links.append(node)
        page_text.hrefs.append(attributes.get("href") or "")
    elif tag == "img":
        page_text.pictures.append(attributes.get("alt") or "")
    elif tag == "time" and (time := attributes.get("datetime")):
        page_text.times.add(time)
    elif tag == "nav":
        named += f" {attributes.get('aria-label')}"
    if "rumb" in named and not page_text.crumbs and _CRUMBS.search(named):
        page_text.crumbs = node


def _enter(outer: _Position, node: LexborNode, tag: str, attributes: _Attributes) -> _Position:
    names = ""
    for name in attributes:
        if name in _NAME_ATTRIBUTES and (value := attributes[name]):
            names += " " + value
    if tag == "a" and _COMPANY_LINK.search(attributes.get("href") or ""):
        names += " company"
    if tag in _INLINE_TAGS:
        block, _, link, around = outer
        return block, tag, link or tag == "a", (names + around)[:400]
    return node, tag, False, names[:400]


def top_lines(lines: list[TextLine]) -> list[TextLine]:
    """The lines that may contain title, company and place."""
    top: list[TextLine] = []
    left = _MAX_TOP_LENGTH
    for line in lines[:_MAX_TOP_LINES]:
        size = len(line.text)
        if size <= _SHORT_LINE:
            line.key = normalize(line.text)
        if (left := left - min(size, _SHORT_LINE)) < 0:
            break
        top.append(line)
    return top


def lines_containing(lines: list[TextLine], words: Iterable[str]) -> list[TextLine]:
    """The lines that contain one of the (lower-case) words; cheaper than running patterns on all."""
    text = "\n".join(line.text for line in lines).lower()
    present = [word for word in words if word in text]
    return [line for line in lines if any(word in line.text.lower() for word in present)]


def lines_around(lines: list[TextLine], words: str, before: int, after: int) -> list[TextLine]:
    """The lines around the one that consists of these (normalized) words."""
    for at, line in enumerate(lines):
        if words and line.key == words:
            return lines[max(0, at - before) : at + after]
    return []


def _append_run(line: TextLine, raw: str, run: TextRun) -> None:
    if line.runs and line.text[-1:].isalnum() and raw[:1].isalnum() and run.tag == "span":
        line.text += " "
    line.text += raw
    line.runs.append(run)


def _finish_line(line: TextLine) -> None:
    first = line.runs[0]
    line.roles = first.roles
    if len(line.runs) == 1:
        line.text, line.is_link = first.text, first.in_link
    else:
        line.text = " ".join(line.text.split())
        # Bars between links are not text.
        line.is_link = all(run.in_link or run.text in _BARS for run in line.runs)
    if all(run.roles == first.roles for run in line.runs):
        line.parts = [(line.text, first.roles)]
    else:
        groups = groupby(line.runs, key=lambda run: run.roles)
        line.parts = [(_join_words(run.text for run in runs), marked) for marked, runs in groups]


def _join_words(words: Iterable[str]) -> str:
    return " ".join(words).replace(" ,", ",").strip(" ,")
