"""Recurring reports: the newest report of a site creates the next one when its interval has passed."""

from __future__ import annotations

import datetime as dt

from jobmill.catalog import history
from jobmill.db import Tx, fetch_all
from jobmill.reports import store
from jobmill.reports.report import Report, ReportId, ReportOptions


async def create_due(tx: Tx) -> list[ReportId]:
    """Create the reports that are due, with the options and the schedule of their predecessors."""
    due = await fetch_all(
        tx,
        Report,
        f"""
        SELECT {store.COLUMNS} FROM reports.report
         WHERE repeat_at <= now() AND NOT in_progress AND status IN ('completed', 'failed')
         ORDER BY repeat_at LIMIT 10 FOR UPDATE SKIP LOCKED
        """,
    )
    return [await _repeat(tx, report) for report in due]


async def _repeat(tx: Tx, report: Report) -> ReportId:
    await tx.execute(
        "UPDATE reports.report SET repeat_at = NULL, repeat_every = NULL WHERE id = %s", [report.id]
    )
    options = ReportOptions(
        models=tuple(report.models),
        runs=report.runs,
        prompt_count=report.prompt_count,
        review=report.review,
        site_only=report.site_only,
        budget=report.budget,
        repeat_every=report.repeat_every,
    )
    id = await store.create(tx, report.site, options, by="schedule", previous_id=report.id)
    await history.record(tx, "report", report.id, "repeated", next=id)
    return id


async def set_schedule(
    tx: Tx, id: int, every: dt.timedelta | None, *, by: str | None = None
) -> Report:
    """Repeat a report at an interval, or no longer."""
    if every is not None:
        store.check_interval(every)
    report = await store.get(tx, id, lock=True)
    # One schedule per site: otherwise an older report would start a second series.
    await tx.execute(
        """
        UPDATE reports.report SET repeat_every = NULL, repeat_at = NULL
         WHERE site = %s AND id <> %s AND repeat_at IS NOT NULL
        """,
        [report.site, id],
    )
    await tx.execute(
        """
        UPDATE reports.report SET repeat_every = %(every)s, repeat_at = now() + %(every)s
         WHERE id = %(id)s
        """,
        {"id": id, "every": every},
    )
    days = None if every is None else every.total_seconds() / 86_400
    await history.record(tx, "report", id, "schedule changed", actor=by, days=days)
    return await store.get(tx, id)
