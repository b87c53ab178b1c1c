"""The health of sources: consecutive failures disable a source, and similar failures of several
sources open an incident of their platform."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from jobmill.catalog.sources import SourceId
from jobmill.db import Tx, fetch_value, optional_time

from . import history

HealthCause: TypeAlias = Literal[
    "transient", "blocked", "auth", "changed_format", "gone", "rate_limited"
]

MAX_CONSECUTIVE_FAILURES = 5
"""This many failures in a row disable a source."""
RETRY_DISABLED = dt.timedelta(days=7)
"""A source disabled by failures is tried again after this time."""

INCIDENT_SOURCES = 3
"""This many sources of a platform with the same cause, and none that works, are an incident."""
INCIDENT_WINDOW = dt.timedelta(hours=1)
FIRST_HOLD = dt.timedelta(minutes=30)
MAX_HOLD = dt.timedelta(hours=24)
PROBE_TIME = dt.timedelta(minutes=5)
"""How long one source may take to test whether the platform works again."""

CAUSES: Mapping[str, HealthCause] = {
    "timeout": "transient",
    "unresolved": "transient",
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
    "offline": "rate_limited",
}


def classify_failure(failure: str) -> HealthCause:
    """The cause of a failed fetch or an unreadable response."""
    return CAUSES.get(failure, "transient")


def counts_against_source(cause: HealthCause) -> bool:
    """Whether the failure counts against the source; a rate limit does not."""
    return cause != "rate_limited"


def disables_source(failures: int) -> bool:
    return failures >= MAX_CONSECUTIVE_FAILURES


def hold_duration(holds: int) -> dt.timedelta:
    """How long the nth hold of an incident lasts."""
    return min(FIRST_HOLD * 2 ** min(holds - 1, 10), MAX_HOLD)


async def check_hold(tx: Tx, platform: str | None) -> dt.datetime | None:
    """Until when the platform's sources wait; None if the caller may run. When a hold ends, one
    caller may run as a probe while the others wait for its result."""
    if platform is None:
        return None
    probe = await tx.execute(
        """
        UPDATE catalog.incident SET held_until = now() + %(probe)s
         WHERE vendor = %(vendor)s
           -- A longer hold than the maximum was written by a server with a wrong clock.
           AND (held_until <= now() OR held_until > now() + 2 * %(longest)s::interval)
        """,
        {"vendor": platform, "probe": PROBE_TIME, "longest": MAX_HOLD},
    )
    if probe.rowcount:
        return None
    return await fetch_value(
        tx, optional_time, "SELECT held_until FROM catalog.incident WHERE vendor = %s", [platform]
    )


async def record_success(tx: Tx, id: SourceId, platform: str | None) -> None:
    """Record a successful run: reset the failures of the source and close the platform's incident."""
    revived = await fetch_value(
        tx,
        bool,
        """
        UPDATE catalog.source
           SET consecutive_failures = 0, last_cause = NULL, last_detail = NULL, tested_at = now(),
               -- Only failures set retry_at; a source disabled by a person stays disabled.
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
    if platform and await _close_incident(tx, platform):
        await history.record(tx, "vendor", platform, "incident over")


async def _close_incident(tx: Tx, platform: str) -> bool:
    # Skip a locked row: a failing run holds it and may wait for our source.
    ended = await tx.execute(
        """
        DELETE FROM catalog.incident
         WHERE vendor = (SELECT vendor FROM catalog.incident
                          WHERE vendor = %s FOR UPDATE SKIP LOCKED)
        """,
        [platform],
    )
    return ended.rowcount > 0


@dataclass(frozen=True, slots=True)
class FailureEffect:
    """The effect of a failed run."""

    counted: bool
    disabled: bool = False
    incident: bool = False


async def lock_platform(tx: Tx, platform: str) -> None:
    """Process one failure of a platform at a time, so that concurrent failures see each other. Take
    this lock before locking the row of a source."""
    await tx.execute(
        "SELECT pg_advisory_xact_lock(hashtext('jobmill.vendor'), hashtext(%s))", [platform]
    )


async def record_problem(tx: Tx, id: SourceId, cause: str, detail: str) -> None:
    """Store the problem of the last run."""
    await tx.execute(
        """
        UPDATE catalog.source SET last_cause = %(cause)s, last_detail = %(detail)s
         WHERE id = %(id)s
        """,
        {"id": id, "cause": cause, "detail": detail},
    )


async def record_failure(
    tx: Tx, id: SourceId, platform: str | None, cause: HealthCause, detail: str
) -> FailureEffect:
    """Record a failed run. Call it after the run was written, with `counted` set to
    `counts_against_source`."""
    await record_problem(tx, id, cause, detail)
    if not counts_against_source(cause):
        return FailureEffect(counted=False)
    if platform and await _is_platform_incident(tx, platform, cause):
        await _hold_platform(tx, platform, cause, detail)
        return FailureEffect(counted=False, incident=True)
    return FailureEffect(counted=True, disabled=await _count_failure(tx, id, cause, detail))


async def _is_platform_incident(tx: Tx, platform: str, cause: HealthCause) -> bool:
    """Whether several sources of the platform failed with this cause recently and none has worked
    since."""
    failing = await fetch_value(
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
        {"vendor": platform, "window": INCIDENT_WINDOW, "cause": cause},
    )
    # Another cause during an incident is the source's own problem: a removed board must not extend
    # the hold of its platform.
    in_incident = await fetch_value(
        tx,
        str,
        "SELECT vendor FROM catalog.incident WHERE vendor = %s AND cause = %s",
        [platform, cause],
    )
    return bool(in_incident) or (failing or 0) >= INCIDENT_SOURCES


async def _hold_platform(tx: Tx, platform: str, cause: HealthCause, detail: str) -> None:
    """Open or extend the platform's incident, and take back the failures counted against its
    sources."""
    opened = await tx.execute(
        """
        INSERT INTO catalog.incident (vendor, cause, detail, held_until)
        VALUES (%(vendor)s, %(cause)s, %(detail)s, now() + %(hold)s)
        ON CONFLICT (vendor) DO NOTHING
        """,
        {"vendor": platform, "cause": cause, "detail": detail, "hold": hold_duration(1)},
    )
    if opened.rowcount:
        await history.record(tx, "vendor", platform, "incident", cause=cause, detail=detail)
    else:
        await _extend_hold(tx, platform, cause, detail)
    await _take_back_failures(tx, platform, cause)


async def _extend_hold(tx: Tx, platform: str, cause: HealthCause, detail: str) -> None:
    """Extend the hold if the probe failed; runs that started before the hold do not count."""
    holds = await fetch_value(
        tx,
        int,
        """
        UPDATE catalog.incident
           SET hold_count = hold_count + 1, cause = %(cause)s, detail = %(detail)s
         WHERE vendor = %(vendor)s AND held_until <= now() + %(probe)s
        RETURNING hold_count
        """,
        {"vendor": platform, "cause": cause, "detail": detail, "probe": PROBE_TIME},
    )
    if holds:
        await tx.execute(
            "UPDATE catalog.incident SET held_until = now() + %s WHERE vendor = %s",
            [hold_duration(holds), platform],
        )


async def _take_back_failures(tx: Tx, platform: str, cause: HealthCause) -> None:
    """Take back the failures that the incident counted against sources."""
    forgiven = await tx.execute(
        """
        WITH innocent AS (
            UPDATE catalog.run SET counts_as_failure = false
             WHERE vendor = %(vendor)s AND cause = %(cause)s AND counts_as_failure
               AND ended_at > now() - %(window)s
            RETURNING source_id
        ), owed AS (
            SELECT source_id, count(*)::int AS failures FROM innocent GROUP BY source_id
        ), free AS (
            -- A locked source has a run in progress, which resets or counts its failures itself.
            SELECT id, failures,
                   -- A source disabled by other failures stays disabled.
                   retry_at IS NULL OR consecutive_failures - failures >= %(max_failures)s AS guilty
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
            "vendor": platform,
            "cause": cause,
            "window": INCIDENT_WINDOW,
            "max_failures": MAX_CONSECUTIVE_FAILURES,
        },
    )
    reason = f"incident of {platform}"
    events = [(id, {"reason": reason}) for (id,) in await forgiven.fetchall()]
    await history.record_all(tx, "source", "forgiven", events)


async def _count_failure(tx: Tx, id: SourceId, cause: HealthCause, detail: str) -> bool:
    """Count a failure in a row; returns True if that disables the source."""
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
    reason = f"{failures} failures in a row, last: {detail}"
    # Also postpone the next retry of a source that failures disabled; one disabled by a person
    # stays as it is.
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
