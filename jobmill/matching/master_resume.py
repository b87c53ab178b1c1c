"""The master resume in a profile: everything that a resume or letter for one job may be made of."""

from __future__ import annotations

import re
from typing import Annotated, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from jobmill.matching.profile_fields import ProfileLines, ProfilePart, ProfileWords, Prose, Words

_MONTH = r"(?:19|20)[0-9]{2}(?:-(?:0[1-9]|1[0-2]))?"


def _year(value: object) -> object:
    """YAML reads a year as a number."""
    return str(value) if type(value) is int else value


Month: TypeAlias = Annotated[str, BeforeValidator(_year), Field(pattern=rf"^{_MONTH}$")]
"""`2021-03`, or `2021` where the month is unknown."""
End: TypeAlias = Annotated[str, BeforeValidator(_year), Field(pattern=rf"^(?:{_MONTH}|present)$")]
"""A month, or `present`."""


def _http_url(url: str) -> str:
    if not url.lower().startswith(("https://", "http://")):
        raise ValueError("should start with https://")
    return url


def _email(address: str) -> str:
    if not re.fullmatch(r"[^@\s]+@[^@\s]+\.[^@\s.]+", address):
        raise ValueError("should be an email address such as dana@example.net")
    return address


Link: TypeAlias = Annotated[Words, AfterValidator(_http_url)]


class DatedEntry(ProfilePart):
    """An entry that covers a period. Both dates may be unknown."""

    start: Month | None = None
    end: End | None = None

    @model_validator(mode="after")
    def _ordered(self) -> DatedEntry:
        start, end = self.start, self.end
        if start and end and end != "present" and end[:7] < start[: len(end)]:
            raise ValueError(f"should not end ({end}) before it starts ({start})")
        return self


class ExperienceEntry(DatedEntry):
    title: Words
    employer: Words | None = None
    location: Words | None = None
    summary: Prose = ""
    highlights: ProfileLines = ()
    """What the person did and achieved there, one line each."""
    skills: ProfileWords = ()


class ProjectEntry(DatedEntry):
    name: Words
    url: Link | None = None
    summary: Prose = ""
    highlights: ProfileLines = ()
    skills: ProfileWords = ()


class EducationEntry(DatedEntry):
    institution: Words
    degree: Words | None = None
    """`BSc`, `Diploma of Nursing`."""
    field: Words | None = None
    grade: Words | None = None
    highlights: ProfileLines = ()


class LicenceEntry(ProfilePart):
    """A licence, certificate or registration."""

    name: Words
    issuer: Words | None = None
    number: Words | None = None
    issued: Month | None = None
    expires: Month | None = None


class LanguageEntry(ProfilePart):
    name: Words
    level: Words | None = None
    """`native`, `B2`."""


class LinkEntry(ProfilePart):
    label: Words
    url: Link


class ContactDetails(ProfilePart):
    email: Annotated[Words, AfterValidator(_email)] | None = None
    phone: Words | None = None
    address: Words | None = None
    """As it is printed; the home city is used if this is empty."""
    links: Annotated[tuple[LinkEntry, ...], Field(max_length=20)] = ()


class MasterResume(ProfilePart):
    """Entries are in the order in which they are printed, newest first."""

    headline: Words | None = None
    contact: ContactDetails = ContactDetails()
    work_authorisation: ProfileWords = ()
    """`EU citizen`, `H-1B until 2027`: in the person's own words."""
    experience: Annotated[tuple[ExperienceEntry, ...], Field(max_length=100)] = ()
    projects: Annotated[tuple[ProjectEntry, ...], Field(max_length=100)] = ()
    education: Annotated[tuple[EducationEntry, ...], Field(max_length=50)] = ()
    licences: Annotated[tuple[LicenceEntry, ...], Field(max_length=100)] = ()
    languages: Annotated[tuple[LanguageEntry, ...], Field(max_length=50)] = ()
