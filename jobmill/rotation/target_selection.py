"""Which targets are called next: SQL finds a few that matter by an index, the policy decides."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from jobmill.db import Tx, fetch_all

from . import platform_state, targets, timestamps
from .policies import call_value, yield_model
from .policies.yield_policy import Auction
from .targets import Kind, Target

PolicyName: TypeAlias = Literal["seed", "yield"]

RETRIES = 5
"""Bad targets that a run tries again where others leave room; beyond that they share what is owed."""
LOOKED_AT = 100
"""So many targets of each platform that are due are weighed, and a few more for each call to be made."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How many targets one run takes at most."""

    companies: int = 50
    """Of each platform."""
    slices: int = 50
    """Of all platforms together."""
    platforms: Mapping[str, int] = field(default_factory=dict[str, int])
    """Of these in particular."""

    def of(self, platform: str) -> int:
        most = self.slices if targets.kind_of(platform) == "slice" else self.companies
        return self.platforms.get(platform, most)


@dataclass(frozen=True, slots=True)
class Question:
    """What a run asks for."""

    at: dt.datetime
    left: Mapping[str, int]
    """Calls that each platform takes."""
    limits: Limits

    def room(self) -> Room:
        """What platforms and limits leave."""
        left = {name: min(calls, self.limits.of(name)) for name, calls in self.left.items()}
        return Room(left, self.limits.slices)


@dataclass(frozen=True, slots=True)
class Place:
    """A target that a run may choose."""

    source_id: int
    platform: str


@dataclass(slots=True)
class Room:
    """Calls that a run may still make; each one taken uses it up."""

    left: dict[str, int]
    """To each platform."""
    slices: int
    """To all slices together."""

    def take(self, found: Iterable[Place], most: int) -> list[int]:
        """The first of these for which there is room."""
        picked: list[int] = []
        for one in found:
            if len(picked) < most and self._has(one.platform):
                self._use(one.platform)
                picked.append(one.source_id)
        return picked

    def _has(self, platform: str) -> bool:
        sliced = targets.kind_of(platform) == "slice"
        return self.left.get(platform, 0) > 0 and (self.slices > 0 or not sliced)

    def _use(self, platform: str) -> None:
        self.left[platform] -= 1
        self.slices -= targets.kind_of(platform) == "slice"


async def by_seed(tx: Tx, question: Question, room: Room) -> list[Place]:
    """The seed's two questions: of each platform's companies by priority and staleness, then slices."""
    names = [name for name in room.left if targets.kind_of(name) == "company"]
    companies = await fetch_all(
        tx,
        Place,
        """
        SELECT due.source_id, open.platform
          FROM unnest(%(names)s::text[], %(room)s::bigint[]) AS open (platform, room)
         CROSS JOIN LATERAL (
            SELECT source_id FROM rotation.target
              JOIN catalog.source ON source.id = source_id AND source.status = 'active'
             WHERE target.platform = open.platform
               AND target.status = 'active' AND enabled
               AND (next_allowed_at IS NULL OR next_allowed_at <= %(at)s)
               AND queued_at IS NULL
             ORDER BY priority, last_success_at NULLS FIRST, source_id
             LIMIT open.room) AS due
        """,
        {"at": question.at, "names": names, "room": [room.left[name] for name in names]},
    )
    names = [name for name in room.left if targets.kind_of(name) == "slice"]
    slices = await fetch_all(
        tx,
        Place,
        """
        SELECT due.source_id, open.platform
          FROM unnest(%(names)s::text[], %(room)s::bigint[]) AS open (platform, room)
         CROSS JOIN LATERAL (
            SELECT source_id, priority, last_success_at FROM rotation.target
              JOIN catalog.source ON source.id = source_id AND source.status = 'active'
             WHERE target.platform = open.platform AND kind = 'slice'
               AND target.status = 'active' AND enabled
               AND (next_allowed_at IS NULL OR next_allowed_at <= %(at)s)
               AND queued_at IS NULL
             ORDER BY last_success_at NULLS FIRST, priority, source_id
             LIMIT open.room) AS due
         ORDER BY last_success_at NULLS FIRST, priority, source_id
         LIMIT %(most)s
        """,
        {
            "at": question.at,
            "names": names,
            "room": [room.left[name] for name in names],
            "most": room.slices,
        },
    )
    return companies + slices


@dataclass(frozen=True, slots=True)
class Owed(Place):
    """One that is called whatever it brings."""

    since: dt.datetime


