"""Alerts: checks recent items and the scheduler for signs of trouble, and raises alerts about them."""

from __future__ import annotations

import datetime as dt
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all, fetch_value
from jobmill.queue import ticks

log = logging.getLogger(__name__)

CHECK_EVERY = 30.0
OVERLAP = 2_000
"""Items below the last checked id that are checked again: ids are assigned before their transactions commit."""
MAX_ITEMS_PER_CHECK = 50_000
MAX_SAME_WORK = 3
MAX_DEPTH = 8
MAX_SAME_KEY = 2
MAX_SILENCE = dt.timedelta(seconds=30)
"""How long a watched task may complete no cycle before an alert is raised."""

WATCHED_TASKS: Mapping[str, str] = {
    "scheduler": "no worker has checked the schedules for {seconds:.0f} s: is one running?",
    "deadlines": (
        "no worker has checked the deadlines of offers for {seconds:.0f} s: "
        "is one running, and what does its log say?"
    ),
}
"""The tasks that must not fall silent, with the text of their alert."""


@dataclass(frozen=True, slots=True)
class Alert:
    id: int
    rule: str
    subject: str
    detail: str
    raised_at: dt.datetime
    seen_at: dt.datetime
    cleared_at: dt.datetime | None = None


@dataclass(frozen=True, slots=True)
class _Finding:
    rule: str
    subject: str
    detail: str


async def check_rules(tx: Tx) -> None:
    """Check the items created since the last check; cheap, and harmless if several workers do it."""
    cursor = await tx.execute("SELECT pg_try_advisory_xact_lock(hashtext('jobmill.watch'))")
    if await cursor.fetchone() != (True,):
        return
    mark = await fetch_value(tx, int, "SELECT mark FROM queue.tick WHERE name = 'watch'") or 0
    since = max(0, mark - OVERLAP)
    newest = await fetch_value(tx, int, "SELECT coalesce(max(id), 0) FROM queue.item") or 0
    # After a large import the next checks do the rest, or this one would exceed its time limit.
    newest = min(newest, mark + MAX_ITEMS_PER_CHECK)
    findings = [
        *await _same_work(tx, since, newest),
        *await _deep(tx, since, newest),
        *await _same_key(tx, since, newest),
    ]
    for finding in findings:
        await raise_alert(tx, finding.rule, finding.subject, finding.detail)
    await _check_ticks(tx)
    await tx.execute(
        """
        INSERT INTO queue.tick (name, at, mark) VALUES ('watch', clock_timestamp(), %(mark)s)
        ON CONFLICT (name) DO UPDATE SET at = excluded.at, mark = excluded.mark
        """,
        {"mark": newest},
    )


async def list_alerts(tx: Tx, *, standing: bool = True, limit: int = 100) -> list[Alert]:
    """Alerts, newest first; if `standing`, only those that are not cleared."""
    return await fetch_all(
        tx,
        Alert,
        """
        SELECT id, rule, subject, detail, raised_at, seen_at, cleared_at
          FROM queue.alert
         WHERE NOT %(standing)s OR cleared_at IS NULL
         ORDER BY id DESC
         LIMIT %(limit)s
        """,
        {"standing": standing, "limit": limit},
    )


async def clear_alert(tx: Tx, id: int) -> bool:
    """Clear an alert because an operator has dealt with it; False if it is not open."""
    cursor = await tx.execute(
        "UPDATE queue.alert SET cleared_at = now() WHERE id = %s AND cleared_at IS NULL", [id]
    )
    return cursor.rowcount == 1


# A hand-over is the next stage of the same work and not a repetition, so the rules below ignore handed-over
# items; otherwise every pipeline of four stages would raise an alert.


async def _same_work(tx: Tx, since: int, newest: int) -> Sequence[_Finding]:
    return await fetch_all(
        tx,
        _Finding,
        """
        SELECT 'same work' AS rule, item.tracking_id || ' ' || item.kind || ' ' || left(item.key, 200) AS subject,
               count(*) || ' tasks for ' || item.key || ' (' || item.kind || ') in lineage '
                   || item.tracking_id AS detail
          FROM (SELECT DISTINCT tracking_id, key_hash, kind FROM queue.item
                 WHERE id > %(since)s AND id <= %(newest)s AND NOT handed_over) AS recent
          JOIN queue.item USING (tracking_id, key_hash, kind)
         WHERE NOT item.handed_over
         GROUP BY item.tracking_id, item.kind, item.key
        HAVING count(*) > %(limit)s
        """,
        {"since": since, "newest": newest, "limit": MAX_SAME_WORK},
    )


async def _deep(tx: Tx, since: int, newest: int) -> Sequence[_Finding]:
    return await fetch_all(
        tx,
        _Finding,
        """
        SELECT 'deep' AS rule, tracking_id::text AS subject,
               count(*) || ' tasks deeper than ' || %(limit)s || ', the deepest at '
                   || max(spawn_depth) || ', for example task ' || max(id) AS detail
          FROM queue.item
         WHERE id > %(since)s AND id <= %(newest)s AND spawn_depth > %(limit)s
         GROUP BY tracking_id
        """,
        {"since": since, "newest": newest, "limit": MAX_DEPTH},
    )


async def _same_key(tx: Tx, since: int, newest: int) -> Sequence[_Finding]:
    return await fetch_all(
        tx,
        _Finding,
        """
        SELECT 'same key' AS rule, item.tracking_id || ' ' || left(item.key, 200) AS subject,
               item.key || ' appears ' || count(*) || ' times in lineage ' || item.tracking_id
                   || ': circular dependency suspected' AS detail
          FROM (SELECT DISTINCT tracking_id, key_hash FROM queue.item
                 WHERE id > %(since)s AND id <= %(newest)s AND NOT handed_over) AS recent
          JOIN queue.item USING (tracking_id, key_hash)
         WHERE NOT item.handed_over
         GROUP BY item.tracking_id, item.key
        HAVING count(*) > %(limit)s
        """,
        {"since": since, "newest": newest, "limit": MAX_SAME_KEY},
    )


async def _check_ticks(tx: Tx) -> None:
    """Raise an alert while a periodic task completes no cycle."""
    for name, detail in WATCHED_TASKS.items():
        seconds = await ticks.seconds_since_tick(tx, name)
        if seconds is None or seconds <= MAX_SILENCE.total_seconds():
            await resolve_alert(tx, name, name)
        else:
            await raise_alert(tx, name, name, detail.format(seconds=seconds))


async def raise_alert(tx: Tx, rule: str, subject: str, detail: str) -> None:
    """Raise an alert, or update the open alert of this rule and subject; only a new one is logged."""
    is_new = await fetch_value(
        tx,
        bool,
        """
        INSERT INTO queue.alert (rule, subject, detail)
        VALUES (%(rule)s, %(subject)s, %(detail)s)
        ON CONFLICT (rule, subject) WHERE cleared_at IS NULL
        DO UPDATE SET detail = excluded.detail, seen_at = now()
        -- True for a new row, false for an updated one.
        RETURNING xmax = 0
        """,
        {"rule": rule, "subject": subject, "detail": detail},
    )
    if is_new:
        log.warning("alert", extra={"rule": rule, "detail": detail})


async def resolve_alert(tx: Tx, rule: str, subject: str) -> None:
    """Clear an alert because its cause is gone."""
    await tx.execute(
        """
        UPDATE queue.alert SET cleared_at = now()
         WHERE rule = %s AND subject = %s AND cleared_at IS NULL
        """,
        [rule, subject],
    )
