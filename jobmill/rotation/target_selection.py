"""Chooses the next targets: SQL finds a few candidates by index, the policy decides."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from jobmill.db import Tx, fetch_all

from . import epoch_times, platform_state, targets
from .policies import call_value, yield_model
from .policies.yield_policy import YieldPolicy
from .targets import Target, TargetKind

MAX_BAD_RETRIES = 5
"""Bad targets that a run retries with spare calls; beyond that they share the reserved calls."""
EVALUATED_PER_PLATFORM = 100
"""Due targets per platform that are evaluated, plus four per call that it may get."""


@dataclass(frozen=True, slots=True)
class RunLimits:
    """Maximum targets per run."""

    companies: int = 50
    """Per platform."""
    slices: int = 50
    """Of all platforms together."""
    platforms: Mapping[str, int] = field(default_factory=dict[str, int])
    """Overrides for single platforms."""

    def for_platform(self, platform: str) -> int:
        most = self.slices if targets.kind_of(platform) == "slice" else self.companies
        return self.platforms.get(platform, most)


@dataclass(frozen=True, slots=True)
class SelectionRequest:
    """The time, capacities and limits of a run."""

    at: dt.datetime
    remaining: Mapping[str, int]
    """Calls that each platform accepts."""
    limits: RunLimits

    def capacity(self) -> RunCapacity:
        """The calls that capacities and limits leave."""
        left = {
            name: min(calls, self.limits.for_platform(name))
            for name, calls in self.remaining.items()
        }
        return RunCapacity(left, self.limits.slices)


@dataclass(frozen=True, slots=True)
class TargetRef:
    """A target that a run may choose."""

    source_id: int
    platform: str


@dataclass(slots=True)
class RunCapacity:
    """Calls that a run may still make; taking a target uses one."""

    remaining: dict[str, int]
    """Per platform."""
    slices: int
    """For all slices together."""

    @property
    def total(self) -> int:
        """All calls that the run may make."""
        slices = sum(
            calls for name, calls in self.remaining.items() if targets.kind_of(name) == "slice"
        )
        return sum(self.remaining.values()) - slices + min(slices, self.slices)

    def take(self, places: Iterable[TargetRef], most: int) -> list[int]:
        """The first targets that fit."""
        picked: list[int] = []
        for place in places:
            if len(picked) < most and self._has(place.platform):
                self._use(place.platform)
                picked.append(place.source_id)
        return picked

    def _has(self, platform: str) -> bool:
        sliced = targets.kind_of(platform) == "slice"
        return self.remaining.get(platform, 0) > 0 and (self.slices > 0 or not sliced)

    def _use(self, platform: str) -> None:
        self.remaining[platform] -= 1
        self.slices -= targets.kind_of(platform) == "slice"


async def choose_by_interval(
    tx: Tx, question: SelectionRequest, capacity: RunCapacity
) -> list[TargetRef]:
    """The two queries of the interval policy: companies per platform by priority and staleness,
    then slices."""
    names = [name for name in capacity.remaining if targets.kind_of(name) == "company"]
    companies = await fetch_all(
        tx,
        TargetRef,
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
             ORDER BY priority DESC, last_success_at NULLS FIRST, source_id
             LIMIT open.room) AS due
        """,
        {"at": question.at, "names": names, "room": [capacity.remaining[name] for name in names]},
    )
    names = [name for name in capacity.remaining if targets.kind_of(name) == "slice"]
    slices = await fetch_all(
        tx,
        TargetRef,
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
             ORDER BY last_success_at NULLS FIRST, priority DESC, source_id
             LIMIT open.room) AS due
         ORDER BY last_success_at NULLS FIRST, priority DESC, source_id
         LIMIT %(most)s
        """,
        {
            "at": question.at,
            "names": names,
            "room": [capacity.remaining[name] for name in names],
            "most": capacity.slices,
        },
    )
    return companies + slices


@dataclass(frozen=True, slots=True)
class OverdueTarget(TargetRef):
    """A target that is called whatever its value."""

    since: dt.datetime


@dataclass(frozen=True, slots=True)
class ValuedTarget(TargetRef):
    """The part of a target that determines its value; times in epoch seconds."""

    page_cap: int | None
    priority: int
    new_per_day: float | None
    loss_rate: float | None
    health: float
    last_ok_at: float | None
    due: bool
    later: bool
    """Not worth the price yet."""

    @property
    def kind(self) -> TargetKind:
        return targets.kind_of(self.platform)

    @property
    def state(self) -> yield_model.YieldState:
        return yield_model.YieldState(
            new_per_day=self.new_per_day,
            loss_rate=self.loss_rate,
            health=self.health,
            last_ok_at=self.last_ok_at,
        )


@dataclass(frozen=True, slots=True)
class YieldChoice:
    """The choice of `yield`, with data for the next price."""

    ids: list[int]
    overdue_count: int
    """How many of them were overdue."""
    lowest: float | None
    """The lowest value chosen; None if calls were left over."""
    value_unchosen: Callable[[], dict[int, float]]
    """Values due targets that were not chosen; a preview does not need it."""


async def choose_by_yield(
    tx: Tx,
    question: SelectionRequest,
    *,
    budget: int,
    quota: int,
    rules: yield_model.YieldRules | None = None,
    bad: Sequence[OverdueTarget] = (),
    only_due: bool = False,
) -> YieldChoice:
    """Up to `quota` overdue or bad targets, then the most valuable, `budget` in total; spare calls
    go to bad targets and, unless `only_due`, to targets that are not due yet."""
    rules = rules or yield_model.YieldRules()
    capacity = question.capacity()
    waiting = sorted(
        [*await _find_overdue(tx, question, quota, rules), *bad], key=lambda place: place.since
    )
    overdue = capacity.take(waiting, quota)
    candidates = await _find_candidates(tx, question, budget)
    rest = {
        candidate.source_id: candidate
        for candidate in candidates
        if candidate.source_id not in overdue and not (only_due and candidate.later)
    }
    auction = await _build_policy(tx, list(rest.values()), question.at, rules)
    ranked = auction.choose(question.at.timestamp(), len(rest), capacity.remaining)
    order = [rest[id] for id in ranked if isinstance(id, int)]
    dear = capacity.take(order, budget - len(overdue))
    full = bool(dear) and len(overdue) + len(dear) == budget
    lowest = min(_value_of(auction, rest[id], question.at) for id in dear) if full else None
    spare = [candidate for candidate in bad if candidate.source_id not in overdue]
    ids = [
        *overdue,
        *dear,
        *capacity.take(spare, min(MAX_BAD_RETRIES, budget - len(overdue) - len(dear))),
    ]

    def value_unchosen() -> dict[int, float]:
        chosen = set(ids)
        return {
            candidate.source_id: _value_of(auction, candidate, question.at)
            for candidate in candidates
            if candidate.due and candidate.source_id not in chosen
        }

    return YieldChoice(ids, len(overdue), lowest, value_unchosen)


async def _build_policy(
    tx: Tx, candidates: Sequence[ValuedTarget], at: dt.datetime, rules: yield_model.YieldRules
) -> YieldPolicy:
    """The policy object, loaded with the stored state of the candidates."""
    # Overdue targets were taken before: only the value counts here.
    auction = YieldPolicy(replace(rules, stale_share=0.0))
    for name, state in (await platform_state.load_all(tx)).items():
        auction.platforms[name, targets.kind_of(name)] = state.average
    auction.states.update((candidate.source_id, candidate.state) for candidate in candidates)
    auction.bind([_as_policy_target(candidate) for candidate in candidates], {}, at.timestamp())
    return auction


def _as_policy_target(candidate: ValuedTarget) -> dict[str, object]:
    return {
        "id": candidate.source_id,
        "kind": candidate.kind,
        "source": candidate.platform,
        "page_cap": candidate.page_cap,
        "priority": candidate.priority,
    }


def _value_of(auction: YieldPolicy, candidate: ValuedTarget, at: dt.datetime) -> float:
    """The value of a call now."""
    return yield_model.value_of(
        candidate.state,
        at.timestamp(),
        kind=candidate.kind,
        page_cap=candidate.page_cap,
        platform=auction.platforms.get(
            (candidate.platform, candidate.kind), yield_model.PlatformAverage()
        ),
        rules=auction.rules,
    )


async def _find_overdue(
    tx: Tx, question: SelectionRequest, quota: int, rules: yield_model.YieldRules
) -> list[OverdueTarget]:
    """The longest waiting of the overdue targets, with the time since when they are overdue."""
    if quota <= 0:
        return []
    return await fetch_all(
        tx,
        OverdueTarget,
        """
        SELECT source_id, late.platform, since + make_interval(secs => %(staleness)s) AS since
          FROM unnest(%(names)s::text[]) AS open (platform)
         CROSS JOIN LATERAL (
            SELECT source_id, platform, priority, greatest(added_at, last_called_at) AS since
              FROM rotation.target
             WHERE target.platform = open.platform AND status = 'active' AND enabled
               AND greatest(added_at, last_called_at) <= %(before)s
               AND (blocked_until IS NULL OR blocked_until <= %(at)s) AND queued_at IS NULL
             ORDER BY greatest(added_at, last_called_at), priority DESC, source_id
             LIMIT %(quota)s) AS late
         ORDER BY since, priority DESC, source_id
        """,
        {
            "at": question.at,
            "names": list(question.remaining),
            "before": question.at - dt.timedelta(seconds=rules.staleness),
            "staleness": rules.staleness,
            "quota": quota,
        },
    )


async def _find_candidates(tx: Tx, question: SelectionRequest, budget: int) -> list[ValuedTarget]:
    """Per platform: the targets due first, some that are due next, and untried ones.

    Due targets are never gated, so only some of the next ones are skipped; the number of rows read
    is bounded.
    """
    remaining = question.capacity().remaining
    return await fetch_all(
        tx,
        ValuedTarget,
        """
        SELECT source_id, open.platform, page_cap, priority, new_per_day, loss_rate, health, last_ok_at, due, later
          FROM unnest(%(names)s::text[], %(room)s::bigint[]) AS open (platform, room)
         CROSS JOIN LATERAL (
            (SELECT source_id, page_cap, priority, new_per_day, loss_rate, health,
                    extract(epoch FROM last_ok_at)::float8 AS last_ok_at, true AS due, false AS later
               FROM rotation.target
              WHERE target.platform = open.platform AND status = 'active' AND enabled
                AND queued_at IS NULL AND (new_per_day IS NOT NULL OR blocked_until IS NOT NULL)
                AND due_at <= %(at)s AND (blocked_until IS NULL OR blocked_until <= %(at)s)
              ORDER BY due_at LIMIT %(evaluated)s + 4 * open.room)
            UNION ALL
            (SELECT source_id, page_cap, priority, new_per_day, loss_rate, health,
                    extract(epoch FROM last_ok_at)::float8, false, true
               FROM (SELECT source_id, page_cap, priority, new_per_day, loss_rate, health, last_ok_at, blocked_until
                       FROM rotation.target
                      WHERE target.platform = open.platform AND status = 'active' AND enabled
                        AND queued_at IS NULL AND (new_per_day IS NOT NULL OR blocked_until IS NOT NULL)
                        AND due_at > %(at)s
                      ORDER BY due_at LIMIT open.room) AS later
              WHERE blocked_until IS NULL OR blocked_until <= %(at)s)
            UNION ALL
            (SELECT source_id, page_cap, priority, NULL, NULL, health, NULL, false, false
               FROM rotation.target
              WHERE target.platform = open.platform AND status = 'active' AND enabled
                AND queued_at IS NULL AND new_per_day IS NULL AND blocked_until IS NULL
              ORDER BY health DESC, page_cap DESC, priority DESC, source_id
              LIMIT open.room)) AS candidate
         ORDER BY priority DESC, source_id
        """,
        {
            "at": question.at,
            "names": list(remaining),
            "room": [min(calls, budget) for calls in remaining.values()],
            "evaluated": EVALUATED_PER_PLATFORM,
        },
    )


async def outdated_due_times(tx: Tx, price_now: float, most: int) -> list[Target]:
    """Targets whose due time was computed at a price that has fallen since."""
    cursor = await tx.execute(
        """
        SELECT source_id FROM rotation.target
         WHERE status = 'active' AND enabled AND queued_at IS NULL
           AND (new_per_day IS NOT NULL OR blocked_until IS NOT NULL) AND price > %(price)s
         ORDER BY price DESC LIMIT %(most)s
        """,
        {"price": call_value.OUTDATED_PRICE_FACTOR * price_now, "most": most},
    )
    dearest = [id for (id,) in await cursor.fetchall()]
    return await targets.by_ids(tx, dearest) if dearest else []


async def retryable_bad(tx: Tx, question: SelectionRequest) -> list[OverdueTarget]:
    """Some bad targets of each platform that have rested long enough to be retried."""
    return await fetch_all(
        tx,
        OverdueTarget,
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
            "far": epoch_times.latest_due(question.at),
            "names": [name for name, calls in question.capacity().remaining.items() if calls > 0],
            "most": MAX_BAD_RETRIES,
        },
    )