@dataclass(frozen=True, slots=True)
class Candidate(Place):
    """As much of a target as says its worth; times in epoch seconds."""

    page_cap: int | None
    priority: int
    rho: float | None
    d: float | None
    health: float
    last_ok_at: float | None
    due: bool

    @property
    def kind(self) -> Kind:
        return targets.kind_of(self.platform)

    @property
    def state(self) -> yield_model.State:
        return yield_model.State(
            rho=self.rho, d=self.d, health=self.health, last_ok_at=self.last_ok_at
        )


@dataclass(frozen=True, slots=True)
class Chosen:
    """What `yield` chose, and what that says of the price."""

    ids: list[int]
    owed: int
    """Of these, those that waited too long."""
    lowest: float | None
    """What the cheapest of the others is worth; None where calls were left over."""
    passed: dict[int, float]
    """Those that were due and lost, with what each is worth."""


async def by_yield(
    tx: Tx,
    question: Question,
    *,
    budget: int,
    quota: int,
    rules: yield_model.Rules | None = None,
    bad: Sequence[Owed] = (),
) -> Chosen:
    """Up to `quota` that waited too long or were given up, then the dearest, `budget` in all; what
    nobody else wants goes to those that were given up."""
    rules = rules or yield_model.Rules()
    room = question.room()
    waiting = sorted([*await _late(tx, question, quota, rules), *bad], key=lambda one: one.since)
    owed = room.take(waiting, quota)
    found = await _candidates(tx, question, budget)
    rest = {one.source_id: one for one in found if one.source_id not in owed}
    auction = await _auction(tx, list(rest.values()), question.at, rules)
    ranked = auction.choose(question.at.timestamp(), len(rest), room.left)
    order = [rest[id] for id in ranked if isinstance(id, int)]
    dear = room.take(order, budget - len(owed))
    full = bool(dear) and len(owed) + len(dear) == budget
    lowest = min(_value(auction, rest[id], question.at) for id in dear) if full else None
    spare = [one for one in bad if one.source_id not in owed]
    ids = [*owed, *dear, *room.take(spare, min(RETRIES, budget - len(owed) - len(dear)))]
    lost = [one for one in found if one.due and one.source_id not in ids]
    passed = {one.source_id: _value(auction, one, question.at) for one in lost}
    return Chosen(ids, len(owed), lowest, passed)


async def _auction(
    tx: Tx, found: Sequence[Candidate], at: dt.datetime, rules: yield_model.Rules
) -> Auction:
    """The policy itself, knowing what the table knows of these."""
    # Those that waited too long were taken before: here only the value counts.
    auction = Auction(replace(rules, stale_share=0.0))
    for name, standing in (await platform_state.standings(tx)).items():
        auction.platforms[name, targets.kind_of(name)] = standing.average
    auction.states.update((one.source_id, one.state) for one in found)
    auction.bind([_plain(one) for one in found], {}, at.timestamp())
    return auction


def _plain(one: Candidate) -> dict[str, object]:
    return {
        "id": one.source_id,
        "kind": one.kind,
        "source": one.platform,
        "page_cap": one.page_cap,
        "priority": one.priority,
    }


def _value(auction: Auction, one: Candidate, at: dt.datetime) -> float:
    """What a call now is worth."""
    return yield_model.value_of(
        one.state,
        at.timestamp(),
        kind=one.kind,
        page_cap=one.page_cap,
        platform=auction.platforms.get((one.platform, one.kind), yield_model.Platform()),
        rules=auction.rules,
    )


async def _late(tx: Tx, question: Question, quota: int, rules: yield_model.Rules) -> list[Owed]:
    """Those that waited longest of those that waited too long, and since when that is so."""
    if quota <= 0:
        return []
    return await fetch_all(
        tx,
        Owed,
        """
        SELECT source_id, late.platform, since + make_interval(secs => %(staleness)s) AS since
          FROM unnest(%(names)s::text[]) AS open (platform)
         CROSS JOIN LATERAL (
            SELECT source_id, platform, priority, greatest(known_at, last_called_at) AS since
              FROM rotation.target
             WHERE target.platform = open.platform AND status = 'active' AND enabled
               AND greatest(known_at, last_called_at) <= %(before)s
               AND (gate_at IS NULL OR gate_at <= %(at)s) AND queued_at IS NULL
             ORDER BY greatest(known_at, last_called_at)
             LIMIT %(quota)s) AS late
         ORDER BY since, priority, source_id
        """,
        {
            "at": question.at,
            "names": list(question.left),
            "before": question.at - dt.timedelta(seconds=rules.staleness),
            "staleness": rules.staleness,
            "quota": quota,
        },
    )


