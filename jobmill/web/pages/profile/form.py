"""A profile as a form has it: the common fields each by itself, the whole of it as YAML."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, TypeAlias, cast, get_args

from jobmill.catalog.posting import Arrangement, Period, Seniority
from jobmill.matching import profile_document
from jobmill.matching.profile import RANKS, Profile
from jobmill.matching.profile_document import BadProfile, Problem
from jobmill.matching.profiles import FIRST, Version
from jobmill.web.form import LongForm

How: TypeAlias = Literal["fields", "yaml"]

LINES = ("titles", "locations", "stop_lists.companies", "stop_lists.domains", "stop_lists.keywords",
         "highlights", "projects", "achievements")  # fmt: skip
"""Lists, an entry on each line."""
WORDS = ("person.name", "person.home_city", "person.timezone", "summary", "company_size")
ASKED = ("person.home_city", "person.timezone")
"""What nobody should have by default: where one lives decides what fits."""
NUMBERS = ("experience_years",)
CHOICES: Mapping[str, Sequence[str]] = {
    "seniority": get_args(Seniority),
    "role_types": ("ic", "management"),
    "arrangements": get_args(Arrangement),
}
SALARY = ("salary_floor.amount", "salary_floor.currency", "salary_floor.period")
PERIODS: Sequence[str] = get_args(Period)
SPARE = 3
"""Empty rows for further skills."""
MORE = 10


class Skill(NamedTuple):
    name: str = ""
    rank: str = "familiar"
    years: str = ""


@dataclass(frozen=True, slots=True)
class Typed:
    name: str = FIRST
    after: int = 0
    """The version that it was made from; 0 for one that is new."""
    note: str = ""
    how: How = "fields"
    base: str = ""
    """As YAML, what the fields stand in: they replace only themselves."""
    yaml: str = ""
    texts: Mapping[str, str] = field(default_factory=dict[str, str])
    chosen: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    skills: Sequence[Skill] = ()
    spare: int = SPARE

    @property
    def rows(self) -> list[Skill]:
        return [*self.skills, *[Skill()] * self.spare]

    def profile(self) -> Profile:
        """What it says; BadProfile names everything that is wrong."""
        if self.how == "yaml":
            return profile_document.read(self.yaml, "profile")
        data, _ = profile_document.parse(self.base or "{}", "profile")
        profile = profile_document.check(_filled(data, self), "profile")
        if left := [] if self.after else [path for path in ASKED if not self.texts.get(path)]:
            raise BadProfile("profile", [Problem(None, path, "should be said") for path in left])
        return profile

    def shown_as(self, how: How, profile: Profile) -> Typed:
        """The same in the other form."""
        shown = of(profile, ask=not self.after)
        return replace(shown, name=self.name, after=self.after, note=self.note, how=how)


def of(profile: Profile, version: Version | None = None, *, ask: bool | None = None) -> Typed:
    """A profile to be changed, as the fields have it; `ask`: what a new one does not say of ASKED is
    left empty."""
    data = profile.model_dump(mode="json")
    text = profile_document.write(profile)
    if version is None if ask is None else ask:
        unsaid = {"home_city", "timezone"} - profile.person.model_fields_set
        data["person"] |= dict.fromkeys(unsaid)
    return Typed(
        name=version.name if version else FIRST,
        after=version.version if version else 0,
        base=text,
        yaml=text,
        texts={path: _shown(_get(data, path)) for path in (*LINES, *WORDS, *NUMBERS, *SALARY)},
        chosen={name: data[name] for name in CHOICES},
        skills=[Skill(one["name"], one["rank"], _shown(one["years"])) for one in data["skills"]],
    )


def read(sent: LongForm) -> Typed:
    """What a form says, whatever that is."""

    def one(name: str) -> str:
        return sent.get(name, [""])[-1].replace("\r\n", "\n")

    named, ranks, years = (sent.get(name, []) for name in ("skill", "rank", "years"))
    rows = [Skill(*map(str.strip, row)) for row in zip(named, ranks, years, strict=False)]
    after = one("after")
    return Typed(
        name=one("name").strip(),
        after=int(after) if after.isascii() and after.isdigit() and len(after) < 10 else 0,
        note=one("note").strip()[:500],
        how="yaml" if one("how") == "yaml" else "fields",
        base=one("base"),
        yaml=one("yaml"),
        texts={path: one(path) for path in (*LINES, *WORDS, *NUMBERS, *SALARY)},
        chosen={name: sent.get(name, []) for name in CHOICES},
        skills=[row for row in rows if row.name or row.years],
    )


def _filled(data: dict[str, Any], typed: Typed) -> dict[str, Any]:
    """The values with what was typed in place of what was there."""
    for path in WORDS:
        _put(data, path, typed.texts.get(path, "").strip())
    for path in NUMBERS:
        _put(data, path, _number(typed.texts.get(path, "")))
    for path in LINES:
        lines = typed.texts.get(path, "").split("\n")
        _put(data, path, [line.strip() for line in lines if line.strip()])
    data |= {name: list(typed.chosen.get(name, ())) for name in CHOICES}
    data["skills"] = [_skill(one) for one in typed.skills]
    data.pop("salary_floor", None)
    amount, currency, period = (typed.texts.get(path, "").strip() for path in SALARY)
    if amount:
        given = {"amount": _number(amount.replace(",", "")), "currency": currency.upper()}
        data["salary_floor"] = given | {"period": period}
    return data


def _skill(one: Skill) -> dict[str, object]:
    years = {"years": _number(one.years)} if one.years else {}
    return {"name": one.name, "rank": one.rank if one.rank in RANKS else "familiar", **years}


def _number(text: str) -> object:
    """A number where it is one; else what was typed, for whoever checks it."""
    text = text.strip()
    try:
        number = float(text)
    except ValueError:
        return text or None
    return int(number) if number.is_integer() else number


def _put(data: dict[str, Any], path: str, given: object) -> None:
    """Set a field by its path; nothing takes it away, so that it has its default."""
    *outer, last = path.split(".")
    place = data
    for part in outer:
        inner = place.get(part)
        place[part] = inner if isinstance(inner, dict) else {}
        place = cast("dict[str, Any]", place[part])
    if given in ("", None, []):
        place.pop(last, None)
    else:
        place[last] = given


def _get(data: Mapping[str, Any], path: str) -> object:
    found: object = data
    for part in path.split("."):
        found = cast("Mapping[str, object]", found).get(part) if isinstance(found, dict) else None
    return found


def _shown(given: object) -> str:
    if isinstance(given, list):
        return "\n".join(map(str, cast("list[object]", given)))
    if isinstance(given, float):
        return f"{given:.10g}"
    return "" if given is None else str(given)


def placed(problems: Iterable[Problem]) -> dict[str, str]:
    """What is wrong, by the field of the form where it is to be mended; "" for all others."""
    found: dict[str, list[str]] = {}
    for one in problems:
        where = _place(one.field)
        found.setdefault(where, []).append(one.message if where else _whole(one))
    return {where: "; ".join(dict.fromkeys(messages)) for where, messages in found.items()}


def _place(path: str) -> str:
    parts = path.split(".")
    if parts[0] == "skills" and len(parts) > 1:
        return ".".join(parts[:2])
    known = (*LINES, *WORDS, *NUMBERS, *SALARY, *CHOICES, "skills")
    return next((one for one in known if path == one or path.startswith(f"{one}.")), "")


def _whole(one: Problem) -> str:
    return f"{one.field} {one.message}".strip()
