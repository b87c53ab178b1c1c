"""The facts of a profile as lines, in the order of the master resume and in the person's own words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from jobmill.matching.master_resume import (
    DatedEntry,
    EducationEntry,
    ExperienceEntry,
    LicenceEntry,
    ProjectEntry,
)
from jobmill.matching.profile import Profile

from .document import DocumentBlock, DocumentLine, DocumentSection, LineLayout

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def resume_sections(profile: Profile) -> tuple[DocumentSection, ...]:
    """Everything that a resume may print, under headings that applicant tracking systems know."""
    achievements = _block(_lines("achievements", profile.achievements))
    education = tuple(_education(profile.resume.education))
    licences = _block(_licences(profile.resume.licences))
    sections: tuple[tuple[str, str, LineLayout, tuple[DocumentBlock, ...]], ...] = (
        ("header", "", "header", header_block(profile)),
        ("summary", "Summary", "text", _summary(profile)),
        ("skills", "Skills", "list", _skills(profile)),
        ("experience", "Work Experience", "bullets", _experience(profile)),
        ("projects", "Projects", "bullets", _projects(profile)),
        ("achievements", "Achievements", "bullets", achievements),
        ("education", "Education", "bullets", education),
        ("licences", "Licenses and Certifications", "text", licences),
        ("languages", "Languages", "list", _languages(profile)),
        ("authorisation", "Additional Information", "text", _block(_authorisation(profile))),
    )
    return tuple(
        DocumentSection(key=key, heading=heading, layout=layout, blocks=blocks)
        for key, heading, layout, blocks in sections
        if blocks
    )


def make_line(key: str, text: str, *, dates: str = "") -> DocumentLine:
    words = " ".join(text.split())
    return DocumentLine(key=key, text=words, fact=words, dates=dates)


def _block(lines: Iterable[DocumentLine]) -> tuple[DocumentBlock, ...]:
    lines = tuple(lines)
    return (DocumentBlock(lines=lines),) if lines else ()


def _lines(path: str, texts: Sequence[str]) -> Iterator[DocumentLine]:
    yield from (make_line(f"{path}.{n}", text) for n, text in enumerate(texts) if text.strip())


def header_block(profile: Profile) -> tuple[DocumentBlock, ...]:
    """Name, headline and contact details."""
    contact = profile.resume.contact
    # The default city of a profile says nothing about the person.
    states_city = "home_city" in profile.person.model_fields_set
    city = profile.person.home_city if states_city else None
    facts = {
        "person.name": profile.person.name,
        "resume.headline": profile.resume.headline,
        "resume.contact.email": contact.email,
        "resume.contact.phone": contact.phone,
    }
    facts |= (
        {"resume.contact.address": contact.address}
        if contact.address
        else {"person.home_city": city}
    )
    facts |= {
        f"resume.contact.links.{n}.url": link.url.removeprefix("https://").rstrip("/")
        for n, link in enumerate(contact.links)
    }
    return _block(make_line(path, fact) for path, fact in facts.items() if fact)


def _summary(profile: Profile) -> tuple[DocumentBlock, ...]:
    return _block([make_line("summary", profile.summary)] if profile.summary.strip() else [])


def _skills(profile: Profile) -> tuple[DocumentBlock, ...]:
    return _block(
        make_line(f"skills.{n}.name", skill.name) for n, skill in enumerate(profile.skills)
    )


def _experience(profile: Profile) -> tuple[DocumentBlock, ...]:
    entries = profile.resume.experience
    if not entries:  # A profile from before the master resume has only lines.
        return _block(_lines("highlights", profile.highlights))
    return tuple(
        _entry_block(f"resume.experience.{n}", _place(entry), entry)
        for n, entry in enumerate(entries)
    )


def _projects(profile: Profile) -> tuple[DocumentBlock, ...]:
    entries = profile.resume.projects
    if not entries:
        return _block(_lines("projects", profile.projects))
    return tuple(
        _entry_block(f"resume.projects.{n}", _join((entry.name, entry.url)), entry)
        for n, entry in enumerate(entries)
    )


def _entry_block(path: str, heading: str, entry: ExperienceEntry | ProjectEntry) -> DocumentBlock:
    lines = list(_lines(f"{path}.highlights", entry.highlights))
    if entry.summary.strip():
        lines.insert(0, make_line(f"{path}.summary", entry.summary))
    if entry.skills:
        lines.append(make_line(f"{path}.skills", f"Skills: {', '.join(entry.skills)}"))
    return DocumentBlock(
        heading=make_line(path, heading, dates=format_period(entry)), lines=tuple(lines)
    )


def _place(entry: ExperienceEntry) -> str:
    return _join((entry.title, entry.employer, entry.location))


def _education(entries: Sequence[EducationEntry]) -> Iterator[DocumentBlock]:
    for n, entry in enumerate(entries):
        path = f"resume.education.{n}"
        lines = list(_lines(f"{path}.highlights", entry.highlights))
        if entry.grade:
            lines.insert(0, make_line(f"{path}.grade", f"Grade: {entry.grade}"))
        heading = _join((entry.degree, entry.field, entry.institution))
        yield DocumentBlock(
            heading=make_line(path, heading, dates=format_period(entry)), lines=tuple(lines)
        )


def _licences(entries: Sequence[LicenceEntry]) -> Iterator[DocumentLine]:
    for n, entry in enumerate(entries):
        details = (
            entry.name,
            entry.issuer,
            entry.number and f"no. {entry.number}",
            entry.issued and f"issued {format_month(entry.issued)}",
            entry.expires and f"expires {format_month(entry.expires)}",
        )
        yield make_line(f"resume.licences.{n}", _join(details))


def _languages(profile: Profile) -> tuple[DocumentBlock, ...]:
    entries = profile.resume.languages
    if not entries:
        return _block(_lines("languages", profile.languages))
    return _block(
        make_line(
            f"resume.languages.{n}", f"{entry.name} ({entry.level})" if entry.level else entry.name
        )
        for n, entry in enumerate(entries)
    )


def _authorisation(profile: Profile) -> Iterator[DocumentLine]:
    for n, words in enumerate(profile.resume.work_authorisation):
        yield make_line(f"resume.work_authorisation.{n}", f"Work authorization: {words}")


def _join(parts: Iterable[str | None]) -> str:
    return ", ".join(part for part in parts if part)


def format_period(entry: DatedEntry) -> str:
    """`Mar 2021 \u2013 Present`; empty if neither date is known."""
    start = format_month(entry.start) if entry.start else ""
    end = format_month(entry.end) if entry.end else ""
    return " \u2013 ".join(dict.fromkeys(filter(None, (start, end))))


def format_month(month: str) -> str:
    if month == "present":
        return "Present"
    year, _, number = month.partition("-")
    return f"{MONTHS[int(number) - 1]} {year}" if number else year
