"""The rows of reports: creation, the changes of their status, and reruns.

A report that is in progress has an item in the queue. The scan locks it (`take`), and the settlement of
the item's phase releases it together with the next status.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import asdict
from typing import LiteralString
from urllib.parse import urlsplit

from jobmill.catalog import history, urls
from jobmill.db import Tx, fetch_all, fetch_one, fetch_or_raise, fetch_single_value, fetch_value
from jobmill.errors import Conflict, Invalid, NotFound
from jobmill.queue.feed import notify_feeds
from jobmill.reports.report import (
    STATUS_OF_PHASE,
    Report,
    ReportId,
    ReportOptions,
    ReportPhase,
    ReportStatus,
    storable,
)
from jobmill.settings import MODEL

COLUMNS: LiteralString = """
    id, site, company_id, company, status, in_progress, in_progress_since, item_id, failed_status,
    reason, note, models, runs, prompt_count, review, approved_at, site_only, budget, repeat_every,
    repeat_at, previous_id, competitor_of, round, results_round, limits, created_by, created_at, changed_at, completed_at
"""
MAX_REASON_LENGTH = 2_000
MAX_NUMBER = 50
"""Of runs and of prompts."""
MAX_BUDGET = 10_000
PRUNE_BATCH = 100
MIN_INTERVAL = dt.timedelta(hours=1)
MAX_INTERVAL = dt.timedelta(days=3_650)


async def create(
    tx: Tx,
    url: str,
    options: ReportOptions,
    *,
    by: str | None = None,
    previous_id: int | None = None,
    competitor_of: int | None = None,
) -> ReportId:
    """Store a report; the next scan queues it. The URL may lack https://."""
    check_options(options)
    site = normalize_site(url)
    company = await _find_company(tx, site)
    company_id, name = company or (
        None,
        urls.domain(site).partition(".")[0].replace("-", " ").title(),
    )
    id = await fetch_single_value(
        tx,
        int,
        """
        INSERT INTO reports.report
               (site, company_id, company, models, runs, prompt_count, review, site_only, budget,
                repeat_every, repeat_at, previous_id, competitor_of, created_by)
        VALUES (%(site)s, %(company_id)s, %(company)s, %(models)s, %(runs)s, %(prompt_count)s,
                %(review)s, %(site_only)s, %(budget)s, %(repeat_every)s,
                now() + %(repeat_every)s, %(previous_id)s, %(competitor_of)s, %(by)s)
        RETURNING id
        """,
        {
            "site": site,
            "company_id": company_id,
            "company": name,
            **asdict(options),
            "models": list(options.models),
            "previous_id": previous_id,
            "competitor_of": competitor_of,
            "by": by,
        },
    )
    await history.record(tx, "report", id, "created", actor=by, site=site)
    await notify_feeds(tx)
    return ReportId(id)


def check_options(options: ReportOptions) -> None:
    """Invalid if an option is out of its range."""
    for name, number in (("runs", options.runs), ("prompts", options.prompt_count)):
        if not 1 <= number <= MAX_NUMBER:
            raise Invalid(f"{name} must be between 1 and {MAX_NUMBER} (got {number})")
    for model in options.models:
        if model == "none" or not MODEL.fullmatch(model):
            raise Invalid(
                f"{model!r} is not a model: use anthropic:MODEL, openai:MODEL or ollama:MODEL"
            )
    if options.budget is not None and not 0 <= options.budget <= MAX_BUDGET:
        raise Invalid(f"the budget must be between 0 and {MAX_BUDGET:,} US dollars")
    if options.repeat_every is not None:
        check_interval(options.repeat_every)


def check_interval(every: dt.timedelta) -> None:
    if not MIN_INTERVAL <= every <= MAX_INTERVAL:
        raise Invalid("a report is repeated once an hour at most and every 10 years at least")


