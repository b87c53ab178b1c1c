"""The state of the demo at any moment, determined by its seed."""

from __future__ import annotations

import datetime as dt
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

from jobmill.demo.companies import DemoCompany
from jobmill.demo.roles import DemoRole

from . import roles

Arrangement: TypeAlias = Literal["remote", "hybrid", "onsite"]
FailureKind: TypeAlias = Literal[
    "server_error", "redesigned", "redirect_loop", "wrong_length", "rate_limited", "slow", "empty"
]  # fmt: skip

DAY_LENGTH = dt.timedelta(minutes=2)
"""The default duration of a demo day."""
DAYS_OF_HISTORY = 25
"""Listings exist from this many days before the start."""
FAILURE_CYCLE = 8.0
"""Failures repeat after this many days."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure of a company's site or board, as days of a cycle."""

    kind: FailureKind
    slug: str
    begins: float
    ends: float

    def is_active(self, day: float) -> bool:
        return day >= 0 and self.begins <= day % FAILURE_CYCLE < self.ends


FAILURES: tuple[Failure, ...] = (
    Failure("server_error", "castellaneaviation", 0.8, 1.8),
    Failure("redesigned", "bellweatherbaking", 1.5, 6.0),
    Failure("wrong_length", "tallowmerecitylibrary", 1.0, 2.0),
    Failure("rate_limited", "thistledownfreight", 1.2, 1.7),
    Failure("empty", "saltmarshrobotics", 0.5, 2.0),
    Failure("slow", "broadfellinsurance", 0.0, FAILURE_CYCLE),
    Failure("redirect_loop", "ringdovetravel", 0.0, FAILURE_CYCLE),
)


@dataclass(frozen=True, slots=True)
class DemoListing:
    """A position that a demo company wants to fill."""

    company: DemoCompany
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
    opens_on: float
    closes_on: float

    @property
    def path(self) -> str:
        words = "".join(
            character if character.isalnum() else " " for character in self.title.lower()
        )
        return f"/jobs/{'-'.join(words.split())}-{self.number}"

    @property
    def url(self) -> str:
        """The path of its page on the company's site."""
        return f"{self.company.website}{self.path}"

    @property
    def code(self) -> str:
        """Its number in the format of the ids of its platform."""
        return f"{self.number:08x}-demo-4000-8000-{self.number:012d}"


@dataclass(frozen=True, slots=True)
class DemoMoment:
    """The demo at a moment."""

    world: World
    at: dt.datetime
    day: float

    def open_listings(self, company: DemoCompany) -> list[DemoListing]:
        """The open listings of a company, newest first."""
        if self.failure(company) == "empty":
            return []
        listings = [
            listing
            for slot in range(company.max_listings)
            for listing in _listings_of_slot(self.world.seed, company, slot, self.day)
            if listing.opens_on <= self.day < listing.closes_on
        ]
        return sorted(listings, key=lambda listing: -listing.opens_on)

    def find_listing(self, company: DemoCompany, number: int) -> DemoListing | None:
        """An open listing by its number."""
        return next(
            (listing for listing in self.open_listings(company) if listing.number == number), None
        )

    def failure(self, company: DemoCompany) -> FailureKind | None:
        """The current failure of its site or board, if any."""
        spells = (
            spell for spell in FAILURES if spell.slug == company.slug and spell.is_active(self.day)
        )
        return next((spell.kind for spell in spells), None)

    def posted_at(self, listing: DemoListing) -> dt.datetime:
        return self.world.moment(listing.opens_on)

    def changed_at(self, company: DemoCompany) -> dt.datetime:
        """When a listing was last added or removed."""
        listings = (
            listing
            for slot in range(company.max_listings)
            for listing in _listings_of_slot(self.world.seed, company, slot, self.day)
        )
        moments = (
            moment for listing in listings for moment in (listing.opens_on, listing.closes_on)
        )
        return self.world.moment(
            max((listing for listing in moments if listing <= self.day), default=-DAYS_OF_HISTORY)
        )


