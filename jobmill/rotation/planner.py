"""One run of the rotation: how many calls may be made, which, and the claim on them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from psycopg.types.json import Jsonb

from jobmill.boards.adapters import BY_NAME
from jobmill.db import Tx, fetch_all, fetch_one, fetch_value, optional_time
from jobmill.db.clock import server_time

from . import calls, expired_claims, platform_state, target_selection, targets
from .platform_state import Room
from .policies import call_value, yield_model
from .target_selection import Limits, Place, PolicyName, Question
from .targets import Kind, Target

Trigger: TypeAlias = Literal["schedule", "manual"]

DAY = dt.timedelta(days=1)
SEED_EVERY = dt.timedelta(hours=1)
"""The seed's rules say how many a run takes, not how often one comes; a schedule makes one an hour."""

REPRICED = 50
"""Moments that a run computes anew for each call that it may make, where the price has fallen."""


@dataclass(frozen=True, slots=True)
class Wish:
    """What a run is asked to do."""

    policy: PolicyName = "yield"
    trigger: Trigger = "schedule"
    limits: Limits = field(default_factory=Limits)
    per_day: float = 1_200
    platforms: Sequence[str] = ()
    """Only these; none named: all."""
    kind: Kind | None = None
    most: int | None = None
    """How many calls a run by hand may make."""
    sources: Sequence[int] = ()
    """Just these, whether or not it is their turn; none named: whoever is due."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """A target that is ours to call."""

    source_id: int
    window: dt.timedelta | None
    """The same question is not asked twice within it; None: it is asked in any case."""


@dataclass(frozen=True, slots=True)
class Planned:
    """What a run chose."""

    run_id: int | None
    """None where there was nothing to do."""
    claimed: list[Claimed]
    skipped: dict[str, str]
    """Platforms that take no call now, and why."""


@dataclass(frozen=True, slots=True)
class Pace:
    """How fast calls are made."""

    price: float
    saved: float
    saved_at: dt.datetime
    owed: float


async def start(tx: Tx, wish: Wish, at: dt.datetime, environ: Mapping[str, str]) -> Planned:
    """Choose what is called next and claim it; two runs at once never claim the same."""
    # First of all locks: two runs that change several targets each must not wait for each other.
    pace = refill(await _lock_pace(tx), at, wish.per_day)
    await targets.sync(tx)
    await expired_claims.clear(tx, at)
    room = _narrowed(await platform_state.room(tx, at, environ), wish)
    question = Question(at, room.left, wish.limits)
    ids: list[int] = []
    if await _is_time(tx, wish, pace, at):
        ids, pace = await _choose(tx, question, wish, pace)
    asked = wish.trigger == "manual" and not wish.sources
    run_id = await _open(tx, wish, at, room) if ids or asked else None
    taken = await _claim(tx, ids, run_id, at)
    await _spend(tx, spent(pace, len(taken), wish.per_day))
    await platform_state.probed(tx, sorted({one.platform for one in taken}), at)
    await _count(tx, run_id, len(taken))
    claimed = [
        Claimed(one.source_id, None if wish.sources else window(one, wish.policy)) for one in taken
    ]
    return Planned(run_id, claimed, dict(room.shut))


async def clock(tx: Tx) -> dt.datetime:
    """The database's time, which is the same for all who choose; in UTC, to be reckoned with."""
    return await server_time(tx)


def refill(pace: Pace, at: dt.datetime, per_day: float) -> Pace:
    """With the calls saved since then: never more than an hour's, so that no downtime ends in a burst."""
    since = max(at - pace.saved_at, dt.timedelta())
    saved = min(pace.saved + per_day * (since / DAY), _hour(per_day))
    return replace(pace, saved=saved, saved_at=at)


def spent(pace: Pace, calls: int, per_day: float) -> Pace:
    """Without these; runs by hand leave the schedule an hour's debt at most, however many calls they make."""
    return replace(pace, saved=max(pace.saved - calls, -_hour(per_day)))


def _hour(per_day: float) -> float:
    return max(1.0, per_day / 24)


def _narrowed(room: Room, wish: Wish) -> Room:
    """Without the platforms that nobody asked for."""

    def wanted(name: str) -> bool:
        named = not wish.platforms or name in wish.platforms
        return named and wish.kind in (None, targets.kind_of(name))

    left = {name: calls for name, calls in room.left.items() if wanted(name)}
    return Room(left, {name: why for name, why in room.shut.items() if wanted(name)})


async def _is_time(tx: Tx, wish: Wish, pace: Pace, at: dt.datetime) -> bool:
    """Whether calls may be made now: always by hand, and at its pace by a schedule."""
    if wish.trigger == "manual":
        return True
    if wish.policy == "yield":
        return pace.saved >= 1
    # Another may have run while this one waited for the pace: later than its own clock said.
    last = await fetch_value(
        tx,
        optional_time,
        "SELECT max(started_at) FROM rotation.run WHERE trigger = 'schedule' AND started_at <= %s",
        [at + SEED_EVERY],
    )
    return last is None or at - last >= SEED_EVERY


async def _choose(tx: Tx, question: Question, wish: Wish, pace: Pace) -> tuple[list[int], Pace]:
    if wish.sources:
        named = await targets.by_ids(tx, wish.sources)
        free = (one for one in named if one.queued_at is None and one.status != "paused")
        places = [Place(one.source_id, one.platform) for one in free]
        return question.room().take(places, len(places)), pace
    if wish.policy == "seed":
        return await _by_seed(tx, question, wish, pace)
    return await _by_yield(tx, question, wish, pace)


def _owed(pace: Pace, calls: int) -> float:
    """Of so many calls and those before, how many go to those that nobody would call otherwise."""
    fair = yield_model.Rules().stale_share * calls
    return min(pace.owed + fair, max(1.0, 2 * fair))


