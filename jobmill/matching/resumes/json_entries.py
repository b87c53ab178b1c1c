"""The master resume in a JSON Resume (jsonresume.org), in both directions.

The format has no fields for a few things; it allows additional ones, and these are used:
`isCurrent` (whether the person still works or studies there, if the dates do not show it),
`expires` and `number` of a certificate, `keywords` of a job and `workAuthorization` of a person."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from jobmill.matching.master_resume import (
    ContactDetails,
    DatedEntry,
    EducationEntry,
    ExperienceEntry,
    LanguageEntry,
    LicenceEntry,
    LinkEntry,
    MasterResume,
    ProjectEntry,
)
from jobmill.matching.profile import Profile

from .built_entry import build_entry
from .json_values import as_dict, as_dicts, as_prose, as_word_list, as_words

SCHEMA_URL: Final = "https://raw.githubusercontent.com/jsonresume/resume-schema/v1.0.0/schema.json"
DATE: Final = re.compile(
    r"(?P<month>(?:19|20)[0-9]{2}(?:-(?:0[1-9]|1[0-2]))?)(?:-[0-3][0-9])?(?:T.*)?"
)
Json = dict[str, Any]
T = TypeVar("T")


def read_master_resume(document: Json) -> MasterResume:
    """Entries without a title or name are left out."""
    basics = as_dict(document.get("basics"))
    contact = _read_contact(basics)
    values = {
        "headline": as_words(basics.get("label"))[:200],
        "contact": contact if contact.model_fields_set else None,
        "work_authorisation": as_word_list(basics.get("workAuthorization"), 200),
        "experience": _read_all(document.get("work"), _read_job)[:100],
        "projects": _read_all(document.get("projects"), _read_project)[:100],
        "education": _read_all(document.get("education"), _read_school)[:50],
        "licences": _read_all(document.get("certificates"), _read_licence)[:100],
        "languages": _read_all(document.get("languages"), _read_language)[:50],
    }
    return MasterResume.model_validate({name: value for name, value in values.items() if value})


def _read_all(value: object, read: Callable[[Json], T]) -> list[T]:
    entries: list[T] = []
    for entry in as_dicts(value):
        with suppress(ValidationError):
            entries.append(read(entry))
    return entries


def _read_contact(basics: Json) -> ContactDetails:
    links = _read_all(basics.get("profiles"), _read_profile)
    website = as_words(basics.get("url"))
    if website and all(link.url != website for link in links):
        with suppress(ValidationError):
            links.insert(0, build_entry(LinkEntry, label="Website", url=website))
    return build_entry(
        ContactDetails,
        email=as_words(basics.get("email")),
        phone=as_words(basics.get("phone")),
        address=as_words(as_dict(basics.get("location")).get("address")),
        links=links[:20],
    )


def _read_profile(profile: Json) -> LinkEntry:
    label = as_words(profile.get("network")) or as_words(profile.get("username")) or "Website"
    return build_entry(LinkEntry, label=label, url=as_words(profile.get("url")))


def _read_job(job: Json) -> ExperienceEntry:
    return build_entry(
        ExperienceEntry,
        **_read_dates(job, is_open=True),
        title=as_words(job.get("position")),
        # `company` is the name in older versions of the format.
        employer=as_words(job.get("name")) or as_words(job.get("company")),
        location=as_words(job.get("location")),
        summary=as_prose(job.get("summary"))[:10_000],
        highlights=as_word_list(job.get("highlights"))[:200],
        skills=as_word_list(job.get("keywords"), 200),
    )


def _read_project(project: Json) -> ProjectEntry:
    return build_entry(
        ProjectEntry,
        **_read_dates(project),
        name=as_words(project.get("name")),
        url=as_words(project.get("url")),
        summary=(as_prose(project.get("description")) or as_prose(project.get("summary")))[:10_000],
        highlights=as_word_list(project.get("highlights"))[:200],
        skills=as_word_list(project.get("keywords"), 200),
    )


def _read_school(school: Json) -> EducationEntry:
    return build_entry(
        EducationEntry,
        **_read_dates(school),
        institution=as_words(school.get("institution")),
        degree=as_words(school.get("studyType")),
        field=as_words(school.get("area")),
        grade=as_words(school.get("score")) or as_words(school.get("gpa")),
        highlights=as_word_list(school.get("courses"))[:200],
    )


def _read_licence(certificate: Json) -> LicenceEntry:
    return build_entry(
        LicenceEntry,
        name=as_words(certificate.get("name")),
        issuer=as_words(certificate.get("issuer")),
        number=as_words(certificate.get("number")),
        issued=_month(certificate.get("date")),
        expires=_month(certificate.get("expires")),
    )


def _read_language(language: Json) -> LanguageEntry:
    name, level = as_words(language.get("language")), as_words(language.get("fluency"))
    return build_entry(LanguageEntry, name=name, level=level)


def _read_dates(entry: Json, *, is_open: bool = False) -> Json:
    """`is_open`: by the format's convention, a job with a start and no end is held today."""
    start, end = _month(entry.get("startDate")), _month(entry.get("endDate"))
    current = entry.get("isCurrent")
    if current is True or (is_open and start and not entry.get("endDate") and current is not False):
        end = "present"
    return {"start": start, "end": end}


