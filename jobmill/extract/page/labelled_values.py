"""Labels and what stands beside them: "Location: Berlin", in whatever markup."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from selectolax.lexbor import LexborNode

from . import element_order
from .label_vocabulary import Field, is_vague, known
from .text_checks import squeeze
from .text_lines import Line, Run

_UNSAID = (
    "n a|na|none|not available|not specified|unspecified|not stated|not provided|see description|"
    "see ad|unknown|tbd|keine angabe|k a|nc|no especificado"
)
_NOTHING = frozenset(_UNSAID.split("|"))
_BAR = re.compile(r"\s+[|•·]\s+")
_COLON = re.compile(r":(?=\s|$)")
_WORD = re.compile(r"\S+")
_WIDEST = 12
_LONGEST_CELL = 150
_EDGES = " \t|-\u2013\u2014•·,;:>»*"


@dataclass(frozen=True, slots=True)
class Pair:
    """What a label says, and how surely it is one (0 to 1)."""

    name: Field
    value: str
    surely: float
    at: int
    """The line that holds the value."""


def pairs(lines: list[Line]) -> list[Pair]:
    """All labels of fields that we know, with their values, in order."""
    found: list[Pair] = []
    names: list[Field | None] = [_named(line) for line in lines]
    heads: set[int] = set()
    for at, line in enumerate(lines):
        row = _row(line) if names[at] else None
        if (row and row.mem_id in heads) or (names[at] and line.block.mem_id in heads):
            continue
        if row and (told := _columns(row, lines, at)):
            heads.add(row.mem_id)
            found += told
        elif names[at] and (told := _stacked(lines, at)):
            heads.add(line.block.mem_id)
            found += told
        elif names[at]:
            found += _beside(lines, names, at)
        elif len(line.text) < 300 and (":" in line.text or len(line.runs) > 1):
            found += _inside(line, at)
    return _in_company([pair for pair in found if pair.value])


def _named(line: Line) -> Field | None:
    if ":" in line.text[:-1]:
        return None
    return known(f"{line.text}:" if line.tag in ("dt", "th") else line.text)


def _in_company(found: list[Pair]) -> list[Pair]:
    """Labels come in groups: one that stands alone, as in running text, is less sure."""
    kept: list[Pair] = []
    for n, pair in enumerate(found):
        near = found[max(0, n - 3) : n] + found[n + 1 : n + 4]
        group = any(
            one.name not in (pair.name, "section") and abs(one.at - pair.at) <= 6 for one in near
        )
        # Braces: a template that the page's program has yet to fill.
        empty = squeeze(pair.value[:80]) in _NOTHING or ("{" in pair.value and "}" in pair.value)
        if pair.name not in ("other", "section") and not empty:
            kept.append(pair if group else replace(pair, surely=pair.surely - 0.3))
    return kept


def clean(value: str) -> str:
    """A value without what sets it apart from its neighbours."""
    return value.strip(_EDGES)


def _inside(line: Line, at: int) -> list[Pair]:
    """Label and value in one line: in one text with a colon, or in elements side by side."""
    found: list[Pair] = []
    label: tuple[Field, float] | None = None
    words: list[str] = []
    for run, text in _pieces(line):
        head, colon, tail = text.partition(":")
        name = known(head + colon)
        if name and (colon or _set_apart(line, run.tag)) and not run.link:
            _close(found, label, words, at)
            plain = bool(tail.strip()) or not colon
            label, words = (name, _sureness(head, plain=plain)), [tail] if tail.strip() else []
        elif label and _is_label(text):
            _close(found, label, words, at)
            label, words = None, []
        elif label and not (run.link and words):
            words.append(text)
    _close(found, label, words, at)
    return found


def _pieces(line: Line) -> Iterator[tuple[Run, str]]:
    for n, run in enumerate(line.runs):
        words = run.text
        # The colon may stand outside of the element that sets the label apart.
        if n and words.startswith(":"):
            words = words[1:].lstrip()
        if n + 1 < len(line.runs) and line.runs[n + 1].text.startswith(":"):
            words += ":"
        for part in _BAR.split(words) if ":" in words else (words,):
            for text in _before_labels(part) if part.count(":") > 1 else (part,):
                if text:
                    yield run, text


def _before_labels(words: str) -> Iterator[str]:
    """The words cut before each label in them: only spaces may set it apart."""
    start = 0
    for colon in _COLON.finditer(words):
        before = [word.start() for word in _WORD.finditer(words, start, colon.start())][-3:]
        cut = next((at for at in before if known(words[at : colon.end()])), start)
        yield words[start:cut].strip()
        start = cut
    yield words[start:].strip()


def _close(found: list[Pair], label: tuple[Field, float] | None, words: list[str], at: int) -> None:
    if label and words:
        value = clean(" ".join(words)).replace(" ,", ",")
        found.append(Pair(label[0], value, label[1], at))


def _set_apart(line: Line, tag: str) -> bool:
    """Whether a run without a colon can be a label: it must be an element of its own."""
    return len(line.runs) > 1 and tag in ("b", "strong", "span", "label", "em", "font", "small")


def _is_label(words: str) -> bool:
    return (words.endswith(":") and len(words) < 40) or known(words) is not None


def _is_another(line: Line, name: Field) -> bool:
    """Whether a line is or begins with a label, though not of the same field: a type of work may
    be "contract"."""
    head, colon, _ = line.text.partition(":")
    said = {known(line.text), known(line.runs[0].text), known(head + colon) if colon else None}
    return bool(said - {name, None}) or (line.text.endswith(":") and len(line.text) < 40)


def _sureness(label: str, *, plain: bool) -> float:
    """Less for words that may be a heading of something else, and for what nothing sets apart."""
    doubt = (3 if is_vague(label) else 0) + (2 if plain else 0)
    return (10 - doubt) / 10


def _beside(lines: list[Line], names: list[Field | None], at: int) -> list[Pair]:
    """The label is a line of its own; its value is the next one, if the markup says so."""
    line, name = lines[at], names[at]
    if not name or line.linked or at + 1 == len(lines):
        return []
    # A colon may have a cell of its own.
    step = 2 if lines[at + 1].text == ":" and at + 2 < len(lines) else 1
    value = lines[at + step]
    if value.tag != "dd" and _is_another(value, name):
        return []
    # A heading over a group of facts may be said twice.
    if squeeze(value.text[:80]) == squeeze(line.text):
        return []
    colon = step == 2 or line.text.endswith(":")
    listed = line.tag in ("li", "body", "a", "button") and not colon
    if listed or not element_order.follows(line.block, value.block):
        return []
    plain = not colon and line.tag not in ("dt", "th", "td", "label")
    return [Pair(name, _own_words(value), _sureness(line.text, plain=plain), at + step)]


def _own_words(line: Line) -> str:
    """The line without links that follow the value: "Acme [view all]"."""
    runs = line.runs
    if len(runs) < 2 or not any(run.link for run in runs[1:]):
        return clean(line.text)
    end = next(
        (
            n
            for n, run in enumerate(runs)
            if n and run.link and not runs[n - 1].text.endswith((",", ";", "/", "|", "and", "or"))
        ),
        len(runs),
    )
    return clean(" ".join(run.text for run in runs[:end]).strip(" [(")).replace(" ,", ",")


def _columns(row: LexborNode, lines: list[Line], at: int) -> list[Pair]:
    """A row of labels over a row of values."""
    below = element_order.after(row)
    if not below or below.tag != "tr":
        return []
    near = {line.block.mem_id: line for line in reversed(lines[at : at + 3 * _WIDEST])}
    heads, values = _cells(row, near), _cells(below, near)
    labels: list[Field | None] = [known(words) for words in heads]
    told = sum(map(bool, labels))
    # A label beside its value makes half of a row labels, too.
    if told < 2 or 2 * told <= len(heads) or len(values) != len(heads):
        return []
    if 2 * sum(known(words) is not None for words in values) >= told:
        return []
    return [
        Pair(name, clean(value), 0.8, at + len(heads))
        for name, value in zip(labels, values, strict=True)
        if name
    ]


def _stacked(lines: list[Line], at: int) -> list[Pair]:
    """A block of labels beside a block of values, line by line."""
    end = _end_of_block(lines, at)
    count = end - at
    if count < 3 or _end_of_block(lines, end) != end + count:
        return []
    labels: list[Field | None] = [known(line.text) for line in lines[at:end]]
    if 2 * sum(map(bool, labels)) <= count or not element_order.follows(
        lines[at].block, lines[end].block
    ):
        return []
    return [
        Pair(name, _own_words(lines[end + n]), 0.8, end + n)
        for n, name in enumerate(labels)
        if name
    ]


def _end_of_block(lines: list[Line], at: int) -> int:
    end = at
    while end < len(lines) and lines[end].block.mem_id == lines[at].block.mem_id:
        end += 1
    return end


def _row(line: Line) -> LexborNode | None:
    return line.block.parent if line.tag in ("td", "th") else None


def _cells(row: LexborNode, near: dict[int, Line]) -> list[str]:
    """What the first lines of a row's cells say; nothing for what is no row of facts."""
    cells = [cell for cell in row.iter() if cell.tag in ("td", "th")]
    texts = [
        _own_words(near[cell.mem_id]) if cell.mem_id in near else "" for cell in cells[:_WIDEST]
    ]
    return texts if all(len(text) < _LONGEST_CELL for text in texts) else []
