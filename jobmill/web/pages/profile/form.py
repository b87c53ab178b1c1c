"""A profile as form fields or as YAML."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, cast, get_args

from pydantic import ValidationError

from jobmill.catalog.posting import Arrangement, Period, Seniority
from jobmill.matching import profile_document
from jobmill.matching.master_resume import MasterResume
from jobmill.matching.profile import RANKS, Profile
from jobmill.matching.profile_document import InvalidProfile, ProfileProblem
from jobmill.matching.profiles import DEFAULT_NAME, ProfileVersion
from jobmill.matching.resumes.merged_resume import EntryPair, merge_resumes, pair_entries
from jobmill.sandbox import ReaderStopped, read_untrusted
from jobmill.web.form import LongForm
from jobmill.web.translations import say

T = TypeVar("T")

Mode: TypeAlias = Literal["fields", "yaml"]

LINE_FIELDS = (
    "titles",
    "locations",
    "languages",
    "stop_lists.companies",
    "stop_lists.domains",
    "stop_lists.keywords",
    "highlights",
    "projects",
    "achievements",
)
"""Lists with one entry per line."""
TEXT_FIELDS = ("person.name", "person.home_city", "person.timezone", "summary", "company_size")
REQUIRED_FIELDS = ("person.home_city", "person.timezone")
"""Required in a new profile, since a default place would give wrong matches."""
NUMBER_FIELDS = ("experience_years",)
CHOICES: Mapping[str, Sequence[str]] = {
    "seniority": get_args(Seniority),
    "role_types": ("ic", "management"),
    "arrangements": get_args(Arrangement),
}
SALARY_FIELDS = ("salary_floor.amount", "salary_floor.currency", "salary_floor.period")
SINGLE_FIELDS = (*LINE_FIELDS, *TEXT_FIELDS, *NUMBER_FIELDS, *SALARY_FIELDS)
PERIODS: Sequence[str] = get_args(Period)
CHOICE = "choice."
EMPTY_ROWS = 3
"""Empty rows for new skills."""
MORE_ROWS = 10


class SkillRow(NamedTuple):
    name: str = ""
    rank: str = "familiar"
    years: str = ""


@dataclass(frozen=True, slots=True)
class ProfileForm:
    name: str = DEFAULT_NAME
    after: int = 0
    """The version that was edited; 0 for a new profile."""
    note: str = ""
    resume: str = ""
    """The name of the resume that the values were read from."""
    replaces: str = ""
    """The name in the profile that this one would replace, if the resume is of another person."""
    person_choice: str = ""
    """`replace` or `new`: what to do about the other person."""
    mode: Mode = "fields"
    base: str = ""
    """The edited version as YAML: the fields replace only their own values in it."""
    yaml: str = ""
    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    selected: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    skills: Sequence[SkillRow] = ()
    empty_rows: int = EMPTY_ROWS
    entries: str = ""
    """The master resume as JSON; it replaces the one in `base`."""
    file_entries: str = ""
    """The master resume that was read from a file as JSON, until the person has chosen."""
    choices: Mapping[str, str] = field(default_factory=dict[str, str])
    """Which side of each pair of entries to keep."""

    @classmethod
    def from_profile(
        cls, profile: Profile, version: ProfileVersion | None = None, *, is_new: bool | None = None
    ) -> ProfileForm:
        """A form with the values of a profile; in a new one, fields without a stated value stay
        empty instead of showing a default."""
        data = profile.model_dump(mode="json")
        text = profile_document.to_yaml(profile)
        if version is None if is_new is None else is_new:
            unset = {"home_city", "timezone"} - profile.person.model_fields_set
            data["person"] |= dict.fromkeys(unset)
            if "arrangements" not in profile.model_fields_set:
                data["arrangements"] = []
        return cls(
            name=version.name if version else DEFAULT_NAME,
            after=version.version if version else 0,
            base=text,
            yaml=text,
            texts={path: _format(_get(data, path)) for path in SINGLE_FIELDS},
            selected={name: data[name] for name in CHOICES},
            skills=[
                SkillRow(skill["name"], skill["rank"], _format(skill["years"]))
                for skill in data["skills"]
            ],
            entries=profile.resume.model_dump_json(exclude_defaults=True),
        )

    @classmethod
    def from_fields(cls, fields: LongForm) -> ProfileForm:
        """A form as it was submitted."""

        def last(name: str) -> str:
            return fields.get(name, [""])[-1].replace("\r\n", "\n")

        names, ranks, years = (fields.get(name, []) for name in ("skill", "rank", "years"))
        rows = [SkillRow(*map(str.strip, row)) for row in zip(names, ranks, years, strict=False)]
        after = last("after")
        return cls(
            name=last("name").strip(),
            after=int(after) if after.isascii() and after.isdigit() and len(after) < 10 else 0,
            note=last("note").strip()[:500],
            resume=last("resume").strip()[:200],
            replaces=last("replaces").strip()[:200],
            person_choice=last("person_choice"),
            mode="yaml" if last("how") == "yaml" else "fields",
            base=last("base"),
            yaml=last("yaml"),
            texts={path: last(path) for path in SINGLE_FIELDS},
            selected={name: fields.get(name, []) for name in CHOICES},
            skills=[row for row in rows if row.name or row.years],
            entries=last("entries"),
            file_entries=last("file_entries"),
            choices={
                name.removeprefix(CHOICE): values[-1]
                for name, values in fields.items()
                if name.startswith(CHOICE)
            },
        )

    @property
    def master_resume(self) -> MasterResume:
        """The master resume to save; of a file, with the chosen entries."""
        current = _parse_entries(self.entries)
        if not self.file_entries:
            return current
        return merge_resumes(current, _parse_entries(self.file_entries), self.choices)

    @property
    def pairs(self) -> list[EntryPair]:
        """The entries of the profile beside those of the file."""
        return pair_entries(_parse_entries(self.entries), _parse_entries(self.file_entries))

    def with_resume(self, resume: MasterResume) -> ProfileForm:
        """The form with an edited master resume; the choices are made."""
        text = resume.model_dump_json(exclude_defaults=True)
        return replace(self, entries=text, file_entries="", choices={})

    @property
    def rows(self) -> list[SkillRow]:
        return [*self.skills, *[SkillRow()] * self.empty_rows]

    async def read_profile(self) -> Profile:
        """The profile; InvalidProfile with all problems if it is not valid."""
        if self.mode == "yaml":
            return await _read_in_child(profile_document.try_read, self.yaml)
        data = await _read_in_child(profile_document.try_parse, self.base or "{}")
        if self.entries:
            data["resume"] = self.master_resume.model_dump(mode="json", exclude_defaults=True)
        profile = profile_document.validate(_fill(data, self), "profile")
        required = () if self.after and not self.replaces else REQUIRED_FIELDS
        if missing := [path for path in required if not self.texts.get(path)]:
            problems = [ProfileProblem(None, path, say("is required")) for path in missing]
            raise InvalidProfile("profile", problems)
        return profile

    def in_mode(self, mode: Mode, profile: Profile) -> ProfileForm:
        """The same profile as fields or as YAML."""
        form = ProfileForm.from_profile(profile, is_new=not self.after or bool(self.replaces))
        return replace(
            form,
            name=self.name,
            after=self.after,
            note=self.note,
            resume=self.resume,
            replaces=self.replaces,
            person_choice=self.person_choice,
            mode=mode,
        )

    def decide_person(self, profile: Profile) -> ProfileForm:
        """The form under the name to save it as. InvalidProfile if the resume is of another person
        and the visitor has not said what to do with the profile of the first."""
        if not self.replaces or self.person_choice == "replace":
            return self
        if self.person_choice != "new":
            reason = say("choose whether to replace the profile of %(name)s", name=self.replaces)
            raise InvalidProfile("profile", [ProfileProblem(None, "person_choice", reason)])
        return replace(self, name=_as_profile_name(profile.person.name or "second"), after=0)

    def with_more_rows(self) -> ProfileForm:
        return replace(self, empty_rows=EMPTY_ROWS + MORE_ROWS)


def _parse_entries(text: str) -> MasterResume:
    try:
        return MasterResume.model_validate_json(text or "{}")
    except ValidationError as error:
        problems = [ProfileProblem(None, "resume", say("is not a valid master resume"))]
        raise InvalidProfile("profile", problems) from error


def _as_profile_name(name: str) -> str:
    ascii_name = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode().lower()
    return "-".join(re.findall(r"[a-z0-9]+", ascii_name))[:63].strip("-") or "second"


async def _read_in_child(function: Callable[[str, str], T | list[ProfileProblem]], text: str) -> T:
    """YAML of a megabyte takes seconds to read."""
    try:
        answer = await read_untrusted(function, text, "profile")
    except ReaderStopped as error:
        reason = say("could not be read: %(reason)s", reason=error)
        raise InvalidProfile("profile", [ProfileProblem(None, "", reason)]) from error
    if isinstance(answer, list):
        raise InvalidProfile("profile", cast(list[ProfileProblem], answer))
    return answer


def _fill(data: dict[str, Any], form: ProfileForm) -> dict[str, Any]:
    """The data with the values of the form."""
    for path in TEXT_FIELDS:
        _set(data, path, form.texts.get(path, "").strip())
    for path in NUMBER_FIELDS:
        _set(data, path, _parse_number(form.texts.get(path, "")))
    for path in LINE_FIELDS:
        lines = form.texts.get(path, "").split("\n")
        _set(data, path, [line.strip() for line in lines if line.strip()])
    data |= {name: list(form.selected.get(name, ())) for name in CHOICES}
    data["skills"] = [_skill_data(row) for row in form.skills]
    data.pop("salary_floor", None)
    amount, currency, period = (form.texts.get(path, "").strip() for path in SALARY_FIELDS)
    if amount:
        number = _parse_number(amount.replace(",", ""))
        data["salary_floor"] = {"amount": number, "currency": currency.upper(), "period": period}
    return data


def _skill_data(row: SkillRow) -> dict[str, object]:
    years = {"years": _parse_number(row.years)} if row.years else {}
    return {"name": row.name, "rank": row.rank if row.rank in RANKS else "familiar", **years}


def _parse_number(text: str) -> object:
    """A number, or the text itself for the validation to report."""
    text = text.strip()
    try:
        number = float(text)
    except ValueError:
        return text or None
    return int(number) if number.is_integer() else number


def _set(data: dict[str, Any], path: str, value: object) -> None:
    """Set a value by its path; an empty value removes it, so that the default applies."""
    *parents, last = path.split(".")
    container = data
    for part in parents:
        inner = container.get(part)
        container[part] = inner if isinstance(inner, dict) else {}
        container = cast("dict[str, Any]", container[part])
    if value in ("", None, []):
        container.pop(last, None)
    else:
        container[last] = value


def _get(data: Mapping[str, Any], path: str) -> object:
    value: object = data
    for part in path.split("."):
        value = cast("Mapping[str, object]", value).get(part) if isinstance(value, dict) else None
    return value


def _format(value: object) -> str:
    if isinstance(value, list):
        return "\n".join(map(str, cast("list[object]", value)))
    if isinstance(value, float):
        return f"{value:.10g}"
    return "" if value is None else str(value)


def errors_by_field(problems: Iterable[ProfileProblem]) -> dict[str, str]:
    """Messages by the form field that they belong to; "" collects all others."""
    messages: dict[str, list[str]] = {}
    for problem in problems:
        name = _form_field(problem.field)
        text = problem.message if name else f"{problem.field} {problem.message}".strip()
        messages.setdefault(name, []).append(text)
    return {name: "; ".join(dict.fromkeys(texts)) for name, texts in messages.items()}


def _form_field(path: str) -> str:
    parts = path.split(".")
    if parts[0] == "skills" and len(parts) > 1:
        return ".".join(parts[:2])
    names = (*SINGLE_FIELDS, *CHOICES, "skills", "person_choice")
    return next((name for name in names if path == name or path.startswith(f"{name}.")), "")