def _month(value: object) -> str | None:
    match = DATE.fullmatch(as_words(value))
    return match["month"] if match else None


def to_json_resume(profile: Profile) -> Json:
    """A profile as a JSON Resume. Scoring rules and wishes have no place in the format."""
    resume = profile.resume
    document = {
        "$schema": SCHEMA_URL,
        "basics": _write_basics(profile),
        "work": [_write_job(job) for job in resume.experience],
        "education": [_write_school(school) for school in resume.education],
        "certificates": [_write_licence(licence) for licence in resume.licences],
        "skills": [{"name": skill.name, "level": skill.rank} for skill in profile.skills],
        "languages": [
            _stated(language=language.name, fluency=language.level) for language in resume.languages
        ],
        "projects": [_write_project(project) for project in resume.projects],
        "awards": [{"title": line} for line in profile.achievements],
        "meta": {"version": "v1.0.0"},
    }
    return _stated(**document)


def _write_basics(profile: Profile) -> Json:
    contact, person = profile.resume.contact, profile.person
    city = person.home_city if "home_city" in person.model_fields_set else None
    return _stated(
        name=person.name,
        label=profile.resume.headline,
        email=contact.email,
        phone=contact.phone,
        summary=profile.summary,
        location=_stated(address=contact.address, city=city),
        profiles=[{"network": link.label, "url": link.url} for link in contact.links],
        workAuthorization=list(profile.resume.work_authorisation),
    )


def _write_job(job: ExperienceEntry) -> Json:
    return _stated(
        name=job.employer,
        position=job.title,
        location=job.location,
        **_write_dates(job, is_open=True),
        summary=job.summary,
        highlights=list(job.highlights),
        keywords=list(job.skills),
    )


def _write_project(project: ProjectEntry) -> Json:
    return _stated(
        name=project.name,
        url=project.url,
        **_write_dates(project),
        description=project.summary,
        highlights=list(project.highlights),
        keywords=list(project.skills),
    )


def _write_school(school: EducationEntry) -> Json:
    return _stated(
        institution=school.institution,
        studyType=school.degree,
        area=school.field,
        **_write_dates(school),
        score=school.grade,
        courses=list(school.highlights),
    )


def _write_licence(licence: LicenceEntry) -> Json:
    return _stated(
        name=licence.name,
        issuer=licence.issuer,
        number=licence.number,
        date=licence.issued,
        expires=licence.expires,
    )


def _write_dates(entry: DatedEntry, *, is_open: bool = False) -> Json:
    dates: Json = {"startDate": entry.start}
    if entry.end == "present":
        return dates if is_open and entry.start else {**dates, "isCurrent": True}
    if entry.end is None and is_open and entry.start:
        dates["isCurrent"] = False
    return {**dates, "endDate": entry.end}


def _stated(**values: Any) -> Json:
    """Without empty values; False is stated."""
    return {name: value for name, value in values.items() if value or value is False}
