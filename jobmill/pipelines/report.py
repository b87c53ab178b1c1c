"""Write a website report in three phases: website analysis, prompt forming, model analysis.

The row of a report is the source of truth. A scan locks the rows that wait for a phase and queues them;
the settlement of the phase stores its result, the next status and the release of the row together.
"""

from __future__ import annotations

import datetime as dt
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from jobmill.db import Tx
from jobmill.db.clock import server_time
from jobmill.errors import Conflict, NotFound
from jobmill.outside import model_endpoint
from jobmill.outside.model_endpoint import Endpoint
from jobmill.pipelines import report_answers
from jobmill.pipelines.model_configuration import read_configuration
from jobmill.pipelines.report_answers import BLOCKED_ON_KEY
from jobmill.queue import (
    Block,
    Finish,
    ItemId,
    Move,
    NewItem,
    Postpone,
    RefusedItem,
    Work,
    inspect,
    lock_claim,
    operator_actions,
)
from jobmill.queue.feed import QueueFeed
from jobmill.queue.refusals import find_live_item
from jobmill.reports import contents, recurring, results, site_analysis, site_reader, store
from jobmill.reports.findings import SiteFindings
from jobmill.reports.known_postings import read_known_postings
from jobmill.reports.prompts import form_prompts
from jobmill.reports.report import LIMITS, STATUS_OF_PHASE, Report, ReportPhase
from jobmill.sandbox import read_untrusted
from jobmill.settings import Settings, split_list
from jobmill.tools import Tools

KIND = "report"
JUDGING_AFTER = 50.0
"""Seconds. An attempt that asked for longer judges the answers in its next run: the review of the claims
alone can take four of the five minutes of a run."""


def new_item(id: int, phase: ReportPhase) -> NewItem:
    """The item that runs a phase of a report. All phases share the key, so that a report is in one."""
    return NewItem(KIND, phase, f"report:{id}", data={"report": id})


def queue_feeds() -> tuple[QueueFeed, ...]:
    """One scan of the table for each phase."""

    def feed(phase: ReportPhase) -> QueueFeed:
        return QueueFeed(KIND, phase, partial(_claim_due, phase), _requeue_refused, _record_items)

    return tuple(feed(phase) for phase in STATUS_OF_PHASE)


async def _claim_due(phase: ReportPhase, tx: Tx, limit: int) -> Sequence[NewItem]:
    return [new_item(id, phase) for id in await store.claim_due(tx, phase, limit)]


async def _requeue_refused(tx: Tx, refused: Sequence[RefusedItem]) -> None:
    await store.requeue(tx, [(item.new.data["report"], item.message) for item in refused])


async def _record_items(tx: Tx, queued: Sequence[tuple[NewItem, ItemId]]) -> None:
    for new, item in queued:
        await store.set_item(tx, new.data["report"], item)


def configured_models(settings: Settings) -> tuple[str, ...]:
    """The models that reports ask unless they name others."""
    names = split_list(settings.report_models) or [settings.model_cheap, settings.model_strong]
    return tuple(dict.fromkeys(name for name in names if name != "none"))


# Website analysis.


async def analyze_website(tools: Tools, max_pages: int, work: Work) -> Move:
    """Read the site within bounds and store what it tells candidates."""
    report = await _start(tools, work)
    reading = await site_reader.read_site(tools.fetch, report.site, max_pages)
    async with tools.db.transaction() as tx:
        postings = await read_known_postings(tx, report.company_id) if report.company_id else ()
        now = await server_time(tx)
    findings = await read_untrusted(
        partial(
            site_analysis.analyze_site,
            site=reading.site,
            company=report.company,
            read_at=now,
            crawl_notes=reading.notes,
            llms_txt=reading.llms_txt,
        ),
        reading.pages,
        reading.robots_txt,
        tuple(postings),
        cpu_seconds=site_analysis.CPU_SECONDS,
    )
    company = _name_of(report, findings)
    save = partial(
        contents.save_findings,
        id=report.id,
        findings=replace(findings, company=company),
        company=company,
        site_only=report.site_only,
    )
    return Finish(f"{len(reading.pages)} pages read", save=save)


def _name_of(report: Report, findings: SiteFindings) -> str:
    """The name of the company in the catalog, or the one that its site states."""
    if report.company_id is not None:
        return report.company
    stated = [fact.value for fact in findings.facts if fact.name == "name"]
    return (stated[0] if stated else findings.company or report.company)[:200]


# Prompt forming.


