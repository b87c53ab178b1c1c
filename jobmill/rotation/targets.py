"""Targets: the sources that are called in turn, each with what its calls have taught."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from jobmill.boards.adapters import BY_NAME
from jobmill.catalog import history, sources
from jobmill.db import Tx, fetch_all, fetch_value
from jobmill.errors import Conflict, NotFound

from . import platform_state, timestamps
from .policies import interval_policy, yield_model

Kind: TypeAlias = Literal["company", "slice"]
Status: TypeAlias = Literal["active", "paused", "bad"]

INTERVALS: dict[Kind, dt.timedelta] = {
    "company": dt.timedelta(seconds=interval_policy.Rules().company_interval),
    "slice": dt.timedelta(seconds=interval_policy.Rules().slice_interval),
}
PRIORITY = 100
CLAIM = platform_state.CLAIM
SYNC_MOST = 20_000


@dataclass(frozen=True, slots=True)
class Target:
    source_id: int
    kind: Kind
    platform: str
    status: Status
    enabled: bool
    priority: int
    page_cap: int | None
    known_at: dt.datetime
    last_called_at: dt.datetime | None
    queued_at: dt.datetime | None
    run_id: int | None
    min_interval: dt.timedelta
    next_allowed_at: dt.datetime | None
    last_success_at: dt.datetime | None
    fail_count: int
    new_jobs_last: int | None
    consecutive_empty_runs: int
    found: float
    looked: float
    shown: float
    shown_days: float
    span: float | None
    rho: float | None
    d: float | None
    health: float
    failures: int
    last_ok_at: dt.datetime | None
    gate_at: dt.datetime | None
    due_at: dt.datetime
    price: float

    @property
    def seed(self) -> interval_policy.State:
        """As the policy `seed` sees it."""
        return interval_policy.State(
            interval=self.min_interval.total_seconds(),
            fail_count=self.fail_count,
            empty_runs=self.consecutive_empty_runs,
            new_last=self.new_jobs_last,
            called_at=timestamps.seconds(self.last_called_at),
            last_success_at=timestamps.seconds(self.last_success_at),
            next_allowed_at=timestamps.gate(self.next_allowed_at),
        )

    @property
    def yields(self) -> yield_model.State:
        """As the policy `yield` sees it."""
        return yield_model.State(
            found=self.found,
            looked=self.looked,
            shown=self.shown,
            shown_days=self.shown_days,
            span=self.span,
            rho=self.rho,
            d=self.d,
            health=self.health,
            failures=self.failures,
            called_at=timestamps.seconds(self.last_called_at),
            last_ok_at=timestamps.seconds(self.last_ok_at),
            gate_at=timestamps.gate(self.gate_at),
        )


def kind_of(platform: str) -> Kind:
    """Whether its sources are boards or searches."""
    known = BY_NAME.get(platform)
    return "slice" if known and not known.inventory else "company"


async def get(tx: Tx, source_id: int, *, lock: bool = False) -> Target:
    """One target, for this transaction alone if it is locked; NotFound if the source has none."""
    found = await find(tx, source_id, lock=lock)
    if found is None:
        raise NotFound("target of source", source_id)
    return found


async def find(tx: Tx, source_id: int, *, lock: bool = False) -> Target | None:
    """The same, or None."""
    if lock:
        await tx.execute(
            "SELECT 1 FROM rotation.target WHERE source_id = %s FOR UPDATE", [source_id]
        )
    return next(iter(await by_ids(tx, [source_id])), None)


async def lock(tx: Tx, ids: Sequence[int]) -> None:
    """Take these for this transaction alone, lowest first as all do who change several: nobody then
    waits for one who waits for them. Who needs their sources too takes those before."""
    await tx.execute(
        """
        SELECT 1 FROM rotation.target WHERE source_id = ANY (%s) ORDER BY source_id FOR UPDATE
        """,
        [list(ids)],
    )


async def by_ids(tx: Tx, ids: Sequence[int]) -> list[Target]:
    """These targets, by priority and then as they came."""
    return await fetch_all(
        tx,
        Target,
        """
        SELECT source_id, kind, platform, status, enabled, priority, page_cap, known_at,
               last_called_at, queued_at, run_id, min_interval, next_allowed_at, last_success_at,
               fail_count, new_jobs_last, consecutive_empty_runs, found, looked, shown, shown_days,
               span, rho, d, health, failures, last_ok_at, gate_at, due_at,
               price
          FROM rotation.target WHERE source_id = ANY (%s)
         ORDER BY priority, source_id
        """,
        [list(ids)],
    )


@dataclass(frozen=True, slots=True)
class _Changed:
    id: int
    active: bool
    retry: bool


async def sync(tx: Tx) -> int:
    """Give each source that may run a target, and rest those of the others; returns how many changed."""
    changed = await fetch_all(
        tx,
        _Changed,
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
        [SYNC_MOST],
    )
    await _take_in(tx, changed)
    return len(changed)


async def meet(tx: Tx, source_id: int) -> None:
    """The same for one source, which is taken for this transaction alone: whoever changes one turn
    waits for nobody who changes others."""
    changed = await fetch_all(
        tx,
        _Changed,
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
        await _take_in(tx, changed)


async def _take_in(tx: Tx, changed: Sequence[_Changed]) -> None:
    await lock(tx, [one.id for one in changed])
    await add(tx, [one.id for one in changed if one.active or one.retry])
    await _rest(tx, [one.id for one in changed if not one.active])


async def _rest(tx: Tx, ids: Sequence[int]) -> None:
    """These may not run; one that failures disabled is tried again when its source says so."""
    await tx.execute(
        """
        UPDATE rotation.target AS target
           SET enabled = false,
               status = CASE WHEN given_up THEN 'bad' ELSE target.status END,
               next_allowed_at = CASE WHEN given_up THEN retry_at ELSE next_allowed_at END
          FROM (SELECT source.id, retry_at,
                       retry_at IS NOT NULL AND one.status = 'active' AS given_up
                  FROM catalog.source JOIN rotation.target AS one ON one.source_id = source.id
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
    """See that these sources are targets; one that was given up begins anew."""
    if not ids:
        return
    kinds = {name: kind_of(name) for name in await _platforms(tx, ids)}
    await platform_state.add(tx, kinds)
    await tx.execute(
        """
        INSERT INTO rotation.target AS target
               (source_id, kind, platform, min_interval, priority, enabled)
        SELECT source.id, kind::rotation.kind, source_type,
               coalesce(%(interval)s::interval, CASE kind WHEN 'slice' THEN %(slice)s::interval
                                            ELSE %(company)s::interval END),
               coalesce(%(priority)s::int, %(usual)s), source.status = 'active'
          FROM catalog.source
          JOIN unnest(%(names)s::text[], %(kinds)s::text[]) AS given (platform, kind)
            ON given.platform = source_type
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
               gate_at = CASE WHEN target.status = 'bad' AND excluded.enabled
                              THEN NULL ELSE target.gate_at END,
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
            "slice": INTERVALS["slice"],
            "company": INTERVALS["company"],
            "priority": priority,
            "usual": PRIORITY,
        },
    )


async def add_new(tx: Tx, ids: Sequence[int]) -> None:
    """The same for sources that this transaction has made: nobody need look at them again."""
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
    """Take back the claims on these, which have not been called, and keep why."""
    await tx.execute(
        """
        UPDATE rotation.target
           SET queued_at = NULL, held = %(why)s, due_at = greatest(due_at, %(not_before)s::timestamptz),
               gate_at = greatest(gate_at, %(not_before)s::timestamptz),
               next_allowed_at = greatest(next_allowed_at, %(not_before)s::timestamptz)
         WHERE source_id = ANY (%(ids)s)
        """,
        {"ids": list(ids), "why": why, "not_before": not_before},
    )


@dataclass(frozen=True, slots=True)
class Held:
    """A target whose turn came to no call."""

    source: int
    platform: str
    slug: str
    why: str


async def held(tx: Tx, run_id: int, *, limit: int = 100) -> list[Held]:
    """Those that a run chose and nobody called, while no later run has chosen them."""
    return await fetch_all(
        tx,
        Held,
        """
        SELECT source_id AS source, platform, token AS slug, held AS why
          FROM rotation.target JOIN catalog.source ON source.id = source_id
         WHERE run_id = %s AND queued_at IS NULL AND held IS NOT NULL
         ORDER BY source_id LIMIT %s
        """,
        [run_id, limit],
    )


async def pause(tx: Tx, source_id: int, *, actor: str | None = None) -> Target:
    """Leave it out until it is resumed."""
    return await _turn(tx, source_id, "paused", "paused", actor)


async def resume(tx: Tx, source_id: int, *, actor: str | None = None) -> Target:
    """Let one that was paused take its turn again."""
    return await _turn(tx, source_id, "active", "resumed", actor)


async def _turn(tx: Tx, source_id: int, status: Status, what: str, actor: str | None) -> Target:
    target = await get(tx, source_id, lock=True)
    if target.status == status:
        raise Conflict(f"source {source_id} is {status} in the rotation already")
    if target.status == "bad":
        raise Conflict(f"source {source_id} is bad: `rotate revive {source_id}` tries it again")
    await tx.execute(
        "UPDATE rotation.target SET status = %s WHERE source_id = %s", [status, source_id]
    )
    await history.record(tx, "source", source_id, what, actor=actor)
    return await get(tx, source_id)


async def revive(tx: Tx, source_id: int, *, actor: str | None = None) -> Target:
    """Forget its failures and let it run at once; a source that failures disabled is enabled."""
    # The source first, then its target: as a run is saved.
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
               next_allowed_at = NULL, gate_at = NULL, due_at = now()
         WHERE source_id = %s
        """,
        [source_id],
    )
    await history.record(tx, "source", source_id, "revived", actor=actor)
    return await get(tx, source_id)


async def reprice(tx: Tx, due: Mapping[int, dt.datetime], price: float) -> None:
    """Keep when these are worth a call at today's price."""
    # A run moves several times, never the lowest first: so it waits for none that somebody has.
    # What it passes over is found again.
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


async def prioritise(tx: Tx, ids: Sequence[int], priority: int) -> None:
    """Put them further ahead (lower) or behind."""
    await lock(tx, ids)
    await tx.execute(
        "UPDATE rotation.target SET priority = %s WHERE source_id = ANY (%s)",
        [priority, list(ids)],
    )


async def count(tx: Tx) -> int:
    """How many there are."""
    return await fetch_value(tx, int, "SELECT count(*) FROM rotation.target") or 0
