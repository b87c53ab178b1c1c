"""A profile: what a person can do and wants, and the rules used to judge listings for them."""

from __future__ import annotations

import zoneinfo
from collections import Counter
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from jobmill.catalog.posting import Arrangement, Period, Seniority
from jobmill.matching.master_resume import MasterResume
from jobmill.matching.profile_fields import ProfileLines, ProfilePart, ProfileWords, Prose, Words

Rank: TypeAlias = Literal["primary", "strong", "familiar"]
RANKS: dict[Rank, int] = {"primary": 3, "strong": 2, "familiar": 1}
"""The weight of a skill of each rank."""


def _zone(name: str) -> str:
    try:
        zoneinfo.ZoneInfo(name)
    except (ValueError, zoneinfo.ZoneInfoNotFoundError, OSError):
        raise ValueError("should be a time zone such as Europe/Lisbon") from None
    return name


def _rank(value: object) -> object:
    words = {importance: rank for rank, importance in RANKS.items()}
    return words.get(value, value) if type(value) is int else value


def _domain(name: str) -> str:
    name = name.lower().removeprefix("www.")
    if "/" in name or "." not in name or " " in name:
        raise ValueError("should be a domain such as acme.example, without https://")
    return name


# Strict: neither `yes` nor "5" is a number.
Points: TypeAlias = Annotated[int, Field(strict=True, ge=-1_000, le=1_000)]
Gain: TypeAlias = Annotated[int, Field(strict=True, ge=0, le=1_000)]
Score: TypeAlias = Annotated[int, Field(strict=True, ge=0, le=100)]
Years: TypeAlias = Annotated[float, Field(strict=True, ge=0, le=80, allow_inf_nan=False)]


class Span(ProfilePart):
    """A range: from the mildest case to the worst, or from the lowest value to the highest."""

    least: Points
    most: Points

    @model_validator(mode="after")
    def _ordered(self) -> Span:
        if self.least > self.most:
            raise ValueError(f"should have least ({self.least}) at or below most ({self.most})")
        return self


def _strikes(least: int, most: int) -> Any:
    return Field(default=Span(least=least, most=most))


class Strikes(ProfilePart):
    """Strikes per rule. A listing that reaches `threshold` strikes is filtered out."""

    threshold: Annotated[Gain, Field(ge=1)] = 5
    location: Span = _strikes(2, 3)
    seniority: Span = _strikes(2, 3)
    missing_skill: Span = _strikes(1, 3)
    """For each missing skill, by its importance."""
    missing_skills_cap: Gain = 4
    """The most strikes for all missing skills together, if the profile has at least 40% of what is
    required."""
    experience: Span = _strikes(2, 3)

    @model_validator(mode="after")
    def _positive(self) -> Strikes:
        spans = (self.location, self.seniority, self.missing_skill, self.experience)
        if any(span.least < 0 for span in spans):
            raise ValueError("should not have negative strikes")
        return self


class CompanyPoints(ProfilePart):
    """Points that rank companies."""

    home_city_office: Gain = 50
    tech_alignment: Gain = 100
    """At most; depends on the ranks of the skills in the company's tech stack."""
    remote_first: Gain = 15
    ai_ml: Gain = 10


class Tiers(ProfilePart):
    """The lowest points of each tier. Below C, a company is in tier D."""

    S: Gain = 150
    A: Gain = 100
    B: Gain = 70
    C: Gain = 50

    @model_validator(mode="after")
    def _descending(self) -> Tiers:
        if not self.S > self.A > self.B > self.C:
            raise ValueError("should have S above A, A above B, B above C")
        return self


class SizePoints(ProfilePart):
    """Points added to a score for the size of the company."""

    preferred: Points = 10
    """The company has the preferred size."""
    small: Points = -5
    """The company is small and another size is preferred."""


class Threshold(ProfilePart):
    """The lowest score of a match."""

    score: Score = 80
    with_home_city: Score = 65
    """Used when the company has an office in the home city."""


class Priorities(ProfilePart):
    """The lowest score of each priority. Below `medium`, the priority is low."""

    high: Score = 85
    medium: Score = 70

    @model_validator(mode="after")
    def _descending(self) -> Priorities:
        if self.high <= self.medium:
            raise ValueError("should have high above medium")
        return self


