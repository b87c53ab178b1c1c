"""Which targets are called next: SQL finds a few that matter by an index, the policy decides."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, LiteralString, TypeAlias

from jobmill.db import Tx
from jobmill.ingest.policy import price, yields
from jobmill.ingest.policy.auction import Auction
from jobmill.ingest.rotation import platforms, targets
from jobmill.ingest.rotation.targets import CLAIM, Target

PolicyName: TypeAlias = Literal["seed", "yield"]

RETRIES = 5
"""Bad targets that a run tries again."""
LOOKED_AT = 50
"""So many targets of each platform are weighed, and a few more for each call to be made."""


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

    @property
    def params(self) -> dict[str, object]:
        names = [name for name in self.left if targets.kind_of(name) == "company"]
        slices = [name for name in self.left if targets.kind_of(name) == "slice"]
        return {
            "at": self.at,
            "void": self.at - CLAIM,
            "companies": names,
            "slices": slices,
            "company_room": [min(self.left[name], self.limits.of(name)) for name in names],
            "slice_room": [min(self.left[name], self.limits.of(name)) for name in slices],
            "most_slices": self.limits.slices,
        }


async def by_seed(tx: Tx, question: Question) -> list[int]:
    """The seed's two questions: of each platform's companies by priority and staleness, then slices."""
    companies = await _ids(
        tx,
        """
        SELECT due.source_id
          FROM unnest(%(companies)s::text[], %(company_room)s::bigint[]) AS open (platform, room)
         CROSS JOIN LATERAL (
            SELECT source_id FROM rotation.target
              JOIN catalog.source ON source.id = source_id AND source.status = 'active'
             WHERE target.platform = open.platform
               AND target.status = 'active' AND enabled
               AND (next_allowed_at IS NULL OR next_allowed_at <= %(at)s)
               AND (queued_at IS NULL OR queued_at <= %(void)s)
             ORDER BY priority, last_success_at NULLS FIRST, source_id
             LIMIT open.room) AS due
        """,
        question.params,
    )
    slices = await _ids(
        tx,
        """
        SELECT due.source_id
          FROM unnest(%(slices)s::text[], %(slice_room)s::bigint[]) AS open (platform, room)
         CROSS JOIN LATERAL (
            SELECT source_id, priority, last_success_at FROM rotation.target
              JOIN catalog.source ON source.id = source_id AND source.status = 'active'
             WHERE target.platform = open.platform AND kind = 'slice'
               AND target.status = 'active' AND enabled
               AND (next_allowed_at IS NULL OR next_allowed_at <= %(at)s)
               AND (queued_at IS NULL OR queued_at <= %(void)s)
             ORDER BY last_success_at NULLS FIRST, priority, source_id
             LIMIT open.room) AS due
         ORDER BY last_success_at NULLS FIRST, priority, source_id
         LIMIT %(most_slices)s
        """,
        question.params,
    )
    return companies + slices


@dataclass(frozen=True, slots=True)
class Chosen:
    """What `yield` chose, and what that says of the price."""

    ids: list[int]
    owed: int
    """Of these, those that waited too long."""
    lowest: float | None
    """What the cheapest of the others is worth; None where calls were left over."""
    passed: list[Target]
    """Those that were due and lost."""


async def by_yield(
    tx: Tx,
    question: Question,
    *,
    budget: int,
    quota: int,
    rules: yields.Rules | None = None,
) -> Chosen:
    """Up to `quota` that waited too long, then the dearest, `budget` in all."""
    rules = rules or yields.Rules()
    left = {name: min(room, question.limits.of(name)) for name, room in question.left.items()}
    late = await targets.by_ids(tx, await _late(tx, question, quota, rules))
    late.sort(key=lambda one: max(one.known_at, one.last_called_at or one.known_at))
    owed = _take(late, quota, left)
    found = await targets.by_ids(tx, await _candidates(tx, question, budget))
    rest = [one for one in found if one.source_id not in owed]
    auction = await _auction(tx, rest, question.at, rules)
    chosen = auction.choose(question.at.timestamp(), budget - len(owed), left)
    dear = [id for id in chosen if isinstance(id, int)]
    kinds = {one.source_id: one.kind for one in (*late, *found)}
    ids = _cap([*owed, *dear], kinds, question.limits.slices)
    paid = [_value(auction, one, question.at) for one in rest if one.source_id in dear]
    lowest = min(paid) if paid and len(ids) == budget else None
    passed = [one for one in rest if one.due_at <= question.at and one.source_id not in ids]
    return Chosen(ids, len(owed), lowest, passed)


def _take(late: Iterable[Target], most: int, left: dict[str, int]) -> list[int]:
    """Those for which there is room, which is used up."""
    picked: list[int] = []
    for one in late:
        if len(picked) < most and left.get(one.platform, 0) > 0:
            left[one.platform] -= 1
            picked.append(one.source_id)
    return picked


def _cap(ids: Sequence[int], kinds: Mapping[int, str], slices: int) -> list[int]:
    """Without the slices that are too many for one run."""
    many = [id for id in ids if kinds[id] == "slice"][slices:]
    return [id for id in ids if id not in many]


async def _auction(
    tx: Tx, found: Sequence[Target], at: dt.datetime, rules: yields.Rules
) -> Auction:
    """The policy itself, knowing what the table knows of these."""
    # Those that waited too long were taken before: here only the value counts.
    auction = Auction(replace(rules, stale_share=0.0))
    standings = await platforms.standings(tx)
    for one in found:
        auction.states[one.source_id] = one.yields
        if one.platform in standings:
            auction.platforms[one.platform, one.kind] = standings[one.platform].average
    auction.bind([_plain(one) for one in found], {}, at.timestamp())
    return auction


def _plain(one: Target) -> dict[str, object]:
    return {
        "id": one.source_id,
        "kind": one.kind,
        "source": one.platform,
        "page_cap": one.page_cap,
        "priority": one.priority,
    }


def _value(auction: Auction, one: Target, at: dt.datetime) -> float:
    """What a call now is worth."""
    return yields.value_of(
        one.yields,
        at.timestamp(),
        kind=one.kind,
        page_cap=one.page_cap,
        platform=auction.platforms.get((one.platform, one.kind), yields.Platform()),
        rules=auction.rules,
    )


async def _late(tx: Tx, question: Question, quota: int, rules: yields.Rules) -> list[int]:
    """Those that waited longest of those that waited too long."""
    if quota <= 0:
        return []
    since = question.at - dt.timedelta(seconds=rules.staleness)
    return await _ids(
        tx,
        """
        SELECT late.source_id
          FROM unnest(%(names)s::text[]) AS open (platform)
         CROSS JOIN LATERAL (
            SELECT source_id, greatest(known_at, last_called_at) AS since FROM rotation.target
              JOIN catalog.source ON source.id = source_id AND source.status = 'active'
             WHERE target.platform = open.platform
               AND target.status = 'active' AND enabled
               AND greatest(known_at, last_called_at) <= %(since)s
               AND (gate_at IS NULL OR gate_at <= %(at)s)
               AND (queued_at IS NULL OR queued_at <= %(void)s)
             ORDER BY greatest(known_at, last_called_at)
             LIMIT %(quota)s) AS late
        """,
        {**question.params, "names": list(question.left), "since": since, "quota": quota},
    )


async def _candidates(tx: Tx, question: Question, budget: int) -> list[int]:
    """Of each platform those that are due first, and those that were never seen."""
    return await _ids(
        tx,
        """
        SELECT found.source_id
          FROM unnest(%(names)s::text[]) AS open (platform)
         CROSS JOIN LATERAL (
            (SELECT source_id FROM rotation.target
               JOIN catalog.source ON source.id = source_id AND source.status = 'active'
              WHERE target.platform = open.platform
                AND target.status = 'active' AND enabled AND rho IS NOT NULL
                AND (gate_at IS NULL OR gate_at <= %(at)s)
                AND (queued_at IS NULL OR queued_at <= %(void)s)
              ORDER BY due_at
              LIMIT %(most)s)
            UNION ALL
            (SELECT source_id FROM rotation.target
               JOIN catalog.source ON source.id = source_id AND source.status = 'active'
              WHERE target.platform = open.platform
                AND target.status = 'active' AND enabled AND rho IS NULL
                AND (gate_at IS NULL OR gate_at <= %(at)s)
                AND (queued_at IS NULL OR queued_at <= %(void)s)
              ORDER BY priority, due_at
              LIMIT %(most)s)) AS found
        """,
        {**question.params, "names": list(question.left), "most": LOOKED_AT + 4 * budget},
    )


async def outdated(tx: Tx, price_now: float, most: int) -> list[Target]:
    """Some whose moment was computed at a price that has fallen since: they would come too late."""
    dearest = await _ids(
        tx,
        """
        SELECT source_id FROM rotation.target
         WHERE status = 'active' AND enabled AND rho IS NOT NULL AND price > %(price)s
         ORDER BY price DESC LIMIT %(most)s
        """,
        {"price": price_now, "most": most},
    )
    found = await targets.by_ids(tx, dearest)
    return [one for one in found if price.is_outdated(one.price, price_now)]


async def bad(tx: Tx, at: dt.datetime, left: Mapping[str, int]) -> list[int]:
    """Some that were given up and have rested long enough: nothing is given up in silence."""
    ids = await _ids(
        tx,
        """
        SELECT source_id FROM rotation.target
          JOIN catalog.source ON source.id = source_id
           AND (source.status = 'active'
                OR source.status = 'disabled' AND source.retry_at <= %(at)s)
         WHERE target.status = 'bad' AND next_allowed_at <= %(at)s
           AND (queued_at IS NULL OR queued_at <= %(void)s)
           AND platform = ANY (%(names)s)
         ORDER BY next_allowed_at, source_id
         LIMIT %(most)s
        """,
        {
            "at": at,
            "void": at - CLAIM,
            "names": [name for name in left if left[name] > 0],
            "most": RETRIES,
        },
    )
    found = {one.source_id: one for one in await targets.by_ids(tx, ids)}
    return _take([found[id] for id in ids], RETRIES, dict(left))


async def _ids(tx: Tx, sql: LiteralString, params: Mapping[str, object]) -> list[int]:
    cursor = await tx.execute(sql, params)
    return [id for (id,) in await cursor.fetchall()]
