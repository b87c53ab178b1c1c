"""Read the text of a resume into a draft profile."""

from __future__ import annotations

import datetime as dt
import re
import unicodedata
from collections.abc import Mapping
from typing import Final

from jobmill.matching.master_resume import MasterResume
from jobmill.matching.profile import Profile, ProfilePerson

from . import (
    contact_lines,
    education_entries,
    entry_header,
    experience_entries,
    home_address,
    languages,
    licence_entries,
    person_name,
    project_entries,
    sections,
    skill_sections,
    stated_years,
    work_history,
)
from .draft import build_profile

MARKDOWN: Final = re.compile(r"^[ \t]{0,3}#{1,6}[ \t]{1,3}|\*\*", re.MULTILINE)
SYMBOL_BULLET: Final = re.compile(
    "[\uf0a7\uf0b7\uf0d8\uf076\uf0fc\u27a2\u2756\u25b6\u25ba\u2713\u25cb\u25a0\u2b9a]"
)
"""Bullets of symbol fonts."""
CONTACT_LINES: Final = 15
"""Lines of each section at the top that may hold contact details."""

Sections = Mapping[str, list[str]]


def read_text_resume(text: str, today: dt.date) -> Profile:
    """Only what the text states; the other fields stay unset."""
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n"))
    text = SYMBOL_BULLET.sub("\u2022", text)
    text = "".join(mark if mark.isprintable() or mark in "\n\t" else " " for mark in text)
    text = MARKDOWN.sub("", text)
    parts = sections.split_sections(text)
    work = parts.get("work", [])
    top = [*parts["head"][:6], *parts.get("person", [])[:6]]
    employments = work_history.find_employments(work or parts["head"], today, sure=bool(work))
    stated = stated_years.find_career_years("\n".join([*parts["head"], *parts.get("summary", [])]))
    stated = stated or stated_years.find_career_years_anywhere(text)
    years = stated or work_history.total_years(employments)
    profile = build_profile(
        summary=" ".join(" ".join(parts.get("summary", [])).split())[:10_000],
        experience_years=years,
        skills=skill_sections.merge_skills(
            skill_sections.read_skill_section(parts.get("skills", [])),
            skill_sections.read_licence_section(parts.get("licences", [])),
            stated_years.find_skills(text),
        ),
        languages=languages.find_languages(parts.get("languages", [])),
        titles=work_history.find_titles([*top, *work]),
        seniority=work_history.derive_seniority(
            work_history.find_headline_titles(top), employments
        ),
        highlights=_bulleted_items(work),
        projects=_bulleted_items(parts.get("projects", [])),
        achievements=_bulleted_items(parts.get("achievements", [])),
    )
    # Two words alone could be anything.
    name = person_name.find_name(text) if profile.model_fields_set or len(parts) > 1 else None
    person = _read_person(name, [*parts["head"][:8], *parts.get("person", [])[:8]])
    resume = _read_master_resume(text, parts, name)
    stated_parts = {"person": person, "resume": resume}
    return profile.model_copy(
        update={key: part for key, part in stated_parts.items() if part.model_fields_set}
    )


def _read_master_resume(text: str, parts: Sections, name: str | None) -> MasterResume:
    work, head = parts.get("work", []), parts["head"]
    top = [*head[:CONTACT_LINES], *parts.get("person", [])[:CONTACT_LINES]]
    spoken = [line for line in text.splitlines() if languages.SPOKEN.match(line)]
    contact = contact_lines.find_contact(top, name)
    values = {
        "headline": _find_headline(top[:6]),
        "contact": contact if contact.model_fields_set else None,
        "work_authorisation": contact_lines.find_authorisation(text.splitlines()),
        "experience": experience_entries.find_experience(work or head, sure=bool(work)),
        "projects": project_entries.find_projects(parts.get("projects", [])),
        "education": education_entries.find_education(parts.get("education", [])),
        "licences": licence_entries.find_licences(parts.get("licences", [])),
        "languages": languages.find_language_entries([*parts.get("languages", []), *spoken]),
    }
    return MasterResume.model_validate({key: value for key, value in values.items() if value})


def _find_headline(lines: list[str]) -> str | None:
    """The title that the person gives themselves: the part of a line that contains it."""
    for line in lines:
        if len(line) <= work_history.MAX_LINE_LENGTH and work_history.find_headline_titles([line]):
            parts = map(entry_header.trim_part, entry_header.SEGMENT.split(line))
            return next((part for part in parts if work_history.find_titles([part])), None)
    return None


def _read_person(name: str | None, lines: list[str]) -> ProfilePerson:
    city = home_address.find_home_city(lines, name)
    values = {
        "name": name and name[:200],
        "home_city": city,
        "timezone": city and home_address.find_time_zone(city),
    }
    return ProfilePerson.model_validate({key: value for key, value in values.items() if value})


def _bulleted_items(lines: list[str]) -> list[str]:
    """The items of a bulleted list, each joined with its continuation lines."""
    items: list[str] = []
    is_open = False
    for line in lines:
        if work_history.BULLET.match(line):
            items.append(work_history.BULLET.sub("", line).strip())
            is_open = True
        elif is_open and line.strip() and (line[0].isspace() or line[0].islower()):
            items[-1] += f" {line.strip()}"
        else:
            is_open = False
    return [item[:2_000] for item in items if item][:200]