async def _by_seed(tx: Tx, question: Question, wish: Wish, pace: Pace) -> tuple[list[int], Pace]:
    room = question.room()
    most = sum(room.left.values()) if wish.most is None else wish.most
    owed = _owed(pace, min(most, sum(room.left.values())))
    bad = await target_selection.bad(tx, question)
    first = room.take(bad, min(int(owed), most))
    due = room.take(await target_selection.by_seed(tx, question, room), most - len(first))
    rest = [one for one in bad if one.source_id not in first]
    spare = room.take(rest, min(target_selection.RETRIES, most - len(first) - len(due)))
    return [*first, *due, *spare], replace(pace, owed=owed - len(first))


async def _by_yield(tx: Tx, question: Question, wish: Wish, pace: Pace) -> tuple[list[int], Pace]:
    budget = int(max(pace.saved, 0))
    if wish.trigger == "manual":
        budget = wish.limits.companies if wish.most is None else wish.most
    if budget <= 0:
        return [], pace
    await _reprice(tx, pace.price, REPRICED * budget, question.at)
    owed = _owed(pace, min(budget, sum(question.room().left.values())))
    bad = await target_selection.bad(tx, question)
    quota = min(int(owed), budget)
    chosen = await target_selection.by_yield(tx, question, budget=budget, quota=quota, bad=bad)
    next_price = call_value.next_price(pace.price, chosen.lowest)
    # What was due and is not worth the price must not stand before the others the next time.
    least = call_value.NEARLY * next_price
    cheap = [id for id, worth in chosen.passed.items() if worth < least]
    await _put_off(tx, await targets.by_ids(tx, cheap) if cheap else [], next_price, question.at)
    return chosen.ids, replace(pace, price=next_price, owed=owed - chosen.owed)


async def _reprice(tx: Tx, price_now: float, most: int, at: dt.datetime) -> None:
    """Bring forward what was put off at a price that has fallen since."""
    old = await target_selection.outdated(tx, price_now, most)
    await _put_off(tx, [one for one in old if one.rho is not None], price_now, at)
    # What a first answer is worth does not grow: those may be worth the price from now on.
    silent = {one.source_id: max(at, one.gate_at or at) for one in old if one.rho is None}
    if silent:
        await targets.reprice(tx, silent, price_now)


async def _put_off(tx: Tx, found: Sequence[Target], price_now: float, at: dt.datetime) -> None:
    """Look at these again when they are worth the price."""
    if found:
        now, rules = at.timestamp(), yield_model.Rules()
        due = {
            one.source_id: yield_model.look_at(one.yields, price_now, now, rules) for one in found
        }
        moments = {id: dt.datetime.fromtimestamp(when, dt.UTC) for id, when in due.items()}
        await targets.reprice(tx, moments, price_now)


async def _lock_pace(tx: Tx) -> Pace:
    pace = await fetch_one(
        tx,
        Pace,
        "SELECT price, saved, saved_at, owed FROM rotation.call_allowance FOR UPDATE",
    )
    assert pace is not None
    return pace


async def _spend(tx: Tx, pace: Pace) -> None:
    await tx.execute(
        "UPDATE rotation.call_allowance SET price = %s, saved = %s, saved_at = %s, owed = %s",
        [pace.price, pace.saved, pace.saved_at, pace.owed],
    )


async def _open(tx: Tx, wish: Wish, at: dt.datetime, room: Room) -> int | None:
    return await fetch_value(
        tx,
        int,
        """
        INSERT INTO rotation.run (trigger, policy, started_at, chosen, skipped)
        VALUES (%s, %s, %s, 0, %s) RETURNING id
        """,
        [wish.trigger, wish.policy, at, Jsonb(dict(room.shut))],
    )


async def _count(tx: Tx, run_id: int | None, chosen: int) -> None:
    await tx.execute("UPDATE rotation.run SET chosen = %s WHERE id = %s", [chosen, run_id])


@dataclass(frozen=True, slots=True)
class _Taken:
    source_id: int
    kind: Kind
    platform: str
    min_interval: dt.timedelta


async def _claim(tx: Tx, ids: Sequence[int], run_id: int | None, at: dt.datetime) -> list[_Taken]:
    """Those of these that may still run and that nobody has claimed meanwhile, in their order."""
    taken = await fetch_all(
        tx,
        _Taken,
        """
        WITH free AS MATERIALIZED (
            SELECT source_id FROM rotation.target
              JOIN catalog.source ON source.id = source_id
               AND (source.status = 'active'
                    OR target.status = 'bad' AND source.status = 'disabled')
             WHERE source_id = ANY (%(ids)s) AND target.status <> 'paused' AND queued_at IS NULL
               FOR UPDATE OF target SKIP LOCKED
        )
        UPDATE rotation.target AS target SET queued_at = %(at)s, run_id = %(run)s
          FROM free WHERE target.source_id = free.source_id
        RETURNING target.source_id, kind, platform, min_interval
        """,
        {"ids": list(ids), "at": at, "run": run_id},
    )
    order = {id: n for n, id in enumerate(ids)}
    return sorted(taken, key=lambda one: order[one.source_id])


def window(target: _Taken | Target, policy: PolicyName) -> dt.timedelta:
    """How long the same question is not asked again: a day, but never longer than its own interval."""
    if policy == "seed":
        return min(calls.WINDOW, target.min_interval)
    gap = dt.timedelta(seconds=yield_model.Rules().gaps[target.kind])
    platform = BY_NAME.get(target.platform)
    return min(calls.WINDOW, max(gap, (platform.every if platform else None) or gap))
