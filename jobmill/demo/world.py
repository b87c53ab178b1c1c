"""What exists in the demo world at a moment: the same for the same seed, whoever asks."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from jobmill.demo import roles
from jobmill.demo.companies import Company
from jobmill.demo.roles import Role

Arrangement: TypeAlias = Literal["remote", "hybrid", "onsite"]
Trouble: TypeAlias = Literal[
    "broken", "reformed", "circling", "lying", "limited", "slow", "silent"
]  # fmt: skip

DAY = dt.timedelta(minutes=2)
"""How long a day of the world takes, unless somebody wants it otherwise."""
PAST = 25
"""Days before its beginning from which the world has listings."""
CYCLE = 8.0
"""Days after which troubles come again."""


@dataclass(frozen=True, slots=True)
class Spell:
    """When something is wrong with a company's site or board: days of a cycle."""

    trouble: Trouble
    slug: str
    begins: float
    ends: float

    def holds(self, day: float) -> bool:
        return day >= 0 and self.begins <= day % CYCLE < self.ends


SPELLS: tuple[Spell, ...] = (
    Spell("broken", "castellaneaviation", 0.8, 1.8),
    Spell("reformed", "bellweatherbaking", 1.5, 6.0),
    Spell("lying", "tallowmerecitylibrary", 1.0, 2.0),
    Spell("limited", "thistledownfreight", 1.2, 1.7),
    Spell("silent", "saltmarshrobotics", 0.5, 2.0),
    Spell("slow", "broadfellinsurance", 0.0, CYCLE),
    Spell("circling", "ringdovetravel", 0.0, CYCLE),
)


@dataclass(frozen=True, slots=True)
class Listing:
    """A position that a company of the world wants to fill."""

    company: Company
    number: int
    title: str
    department: str
    place: str
    arrangement: Arrangement
    pay: tuple[int, int] | None
    currency: str
    intro: str
    duties: tuple[str, ...]
    required: tuple[str, ...]
    nice: tuple[str, ...]
    closing: tuple[str, ...]
    born: float
    dies: float

    @property
    def path(self) -> str:
        words = "".join(one if one.isalnum() else " " for one in self.title.lower())
        return f"/jobs/{'-'.join(words.split())}-{self.number}"

    @property
    def url(self) -> str:
        """Its page on the company's own site."""
        return f"{self.company.site}{self.path}"

    @property
    def code(self) -> str:
        """Its number as vendors spell ids."""
        return f"{self.number:08x}-demo-4000-8000-{self.number:012d}"


@dataclass(frozen=True, slots=True)
class Now:
    """The world at a moment."""

    world: World
    at: dt.datetime
    day: float

    def open(self, company: Company) -> list[Listing]:
        """Whom a company looks for, as far as it shows it, the newest first."""
        if self.trouble(company) == "silent":
            return []
        found = [
            one
            for slot in range(company.slots)
            for one in _lives(self.world.seed, company, slot, self.day)
            if one.born <= self.day < one.dies
        ]
        return sorted(found, key=lambda one: -one.born)

    def find(self, company: Company, number: int) -> Listing | None:
        """One of these, by its number."""
        return next((one for one in self.open(company) if one.number == number), None)

    def trouble(self, company: Company) -> Trouble | None:
        """What is wrong with its site or board, if anything is."""
        spells = (one for one in SPELLS if one.slug == company.slug and one.holds(self.day))
        return next((one.trouble for one in spells), None)

    def posted_at(self, one: Listing) -> dt.datetime:
        return self.world.moment(one.born)

    def changed_at(self, company: Company) -> dt.datetime:
        """When one came or went last."""
        lives = (
            one
            for slot in range(company.slots)
            for one in _lives(self.world.seed, company, slot, self.day)
        )
        moments = (moment for one in lives for moment in (one.born, one.dies))
        return self.world.moment(max((one for one in moments if one <= self.day), default=-PAST))


