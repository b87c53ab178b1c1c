"""Targets: the sources that rotation calls, each with what its calls have taught."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from jobmill.boards.adapters import BY_NAME
from jobmill.catalog import history, sources
from jobmill.db import Tx, fetch_all
from jobmill.errors import Conflict, NotFound

from . import epoch_times, platform_state
from .policies import interval_policy, yield_model

TargetKind: TypeAlias = Literal["company", "slice"]
TargetStatus: TypeAlias = Literal["active", "paused", "bad"]
PolicyName: TypeAlias = Literal["seed", "yield"]

DEFAULT_INTERVALS: dict[TargetKind, dt.timedelta] = {
    "company": dt.timedelta(seconds=interval_policy.IntervalRules().company_interval),
    "slice": dt.timedelta(seconds=interval_policy.IntervalRules().slice_interval),
}
MAX_PRIORITY = 100
DEFAULT_PRIORITY = 50
"""Priorities of targets and searches are 0 to 100; higher comes first."""
CLAIM_LIFETIME = platform_state.CLAIM_LIFETIME
SYNC_BATCH = 20_000


@dataclass(frozen=True, slots=True)
class Target:
    source_id: int
    kind: TargetKind
    platform: str
    status: TargetStatus
    paused_by_person: bool
    enabled: bool
    priority: int
    own_interval: dt.timedelta | None
    own_window: dt.timedelta | None
    interval: dt.timedelta | None
    """The minimum interval that a person or the searches of the slice set."""
    call_window: dt.timedelta | None
    """The time in which they do not want the same request repeated."""
    of_search: bool
    page_cap: int | None
    added_at: dt.datetime
    last_called_at: dt.datetime | None
    queued_at: dt.datetime | None
    run_id: int | None
    min_interval: dt.timedelta
    next_allowed_at: dt.datetime | None
    last_success_at: dt.datetime | None
    fail_count: int
    new_jobs_last: int | None
    consecutive_empty_runs: int
    new_listings: float
    observed_days: float
    entries: float
    entry_days: float
    span: float | None
    new_per_day: float | None
    loss_rate: float | None
    health: float
    failures: int
    last_ok_at: dt.datetime | None
    blocked_until: dt.datetime | None
    due_at: dt.datetime
    price: float

    @property
    def interval_state(self) -> interval_policy.IntervalState:
        """The state for the interval policy."""
        return interval_policy.IntervalState(
            interval=self.min_interval.total_seconds(),
            fail_count=self.fail_count,
            empty_runs=self.consecutive_empty_runs,
            new_last=self.new_jobs_last,
            called_at=epoch_times.to_seconds(self.last_called_at),
            last_success_at=epoch_times.to_seconds(self.last_success_at),
            next_allowed_at=epoch_times.to_blocked_until(self.next_allowed_at),
        )

    @property
    def yield_state(self) -> yield_model.YieldState:
        """The state for the yield policy."""
        return yield_model.YieldState(
            new_listings=self.new_listings,
            observed_days=self.observed_days,
            entries=self.entries,
            entry_days=self.entry_days,
            span=self.span,
            new_per_day=self.new_per_day,
            loss_rate=self.loss_rate,
            health=self.health,
            failures=self.failures,
            called_at=epoch_times.to_seconds(self.last_called_at),
            last_ok_at=epoch_times.to_seconds(self.last_ok_at),
            blocked_until=epoch_times.to_blocked_until(self.blocked_until),
        )


def kind_of(platform: str) -> TargetKind:
    """Whether the sources of a platform are boards or searches."""
    adapter = BY_NAME.get(platform)
    return "slice" if adapter and not adapter.inventory else "company"


async def get(tx: Tx, source_id: int, *, lock: bool = False) -> Target:
    """The target of a source, optionally locked; NotFound if it has none."""
    target = await find(tx, source_id, lock=lock)
    if target is None:
        raise NotFound("target of source", source_id)
    return target


async def find(tx: Tx, source_id: int, *, lock: bool = False) -> Target | None:
    """The target of a source, optionally locked, or None."""
    if lock:
        await tx.execute(
            "SELECT 1 FROM rotation.target WHERE source_id = %s FOR UPDATE", [source_id]
        )
    return next(iter(await by_ids(tx, [source_id])), None)


async def lock(tx: Tx, ids: Sequence[int]) -> None:
    """Lock targets in ascending order, as every transaction that changes several of them does. Lock
    their sources before, if they are needed too."""
    await tx.execute(
        """
        SELECT 1 FROM rotation.target WHERE source_id = ANY (%s) ORDER BY source_id FOR UPDATE
        """,
        [list(ids)],
    )


async def by_ids(tx: Tx, ids: Sequence[int]) -> list[Target]:
    """Targets, the highest priority first, then by id."""
    return await fetch_all(
        tx,
        Target,
        """
        SELECT source_id, kind, platform, status, paused_by_person, enabled, priority,
               own_interval, own_window, coalesce(own_interval, search_timing.min_interval) AS interval,
               coalesce(own_window, search_timing.call_window) AS call_window, search_timing.of_search, page_cap,
               added_at, last_called_at, queued_at, run_id, target.min_interval, next_allowed_at,
               last_success_at, fail_count, new_jobs_last, consecutive_empty_runs, new_listings,
               observed_days, entries, entry_days, span, new_per_day, loss_rate, health, failures, last_ok_at, blocked_until, due_at,
               price
          FROM rotation.target
         CROSS JOIN LATERAL (
            -- Of several searches, the longest interval and window: each is kept.
            SELECT max(search.min_interval) AS min_interval, max(search.call_window) AS call_window,
                   count(*) > 0 AS of_search
              FROM rotation.search_slice JOIN rotation.search ON search.id = search_id
             WHERE search_slice.source_id = target.source_id AND search.enabled) AS search_timing
         WHERE source_id = ANY (%s)
         ORDER BY priority DESC, source_id
        """,
        [list(ids)],
    )


@dataclass(frozen=True, slots=True)
class _ChangedSource:
    id: int
    active: bool
    retry: bool


async def sync_changed_sources(tx: Tx) -> int:
    """Add targets for sources that may run, and disable the others; returns how many changed."""
    changed = await fetch_all(
        tx,
        _ChangedSource,
        """
        WITH free AS MATERIALIZED (
            -- A source that somebody is changing comes next time, and so does one that another
            -- looks at in this way at this moment.
            SELECT source.id, status = 'active' AS active, retry_at IS NOT NULL AS retry
              FROM rotation.changed_source JOIN catalog.source ON source.id = source_id
             LIMIT %s FOR SHARE OF source SKIP LOCKED FOR UPDATE OF changed_source SKIP LOCKED
        ), taken AS (
            DELETE FROM rotation.changed_source USING free WHERE source_id = free.id RETURNING source_id
        )
        SELECT id, active, retry FROM free JOIN taken ON source_id = id ORDER BY id
        """,
        [SYNC_BATCH],
    )
    await _apply_changes(tx, changed)
    return len(changed)


async def sync_source(tx: Tx, source_id: int) -> None:
    """Sync a single source, locked by this transaction."""
    changed = await fetch_all(
        tx,
        _ChangedSource,
        """
        SELECT id, status = 'active' AS active, retry_at IS NOT NULL AS retry
          FROM catalog.source WHERE id = %s FOR UPDATE
        """,
        [source_id],
    )
    noted = await tx.execute(
        "DELETE FROM rotation.changed_source WHERE source_id = %s", [source_id]
    )
    if noted.rowcount:
        await _apply_changes(tx, changed)


async def _apply_changes(tx: Tx, changed: Sequence[_ChangedSource]) -> None:
    await lock(tx, [source.id for source in changed])
    await add(tx, [source.id for source in changed if source.active or source.retry])
    await _disable(tx, [source.id for source in changed if not source.active])


async def _disable(tx: Tx, ids: Sequence[int]) -> None:
    """Disable these targets; one that failures disabled is retried when its source says so."""
    await tx.execute(
        """
        UPDATE rotation.target AS target
           SET enabled = false,
               status = CASE WHEN given_up THEN 'bad' ELSE target.status END,
               next_allowed_at = CASE WHEN given_up THEN retry_at ELSE next_allowed_at END
          FROM (SELECT source.id, retry_at,
                       retry_at IS NOT NULL AND existing.status = 'active' AS given_up
                  FROM catalog.source JOIN rotation.target AS existing ON existing.source_id = source.id
                 WHERE source.id = ANY (%s)) AS source
         WHERE target.source_id = source.id
        """,
        [list(ids)],
    )


async def add(
    tx: Tx,
    ids: Sequence[int],
    *,
    priority: int | None = None,
    interval: dt.timedelta | None = None,
) -> None:
    """Make these sources targets; a bad target starts again."""
    if not ids:
        return
    kinds = {name: kind_of(name) for name in await _platforms(tx, ids)}
    await platform_state.add_platforms(tx, kinds)
    await tx.execute(
        """
        INSERT INTO rotation.target AS target
               (source_id, kind, platform, min_interval, priority, enabled)
        SELECT source.id, kind::rotation.kind, source_type,
               coalesce(%(interval)s::interval, CASE kind WHEN 'slice' THEN %(slice)s::interval
                                            ELSE %(company)s::interval END),
               coalesce(%(priority)s::int, %(usual)s), source.status = 'active'
          FROM catalog.source
          JOIN unnest(%(names)s::text[], %(kinds)s::text[]) AS source_kind (platform, kind)
            ON source_kind.platform = source_type
         WHERE source.id = ANY (%(ids)s)
         ORDER BY source.id
        ON CONFLICT (source_id) DO UPDATE
           SET enabled = excluded.enabled,
               priority = coalesce(%(priority)s::int, target.priority),
               fail_count = CASE WHEN target.status = 'bad' AND excluded.enabled
                                 THEN 0 ELSE target.fail_count END,
               failures = CASE WHEN target.status = 'bad' AND excluded.enabled
                               THEN 0 ELSE target.failures END,
               health = CASE WHEN target.status = 'bad' AND excluded.enabled
                             THEN 1 ELSE target.health END,
               next_allowed_at = CASE WHEN target.status = 'bad' AND excluded.enabled
                                      THEN NULL ELSE target.next_allowed_at END,
               blocked_until = CASE WHEN target.status = 'bad' AND excluded.enabled
                              THEN NULL ELSE target.blocked_until END,
               due_at = CASE WHEN target.status = 'bad' AND excluded.enabled
                             THEN excluded.due_at ELSE target.due_at END,
               status = CASE WHEN target.status = 'bad' AND excluded.enabled
                             THEN 'active' ELSE target.status END
        """,
        {
            "ids": list(ids),
            "names": list(kinds),
            "kinds": list(kinds.values()),
            "interval": interval,
            "slice": DEFAULT_INTERVALS["slice"],
            "company": DEFAULT_INTERVALS["company"],
            "priority": priority,
            "usual": DEFAULT_PRIORITY,
        },
    )


async def add_new(tx: Tx, ids: Sequence[int]) -> None:
    """Add targets for sources created in this transaction, which need no sync."""
    await add(tx, ids)
    await tx.execute("DELETE FROM rotation.changed_source WHERE source_id = ANY (%s)", [list(ids)])


async def _platforms(tx: Tx, ids: Sequence[int]) -> list[str]:
    cursor = await tx.execute(
        "SELECT DISTINCT source_type FROM catalog.source WHERE id = ANY (%s)", [list(ids)]
    )
    return [name for (name,) in await cursor.fetchall()]


async def release(
    tx: Tx, *, ids: Sequence[int], why: str | None = None, not_before: dt.datetime | None = None
) -> None:
    """Release the claims on targets that were not called, with the reason."""
    await tx.execute(
        """
        UPDATE rotation.target
           SET queued_at = NULL, skip_reason = %(why)s, due_at = greatest(due_at, %(not_before)s::timestamptz),
               blocked_until = greatest(blocked_until, %(not_before)s::timestamptz),
               next_allowed_at = greatest(next_allowed_at, %(not_before)s::timestamptz)
         WHERE source_id = ANY (%(ids)s)
        """,
        {"ids": list(ids), "why": why, "not_before": not_before},
    )


@dataclass(frozen=True, slots=True)
class RunProblem:
    """A chosen target that was not called, or whose call failed."""

    source: int
    platform: str
    slug: str
    why: str


async def uncalled_targets(tx: Tx, run_id: int, *, limit: int = 100) -> list[RunProblem]:
    """Targets that a run chose but did not call, unless a later run has chosen them."""
    return await fetch_all(
        tx,
        RunProblem,
        """
        SELECT source_id AS source, platform, token AS slug, skip_reason AS why
          FROM rotation.target JOIN catalog.source ON source.id = source_id
         WHERE run_id = %s AND queued_at IS NULL AND skip_reason IS NOT NULL
         ORDER BY source_id LIMIT %s
        """,
        [run_id, limit],
    )


async def pause(tx: Tx, source_id: int, *, actor: str | None = None) -> Target:
    """Exclude a target until a person resumes it, whatever happens to its source and searches."""
    target = await get(tx, source_id, lock=True)
    if target.paused_by_person:
        raise Conflict(f"source {source_id} is paused in the rotation already")
    _check_not_bad(target)
    await _set_paused(tx, source_id, paused=True)
    await history.record(tx, "source", source_id, "paused", actor=actor)
    return await get(tx, source_id)


async def resume(tx: Tx, source_id: int, *, actor: str | None = None) -> Target:
    """Include a paused target again."""
    target = await get(tx, source_id, lock=True)
    if target.status == "active":
        raise Conflict(f"source {source_id} is active in the rotation already")
    _check_not_bad(target)
    await _set_paused(tx, source_id, paused=False)
    await history.record(tx, "source", source_id, "resumed", actor=actor)
    return await get(tx, source_id)


def _check_not_bad(target: Target) -> None:
    if target.status == "bad":
        id = target.source_id
        raise Conflict(f"source {id} is bad: `rotate revive {id}` tries it again")


async def _set_paused(tx: Tx, source_id: int, *, paused: bool) -> None:
    await tx.execute(
        """
        UPDATE rotation.target
           SET status = CASE WHEN %(paused)s THEN 'paused' ELSE 'active' END::rotation.status,
               paused_by_person = %(paused)s
         WHERE source_id = %(id)s
        """,
        {"id": source_id, "paused": paused},
    )


async def revive(tx: Tx, source_id: int, *, actor: str | None = None) -> Target:
    """Reset the failures of a target and make it due now; a source that failures disabled is
    enabled."""
    # Lock the source before its target, as saving a run does.
    await tx.execute("SELECT 1 FROM catalog.source WHERE id = %s FOR UPDATE", [source_id])
    target = await get(tx, source_id, lock=True)
    if target.status == "paused":
        raise Conflict(f"source {source_id} is paused: `rotate resume {source_id}`")
    source = await sources.get(tx, source_id)
    if source.status == "disabled":
        await sources.enable(tx, source_id, actor=actor)
    await tx.execute(
        """
        UPDATE rotation.target
           SET status = 'active', enabled = true, fail_count = 0, failures = 0, health = 1,
               next_allowed_at = NULL, blocked_until = NULL, due_at = now()
         WHERE source_id = %s
        """,
        [source_id],
    )
    await history.record(tx, "source", source_id, "revived", actor=actor)
    return await get(tx, source_id)


async def set_due_times(tx: Tx, due: Mapping[int, dt.datetime], price: float) -> None:
    """Store when these targets are worth a call at the current price."""
    # A run moves targets several times in no fixed order, so it skips locked rows; later runs find
    # them again.
    await tx.execute(
        """
        WITH free AS MATERIALIZED (
            SELECT source_id FROM rotation.target
             WHERE source_id = ANY (%(ids)s) AND queued_at IS NULL
               FOR UPDATE SKIP LOCKED
        )
        UPDATE rotation.target AS target SET due_at = moved.due_at, price = %(price)s
          FROM free
          JOIN unnest(%(ids)s::bigint[], %(due)s::timestamptz[]) AS moved (id, due_at)
            ON moved.id = free.source_id
         WHERE target.source_id = free.source_id
        """,
        {"ids": list(due), "due": list(due.values()), "price": price},
    )


async def set_priorities(tx: Tx, ids: Sequence[int], priority: int) -> None:
    """Set the priority of targets, as a person wants it; higher comes first."""
    await lock(tx, ids)
    await tx.execute(
        """
        UPDATE rotation.target SET priority = %(priority)s, own_priority = %(priority)s
         WHERE source_id = ANY (%(ids)s)
        """,
        {"priority": priority, "ids": list(ids)},
    )