def normalize_site(url: str) -> str:
    """The start page to read; Invalid for anything but the URL of a website."""
    url = url.strip()
    url = url if "://" in url else f"https://{url}"
    parts = urls.parse(url)
    if "." not in parts.host and not parts.host.startswith("["):
        raise Invalid(f"{url[:200]!r} is not the URL of a website, such as https://example.org")
    # The normal form has https for every URL with the default port, which not every site offers.
    return f"{urlsplit(url).scheme.lower()}://{urlsplit(parts.root).netloc}{parts.path or '/'}"


async def _find_company(tx: Tx, site: str) -> tuple[int, str] | None:
    """The company of this domain, if the catalog knows exactly one."""
    cursor = await tx.execute(
        "SELECT id, name FROM catalog.company WHERE domain = %s ORDER BY id LIMIT 2",
        [urls.domain(site)],
    )
    rows = await cursor.fetchall()
    return rows[0] if len(rows) == 1 else None


async def get(tx: Tx, id: int, *, lock: bool = False) -> Report:
    return await fetch_or_raise(
        tx,
        Report,
        f"SELECT {COLUMNS} FROM reports.report WHERE id = %s {'FOR UPDATE' if lock else ''}",
        [id],
        NotFound("report", id),
    )


async def find(
    tx: Tx,
    *,
    company_id: int | None = None,
    status: ReportStatus | None = None,
    before: int | None = None,
    limit: int = 50,
) -> list[Report]:
    """Reports, newest first."""
    return await fetch_all(
        tx,
        Report,
        f"""
        SELECT {COLUMNS} FROM reports.report
         WHERE (%(company_id)s::bigint IS NULL OR company_id = %(company_id)s)
           AND (%(status)s::text IS NULL OR status = %(status)s)
           AND (%(before)s::bigint IS NULL OR id < %(before)s)
         ORDER BY id DESC LIMIT %(limit)s
        """,
        {"company_id": company_id, "status": status, "before": before, "limit": limit},
    )


async def find_previous(tx: Tx, report: Report) -> Report | None:
    """The newest report with results of the same site before this one."""
    return await fetch_one(
        tx,
        Report,
        f"""
        SELECT {COLUMNS} FROM reports.report
         WHERE site = %(site)s AND id < %(id)s AND results_round IS NOT NULL
         ORDER BY id DESC LIMIT 1
        """,
        {"site": report.site, "id": report.id},
    )


async def claim_due(tx: Tx, phase: ReportPhase, limit: int) -> list[ReportId]:
    """Lock the reports that wait for a phase; each is taken once, by the transaction that commits."""
    cursor = await tx.execute(
        """
        WITH waiting AS MATERIALIZED (
            SELECT id FROM reports.report
             WHERE status = %(status)s AND NOT in_progress AND due_at <= now()
               AND NOT (status = 'model-analysis' AND review AND approved_at IS NULL)
             ORDER BY due_at, id LIMIT %(limit)s
               FOR UPDATE SKIP LOCKED
        )
        UPDATE reports.report
           SET in_progress = true, in_progress_since = now(), item_id = NULL, note = NULL,
               changed_at = now()
         WHERE id = ANY (ARRAY(SELECT id FROM waiting)) AND status = %(status)s AND NOT in_progress
        RETURNING id
        """,
        {"status": STATUS_OF_PHASE[phase], "limit": limit},
    )
    ids = sorted(ReportId(id) for (id,) in await cursor.fetchall())
    await history.record_all(tx, "report", "queued", [(id, {"phase": phase}) for id in ids])
    return ids


async def requeue(tx: Tx, refused: Sequence[tuple[int, str]]) -> None:
    """Unlock reports that the queue refused, with its reason; they are scanned again in a minute."""
    for id, reason in refused:
        await tx.execute(
            """
            UPDATE reports.report
               SET in_progress = false, in_progress_since = NULL, note = %(reason)s,
                   due_at = now() + interval '1 minute'
             WHERE id = %(id)s AND in_progress
            """,
            {"id": id, "reason": reason},
        )
        await history.record(tx, "report", id, "refused", reason=reason)


async def set_item(tx: Tx, id: int, item: int) -> None:
    """Store the item that runs a phase of the report. It restarts the time after which the report
    counts as stuck."""
    await tx.execute(
        """
        UPDATE reports.report SET item_id = %(item)s, in_progress_since = now()
         WHERE id = %(id)s AND in_progress
        """,
        {"id": id, "item": item},
    )


