"""Read the jobs in a resume: title, employer, place, dates and what the person did there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from jobmill.matching.master_resume import ExperienceEntry

from . import entry_header, entry_lines, experience_lines
from .built_entry import build_entry
from .entry_header import EntryHeader
from .experience_lines import MAX_HEADER_LINES, SKILLS, JobLines
from .work_history import BULLET

MAX_ENTRIES: Final = 100


def find_experience(lines: Sequence[str], *, sure: bool = True) -> list[ExperienceEntry]:
    """Every dated job, in the order of the resume. `sure`: whether the lines are about work."""
    cleaned = entry_lines.clean_lines(lines)
    group = experience_lines.group_jobs if sure else experience_lines.group_jobs_anywhere
    jobs = group(cleaned)
    entries = _build_all(jobs, _read_headers(jobs), entry_lines.line_width(cleaned))
    return list(entries)[:MAX_ENTRIES]


def _read_headers(jobs: Sequence[JobLines]) -> list[EntryHeader]:
    """Where no word tells title and employer apart, their order in the other headers decides."""
    headers = [entry_header.read_header(job.header) for job in jobs]
    votes = [header.title_first for header in headers if header.is_certain]
    if 2 * sum(votes) >= len(votes):
        return headers
    return [
        header if header.is_certain else entry_header.read_header(job.header, title_first=False)
        for job, header in zip(jobs, headers, strict=True)
    ]


def _build_all(
    jobs: Sequence[JobLines], headers: Sequence[EntryHeader], width: int
) -> Iterator[ExperienceEntry]:
    employer = location = None
    # Jobs below one employer have fewer lines at the top than the first, which names it.
    lines_with_employer = 0
    for job, header in zip(jobs, headers, strict=True):
        is_group = not header.title and not any(map(str.strip, job.body))
        if header.employer:
            employer, location = header.employer, header.location
            lines_with_employer = MAX_HEADER_LINES + 1 if is_group else len(job.header)
        elif len(job.header) < lines_with_employer:
            header = header._replace(employer=employer, location=header.location or location)
        if header.title:
            yield _build_job(job, header, width)


def _build_job(job: JobLines, header: EntryHeader, width: int) -> ExperienceEntry:
    bullets = [place for place, line in enumerate(job.body) if BULLET.match(line)]
    start = bullets[0] if bullets else 0
    intro, intro_skills = _split_skills(entry_lines.join_paragraphs(job.body[:start], width))
    points, skills = _split_skills(entry_lines.join_paragraphs(job.body[start:], width))
    if not bullets and len(points) == 1:
        intro, points = points, []
    return build_entry(
        ExperienceEntry,
        start=job.period.start,
        end=job.period.end,
        title=header.title,
        employer=header.employer,
        location=header.location,
        summary="\n".join([*header.notes, *intro])[:10_000],
        highlights=points[:200],
        skills=[*intro_skills, *skills],
    )


def _split_skills(paragraphs: Sequence[str]) -> tuple[list[str], list[str]]:
    """The paragraphs without lists of tools, and the names in these lists."""
    lists = [match for match in map(SKILLS.match, paragraphs) if match]
    names = [
        name.strip(" .")[:200] for match in lists for name in re.split(r"[,;|]", match["names"])
    ]
    others = [paragraph for paragraph in paragraphs if not SKILLS.match(paragraph)]
    return others, [name for name in names if name]
