"""The health of sources, by cause: what a failure means for a source, and what it means for a vendor."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from jobmill.catalog.sources import SourceId
from jobmill.db import Tx, fetch_all, fetch_value, optional_time

from . import history

HealthCause: TypeAlias = Literal[
    "transient", "blocked", "auth", "changed_format", "gone", "rate_limited"
]

MAX_CONSECUTIVE_FAILURES = 5
"""So many in a row disable a source."""
RETRY_DISABLED = dt.timedelta(days=7)
"""A source that failures disabled is tried again after so long."""

INCIDENT_SOURCES = 3
"""So many sources of a vendor that fail alike, and none that works, are an incident."""
INCIDENT_WINDOW = dt.timedelta(hours=1)
FIRST_HOLD = dt.timedelta(minutes=30)
MAX_HOLD = dt.timedelta(hours=24)
PROBE_TIME = dt.timedelta(minutes=5)
"""How long one source has to find out whether the vendor is well again."""

CAUSES: Mapping[str, HealthCause] = {
    "timeout": "transient",
    "network": "transient",
    "server": "transient",
    "redirects": "changed_format",
    "status": "changed_format",
    "unreadable": "changed_format",
    "forbidden": "blocked",
    "robots": "blocked",
    "refused": "blocked",
    "no_browser": "blocked",
    "auth": "auth",
    "gone": "gone",
    "rate_limited": "rate_limited",
}


def classify_failure(failure: str) -> HealthCause:
    """What kind of trouble a failed fetch or an unreadable answer is."""
    return CAUSES.get(failure, "transient")


def counts_against_source(cause: HealthCause) -> bool:
    """Whether it counts against the source: being asked to slow down does not."""
    return cause != "rate_limited"


def disables_source(failures: int) -> bool:
    """Whether so many failures in a row disable a source."""
    return failures >= MAX_CONSECUTIVE_FAILURES


def hold_duration(holds: int) -> dt.timedelta:
    """How long a vendor is held for the nth time in one incident."""
    return min(FIRST_HOLD * 2 ** min(holds - 1, 10), MAX_HOLD)


async def check_hold(tx: Tx, vendor: str | None) -> dt.datetime | None:
    """Until when the vendor's sources wait. When the time is over, one caller is let through to see
    whether the vendor is well, and the others wait for what it finds."""
    if vendor is None:
        return None
    probing = await fetch_value(
        tx,
        str,
        """
        UPDATE catalog.incident SET held_until = now() + %(probe)s
         WHERE vendor = %(vendor)s
           -- A longer hold than there is was written by a clock that was wrong.
           AND (held_until <= now() OR held_until > now() + 2 * %(longest)s::interval)
        RETURNING vendor
        """,
        {"vendor": vendor, "probe": PROBE_TIME, "longest": MAX_HOLD},
    )
    if probing:
        return None
    return await fetch_value(
        tx, optional_time, "SELECT held_until FROM catalog.incident WHERE vendor = %s", [vendor]
    )


async def record_success(tx: Tx, id: SourceId, vendor: str | None) -> None:
    """A run of the source worked: its failures are forgotten, an incident of its vendor is over."""
    revived = await fetch_value(
        tx,
        bool,
        """
        UPDATE catalog.source
           SET consecutive_failures = 0, last_cause = NULL, last_detail = NULL, tested_at = now(),
               -- Only what failures disabled has a time to retry; a person's word stands.
               status = CASE WHEN before.retry_at IS NULL THEN source.status ELSE 'active' END,
               disabled_reason = CASE WHEN before.retry_at IS NULL
                                      THEN source.disabled_reason END,
               retry_at = NULL
          FROM (SELECT id, retry_at FROM catalog.source WHERE id = %s) AS before
         WHERE source.id = before.id
        RETURNING before.retry_at IS NOT NULL
        """,
        [id],
    )
    if revived:
        await history.record(tx, "source", id, "enabled", reason="it works again")
    if vendor and await _end(tx, vendor):
        await history.record(tx, "vendor", vendor, "incident over")


async def _end(tx: Tx, vendor: str) -> bool:
    # Who fails at this moment holds the row, and may wait for our source: we do not wait for them.
    ended = await fetch_value(
        tx,
        str,
        """
        DELETE FROM catalog.incident
         WHERE vendor = (SELECT vendor FROM catalog.incident
                          WHERE vendor = %s FOR UPDATE SKIP LOCKED)
        RETURNING vendor
        """,
        [vendor],
    )
    return ended is not None


@dataclass(frozen=True, slots=True)
class FailureEffect:
    """What a failure led to."""

    counted: bool
    disabled: bool = False
    incident: bool = False


async def lock_vendor(tx: Tx, vendor: str) -> None:
    """Let one failure at a time decide for a vendor, so that sources that fail together see each
    other. Whoever will call `failed` takes it before any source's row."""
    await tx.execute(
        "SELECT pg_advisory_xact_lock(hashtext('jobmill.vendor'), hashtext(%s))", [vendor]
    )