async def set_note(tx: Tx, *, id: int, note: str) -> None:
    """Say why a report waits."""
    await tx.execute("UPDATE reports.report SET note = %s WHERE id = %s", [storable(note), id])


async def end_phase(tx: Tx, id: int, phase: ReportPhase, became: ReportStatus) -> None:
    """Store the next status and unlock the report, in the transaction that settles the item."""
    cursor = await tx.execute(
        """
        UPDATE reports.report
           SET status = %(became)s, in_progress = false, in_progress_since = NULL, note = NULL,
               due_at = now(), changed_at = now(), reason = NULL, failed_status = NULL,
               completed_at = CASE WHEN %(became)s = 'completed' THEN now() END,
               results_round = CASE WHEN %(became)s = 'completed' THEN round ELSE results_round END
         WHERE id = %(id)s AND in_progress AND status = %(was)s
        """,
        {"id": id, "was": STATUS_OF_PHASE[phase], "became": became},
    )
    if cursor.rowcount == 0:
        raise Conflict(
            f"report {id} is no longer in the phase {phase}: "
            "another task has ended it, so this result is dropped"
        )
    await history.record(tx, "report", id, "phase ended", phase=phase, status=became)
    await notify_feeds(tx)


async def lock_in_progress(tx: Tx) -> list[Report]:
    """The reports in progress, without those that another transaction changes now."""
    return await fetch_all(
        tx,
        Report,
        f"""
        SELECT {COLUMNS} FROM reports.report
         WHERE in_progress ORDER BY id FOR UPDATE SKIP LOCKED
        """,
    )


async def fail(tx: Tx, id: int, reason: str) -> None:
    """End a report after its phase failed for good; what other phases stored is kept."""
    reason = storable(reason)[:MAX_REASON_LENGTH]
    await tx.execute(
        """
        UPDATE reports.report
           SET failed_status = status, status = 'failed', reason = %(reason)s, in_progress = false,
               in_progress_since = NULL, changed_at = now()
         WHERE id = %(id)s AND in_progress
        """,
        {"id": id, "reason": reason},
    )
    await history.record(tx, "report", id, "failed", reason=reason)


async def release_stuck(tx: Tx, id: int) -> bool:
    """Unlock a report that has been in progress for more than five minutes; returns whether it was."""
    cursor = await tx.execute(
        """
        UPDATE reports.report
           SET in_progress = false, in_progress_since = NULL, due_at = now(), changed_at = now()
         WHERE id = %s AND in_progress AND in_progress_since < now() - interval '5 minutes'
        """,
        [id],
    )
    if cursor.rowcount:
        await history.record(tx, "report", id, "released", reason="it had no task for 5 minutes")
    return cursor.rowcount > 0


async def rerun(tx: Tx, id: int, phase: ReportPhase, *, by: str | None = None) -> Report:
    """Run one phase again and keep what the others stored. A completed report asks its models again, in a
    new round; one that failed keeps its answers and asks only for the missing ones. Answers are paid, so
    none is deleted."""
    report = await get(tx, id, lock=True)
    if report.in_progress:
        raise Conflict(
            f"report {id} is in progress: wait until its phase has ended, or cancel its task"
        )
    await _check_rerun(tx, report, phase)
    if await _needs_new_round(tx, report, phase):
        await _start_round(tx, report, copy_prompts=phase == "model-analysis")
    await tx.execute(
        """
        UPDATE reports.report
           SET status = %(status)s, due_at = now(), reason = NULL, failed_status = NULL, note = NULL,
               completed_at = NULL, changed_at = now(),
               approved_at = CASE WHEN %(phase)s = 'prompt-forming' THEN NULL ELSE approved_at END
         WHERE id = %(id)s
        """,
        {"id": id, "phase": phase, "status": STATUS_OF_PHASE[phase]},
    )
    await history.record(tx, "report", id, "rerun", actor=by, phase=phase)
    await notify_feeds(tx)
    return await get(tx, id)