@dataclass(frozen=True, slots=True)
class World:
    seed: int
    began_at: dt.datetime
    day: dt.timedelta = DAY_LENGTH

    def at(self, moment: dt.datetime) -> DemoMoment:
        return DemoMoment(self, moment, (moment - self.began_at) / self.day)

    def moment(self, day: float) -> dt.datetime:
        """The real time of a demo day. Before the start, demo days last as long as real days: dates
        must not lie in the future, and a listing may be older than the demo."""
        length = dt.timedelta(days=1) if day < 0 else self.day
        return self.began_at + day * length


def _listings_of_slot(
    seed: int, company: DemoCompany, slot: int, until: float
) -> Iterator[DemoListing]:
    """The consecutive listings of a slot."""
    opens_on, index = -float(DAYS_OF_HISTORY), 0
    while opens_on <= until:
        listing = _listing(seed, company, slot, index, opens_on)
        yield listing
        opens_on = (
            listing.closes_on + 0.2 + _random_for(seed, company, slot, index, "gap").random() * 1.5
        )
        index += 1


def _random_for(seed: int, company: DemoCompany, *what: object) -> random.Random:
    return random.Random(f"{seed}/{company.slug}/{'/'.join(map(str, what))}")


@lru_cache(maxsize=20_000)
def _listing(seed: int, company: DemoCompany, slot: int, index: int, free_at: float) -> DemoListing:
    dice = _random_for(seed, company, slot, index)
    # In most slots the first listing predates the start, in some it follows soon after.
    opens_on = (
        free_at
        if index
        else dice.choice((-DAYS_OF_HISTORY, -DAYS_OF_HISTORY, -DAYS_OF_HISTORY, 1.5))
        * dice.random()
    )
    role = dice.choice(roles.ROLE_MIXES[company.role_mix])
    arrangement = _arrangement(dice, role, company)
    title = f"{dice.choice(role.levels)}{role.title}"
    low = round(dice.randint(*role.pay), -1) if dice.random() < 0.7 else None
    pay = (low * 1_000, (low + dice.choice((15, 20, 30))) * 1_000) if low else None
    currency = roles.CURRENCIES[company.language]
    return DemoListing(
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
        opens_on=opens_on,
        closes_on=max(opens_on, 0.0) + 0.3 + dice.random() * 10,
    )


def _arrangement(dice: random.Random, role: DemoRole, company: DemoCompany) -> Arrangement:
    remote = role.remote_share * (1.2 if company.remote_first else 0.6)
    drawn = dice.random()
    if drawn < remote:
        return "remote"
    return "hybrid" if drawn < remote + 0.3 and role.remote_share else "onsite"


def _place(company: DemoCompany, arrangement: Arrangement) -> str:
    if arrangement != "remote":
        return company.town
    area = "United States" if company.language == "en" else roles.AREAS[company.language]
    return f"Remote, {area}"


def _about(company: DemoCompany, title: str) -> str:
    words = roles.PHRASES[company.language]
    return words.about.format(
        company=company.name, trade=company.activity, people=f"{company.employees:,}", title=title
    )


def _required(company: DemoCompany, role: DemoRole, dice: random.Random) -> tuple[str, ...]:
    years = dice.randint(*role.years)
    years_text = roles.PHRASES[company.language].years.format(years=years)
    return (*((years_text,) if years else ()), *role.required)


def _closing(
    company: DemoCompany, arrangement: Arrangement, pay: tuple[int, int] | None, currency: str
) -> tuple[str, ...]:
    words = roles.PHRASES[company.language]
    where = {"remote": words.remote, "hybrid": words.hybrid, "onsite": words.onsite}[arrangement]
    lines = [where.format(area=roles.AREAS[company.language], town=company.town)]
    if pay:
        sign = {"USD": "$", "EUR": "€"}[currency]
        low, high = (f"{sign}{amount:,}" for amount in pay)
        lines.append(words.pay.format(low=low, high=high))
    return tuple(lines)