async def form(tools: Tools, work: Work) -> Move:
    """Form the questions that candidates would ask an assistant."""
    report = await _start(tools, work)
    findings = await _read_findings(tools, report)
    prompts = await read_untrusted(form_prompts, findings, report.prompt_count)
    return Finish(
        f"{len(prompts)} prompts formed",
        save=partial(contents.save_prompts, id=report.id, prompts=prompts),
    )


# Model analysis.


async def analyze_models(tools: Tools, models: Sequence[str], work: Work) -> Move:
    """Ask each model each prompt, as often as the report wants, and judge the answers."""
    started = time.monotonic()
    report = await _start(tools, work)
    findings = await _read_findings(tools, report)
    asked = await report_answers.ask_missing(tools, work, report, report.models or models)
    if isinstance(asked, Block | Postpone):
        return asked
    if asked.asked and time.monotonic() - started > JUDGING_AFTER:
        return Postpone(dt.timedelta(seconds=1), "All answers are stored; they are judged next")
    async with tools.db.transaction() as tx:
        prompts, stored_answers = await report_answers.read_round(tx, report)
    answers = [stored.answer for stored in stored_answers if stored.failure is None]
    computed = await results.compute_in_sandbox(findings, prompts, answers)
    review = await report_answers.review_claims(tools, work, report, computed, findings)
    if review.answer:
        computed = await results.compute_in_sandbox(findings, prompts, answers, review.answer)
    limits = [*LIMITS, *asked.limits, *([review.limit] if review.limit else [])]
    save = partial(contents.save_results, id=report.id, results=computed, limits=limits)
    return Finish(f"{len(answers)} answers judged", save=save)


# Shared by all phases.


async def _start(tools: Tools, work: Work) -> Report:
    """The report of an item; Conflict if the report is not in this phase."""
    id = work.data["report"]
    async with tools.db.transaction() as tx:
        if not await lock_claim(tx, work):
            raise Conflict("another attempt has this task now")
        await store.set_item(tx, id, work.id)
        report = await store.get(tx, id)
    if not report.in_progress or STATUS_OF_PHASE.get(_phase(work)) != report.status:
        raise Conflict(
            f"report {id} is {report.status} and is not waiting for the step {work.stage}. "
            "Run the step again on the page of the report"
        )
    return report


def _phase(work: Work) -> ReportPhase:
    return next(phase for phase in STATUS_OF_PHASE if phase == work.stage)


async def _read_findings(tools: Tools, report: Report) -> SiteFindings:
    async with tools.db.transaction() as tx:
        findings = await contents.read_findings(tx, report.id)
    if findings is None:
        raise Conflict(f"report {report.id} has no findings: rerun its website analysis")
    return findings


async def delete_report(tx: Tx, id: int, *, by: str | None = None) -> None:
    """Delete a report, and cancel its task first if it waits; Conflict while a worker runs it."""
    # The item before the row, in the order in which a worker locks them.
    live = await find_live_item(tx, new_item(id, "website-analysis"))
    if live is not None and live.status != "PROCESSING":
        await operator_actions.cancel_item(tx, live.id, "its report was deleted")
        await store.unlock(tx, id)
    await store.delete(tx, id, by=by)


# Periodic tasks.


async def settle_abandoned(tx: Tx) -> None:
    """Fail the reports of items that failed or were cancelled, and release those without an item."""
    for report in await store.lock_in_progress(tx):
        if await find_live_item(tx, new_item(report.id, "website-analysis")) is not None:
            continue
        if report.item_id is None:
            await store.release_stuck(tx, report.id)
            continue
        try:
            item = await inspect.get_item(tx, ItemId(report.item_id))
        except NotFound:
            await store.release_stuck(tx, report.id)
            continue
        await store.fail(tx, report.id, item.error_text or item.message or "its task ended")


async def create_recurring(tx: Tx) -> None:
    """Create the reports that are due by their schedule."""
    await recurring.create_due(tx)


def unblock_task(
    settings: Settings, environ: Mapping[str, str]
) -> Callable[[Tx], Awaitable[object]]:
    """Continue the reports that wait for the key of a model, once there is one."""

    async def unblock(tx: Tx) -> None:
        current = await read_configuration(tx, settings, environ)
        endpoints = (
            model_endpoint.find_named_endpoint(name, current.settings, current.environ)
            for name in configured_models(current.settings)
        )
        if any(isinstance(endpoint, Endpoint) for endpoint in endpoints):
            await operator_actions.unblock_items(tx, BLOCKED_ON_KEY)

    return unblock
