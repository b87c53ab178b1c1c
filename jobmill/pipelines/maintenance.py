"""Delete old records in batches: ended items, closed listings, expired sessions and applicants."""

from __future__ import annotations

import datetime as dt

from jobmill.catalog import crawl_results, listings
from jobmill.hiring import privacy
from jobmill.hiring.applications import apply_requests
from jobmill.hiring.forms import uploads
from jobmill.hiring.messages import notices
from jobmill.hiring.records import apply_limits, idempotent_responses
from jobmill.notifications import deliveries
from jobmill.notifications import events as notification_events
from jobmill.outside import budget_ledger
from jobmill.people import passkeys, sessions
from jobmill.pipelines import company, judging
from jobmill.queue import Advance, Finish, Move, Work, retention
from jobmill.reports import store as reports
from jobmill.rotation import calls
from jobmill.tools import Tools

KIND = "upkeep"
MAX_BATCHES = 500
"""Batches per run; the next hourly run continues."""


async def prune_items(tools: Tools, keep: dt.timedelta, work: Work) -> Move:
    async with tools.db.transaction() as tx:
        deleted = await retention.prune_ended_items(tx, keep)
    return _continue(work, deleted, "old items pruned", retention.BATCH_SIZE)


async def prune_listings(tools: Tools, keep: dt.timedelta, work: Work) -> Move:
    async with tools.db.transaction() as tx:
        deleted = await listings.prune(tx, keep)
    return _continue(work, deleted, "closed listings pruned")


async def analyze_pending_companies(tools: Tools, work: Work) -> Move:
    """Analyze some of the companies that were met in listings and never analyzed."""
    async with tools.db.transaction() as tx:
        queued = await company.submit_pending(tx)
    return Finish(f"{queued} companies queued for their first analysis")


async def read_postponed_pages(tools: Tools, per_day: float, work: Work) -> Move:
    """Judge listings again whose own page waits for the daily budget of calls."""
    async with tools.db.transaction() as tx:
        queued = await judging.add_postponed(tx, per_day=per_day)
    return Finish(f"{queued} listings queued to read their own page")


async def prune_records(tools: Tools, keep_reports: dt.timedelta, work: Work) -> Move:
    async with tools.db.transaction() as tx:
        deleted = (
            await budget_ledger.prune(tx)
            + await crawl_results.prune(tx)
            + await calls.prune_calls(tx)
        )
        deleted += (
            await idempotent_responses.delete_expired(tx)
            + await sessions.prune(tx)
            + await passkeys.prune_challenges(tx)
            + await notices.delete_old(tx)
            + await deliveries.prune(tx)
            + await notification_events.prune(tx)
            + await apply_requests.delete_expired(tx)
            + await apply_limits.delete_unused(tx)
            + await uploads.delete_unused(tx)
        )
        if keep_reports:
            deleted += await reports.prune(tx, keep_reports)
    return _continue(work, deleted, "old calls, answers and runs pruned")


async def erase_applicants(tools: Tools, work: Work) -> Move:
    """Erase applicants after the retention period of their opening."""
    async with tools.db.transaction() as tx:
        deleted = await privacy.erase_expired(tx)
    return _continue(work, deleted, "applicants erased", counter="erased")


def _continue(
    work: Work, deleted: int, what: str, batch: int = 1, *, counter: str = "pruned"
) -> Move:
    """Run the stage again, unless this batch was the last."""
    total = work.data.get(counter, 0) + deleted
    if deleted < batch or work.steps >= MAX_BATCHES:
        return Finish(f"{total} {what}")
    return Advance(work.stage, data={counter: total})