@dataclass(frozen=True, slots=True)
class World:
    seed: int
    began_at: dt.datetime
    day: dt.timedelta = DAY

    def at(self, moment: dt.datetime) -> Now:
        return Now(self, moment, (moment - self.began_at) / self.day)

    def moment(self, day: float) -> dt.datetime:
        """When a day of the world is. Before its beginning days were as long as ours: dates that we
        read must not lie in the future, and a listing may be older than the world."""
        length = dt.timedelta(days=1) if day < 0 else self.day
        return self.began_at + day * length


def _lives(seed: int, company: Company, slot: int, until: float) -> Iterator[Listing]:
    """One after the other takes the slot."""
    born, turn = -float(PAST), 0
    while born <= until:
        one = _listing(seed, company, slot, turn, born)
        yield one
        born = one.dies + 0.2 + _dice(seed, company, slot, turn, "gap").random() * 1.5
        turn += 1


def _dice(seed: int, company: Company, *what: object) -> random.Random:
    return random.Random(f"{seed}/{company.slug}/{'/'.join(map(str, what))}")


@lru_cache(maxsize=20_000)
def _listing(seed: int, company: Company, slot: int, turn: int, free_at: float) -> Listing:
    dice = _dice(seed, company, slot, turn)
    # The first of most slots came before the world began, of some soon after.
    born = free_at if turn else dice.choice((-PAST, -PAST, -PAST, 1.5)) * dice.random()
    role = dice.choice(roles.LEANINGS[company.leaning])
    arrangement = _arrangement(dice, role, company)
    title = f"{dice.choice(role.levels)}{role.title}"
    low = round(dice.randint(*role.pay), -1) if dice.random() < 0.7 else None
    pay = (low * 1_000, (low + dice.choice((15, 20, 30))) * 1_000) if low else None
    currency = roles.CURRENCIES[company.language]
    return Listing(
        company=company,
        number=100_000 + dice.randrange(800_000),
        title=title,
        department=role.department,
        place=_place(company, arrangement),
        arrangement=arrangement,
        pay=pay,
        currency=currency,
        intro=_about(company, title),
        duties=tuple(dice.sample(role.duties, k=len(role.duties))),
        required=_required(company, role, dice),
        nice=role.nice,
        closing=_closing(company, arrangement, pay, currency),
        born=born,
        dies=max(born, 0.0) + 0.3 + dice.random() * 10,
    )


def _arrangement(dice: random.Random, role: Role, company: Company) -> Arrangement:
    remote = role.remote * (1.2 if company.remote_first else 0.6)
    drawn = dice.random()
    if drawn < remote:
        return "remote"
    return "hybrid" if drawn < remote + 0.3 and role.remote else "onsite"


def _place(company: Company, arrangement: Arrangement) -> str:
    if arrangement != "remote":
        return company.town
    area = "United States" if company.language == "en" else roles.AREAS[company.language]
    return f"Remote, {area}"


def _about(company: Company, title: str) -> str:
    words = roles.WORDS[company.language]
    return words.about.format(
        company=company.name, trade=company.trade, people=f"{company.people:,}", title=title
    )


def _required(company: Company, role: Role, dice: random.Random) -> tuple[str, ...]:
    years = dice.randint(*role.years)
    told = roles.WORDS[company.language].years.format(years=years)
    return (*((told,) if years else ()), *role.required)


def _closing(
    company: Company, arrangement: Arrangement, pay: tuple[int, int] | None, currency: str
) -> tuple[str, ...]:
    words = roles.WORDS[company.language]
    where = {"remote": words.remote, "hybrid": words.hybrid, "onsite": words.onsite}[arrangement]
    lines = [where.format(area=roles.AREAS[company.language], town=company.town)]
    if pay:
        sign = {"USD": "$", "EUR": "€"}[currency]
        low, high = (f"{sign}{amount:,}" for amount in pay)
        lines.append(words.pay.format(low=low, high=high))
    return tuple(lines)
