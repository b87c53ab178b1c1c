"""Group the lines of a resume's work section by job: the header of each, its dates and its text."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from . import date_ranges, entry_header, entry_lines, work_history
from .date_ranges import DatedPeriod
from .entry_header import EntryHeader
from .work_history import BULLET, DEGREE, ROLE, SCHOOL

MAX_HEADER_LINES: Final = 3
MAX_HEADER_WORDS: Final = 14
SKILLS: Final = re.compile(
    r"^(?:(?:key |used |main )?(?:technologies|tech(?:nology)? stack|stack|tools(?: summary)?|skills(?: used)?|environment"
    r"|technologien|technologies utilisées|tecnologías))\s?:\s*(?P<names>.+)",
    re.IGNORECASE,
)
REFERENCES: Final = re.compile(r"\W{0,3}(?:recommendations|references)\b.{0,30}\brequest\b", re.IGNORECASE)  # fmt: skip
SEASON: Final = re.compile(
    r"\b(?:spring|summer|fall|autumn|winter) (?=(?:19|20)\d\d\b)", re.IGNORECASE
)
UNKNOWN_HEADING: Final = re.compile(r"[^\W\d_a-z]{4,}(?: (?:&|[^\W\d_a-z]{2,})){1,4}")


@dataclass(slots=True)
class JobLines:
    """The lines of one job."""

    period: DatedPeriod
    header: list[str]
    """Without the dates."""
    body: list[str] = field(default_factory=list[str])


class DatedLine(NamedTuple):
    period: DatedPeriod
    rest: str
    """The line without the dates."""


def group_jobs(lines: Sequence[str]) -> list[JobLines]:
    """The jobs in a work section."""
    dated = _find_dated_lines(lines)
    if not dated:
        return []
    anchors = sorted(dated)
    starts = _find_starts(lines, anchors)
    ends = [*starts[1:], _end_of_section(lines, anchors[-1])]
    return [
        _read_job(lines, dated[anchor], start, anchor, end)
        for anchor, start, end in zip(anchors, starts, ends, strict=True)
    ]


def _read_job(
    lines: Sequence[str], dated: DatedLine, start: int, anchor: int, end: int
) -> JobLines:
    header = [*lines[start:anchor], dated.rest]
    below = lines[anchor + 1 : end]
    taken = _header_after(below, header, has_above=start < anchor)
    return JobLines(
        dated.period,
        [line for line in [*header, *below[:taken]] if line.strip()],
        [line for line in below[taken:] if not REFERENCES.match(line)],
    )


def group_jobs_anywhere(lines: Sequence[str]) -> list[JobLines]:
    """Jobs in lines that may not be about work: only those with a title on the line of the dates,
    and no schools."""
    dated = {
        place: line
        for place, line in _find_dated_lines(lines).items()
        if _is_surely_work(line.rest)
    }
    return [
        JobLines(
            line.period, [line.rest], list(itertools.takewhile(BULLET.match, lines[place + 1 :]))
        )
        for place, line in sorted(dated.items())
    ]


def _find_dated_lines(lines: Sequence[str]) -> Mapping[int, DatedLine]:
    """The lines with the dates of a job, by their place."""
    plain: dict[int, DatedLine] = {}
    bulleted: dict[int, DatedLine] = {}
    for place, line in enumerate(lines):
        dated = _read_dates(BULLET.sub("", line))
        if dated and _is_work(dated.rest):
            (bulleted if BULLET.match(line) else plain)[place] = dated
    # A bullet point with dates describes the work, unless all jobs are bullet points.
    return plain or {
        place: dated
        for place, dated in bulleted.items()
        if entry_header.title_weight(dated.rest.strip(" \t,"))
    }


def _read_dates(line: str) -> DatedLine | None:
    line = SEASON.sub("", line[: entry_lines.MAX_LINE_LENGTH].strip())
    if period := date_ranges.find_period(line):
        dated = DatedLine(*period)
    else:
        point = date_ranges.find_point(line)
        # A single date: a job within that year or month.
        if point is None or not point[1].endswith("\t") or not ROLE.search(_first_part(point[1])):
            return None
        dated = DatedLine(DatedPeriod(point[0], point[0]), point[1])
    words = dated.rest.split()
    is_sentence = len(words) > MAX_HEADER_WORDS or (len(words) > 8 and line.endswith("."))
    return None if is_sentence else dated


def _first_part(text: str) -> str:
    return re.split(r"[,|\t(]| [-\u2013\u2014] | at ", text.strip())[0].strip()


def _is_work(text: str) -> bool:
    return not DEGREE.search(text) or bool(work_history.find_titles([text]))


def _is_surely_work(text: str) -> bool:
    title = entry_header.read_header([text]).title
    is_school = DEGREE.search(text) or SCHOOL.search(text)
    return bool(title and entry_header.title_weight(title) >= 2) and not is_school


def _find_starts(lines: Sequence[str], anchors: Sequence[int]) -> list[int]:
    """The first line of each job. The first job shows how many lines are above its dates."""
    above = [n for n in range(anchors[0]) if _is_header_line(lines[n])]
    usual = min(len(above), MAX_HEADER_LINES)
    starts = [above[-usual] if usual else anchors[0]]
    width = entry_lines.line_width(lines)
    for before, anchor in itertools.pairwise(anchors):
        start = anchor
        while start - 1 > before and _starts_earlier(lines, before, start, width):
            # Without a blank line above, only as many lines as the first job has.
            is_usual = anchor - start < usual or _is_below_gap(lines, before, start - 1)
            if not is_usual or anchor - start >= MAX_HEADER_LINES:
                break
            start -= 1
        starts.append(start)
    return starts


def _starts_earlier(lines: Sequence[str], before: int, start: int, width: int) -> bool:
    """Whether the line above belongs to the header, and not to the text of the job before."""
    line, previous = lines[start - 1], lines[start - 2]
    if not _is_header_line(line):
        return False
    is_separate = start - 2 <= before or not previous.strip()
    is_clear = bool(entry_header.title_weight(line) or entry_header.employer_weight(line))
    return is_separate or is_clear or not entry_lines.continues(line, previous, width)


def _is_below_gap(lines: Sequence[str], before: int, place: int) -> bool:
    """Whether only header lines are between the line and a blank line above it."""
    for n in range(place, before, -1):
        if not lines[n].strip():
            return True
        if not _is_header_line(lines[n]):
            return False
    return False


def _is_header_line(line: str) -> bool:
    words = line.split()
    if not words or BULLET.match(line) or len(line) > 120 or len(words) > MAX_HEADER_WORDS:
        return False
    text = line.strip()
    if text[0].islower() or SKILLS.match(text):
        return False
    is_sentence = text.endswith((".", ";")) and len(words) > 4
    return not is_sentence and not text.endswith(":")


def _header_after(lines: Sequence[str], header: Sequence[str], *, has_above: bool) -> int:
    """How many lines below the dates still belong to the header."""
    above = [line for line in header if line.strip()]
    taken = 0
    for line in lines[:MAX_HEADER_LINES]:
        if not _is_header_line(line):
            break
        read = entry_header.read_header([*above, *lines[:taken]])
        is_place = not read.location and entry_header.is_place(line.strip(), any_city=True)
        lacks = not read.title or not read.employer
        if not is_place and not (lacks and _names_the_rest(line, read, has_above=has_above)):
            break
        taken += 1
    return taken


def _names_the_rest(line: str, read: EntryHeader, *, has_above: bool) -> bool:
    """Whether a line below the dates is the missing title or employer, and not what was done."""
    if not read.title and not read.employer:
        return True
    if any(map(str.isdigit, line)):
        return False
    added = entry_header.read_header([line])
    part = added.title or added.employer or ""
    weight = entry_header.title_weight(part) - entry_header.employer_weight(part)
    if weight:
        # What was taken for the title may be the employer.
        lacks_title = not entry_header.title_weight(read.title or "")
        return lacks_title if weight > 0 else bool(read.title)
    # No word tells: a short line, if nothing of the header is above the dates.
    return not has_above and len(line.split()) <= 6


def _end_of_section(lines: Sequence[str], last_anchor: int) -> int:
    """The end of the last job: another heading in capitals that we do not know ends it."""
    for n in range(last_anchor + 2, len(lines)):
        if UNKNOWN_HEADING.fullmatch(lines[n].strip()):
            return n
    return len(lines)
