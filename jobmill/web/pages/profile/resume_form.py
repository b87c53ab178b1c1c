"""The master resume as form fields: entries can be added, removed and moved without scripts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, TypeAlias, cast

from pydantic import ValidationError

from jobmill.matching import profile_document
from jobmill.matching.master_resume import MasterResume
from jobmill.matching.profile_document import ProfileProblem
from jobmill.web.form import LongForm
from jobmill.web.translations import say

Kind: TypeAlias = Literal["text", "prose", "lines", "words", "month", "end"]
Row: TypeAlias = Mapping[str, str]
"""The fields of an entry as typed; `start.month`, `start.year` and `end.now` are parts of dates."""

PREFIX: Final = "resume."
PERIOD: Final[dict[str, Kind]] = {"start": "month", "end": "end"}
SECTIONS: Final[dict[str, dict[str, Kind]]] = {
    "experience": {
        "title": "text",
        "employer": "text",
        **PERIOD,
        "location": "text",
        "summary": "prose",
        "highlights": "lines",
        "skills": "words",
    },
    "education": {
        "institution": "text",
        "degree": "text",
        "field": "text",
        "grade": "text",
        **PERIOD,
        "highlights": "lines",
    },
    "projects": {
        "name": "text",
        "url": "text",
        **PERIOD,
        "summary": "prose",
        "highlights": "lines",
        "skills": "words",
    },
    "licences": {
        "name": "text",
        "issuer": "text",
        "number": "text",
        "issued": "month",
        "expires": "month",
    },
    "languages": {"name": "text", "level": "text"},
    "links": {"label": "text", "url": "text"},
}
"""The lists of entries and the fields of each, in the order of the page."""
SINGLE_FIELDS: Final[dict[str, Kind]] = {
    "headline": "text",
    "email": "text",
    "phone": "text",
    "address": "text",
    "work_authorisation": "lines",
}
CONTACT: Final = ("email", "phone", "address", "links")
"""Fields that the master resume keeps in `contact`."""
FIELD_NAME: Final = re.compile(r"resume\.([a-z]+)\.([0-9]{1,3})\.([a-z.]+)")
ACTION: Final = re.compile(r"([a-z]+)\.(?:add|([0-9]{1,3})\.(up|down|remove))")


class InvalidResumeForm(Exception):
    """A master resume with invalid fields: messages by field, such as `experience.0.title`."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__("; ".join(f"{name} {text}" for name, text in errors.items()))
        self.errors = errors


@dataclass(frozen=True, slots=True)
class ResumeForm:
    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    rows: Mapping[str, Sequence[Row]] = field(default_factory=dict[str, Sequence[Row]])
    focus: str = ""
    """The entry that was just added, such as `experience.0`."""

    @classmethod
    def from_resume(cls, resume: MasterResume) -> ResumeForm:
        data = resume.model_dump(mode="json")
        data |= data.pop("contact")
        return cls(
            {name: _format(data[name]) for name in SINGLE_FIELDS},
            {
                section: [_row_of(entry, fields) for entry in data[section]]
                for section, fields in SECTIONS.items()
            },
        )

    @classmethod
    def from_fields(cls, fields: LongForm) -> ResumeForm:
        """A form as it was submitted."""
        rows: dict[str, dict[int, dict[str, str]]] = {section: {} for section in SECTIONS}
        for name, values in fields.items():
            match = FIELD_NAME.fullmatch(name)
            if match and match[1] in rows:
                row = rows[match[1]].setdefault(int(match[2]), {})
                row[match[3]] = values[-1].replace("\r\n", "\n")
        return cls(
            {
                name: fields.get(f"{PREFIX}{name}", [""])[-1].replace("\r\n", "\n")
                for name in SINGLE_FIELDS
            },
            {
                section: [row for _, row in sorted(by_place.items())]
                for section, by_place in rows.items()
            },
        )

    def apply(self, action: str) -> ResumeForm:
        """Add an empty entry at the top of a list, or move or remove one. Others change nothing."""
        match = ACTION.fullmatch(action)
        if match is None or match[1] not in SECTIONS:
            return self
        section, rows = match[1], list(self.rows.get(match[1], ()))
        if match[2] is None:
            rows.insert(0, {})
            return replace(self, rows={**self.rows, section: rows}, focus=f"{section}.0")
        place = int(match[2])
        if place < len(rows):
            row = rows.pop(place)
            if match[3] != "remove":
                rows.insert(max(0, place - 1 if match[3] == "up" else place + 1), row)
        return replace(self, rows={**self.rows, section: rows})

    def read_resume(self) -> MasterResume:
        """The master resume; InvalidResumeForm with a message for every invalid field."""
        data: dict[str, Any] = {
            name: _parse(self.texts, name, kind) for name, kind in SINGLE_FIELDS.items()
        }
        places: dict[str, list[int]] = {}
        for section, fields in SECTIONS.items():
            rows = self.rows.get(section, ())
            places[section] = [n for n, row in enumerate(rows) if any(map(str.strip, row.values()))]
            data[section] = [
                {name: _parse(rows[n], name, kind) for name, kind in fields.items()}
                for n in places[section]
            ]
        data["contact"] = {name: data.pop(name) for name in CONTACT}
        try:
            return MasterResume.model_validate(_without_empty(data))
        except ValidationError as error:
            problems = profile_document.list_problems(error)
            raise InvalidResumeForm(_messages(problems, places)) from error


