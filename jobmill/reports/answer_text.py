"""Read the text of an answer: lines without Markdown, list items with their heads, sentences."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final

from jobmill.extract.company.sentence_facts import split_sentences

MAX_ANSWER_LENGTH: Final = 40_000
"""Characters of an answer that are read; assistants write a tenth of that."""
_MAX_LINES: Final = 600
_MAX_SENTENCES: Final = 400
_MAX_SENTENCE_LENGTH: Final = 600

_ITEM: Final = re.compile(r"[ \t]{0,12}(?:[-*+•·\u2013]|\d{1,2}[.)]|#{1,6})[ \t]+")
_HEADING: Final = re.compile(r"[ \t]{0,12}#{1,6}[ \t]")
_BOLD: Final = re.compile(r"(\*\*|__)([^*_\n]{1,80})\1")
_LINK: Final = re.compile(r"!?\[([^\]\n]{0,200})\]\([^()\s]{0,500}\)")
_CITATION: Final = re.compile(
    r"!?\[(?:sources?|links?|here|\d{1,3}|[\w-]{1,40}\.[\w.-]{2,40})\]\([^()\s]{0,500}\)",
    re.IGNORECASE,
)
_FOOTNOTE: Final = re.compile(r"\[\^?\d{1,3}\]|【[^】\n]{0,60}】")
_URL: Final = re.compile(r"\(?https?://[^\s)\]>]{1,500}\)?", re.IGNORECASE)
_TABLE_RULE: Final = re.compile(r"[ \t]*\|[ \t]*:?-{2,}")
_HEAD_END: Final = re.compile(r"\s+[\u2013\u2014-]\s+|:\s|\s\(|\.\s")
_MAX_HEAD_LENGTH: Final = 60


@dataclass(frozen=True, slots=True)
class AnswerLine:
    text: str
    is_item: bool
    is_heading: bool
    head: str
    """What a list item, heading or bold start names; "" for prose."""


def visible_text(text: str) -> str:
    """The beginning of an answer in one Unicode form, without invisible characters."""
    plain = unicodedata.normalize("NFKC", text[:MAX_ANSWER_LENGTH])[:MAX_ANSWER_LENGTH]
    return "".join(
        sign
        for sign in plain
        if sign in "\n\t" or unicodedata.category(sign) not in ("Cf", "Cc", "Cs", "Co")
    )


def read_lines(text: str) -> list[AnswerLine]:
    """The lines of a visible text that have content."""
    raw = text.split("\n")[:_MAX_LINES]
    # The row above a table's rule names its columns.
    below = [*raw[1:], ""]
    bodies = (line for line, rule in zip(raw, below, strict=True) if not _TABLE_RULE.match(rule))
    lines = [_read_line(line) for line in bodies if line.strip(" \t|-=*_#:")]
    return [line for line in lines if line.text]


def read_sentences(line: AnswerLine) -> list[str]:
    sentences = split_sentences(line.text)[:_MAX_SENTENCES]
    return [sentence[:_MAX_SENTENCE_LENGTH].strip() for sentence in sentences if sentence.strip()]


def _read_line(line: str) -> AnswerLine:
    is_row = line.lstrip().startswith("|")
    raw = line.strip().strip("|").replace("|", " \u2013 ", 1).replace("|", ". ") if is_row else line
    marker = _ITEM.match(raw)
    body = raw[marker.end() :] if marker else raw
    bold = _BOLD.match(body.strip())
    text = _plain(body)
    head = _plain(bold[2]) if bold else ""
    if not head and (marker or is_row):
        head = _HEAD_END.split(text, maxsplit=1)[0]
    head = head.strip(" :.,*\u2013\u2014-")
    return AnswerLine(
        text,
        bool(marker) or is_row,
        bool(_HEADING.match(raw)),
        head if len(head) <= _MAX_HEAD_LENGTH else "",
    )


def _plain(text: str) -> str:
    text = _LINK.sub(r"\1", _CITATION.sub("", text))
    text = _FOOTNOTE.sub("", _URL.sub("", text))
    return " ".join(re.sub(r"[*`]{1,3}|__", "", text).split())
