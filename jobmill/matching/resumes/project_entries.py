"""Read the projects in a resume."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from jobmill.matching.master_resume import ProjectEntry

from . import contact_lines, date_ranges, entry_lines
from .built_entry import build_entry
from .date_ranges import DatedPeriod
from .work_history import BULLET

MAX_ENTRIES: Final = 100
MAX_NAME_WORDS: Final = 10
NAME: Final = re.compile(r"^(?P<name>[^:\u2013\u2014|]{2,80}?)(?:\s?:\s+|\s[-\u2013\u2014]\s|\s?\|\s?)(?P<summary>\S.*)$")  # fmt: skip
EDGES: Final = " ,:;|()\t\u2013\u2014-"


def find_projects(lines: Sequence[str]) -> list[ProjectEntry]:
    """Projects with their highlights: each bullet point is one if no line stands above them."""
    cleaned = entry_lines.clean_lines(lines)
    width = entry_lines.line_width(cleaned)
    first = next((line for line in cleaned if line.strip()), "")
    if BULLET.match(first):
        entries = [_read_project(text, []) for text in entry_lines.join_paragraphs(cleaned, width)]
        return [entry for entry in entries if entry][:MAX_ENTRIES]
    entries = [
        _read_project(name, entry_lines.join_paragraphs(body, width))
        for name, body in _group(cleaned, width)
    ]
    return [entry for entry in entries if entry][:MAX_ENTRIES]


def _group(lines: Sequence[str], width: int) -> list[tuple[str, list[str]]]:
    """Each name with the lines below it: a name follows bullet points or a blank line."""
    groups: list[tuple[str, list[str]]] = []
    may_be_name, previous = True, ""
    for line in lines:
        is_bullet = bool(BULLET.match(line))
        is_text = is_bullet or not may_be_name or entry_lines.continues(line, previous, width)
        if not line.strip():
            is_bullet = True
        elif groups and is_text:
            groups[-1][1].append(line)
        else:
            groups.append((line, []))
        may_be_name, previous = is_bullet, line
    return groups


def _read_project(line: str, points: list[str]) -> ProjectEntry | None:
    period, text = DatedPeriod(None, None), line.strip()
    if dated := date_ranges.find_period(text[: entry_lines.MAX_LINE_LENGTH]):
        period, text = dated[0], dated[1] + text[entry_lines.MAX_LINE_LENGTH :]
    links = contact_lines.find_links(text)
    text = contact_lines.URL.sub(" ", text).strip(EDGES)
    match = NAME.match(text)
    name, summary = (match["name"], match["summary"]) if match else (text, "")
    name, summary = name.strip(EDGES), summary.strip(EDGES)
    if not name or len(name.split()) > MAX_NAME_WORDS:
        return None
    return build_entry(
        ProjectEntry,
        start=period.start,
        end=period.end,
        name=name,
        url=links[0].url if links and len(links[0].url) <= 200 else None,
        summary=summary[:10_000],
        highlights=points[:200],
    )