async def _candidates(tx: Tx, question: Question, budget: int) -> list[Candidate]:
    """Of each platform those that are due first, some that come next, and those nobody has tried.

    What is due is never gated, so only of those that come next some are passed over; how many are
    read is bounded all the same.
    """
    room = question.room().left
    return await fetch_all(
        tx,
        Candidate,
        """
        SELECT source_id, open.platform, page_cap, priority, rho, d, health, last_ok_at, due
          FROM unnest(%(names)s::text[], %(room)s::bigint[]) AS open (platform, room)
         CROSS JOIN LATERAL (
            (SELECT source_id, page_cap, priority, rho, d, health,
                    extract(epoch FROM last_ok_at)::float8 AS last_ok_at, true AS due
               FROM rotation.target
              WHERE target.platform = open.platform AND status = 'active' AND enabled
                AND queued_at IS NULL AND (rho IS NOT NULL OR gate_at IS NOT NULL)
                AND due_at <= %(at)s AND (gate_at IS NULL OR gate_at <= %(at)s)
              ORDER BY due_at LIMIT %(most)s)
            UNION ALL
            (SELECT source_id, page_cap, priority, rho, d, health,
                    extract(epoch FROM last_ok_at)::float8, false
               FROM (SELECT source_id, page_cap, priority, rho, d, health, last_ok_at, gate_at
                       FROM rotation.target
                      WHERE target.platform = open.platform AND status = 'active' AND enabled
                        AND queued_at IS NULL AND (rho IS NOT NULL OR gate_at IS NOT NULL)
                        AND due_at > %(at)s
                      ORDER BY due_at LIMIT open.room) AS later
              WHERE gate_at IS NULL OR gate_at <= %(at)s)
            UNION ALL
            (SELECT source_id, page_cap, priority, NULL, NULL, health, NULL, false
               FROM rotation.target
              WHERE target.platform = open.platform AND status = 'active' AND enabled
                AND queued_at IS NULL AND rho IS NULL AND gate_at IS NULL
              ORDER BY health DESC, page_cap DESC, priority, source_id
              LIMIT open.room)) AS found
         ORDER BY priority, source_id
        """,
        {
            "at": question.at,
            "names": list(room),
            "room": [min(calls, budget) for calls in room.values()],
            "most": LOOKED_AT + 4 * budget,
        },
    )


async def outdated(tx: Tx, price_now: float, most: int) -> list[Target]:
    """Some whose moment was computed at a price that has fallen since: they would come too late."""
    cursor = await tx.execute(
        """
        SELECT source_id FROM rotation.target
         WHERE status = 'active' AND enabled AND queued_at IS NULL
           AND (rho IS NOT NULL OR gate_at IS NOT NULL) AND price > %(price)s
         ORDER BY price DESC LIMIT %(most)s
        """,
        {"price": call_value.OUTDATED * price_now, "most": most},
    )
    dearest = [id for (id,) in await cursor.fetchall()]
    return await targets.by_ids(tx, dearest) if dearest else []


async def bad(tx: Tx, question: Question) -> list[Owed]:
    """Some of each platform that were given up and have rested long enough: nothing is given up in
    silence."""
    return await fetch_all(
        tx,
        Owed,
        """
        SELECT source_id, rested.platform, since
          FROM unnest(%(names)s::text[]) AS open (platform)
         CROSS JOIN LATERAL (
            SELECT source_id, platform, next_allowed_at AS since FROM rotation.target
              JOIN catalog.source ON source.id = source_id
               AND (source.status = 'active' OR source.status = 'disabled'
                    AND (source.retry_at <= %(at)s OR source.retry_at > %(far)s))
             WHERE target.platform = open.platform AND target.status = 'bad'
               AND next_allowed_at <= %(at)s AND queued_at IS NULL
             ORDER BY next_allowed_at
             LIMIT %(most)s) AS rested
         ORDER BY since, source_id
        """,
        {
            "at": question.at,
            "far": timestamps.far(question.at),
            "names": [name for name, calls in question.room().left.items() if calls > 0],
            "most": RETRIES,
        },
    )
