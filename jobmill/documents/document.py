"""A document: sections of blocks of lines. Each line knows the fact that it states, and whether it is
printed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict

DocumentKind: TypeAlias = Literal["resume", "letter"]
Template: TypeAlias = Literal["classic", "modern", "compact"]
Paper: TypeAlias = Literal["a4", "us-letter"]
Wording: TypeAlias = Literal["profile", "model", "own"]
"""The words of a line are those of the fact, a checked rewording of a model, or an edit of the person."""
Direction: TypeAlias = Literal["up", "down"]
LineLayout: TypeAlias = Literal["header", "text", "list", "bullets", "letter"]
"""How a section prints its lines: the name and the contact details; one paragraph each; one paragraph
for all, separated by commas; bullet points below a heading; paragraphs of sentences."""

TEMPLATES: tuple[Template, ...] = ("classic", "modern", "compact")
PAPERS: tuple[Paper, ...] = ("a4", "us-letter")
MAX_LINE_LENGTH = 2_000


class DocumentPart(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class DocumentLine(DocumentPart):
    key: str
    """Unique in the document: the path of the fact, such as `experience.0.highlights.2`."""
    text: str
    fact: str
    """The words of the fact when the line was written. Empty for set phrases of a letter."""
    dates: str = ""
    answers: tuple[str, ...] = ()
    """Words of the posting that the line answers."""
    source: str = ""
    """The address of the page that the line quotes."""
    enabled: bool = True
    wording: Wording = "profile"


class DocumentBlock(DocumentPart):
    heading: DocumentLine | None = None
    """Of an entry: title, employer and dates. Without its heading, an entry is not printed."""
    lines: tuple[DocumentLine, ...] = ()


class DocumentSection(DocumentPart):
    key: str
    heading: str = ""
    layout: LineLayout
    blocks: tuple[DocumentBlock, ...]


class ApplicationDocument(DocumentPart):
    kind: DocumentKind
    template: Template = "classic"
    paper: Paper = "a4"
    profile_version: int
    """The version of the profile that the lines are from."""
    sections: tuple[DocumentSection, ...]
    model: str = ""
    """The model that reworded lines."""
    dropped: tuple[str, ...] = ()
    """Rewordings of the model that claimed more than the fact. They are never printed."""


def iter_lines(document: ApplicationDocument) -> Iterator[DocumentLine]:
    """Every line, headings before the lines of their entry."""
    for section in document.sections:
        for block in section.blocks:
            if block.heading:
                yield block.heading
            yield from block.lines


def map_lines(
    document: ApplicationDocument, change: Callable[[DocumentLine], DocumentLine]
) -> ApplicationDocument:
    """The document with every line changed by a function."""

    def changed_block(block: DocumentBlock) -> DocumentBlock:
        heading = change(block.heading) if block.heading else None
        return DocumentBlock(heading=heading, lines=tuple(map(change, block.lines)))

    def changed_section(section: DocumentSection) -> DocumentSection:
        return section.model_copy(update={"blocks": tuple(map(changed_block, section.blocks))})

    return document.model_copy(update={"sections": tuple(map(changed_section, document.sections))})


def edit_line(line: DocumentLine, text: str) -> DocumentLine:
    """The line with the person's words. Empty text restores the words of the fact."""
    text = " ".join(text.split())[:MAX_LINE_LENGTH]
    if text == line.text:
        return line
    if not text or text == line.fact:
        return line.model_copy(update={"text": line.fact or line.text, "wording": "profile"})
    return line.model_copy(update={"text": text, "wording": "own"})


def disable_lines(document: ApplicationDocument, keys: frozenset[str]) -> ApplicationDocument:
    """The document without these lines."""
    return map_lines(
        document,
        lambda line: line.model_copy(update={"enabled": False}) if line.key in keys else line,
    )


T = TypeVar("T")


def move_part(document: ApplicationDocument, key: str, direction: Direction) -> ApplicationDocument:
    """Move a line within its block, an entry (by the key of its heading) within its section, or a
    section. The header of a document stays first."""
    order = [section.key for section in document.sections]
    if key in order:
        fixed = 1 if document.sections[0].layout == "header" else 0
        moved = _swap(document.sections[fixed:], order[fixed:], key, direction)
        return document.model_copy(update={"sections": (*document.sections[:fixed], *moved)})
    sections = tuple(_move_in_section(section, key, direction) for section in document.sections)
    return document.model_copy(update={"sections": sections})


def _move_in_section(section: DocumentSection, key: str, direction: Direction) -> DocumentSection:
    headings = [block.heading.key if block.heading else "" for block in section.blocks]
    blocks = _swap(section.blocks, headings, key, direction)
    blocks = tuple(
        block.model_copy(
            update={"lines": _swap(block.lines, [line.key for line in block.lines], key, direction)}
        )
        for block in blocks
    )
    return section.model_copy(update={"blocks": blocks})


def _swap(
    parts: tuple[T, ...], keys: Sequence[str], key: str, direction: Direction
) -> tuple[T, ...]:
    """The parts with the named one exchanged with its neighbour, if there is one."""
    if key not in keys:
        return parts
    here = keys.index(key)
    there = here + (-1 if direction == "up" else 1)
    if not 0 <= there < len(parts):
        return parts
    moved = list(parts)
    moved[here], moved[there] = moved[there], moved[here]
    return tuple(moved)


@dataclass(frozen=True, slots=True)
class PrintedEntry:
    heading: str
    dates: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PrintedSection:
    key: str
    heading: str
    layout: LineLayout
    entries: tuple[PrintedEntry, ...]


@dataclass(frozen=True, slots=True)
class PrintedHeader:
    name: str
    headline: str
    contact: tuple[str, ...]


def printed_header(document: ApplicationDocument) -> PrintedHeader:
    printed = {line.key: line.text for line in _header_lines(document) if line.enabled}
    name, headline = printed.pop("person.name", ""), printed.pop("resume.headline", "")
    return PrintedHeader(name, headline, tuple(printed.values()))


def _header_lines(document: ApplicationDocument) -> Iterator[DocumentLine]:
    for section in document.sections:
        if section.layout == "header":
            yield from (line for block in section.blocks for line in block.lines)


def printed_sections(document: ApplicationDocument) -> tuple[PrintedSection, ...]:
    """What is printed below the header: enabled lines, without empty entries and sections."""
    sections = (
        PrintedSection(section.key, section.heading, section.layout, _printed_entries(section))
        for section in document.sections
        if section.layout != "header"
    )
    return tuple(section for section in sections if section.entries)


def _printed_entries(section: DocumentSection) -> tuple[PrintedEntry, ...]:
    entries: list[PrintedEntry] = []
    for block in section.blocks:
        if block.heading and not block.heading.enabled:
            continue
        lines = tuple(line.text for line in block.lines if line.enabled)
        if block.heading:
            entries.append(PrintedEntry(block.heading.text, block.heading.dates, lines))
        elif lines:
            entries.append(PrintedEntry("", "", lines))
    return tuple(entries)
