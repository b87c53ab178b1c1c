"""The master resume in a JSON Resume (jsonresume.org), in both directions.

The format has no fields for a few things; it allows additional ones, and these are used:
`isCurrent` (whether the person still works or studies there, if the dates do not show it),
`expires` and `number` of a certificate, `keywords` of a job and `workAuthorization` of a person."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, Final, TypeVar, cast

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
from jobmill.matching.profile_fields import ProfilePart

from .built_entry import build_entry
from .json_values import as_dict, as_dicts, as_prose, as_word_list, as_words

SCHEMA_URL: Final = "https://raw.githubusercontent.com/jsonresume/resume-schema/v1.0.0/schema.json"
DATE: Final = re.compile(
    r"(?P<month>(?:19|20)[0-9]{2}(?:-(?:0[1-9]|1[0-2]))?)(?:-[0-3][0-9])?(?:T.*)?"
)
Json = dict[str, Any]
T = TypeVar("T", bound=ProfilePart)


def _month(value: object) -> str | None:
    match = DATE.fullmatch(as_words(value))
    return match["month"] if match else None


_KEYS: Final[Mapping[type[ProfilePart], Mapping[str, Sequence[str]]]] = {
    ExperienceEntry: {
        # `company` is the name in older versions of the format.
        "employer": ("name", "company"),
        "title": ("position",),
        "location": ("location",),
        "dates": ("startDate", "endDate"),
        "summary": ("summary",),
        "highlights": ("highlights",),
        "skills": ("keywords",),
    },
    ProjectEntry: {
        "name": ("name",),
        "url": ("url",),
        "dates": ("startDate", "endDate"),
        "summary": ("description", "summary"),
        "highlights": ("highlights",),
        "skills": ("keywords",),
    },
    EducationEntry: {
        "institution": ("institution",),
        "degree": ("studyType",),
        "field": ("area",),
        "dates": ("startDate", "endDate"),
        "grade": ("score", "gpa"),
        "highlights": ("courses",),
    },
    LicenceEntry: {
        "name": ("name",),
        "issuer": ("issuer",),
        "number": ("number",),
        "issued": ("date",),
        "expires": ("expires",),
    },
    LanguageEntry: {"name": ("language",), "level": ("fluency",)},
}
"""The keys of each field in the format: the first is written, the others are read if it is empty."""
_PARSERS: Final[Mapping[str, Callable[[object], Any]]] = {
    "summary": lambda value: as_prose(value)[:10_000],
    "highlights": lambda value: as_word_list(value)[:200],
    "skills": lambda value: as_word_list(value, 200),
    "issued": _month,
    "expires": _month,
}
"""Other fields are single lines."""


def read_master_resume(document: Json) -> MasterResume:
    """Entries without a title or name are left out."""
    basics = as_dict(document.get("basics"))
    contact = _read_contact(basics)
    values = {
        "headline": as_words(basics.get("label"))[:200],
        "contact": contact if contact.model_fields_set else None,
        "work_authorisation": as_word_list(basics.get("workAuthorization"), 200),
        "experience": _read_all(document.get("work"), partial(_read_entry, ExperienceEntry))[:100],
        "projects": _read_all(document.get("projects"), partial(_read_entry, ProjectEntry))[:100],
        "education": _read_all(document.get("education"), partial(_read_entry, EducationEntry))[
            :50
        ],
        "licences": _read_all(document.get("certificates"), partial(_read_entry, LicenceEntry))[
            :100
        ],
        "languages": _read_all(document.get("languages"), partial(_read_entry, LanguageEntry))[:50],
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


def _read_entry(kind: type[T], record: Json) -> T:
    values: Json = {}
    for name, keys in _KEYS[kind].items():
        if name == "dates":
            values |= _read_dates(record, is_open=kind is ExperienceEntry)
        else:
            parsed = (_PARSERS.get(name, as_words)(record.get(key)) for key in keys)
            values[name] = next(filter(None, parsed), None)
    return build_entry(kind, **values)


def _write_entry(entry: ProfilePart) -> Json:
    record: Json = {}
    for name, keys in _KEYS[type(entry)].items():
        if isinstance(entry, DatedEntry) and name == "dates":
            record |= _write_dates(entry, is_open=isinstance(entry, ExperienceEntry))
        else:
            value: object = getattr(entry, name)
            is_list = isinstance(value, tuple)
            record[keys[0]] = list(cast(tuple[str, ...], value)) if is_list else value
    return _stated(**record)


def _read_dates(entry: Json, *, is_open: bool = False) -> Json:
    """`is_open`: by the format's convention, a job with a start and no end is held today."""
    start, end = _month(entry.get("startDate")), _month(entry.get("endDate"))
    current = entry.get("isCurrent")
    if current is True or (is_open and start and not entry.get("endDate") and current is not False):
        end = "present"
    return {"start": start, "end": end}


def to_json_resume(profile: Profile) -> Json:
    """A profile as a JSON Resume. Scoring rules and wishes have no place in the format."""
    resume = profile.resume
    document = {
        "$schema": SCHEMA_URL,
        "basics": _write_basics(profile),
        "work": list(map(_write_entry, resume.experience)),
        "education": list(map(_write_entry, resume.education)),
        "certificates": list(map(_write_entry, resume.licences)),
        "skills": [{"name": skill.name, "level": skill.rank} for skill in profile.skills],
        "languages": list(map(_write_entry, resume.languages)),
        "projects": list(map(_write_entry, resume.projects)),
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