async def record_problem(tx: Tx, id: SourceId, cause: str, detail: str) -> None:
    """Keep what was odd about the last run."""
    await tx.execute(
        """
        UPDATE catalog.source SET last_cause = %(cause)s, last_detail = %(detail)s
         WHERE id = %(id)s
        """,
        {"id": id, "cause": cause, "detail": detail},
    )


async def record_failure(
    tx: Tx, id: SourceId, vendor: str | None, cause: HealthCause, detail: str
) -> FailureEffect:
    """A run of the source failed. Call it after the run was written with `counted` as `counts` says."""
    await record_problem(tx, id, cause, detail)
    if not counts_against_source(cause):
        return FailureEffect(counted=False)
    if vendor and await _is_vendors(tx, vendor, cause):
        await _hold(tx, vendor, cause, detail)
        return FailureEffect(counted=False, incident=True)
    return FailureEffect(counted=True, disabled=await _count(tx, id, cause, detail))


async def _is_vendors(tx: Tx, vendor: str, cause: HealthCause) -> bool:
    """Whether the vendor's sources fail alike: several of them lately, and none has worked since."""
    alike = await fetch_value(
        tx,
        int,
        """
        WITH lately AS (
            SELECT source_id, outcome, cause, ended_at FROM catalog.run
             WHERE vendor = %(vendor)s AND ended_at > now() - %(window)s
        )
        SELECT count(DISTINCT source_id) FROM lately
         WHERE cause = %(cause)s
           AND ended_at > coalesce((SELECT max(ended_at) FROM lately
                                     WHERE outcome IN ('complete', 'unchanged', 'truncated')),
                                  '-infinity')
        """,
        {"vendor": vendor, "window": INCIDENT_WINDOW, "cause": cause},
    )
    # A source that fails in another way during an incident has trouble of its own: a board that
    # is gone must not hold its vendor.
    held = await fetch_value(
        tx,
        str,
        "SELECT vendor FROM catalog.incident WHERE vendor = %s AND cause = %s",
        [vendor, cause],
    )
    return bool(held) or (alike or 0) >= INCIDENT_SOURCES


async def _hold(tx: Tx, vendor: str, cause: HealthCause, detail: str) -> None:
    """Open the vendor's incident, or hold it longer; what it did to single sources is undone."""
    opened = await fetch_value(
        tx,
        str,
        """
        INSERT INTO catalog.incident (vendor, cause, detail, held_until)
        VALUES (%(vendor)s, %(cause)s, %(detail)s, now() + %(hold)s)
        ON CONFLICT (vendor) DO NOTHING
        RETURNING vendor
        """,
        {"vendor": vendor, "cause": cause, "detail": detail, "hold": hold_duration(1)},
    )
    if opened:
        await history.record(tx, "vendor", vendor, "incident", cause=cause, detail=detail)
    else:
        await _hold_longer(tx, vendor, cause, detail)
    await _forgive(tx, vendor, cause)


