"""A page as the lines a reader sees, each with a trace of the markup it came from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby, islice
from typing import Any, TypeAlias

from selectolax.lexbor import LexborNode

from . import element_names
from .element_names import Mark
from .text_checks import squeeze

MOST = 600
"""Texts after which a page is not read on: no posting comes so late, and few end later; the
pages we know have less than half."""
_FIRST = 400
"""Lines among which title, company and place must be."""
_TOP = 10_000
"""Letters of these lines; of a long one only the beginning counts."""
_SHORT = 160
_MENU = 60
"""Links after which a list of them is a menu, and no part of one posting."""
_LONGEST = 20_000
_MUCH = 40_000
"""Letters after which it is not read on: no posting is that long."""

_NEVER = "script style noscript template svg select textarea iframe datalist head title -comment"
_UNSEEN = frozenset(_NEVER.split())
_BARS = frozenset("|-\u2013·•/,>»:")
_BREAKS = frozenset(("br", "hr"))
# The page of one company among many.
_COMPANY = re.compile(r"(?:compan(?:y|ies)|employers?)(?:/|_?(?:id|name)?=)[^/?#&=]", re.IGNORECASE)
_CRUMBS = re.compile("breadcrumb|crumbs", re.IGNORECASE)
_NOT_SHOWN = re.compile("display: ?none", re.IGNORECASE)
_WITHIN_LINES = (
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q s samp"
    " small span strike strong sub sup time tt u var wbr"
)
_INLINE = frozenset(_WITHIN_LINES.split())
_NAMES = frozenset(
    ("class", "id", "itemprop", "data-testid", "data-test", "data-automation", "data-qa")
)
_Attributes: TypeAlias = dict[str, str | None]
_Place: TypeAlias = tuple[LexborNode, str, bool, str]
"""Where a text stands: its block, the tag it is right in, whether in a link, and the names of the
elements from there up to the block."""


@dataclass(slots=True)
class Run:
    """Words of one element within a line."""

    text: str
    tag: str
    link: bool
    marks: frozenset[Mark]


@dataclass(slots=True)
class Line:
    """Words that stand together in one block, up to a break."""

    block: LexborNode = field(repr=False)
    tag: str
    runs: list[Run]
    text: str = ""
    marks: frozenset[Mark] = frozenset()
    """Of its first words."""
    linked: bool = False
    """All of it is a link."""
    key: str = ""
    """Its words, squeezed, if it is short and at the top of the page."""
    parts: list[tuple[str, frozenset[Mark]]] = field(default_factory=list[Any])
    """The line, or what in it is marked as different things."""


@dataclass(slots=True)
class View:
    """What a reader sees of a page, down to where there is too much of it."""

    texts: list[str] = field(default_factory=list[str])
    """As the page has them, with its spaces."""
    lines: list[Line] = field(default_factory=list[Line])
    links: list[LexborNode] = field(default_factory=list[LexborNode])
    hrefs: list[str] = field(default_factory=list[str])
    """Where the links lead, one for each."""
    pictures: list[str] = field(default_factory=list[str])
    """What they say in words."""
    times: set[str] = field(default_factory=set[str])
    """What <time> elements say to machines."""
    crumbs: LexborNode | None = None
    """The first element that calls itself breadcrumbs."""
    patience: int = 200_000
    """How much hidden text is yet to be measured."""
    menus: int = 100
    """How many lists are yet to be measured."""


def skim(root: LexborNode | None) -> list[str]:
    """All that may be seen under a node: more than `read` finds, in a fraction of its time."""
    nodes = islice(root.traverse(include_text=True), 10 * MOST) if root else ()
    return [
        node.text_content or ""
        for node in nodes
        if node.is_text_node and node.parent and node.parent.tag not in _UNSEEN
    ]


def read(root: LexborNode | None) -> View:
    """What is seen under a node, in order."""
    view = View()
    last, size = 0, 0
    for raw, place in _texts(root, view) if root else ():
        if not place:
            last = 0
            continue
        size += len(raw)
        if len(view.texts) == MOST or size > _MUCH:
            break
        view.texts.append(raw)
        block, tag, link, names = place
        if block.mem_id != last:
            last = block.mem_id
            view.lines.append(Line(block, block.tag or "", []))
        _append(
            view.lines[-1], raw, Run(" ".join(raw.split()), tag, link, element_names.read(names))
        )
    for line in view.lines:
        _finish(line)
    return view


def _texts(root: LexborNode, view: View) -> Iterator[tuple[str, _Place | None]]:
    """Every text that is seen, with its place; no place for a break."""
    top = _inside((root, "", False, ""), root, root.tag or "", root.attributes)
    waiting = [(root.first_child, top)]
    while waiting:
        node, place = waiting.pop()
        while node is not None:
            tag, after = node.tag or "", node.next
            if tag == "-text":
                raw = node.text_content
                if raw and not raw.isspace():
                    yield raw[:_LONGEST], place
            elif tag in _BREAKS:
                yield "", None
            elif tag not in _UNSEEN:
                attributes = node.attributes
                if not _is_skipped(node, tag, attributes, view):
                    waiting.append((after, place))
                    place, after = _inside(place, node, tag, attributes), node.first_child
                    _note(view, node, place, attributes)
            node = after


def _is_skipped(node: LexborNode, tag: str, attributes: _Attributes, view: View) -> bool:
    """Whether an element is hidden, or a menu so long that it would keep us from the posting."""
    if tag in ("nav", "ul") and _is_menu(node, view):
        return True
    if "hidden" not in attributes:
        style = attributes.get("style")
        if not style or not _NOT_SHOWN.search(style):
            return False
    if view.patience < 0:
        return False
    size = len(node.text())
    view.patience -= size
    # Long hidden texts are tabs and "read more" folds: a reader gets to see them.
    return size < 1_000


def _is_menu(node: LexborNode, view: View) -> bool:
    if view.menus < 0:
        return False
    view.menus -= 1
    links = node.css("a")
    if len(links) <= _MENU:
        return False
    # It is not read, but a list of postings is told by where its links lead.
    view.links += links[: 5 * _MENU]
    view.hrefs += [link.attributes.get("href") or "" for link in links[: 5 * _MENU]]
    return True


def _note(view: View, node: LexborNode, place: _Place, attributes: _Attributes) -> None:
    """Keep what is asked for later, so that nobody has to search the whole page for it."""
    _, tag, _, named = place
    if tag == "a":
        view.links.append(node)
        view.hrefs.append(attributes.get("href") or "")
    elif tag == "img":
        view.pictures.append(attributes.get("alt") or "")
    elif tag == "time" and (time := attributes.get("datetime")):
        view.times.add(time)
    elif tag == "nav":
        named += f" {attributes.get('aria-label')}"
    if "rumb" in named and not view.crumbs and _CRUMBS.search(named):
        view.crumbs = node


def _inside(outer: _Place, node: LexborNode, tag: str, attributes: _Attributes) -> _Place:
    names = ""
    for name in attributes:
        if name in _NAMES and (value := attributes[name]):
            names += " " + value
    if tag == "a" and _COMPANY.search(attributes.get("href") or ""):
        names += " company"
    if tag in _INLINE:
        block, _, link, around = outer
        return block, tag, link or tag == "a", (names + around)[:400]
    return node, tag, False, names[:400]


def top(lines: list[Line]) -> list[Line]:
    """The lines among which title, company and place must be."""
    found: list[Line] = []
    left = _TOP
    for line in lines[:_FIRST]:
        size = len(line.text)
        if size <= _SHORT:
            line.key = squeeze(line.text)
        if (left := left - min(size, _SHORT)) < 0:
            break
        found.append(line)
    return found


def holding(lines: list[Line], words: Iterable[str]) -> list[Line]:
    """The lines that hold one of these (lower-case) words: patterns are slow to find nothing."""
    text = "\n".join(line.text for line in lines).lower()
    said = [word for word in words if word in text]
    return [line for line in lines if any(word in line.text.lower() for word in said)]


def around(lines: list[Line], words: str, before: int, after: int) -> list[Line]:
    """The lines from `before` to `after` the one that says just these (squeezed) words."""
    for at, line in enumerate(lines):
        if words and line.key == words:
            return lines[max(0, at - before) : at + after]
    return []


def _append(line: Line, raw: str, run: Run) -> None:
    if line.runs and line.text[-1:].isalnum() and raw[:1].isalnum() and run.tag == "span":
        line.text += " "
    line.text += raw
    line.runs.append(run)


def _finish(line: Line) -> None:
    first = line.runs[0]
    line.marks = first.marks
    if len(line.runs) == 1:
        line.text, line.linked = first.text, first.link
    else:
        line.text = " ".join(line.text.split())
        # Bars between links are no words.
        line.linked = all(run.link or run.text in _BARS for run in line.runs)
    if all(run.marks == first.marks for run in line.runs):
        line.parts = [(line.text, first.marks)]
    else:
        groups = groupby(line.runs, key=lambda run: run.marks)
        line.parts = [(_joined(run.text for run in runs), marked) for marked, runs in groups]


def _joined(words: Iterable[str]) -> str:
    return " ".join(words).replace(" ,", ",").strip(" ,")
