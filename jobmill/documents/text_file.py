"""Write a document as plain text, for forms that take no file."""

from __future__ import annotations

from collections.abc import Iterator

from .document import (
    ApplicationDocument,
    PrintedEntry,
    PrintedSection,
    printed_header,
    printed_sections,
)


def write_text(document: ApplicationDocument) -> str:
    header = printed_header(document)
    top = "\n".join(filter(None, (header.name, header.headline, " | ".join(header.contact))))
    sections = ("\n".join(_section_lines(section)) for section in printed_sections(document))
    return "\n\n".join(filter(None, (top, *sections))) + "\n"


def _section_lines(section: PrintedSection) -> Iterator[str]:
    if section.heading:
        yield section.heading.upper()
    for number, entry in enumerate(section.entries):
        if number and section.layout in ("bullets", "letter"):
            yield ""
        yield from _entry_lines(section, entry)


def _entry_lines(section: PrintedSection, entry: PrintedEntry) -> Iterator[str]:
    if entry.heading:
        yield f"{entry.heading} | {entry.dates}" if entry.dates else entry.heading
    if section.layout == "list":
        yield ", ".join(entry.lines)
    elif section.layout == "letter":
        yield " ".join(entry.lines)
    elif section.layout == "bullets":
        yield from (f"- {line}" for line in entry.lines)
    else:
        yield from entry.lines


def count_words(document: ApplicationDocument) -> int:
    return sum(any(sign.isalnum() for sign in word) for word in write_text(document).split())