async def _hold_longer(tx: Tx, vendor: str, cause: HealthCause, detail: str) -> None:
    """Hold a vendor again, if this is what the one that was let through has found; those that ran
    when it began bring no news."""
    holds = await fetch_value(
        tx,
        int,
        """
        UPDATE catalog.incident
           SET holds = holds + 1, cause = %(cause)s, detail = %(detail)s
         WHERE vendor = %(vendor)s AND held_until <= now() + %(probe)s
        RETURNING holds
        """,
        {"vendor": vendor, "cause": cause, "detail": detail, "probe": PROBE_TIME},
    )
    if holds:
        await tx.execute(
            "UPDATE catalog.incident SET held_until = now() + %s WHERE vendor = %s",
            [hold_duration(holds), vendor],
        )


async def _forgive(tx: Tx, vendor: str, cause: HealthCause) -> None:
    """Take back from the sources what the incident had counted against them."""
    forgiven = await fetch_all(
        tx,
        _Forgiven,
        """
        WITH innocent AS (
            UPDATE catalog.run SET counted = false
             WHERE vendor = %(vendor)s AND cause = %(cause)s AND counted
               AND ended_at > now() - %(window)s
            RETURNING source_id
        ), owed AS (
            SELECT source_id, count(*)::int AS failures FROM innocent GROUP BY source_id
        ), free AS (
            -- A source whose run is being saved forgets its failures or counts them anew anyway.
            SELECT id, failures,
                   -- One that other failures disabled before stays so.
                   retry_at IS NULL OR consecutive_failures - failures >= %(most)s AS guilty
              FROM catalog.source JOIN owed ON source_id = id
             FOR UPDATE OF source SKIP LOCKED
        )
        UPDATE catalog.source
           SET consecutive_failures = greatest(0, consecutive_failures - free.failures),
               status = CASE WHEN guilty THEN status ELSE 'active' END,
               disabled_reason = CASE WHEN guilty THEN disabled_reason END,
               retry_at = CASE WHEN guilty THEN retry_at END
          FROM free WHERE source.id = free.id
        RETURNING source.id
        """,
        {
            "vendor": vendor,
            "cause": cause,
            "window": INCIDENT_WINDOW,
            "most": MAX_CONSECUTIVE_FAILURES,
        },
    )
    reason = f"the trouble is {vendor}'s"
    await history.record_all(
        tx, "source", "forgiven", [(one.id, {"reason": reason}) for one in forgiven]
    )


@dataclass(frozen=True, slots=True)
class _Forgiven:
    id: int


async def _count(tx: Tx, id: SourceId, cause: HealthCause, detail: str) -> bool:
    """Add one to the failures in a row; True if that disables the source."""
    failures = await fetch_value(
        tx,
        int,
        """
        UPDATE catalog.source SET consecutive_failures = consecutive_failures + 1
         WHERE id = %s RETURNING consecutive_failures
        """,
        [id],
    )
    if not disables_source(failures or 0):
        return False
    reason = f"{failures} failures in a row, the last one: {detail}"
    # A source that failures disabled is tried rarely: this was such a try. A person's word stands.
    newly = await fetch_value(
        tx,
        bool,
        """
        UPDATE catalog.source
           SET status = 'disabled', disabled_reason = %(reason)s, retry_at = now() + %(after)s,
               updated_at = now()
          FROM (SELECT id, status, retry_at FROM catalog.source WHERE id = %(id)s) AS before
         WHERE source.id = before.id
           AND (before.status = 'active' OR before.retry_at IS NOT NULL)
        RETURNING before.status = 'active'
        """,
        {"id": id, "reason": reason, "after": RETRY_DISABLED},
    )
    if not newly:
        return False
    await history.record(tx, "source", id, "disabled", cause=cause, reason=reason)
    return True
