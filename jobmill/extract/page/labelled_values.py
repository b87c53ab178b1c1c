"""Find labels and their values ("Location: Berlin") in any markup."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from selectolax.lexbor import LexborNode

from . import element_order
from .label_vocabulary import FieldName, field_of_label, is_ambiguous
from .text_checks import normalize
from .visible_lines import TextLine, TextRun

_PLACEHOLDER_VALUES = (
    "n a|na|none|not available|not specified|unspecified|not stated|not provided|see description|"
    "see ad|unknown|tbd|keine angabe|k a|nc|no especificado"
)
_PLACEHOLDERS = frozenset(_PLACEHOLDER_VALUES.split("|"))
_BAR = re.compile(r"\s+[|•·]\s+")
_COLON = re.compile(r":(?=\s|$)")
_WORD = re.compile(r"\S+")
_MAX_COLUMNS = 12
_MAX_CELL_LENGTH = 150
_SEPARATORS = " \t|-\u2013\u2014•·,;:>»*"


@dataclass(frozen=True, slots=True)
class LabelledValue:
    """The value of a label, and the confidence (0 to 1) that it is one."""

    field: FieldName
    value: str
    confidence: float
    line_index: int
    """The line that contains the value."""


def find_labelled_values(lines: list[TextLine]) -> list[LabelledValue]:
    """All known labels with their values, in order."""
    values: list[LabelledValue] = []
    fields: list[FieldName | None] = [_label_field(line) for line in lines]
    heads: set[int] = set()
    for at, line in enumerate(lines):
        row = _table_row(line) if fields[at] else None
        if (row and row.mem_id in heads) or (fields[at] and line.block.mem_id in heads):
            continue
        if row and (group := _values_below(row, lines, at)):
            heads.add(row.mem_id)
            values += group
        elif fields[at] and (group := _values_in_next_block(lines, at)):
            heads.add(line.block.mem_id)
            values += group
        elif fields[at]:
            values += _value_in_next_line(lines, fields, at)
        elif len(line.text) < 300 and (":" in line.text or len(line.runs) > 1):
            values += _values_in_line(line, at)
    return _rate_by_neighbours([value for value in values if value.value])


def _label_field(line: TextLine) -> FieldName | None:
    if ":" in line.text[:-1]:
        return None
    return field_of_label(f"{line.text}:" if line.tag in ("dt", "th") else line.text)


def _rate_by_neighbours(values: list[LabelledValue]) -> list[LabelledValue]:
    """Labels come in groups: one without neighbours, as in running text, gets less confidence."""
    rated: list[LabelledValue] = []
    for n, value in enumerate(values):
        near = values[max(0, n - 3) : n] + values[n + 1 : n + 4]
        in_group = any(
            other.field not in (value.field, "section")
            and abs(other.line_index - value.line_index) <= 6
            for other in near
        )
        # Braces: a template that a page script has not filled yet.
        empty = normalize(value.value[:80]) in _PLACEHOLDERS or (
            "{" in value.value and "}" in value.value
        )
        if value.field not in ("other", "section") and not empty:
            rated.append(value if in_group else replace(value, confidence=value.confidence - 0.3))
    return rated


def strip_separators(value: str) -> str:
    """Strip the characters that separate a value from its neighbours."""
    return value.strip(_SEPARATORS)


def _values_in_line(line: TextLine, at: int) -> list[LabelledValue]:
    """Label and value in one line: in one text with a colon, or in adjacent elements."""
    values: list[LabelledValue] = []
    label: tuple[FieldName, float] | None = None
    words: list[str] = []
    for run, text in _pieces(line):
        head, colon, tail = text.partition(":")
        name = field_of_label(head + colon)
        if name and (colon or _is_own_element(line, run.tag)) and not run.in_link:
            _add_value(values, label, words, at)
            plain = bool(tail.strip()) or not colon
            label, words = (name, _rate_label(head, plain=plain)), [tail] if tail.strip() else []
        elif label and _is_label(text):
            _add_value(values, label, words, at)
            label, words = None, []
        elif label and not (run.in_link and words):
            words.append(text)
    _add_value(values, label, words, at)
    return values


def _pieces(line: TextLine) -> Iterator[tuple[TextRun, str]]:
    for n, run in enumerate(line.runs):
        words = run.text
        # The colon may be outside of the label's element.
        if n and words.startswith(":"):
            words = words[1:].lstrip()
        if n + 1 < len(line.runs) and line.runs[n + 1].text.startswith(":"):
            words += ":"
        for part in _BAR.split(words) if ":" in words else (words,):
            for text in _split_before_labels(part) if part.count(":") > 1 else (part,):
                if text:
                    yield run, text


def _split_before_labels(words: str) -> Iterator[str]:
    """Split a text before each label in it, where only spaces separate them."""
    start = 0
    for colon in _COLON.finditer(words):
        before = [word.start() for word in _WORD.finditer(words, start, colon.start())][-3:]
        cut = next((at for at in before if field_of_label(words[at : colon.end()])), start)
        yield words[start:cut].strip()
        start = cut
    yield words[start:].strip()


def _add_value(
    values: list[LabelledValue], label: tuple[FieldName, float] | None, words: list[str], at: int
) -> None:
    if label and words:
        value = strip_separators(" ".join(words)).replace(" ,", ",")
        values.append(LabelledValue(label[0], value, label[1], at))


def _is_own_element(line: TextLine, tag: str) -> bool:
    """Whether a text run without a colon can be a label: it must have an element of its own."""
    return len(line.runs) > 1 and tag in ("b", "strong", "span", "label", "em", "font", "small")


def _is_label(words: str) -> bool:
    return (words.endswith(":") and len(words) < 40) or field_of_label(words) is not None


def _is_other_label(line: TextLine, name: FieldName) -> bool:
    """Whether a line is or starts with a label of another field; "contract" may be the value of a
    job type."""
    head, colon, _ = line.text.partition(":")
    fields = {
        field_of_label(line.text),
        field_of_label(line.runs[0].text),
        field_of_label(head + colon) if colon else None,
    }
    return bool(fields - {name, None}) or (line.text.endswith(":") and len(line.text) < 40)


def _rate_label(label: str, *, plain: bool) -> float:
    """Lower for words that may be a heading of something else, and for labels without own markup."""
    doubt = (3 if is_ambiguous(label) else 0) + (2 if plain else 0)
    return (10 - doubt) / 10


def _value_in_next_line(
    lines: list[TextLine], fields: list[FieldName | None], at: int
) -> list[LabelledValue]:
    """The value of a label that has its own line: the next line, if the markup connects them."""
    line, name = lines[at], fields[at]
    if not name or line.is_link or at + 1 == len(lines):
        return []
    # A colon may have a cell of its own.
    step = 2 if lines[at + 1].text == ":" and at + 2 < len(lines) else 1
    value = lines[at + step]
    if value.tag != "dd" and _is_other_label(value, name):
        return []
    # The heading of a group of facts may be repeated.
    if normalize(value.text[:80]) == normalize(line.text):
        return []
    colon = step == 2 or line.text.endswith(":")
    listed = line.tag in ("li", "body", "a", "button") and not colon
    if listed or not element_order.is_right_after(line.block, value.block):
        return []
    plain = not colon and line.tag not in ("dt", "th", "td", "label")
    return [
        LabelledValue(
            name, _text_without_links(value), _rate_label(line.text, plain=plain), at + step
        )
    ]


def _text_without_links(line: TextLine) -> str:
    """The text without the links after the value: "Acme [view all]"."""
    runs = line.runs
    if len(runs) < 2 or not any(run.in_link for run in runs[1:]):
        return strip_separators(line.text)
    end = next(
        (
            n
            for n, run in enumerate(runs)
            if n
            and run.in_link
            and not runs[n - 1].text.endswith((",", ";", "/", "|", "and", "or"))
        ),
        len(runs),
    )
    return strip_separators(" ".join(run.text for run in runs[:end]).strip(" [(")).replace(
        " ,", ","
    )


def _values_below(row: LexborNode, lines: list[TextLine], at: int) -> list[LabelledValue]:
    """The values of a table row of labels above a row of values."""
    below = element_order.next_element(row)
    if not below or below.tag != "tr":
        return []
    near = {line.block.mem_id: line for line in reversed(lines[at : at + 3 * _MAX_COLUMNS])}
    heads, values = _cell_texts(row, near), _cell_texts(below, near)
    labels: list[FieldName | None] = [field_of_label(words) for words in heads]
    label_count = sum(map(bool, labels))
    # In a row of label and value pairs, half of the cells are labels, too.
    if label_count < 2 or 2 * label_count <= len(heads) or len(values) != len(heads):
        return []
    if 2 * sum(field_of_label(words) is not None for words in values) >= label_count:
        return []
    return [
        LabelledValue(name, strip_separators(value), 0.8, at + len(heads))
        for name, value in zip(labels, values, strict=True)
        if name
    ]


def _values_in_next_block(lines: list[TextLine], at: int) -> list[LabelledValue]:
    """The values of a block of labels next to a block of values, line by line."""
    end = _end_of_block(lines, at)
    count = end - at
    if count < 3 or _end_of_block(lines, end) != end + count:
        return []
    labels: list[FieldName | None] = [field_of_label(line.text) for line in lines[at:end]]
    if 2 * sum(map(bool, labels)) <= count or not element_order.is_right_after(
        lines[at].block, lines[end].block
    ):
        return []
    return [
        LabelledValue(name, _text_without_links(lines[end + n]), 0.8, end + n)
        for n, name in enumerate(labels)
        if name
    ]


def _end_of_block(lines: list[TextLine], at: int) -> int:
    end = at
    while end < len(lines) and lines[end].block.mem_id == lines[at].block.mem_id:
        end += 1
    return end


def _table_row(line: TextLine) -> LexborNode | None:
    return line.block.parent if line.tag in ("td", "th") else None


def _cell_texts(row: LexborNode, near: dict[int, TextLine]) -> list[str]:
    """The first line of each cell; nothing if a cell is too long for a table of facts."""
    cells = [cell for cell in row.iter() if cell.tag in ("td", "th")]
    texts = [
        _text_without_links(near[cell.mem_id]) if cell.mem_id in near else ""
        for cell in cells[:_MAX_COLUMNS]
    ]
    return texts if all(len(text) < _MAX_CELL_LENGTH for text in texts) else []
