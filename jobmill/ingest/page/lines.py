"""A page as the lines a reader sees, each with a trace of the markup it came from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import groupby

from selectolax.lexbor import LexborHTMLParser, LexborNode

from jobmill.ingest.page import marks
from jobmill.ingest.page.marks import Mark
from jobmill.ingest.page.words import squeeze

MOST = 1_000
"""Texts after which a page is not read on: no posting comes so late, and few end later."""
FIRST = 400
"""Lines among which title, company and place must be."""
_LONGEST = 20_000
_DEEPEST = 12
"""Inline elements within one another that are looked through."""

_UNSEEN = "script,style,noscript,template,svg,select,textarea,iframe,datalist,head,title"
_HIDDEN = '[hidden],[style*="display:none" i],[style*="display: none" i]'
_WITHIN_LINES = (
    "a abbr acronym b bdi bdo big cite code data del dfn em font i ins kbd label mark nobr q s samp"
    " small span strike strong sub sup time tt u var wbr"
)
_INLINE = frozenset(_WITHIN_LINES.split())
_NAMES = frozenset(
    ("class", "id", "itemprop", "data-testid", "data-test", "data-automation", "data-qa")
)


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

    @property
    def marks(self) -> frozenset[Mark]:
        return self.runs[0].marks

    @property
    def linked(self) -> bool:
        return all(run.link for run in self.runs)

    def parts(self) -> list[tuple[str, frozenset[Mark]]]:
        """The line, or what in it is marked as different things."""
        first = self.marks
        if len(self.runs) == 1 or all(run.marks == first for run in self.runs):
            return [(self.text, first)]
        groups = groupby(self.runs, key=lambda run: run.marks)
        return [(_joined(run.text for run in runs), marked) for marked, runs in groups]


def strip(tree: LexborHTMLParser) -> None:
    """Take out of the page what nobody sees."""
    for node in tree.css(_UNSEEN):
        node.decompose()
    left = 200_000
    for node in tree.css(_HIDDEN):
        size = len(node.text())
        # Long hidden texts are tabs and "read more" folds: a reader gets to see them.
        if size < 1_000:
            node.decompose()
        if (left := left - size) < 0:
            break


def read(root: LexborNode) -> list[Line]:
    """The lines under a node, in order."""
    lines: list[Line] = []
    broken, last, count = True, 0, 0
    for node in root.traverse(include_text=True):
        if node.tag != "-text":
            broken = broken or node.tag in ("br", "hr")
            continue
        raw = node.text_content or ""
        if not raw or raw.isspace():
            continue
        if (count := count + 1) > MOST:
            break
        raw = raw[:_LONGEST]
        block, tag, link, names = _around(node)
        if broken or block.mem_id != last:
            lines.append(Line(block, block.tag or "", []))
            broken, last = False, block.mem_id
        _append(lines[-1], raw, Run(" ".join(raw.split()), tag, link, marks.read(names)))
    for line in lines:
        line.text = " ".join(line.text.split())
    return lines


def around(lines: list[Line], words: str, before: int, after: int) -> list[Line]:
    """The lines from `before` to `after` the one that says just these (squeezed) words."""
    for at, line in enumerate(lines[:FIRST]):
        if squeeze(line.text) == words:
            return lines[max(0, at - before) : at + after]
    return []


def _around(node: LexborNode) -> tuple[LexborNode, str, bool, str]:
    """The block that holds a text, the element it is in, whether a link, the names on the way."""
    names = ""
    link = False
    parent = inner = node.parent or node
    for _ in range(_DEEPEST):
        for name, value in parent.attributes.items():
            if value and name in _NAMES:
                names += " " + value
        tag = parent.tag
        link = link or tag == "a"
        if tag not in _INLINE or parent.parent is None:
            break
        parent = parent.parent
    return parent, inner.tag or "", link, names[:400]


def _append(line: Line, raw: str, run: Run) -> None:
    if line.runs and line.text[-1:].isalnum() and raw[:1].isalnum() and run.tag == "span":
        line.text += " "
    line.text += raw
    line.runs.append(run)


def _joined(words: Iterable[str]) -> str:
    return " ".join(words).replace(" ,", ",").strip(" ,")
