"""Read a JSON Resume (jsonresume.org) into a draft profile."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from typing import Any, Final

from jobmill.matching.posting_facts import skills
from jobmill.matching.profile import Profile, ProfilePerson, Skill

from . import home_address, json_entries, languages, stated_years, work_history
from .draft import build_profile
from .json_values import as_dict, as_dicts, as_lines, as_text
from .pdf_and_word_text import MAX_TEXT_LENGTH

MAX_JOBS: Final = 200


def read_json_resume(document: dict[str, Any], today: dt.date) -> Profile:
    """Values with an unexpected type are ignored."""
    basics = as_dict(document.get("basics"))
    work = as_dicts(document.get("work"))[:MAX_JOBS]
    texts = [as_text(basics.get("summary")), *_free_texts(document)]
    listed = [*as_dicts(document.get("skills")), *as_dicts(document.get("certificates"))]
    named = [name for entry in listed for name in _skill_names(entry)]
    titles = [as_text(basics.get("label")), *(as_text(entry.get("position")) for entry in work)]
    employments = [employment for entry in work for employment in _employments(entry, today)]
    years = work_history.total_years(employments)
    person = _person(basics)
    resume = json_entries.read_master_resume(document)
    return build_profile(
        person=person if person.model_fields_set else None,
        experience_years=years,
        seniority=work_history.derive_seniority([as_text(basics.get("label"))], employments),
        summary=as_text(basics.get("summary"))[:10_000],
        skills=_merge_skills(named, stated_years.find_skills("\n".join(texts)[:MAX_TEXT_LENGTH])),
        languages=languages.find_languages(
            as_text(entry.get("language")) for entry in as_dicts(document.get("languages"))
        ),
        titles=list(dict.fromkeys(title[:200] for title in titles if title))[:50],
        highlights=[line for entry in work for line in as_lines(entry.get("highlights"))][:200],
        projects=_entry_lines(document.get("projects"), "name", "description"),
        achievements=_entry_lines(document.get("awards"), "title", "summary"),
        resume=resume if resume.model_fields_set else None,
    )


def _person(basics: dict[str, Any]) -> ProfilePerson:
    place = as_dict(basics.get("location"))
    city = ", ".join(filter(None, (as_text(place.get(part)) for part in ("city", "region"))))
    values = {
        "name": as_text(basics.get("name"))[:200],
        "home_city": city[:200],
        "timezone": city and home_address.find_time_zone(city[:200]),
    }
    return ProfilePerson.model_validate({name: value for name, value in values.items() if value})


def _employments(entry: dict[str, Any], today: dt.date) -> list[work_history.Employment]:
    start, end = (as_text(entry.get(name))[:7] for name in ("startDate", "endDate"))
    if not start or (entry.get("endDate") and not end):
        return []
    employments = work_history.find_employments([f"{start} - {end or 'present'}"], today)
    return [
        employment._replace(titles=[as_text(entry.get("position"))]) for employment in employments
    ]


def _skill_names(entry: dict[str, Any]) -> list[str]:
    """An entry is a skill, or a group with skills as its keywords."""
    keywords = as_lines(entry.get("keywords"))
    return keywords or list(filter(None, [as_text(entry.get("name"))]))


def _merge_skills(named: list[str], found_skills: list[Skill]) -> list[Skill]:
    """Skills from the list first, then others that the texts name."""
    years = {skill.name: skill.years for skill in found_skills}
    names = dict.fromkeys([*(skills.canonical_name(name)[:200] for name in named), *years])
    once = {name.casefold(): name for name in reversed(names)}
    return [Skill(name=name, years=years.get(name)) for name in reversed(once.values())][:500]


def _entry_lines(value: object, *fields: str) -> list[str]:
    """Each entry on one line: its name and its description."""
    parts = [[as_text(entry.get(field)) for field in fields] for entry in as_dicts(value)]
    lines = [": ".join(filter(None, part))[:2_000] for part in parts]
    return [line for line in lines if line][:200]


def _free_texts(document: object) -> Iterator[str]:
    """Free texts about the person's work, wherever they are in the document."""
    for part in ("work", "projects", "volunteer"):
        for entry in as_dicts(as_dict(document).get(part)):
            yield as_text(entry.get("summary"))
            yield as_text(entry.get("description"))
            yield from as_lines(entry.get("highlights"))