class Weights(ProfilePart):
    """How the parts of a score share its 100 points, without those for time zone and size. They must
    add up to 100."""

    skills: Score = 45
    title: Score = 15
    seniority: Score = 10
    experience: Score = 10
    salary: Score = 5
    arrangement: Score = 5
    meaning: Score = 10

    @model_validator(mode="after")
    def _complete(self) -> Weights:
        total = sum(dict(self).values())
        if total != 100:
            raise ValueError(f"should add up to 100, not {total}")
        return self


class Rules(ProfilePart):
    """The numbers used to judge listings and companies."""

    strikes: Strikes = Strikes()
    company: CompanyPoints = CompanyPoints()
    tiers: Tiers = Tiers()
    weights: Weights = Weights()
    timezone: Span = Span(least=-15, most=5)
    """Points added to a score, by how far the team's working hours are from the person's."""
    size: SizePoints = SizePoints()
    match: Threshold = Threshold()
    priorities: Priorities = Priorities()

    @model_validator(mode="after")
    def _within_100(self) -> Rules:
        total = max(self.timezone.most, 0) + max(self.size.preferred, 0)
        if total > 100:
            raise ValueError(f"should have at most 100 for timezone and size together, not {total}")
        return self


class ProfilePerson(ProfilePart):
    name: Words | None = None
    home_city: Words = "Portland, OR"
    timezone: Annotated[Words, AfterValidator(_zone)] = "America/Los_Angeles"


class Skill(ProfilePart):
    """A name alone is enough: `- Python`."""

    name: Words
    rank: Annotated[Rank, BeforeValidator(_rank)] = "familiar"
    """Or its weight as a number: 3 for primary, 2 for strong, 1 for familiar."""
    years: Years | None = None

    @model_validator(mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        return {"name": value} if isinstance(value, str) else value


def _skills_once(skills: tuple[Skill, ...]) -> tuple[Skill, ...]:
    counts = Counter(skill.name.casefold() for skill in skills)
    twice = [name for name, count in counts.items() if count > 1]
    if twice:
        raise ValueError(f"should list each skill only once: {', '.join(twice)}")
    return skills


class SalaryFloor(ProfilePart):
    amount: Annotated[float, Field(strict=True, gt=0, le=1e9, allow_inf_nan=False)]
    currency: Annotated[str, Field(pattern=r"^[A-Z]{3}$")] = "USD"
    """Three capital letters, as in ISO 4217."""
    period: Period = "year"


class StopLists(ProfilePart):
    """What the person never wants to see."""

    companies: ProfileWords = ()
    domains: Annotated[tuple[Annotated[Words, AfterValidator(_domain)], ...], Field(max_length=1_000)] = ()  # fmt: skip
    keywords: ProfileWords = ()
    """Whole words in a title or a URL."""


class Profile(ProfilePart):
    """Everything about the person. Empty fields are unknown or do not matter."""

    person: ProfilePerson = ProfilePerson()
    summary: Prose = ""
    experience_years: Years | None = None
    skills: Annotated[tuple[Skill, ...], AfterValidator(_skills_once), Field(max_length=500)] = ()
    languages: ProfileWords = ()
    """Spoken languages. They do not change a score."""
    titles: ProfileWords = ()
    """Job titles the person wants, in their own words."""
    seniority: tuple[Seniority, ...] = ()
    role_types: tuple[Literal["ic", "management"], ...] = ()
    """`ic` for individual contributor, `management` for leading people."""
    locations: ProfileWords = ()
    """Places besides the home city where the person would work."""
    arrangements: tuple[Arrangement, ...] = ("remote", "hybrid")
    """Remote counts everywhere; hybrid and onsite count in the home city and in `locations`."""
    company_size: Literal["large", "medium", "small"] | None = None
    """The preferred size."""
    salary_floor: SalaryFloor | None = None
    stop_lists: StopLists = StopLists()
    highlights: ProfileLines = ()
    """Lines about the person's experience. An application may state only these, `projects` and
    `achievements`."""
    projects: ProfileLines = ()
    achievements: ProfileLines = ()
    resume: MasterResume = MasterResume()
    """The master resume. It does not change a score."""
    rules: Rules = Rules()


def scores_alike(first: Profile, second: Profile) -> bool:
    """Whether two profiles score every listing the same: they differ at most in the master resume."""
    return first.model_copy(update={"resume": second.resume}) == second