def _messages(
    problems: Sequence[ProfileProblem], places: Mapping[str, Sequence[int]]
) -> dict[str, str]:
    """By field of the form. Empty rows are not part of the resume, so the numbers may differ."""
    messages: dict[str, str] = {}
    for problem in problems:
        section, *rest = problem.field.removeprefix("contact.").split(".")
        if not rest or section not in places:
            messages.setdefault(section, problem.message)
            continue
        row = places[section][int(rest[0]) - 1]
        # What concerns the whole entry is about its dates.
        name = rest[1] if len(rest) > 1 else "end"
        messages.setdefault(f"{section}.{row}.{name}", _message(problem))
    return messages


def _message(problem: ProfileProblem) -> str:
    if problem.message == "is missing":
        return say("is required")
    if problem.message.startswith("should be a month"):
        # Month and year are separate fields here.
        return say("needs a year such as 2021")
    return problem.message


def _row_of(entry: Mapping[str, Any], fields: Mapping[str, Kind]) -> dict[str, str]:
    row: dict[str, str] = {}
    for name, kind in fields.items():
        value = entry[name]
        if kind in ("month", "end"):
            is_date = value not in (None, "present")
            year, _, month = value.partition("-") if is_date else ("", "", "")
            row |= {f"{name}.year": year, f"{name}.month": month}
            if kind == "end":
                row[f"{name}.now"] = "yes" if value == "present" else ""
        else:
            row[name] = ", ".join(value) if kind == "words" else _format(value)
    return row


def _format(value: object) -> str:
    if isinstance(value, list):
        return "\n".join(cast("list[str]", value))
    return str(value or "")


def _parse(row: Row, name: str, kind: Kind) -> object:
    text = row.get(name, "").strip()
    match kind:
        case "lines":
            return [line.strip() for line in text.split("\n") if line.strip()]
        case "words":
            return [word.strip() for word in re.split(r"[,\n]", text) if word.strip()]
        case "month" | "end":
            if kind == "end" and row.get(f"{name}.now"):
                return "present"
            year, month = (row.get(f"{name}.{part}", "").strip() for part in ("year", "month"))
            return f"{year}-{month}" if month else year
        case _:
            return text


def _without_empty(value: Any) -> Any:
    """Without empty texts and lists, so that defaults apply."""
    if isinstance(value, dict):
        fields = {
            name: _without_empty(part) for name, part in cast("dict[str, Any]", value).items()
        }
        return {name: part for name, part in fields.items() if part not in ("", [], {}, None)}
    if isinstance(value, list):
        return [_without_empty(part) for part in cast("list[Any]", value)]
    return value