async def _needs_new_round(tx: Tx, report: Report, phase: ReportPhase) -> bool:
    if phase == "model-analysis":
        return report.status == "completed"
    if phase == "website-analysis":
        return False
    # Other prompts take the place of those of this round, which may have answers.
    has_answers = await fetch_value(
        tx,
        bool,
        "SELECT EXISTS (SELECT FROM reports.answer WHERE report_id = %s AND round = %s)",
        [report.id, report.round],
    )
    return bool(has_answers)


async def _start_round(tx: Tx, report: Report, *, copy_prompts: bool) -> None:
    await tx.execute("UPDATE reports.report SET round = round + 1 WHERE id = %s", [report.id])
    if copy_prompts:
        await tx.execute(
            """
            INSERT INTO reports.prompt
                   (report_id, round, key, position, text, stage, audience, names_company, edited_by,
                    edited_at)
            SELECT report_id, round + 1, key, position, text, stage, audience, names_company,
                   edited_by, edited_at
              FROM reports.prompt WHERE report_id = %s AND round = %s
            """,
            [report.id, report.round],
        )


async def _check_rerun(tx: Tx, report: Report, phase: ReportPhase) -> None:
    """Conflict if the phase lacks what an earlier one stores."""
    needs: dict[ReportPhase, tuple[ReportPhase, LiteralString]] = {
        "prompt-forming": (
            "website-analysis",
            "SELECT FROM reports.report WHERE id = %s AND findings IS NOT NULL",
        ),
        "model-analysis": (
            "prompt-forming",
            """
            SELECT FROM reports.prompt JOIN reports.report ON report.id = report_id
             WHERE report_id = %s AND prompt.round = report.round LIMIT 1
            """,
        ),
    }
    if phase not in needs:
        return
    earlier, sql = needs[phase]
    cursor = await tx.execute(sql, [report.id])
    if cursor.rowcount == 0:
        raise Conflict(f"report {report.id} has no result of {earlier} yet: rerun that phase first")


async def approve(tx: Tx, id: int, *, by: str | None = None) -> None:
    """Let the prompts of a report run that waits for a person's review."""
    report = await get(tx, id, lock=True)
    if not report.awaits_approval:
        raise Conflict(f"the prompts of report {id} do not wait for approval")
    await tx.execute(
        "UPDATE reports.report SET approved_at = now(), due_at = now() WHERE id = %s", [id]
    )
    await history.record(tx, "report", id, "prompts approved", actor=by)
    await notify_feeds(tx)


async def unlock(tx: Tx, id: int) -> None:
    """Take a report out of progress after its item was cancelled."""
    await tx.execute(
        "UPDATE reports.report SET in_progress = false, in_progress_since = NULL WHERE id = %s",
        [id],
    )


async def delete(tx: Tx, id: int, *, by: str | None = None) -> None:
    """Delete a report with its prompts and answers; its events stay. Conflict while it is in progress."""
    report = await get(tx, id, lock=True)
    if report.in_progress:
        raise Conflict(f"report {id} is in progress: delete it when its phase has ended")
    await tx.execute("DELETE FROM reports.report WHERE id = %s", [id])
    await history.record(
        tx, "report", id, "deleted", actor=by, site=report.site, company=report.company
    )


async def prune(tx: Tx, keep: dt.timedelta) -> int:
    """Delete one batch of reports that ended longer ago; returns how many. The newest report of a schedule
    stays, because it creates the next one."""
    cursor = await tx.execute(
        """
        DELETE FROM reports.report
         WHERE id IN (SELECT id FROM reports.report
                       WHERE status IN ('completed', 'failed') AND changed_at < now() - %s
                         AND NOT in_progress AND repeat_at IS NULL
                       ORDER BY changed_at LIMIT %s FOR UPDATE SKIP LOCKED)
        RETURNING id, site
        """,
        [keep, PRUNE_BATCH],
    )
    deleted = [(id, {"site": site}) for id, site in await cursor.fetchall()]
    await history.record_all(tx, "report", "pruned", deleted)
    return len(deleted)
