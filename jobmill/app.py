"""Registers the stages of every pipeline, the schedules and the periodic tasks of a worker."""

from __future__ import annotations

import datetime as dt
import difflib
import os
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import cast

from jobmill import log, queue
from jobmill.db import Database
from jobmill.errors import Invalid
from jobmill.hiring.messages import letters
from jobmill.hiring.messages import notices as hiring_notices
from jobmill.hiring.waitlist import deadlines
from jobmill.notifications import events as notification_events
from jobmill.outside.postponing_fetch import PostponingFetch
from jobmill.outside.webhook import WebhookSender
from jobmill.pipelines import (
    company,
    discovery,
    documents,
    judging,
    listing,
    maintenance,
    notices,
    notifications,
    preview,
    report,
    rotation,
    source,
    submission,
)
from jobmill.queue import (
    Move,
    NewItem,
    Stage,
    Stages,
    StartRate,
    Work,
    Worker,
    alerts,
    schedule,
    status_log,
)
from jobmill.queue.feed import SCAN_EVERY, QueueFeed, feed_task
from jobmill.queue.schedule import Schedule
from jobmill.queue.stages import Run
from jobmill.queue.worker import PeriodicTask
from jobmill.settings import Settings, parse_start_rate
from jobmill.tools import Tools

FEEDS: Sequence[QueueFeed] = (judging.FEED, *report.queue_feeds())
"""Feeds that do not depend on the settings."""

SCHEDULES = (
    Schedule("prune", dt.timedelta(hours=1), NewItem(maintenance.KIND, "prune", "finished items")),
    Schedule(
        "prune listings",
        dt.timedelta(days=1),
        NewItem(maintenance.KIND, "prune_listings", "closed listings"),
    ),
    Schedule(
        "prune records",
        dt.timedelta(days=1),
        NewItem(maintenance.KIND, "prune_records", "old calls, answers and runs"),
    ),
    Schedule(
        "erase applicants",
        dt.timedelta(days=1),
        NewItem(maintenance.KIND, "erase_applicants", "data kept long enough"),
    ),
    Schedule(
        "pending companies",
        dt.timedelta(hours=1),
        NewItem(maintenance.KIND, "pending_companies", "companies met in listings"),
    ),
    Schedule(
        "postponed pages",
        dt.timedelta(hours=1),
        NewItem(maintenance.KIND, "postponed_pages", "pages beyond the day's budget"),
    ),
    Schedule("rotation", rotation.RUN_INTERVAL, NewItem(rotation.KIND, "run", "what is due")),
)


PHASE_SETTINGS = ("processors_by_phase", "start_rate_by_phase")
"""Settings with phases as keys."""


def check_phases(settings: Settings) -> None:
    """Invalid if a setting names a phase that does not exist."""
    # The table is only looked at, so no stage uses the missing database.
    _check_phases(settings, _list_stages(Tools(cast("Database", None)), settings))


def _check_phases(settings: Settings, stages: Stages) -> None:
    phases = ["/".join(phase) for phase in stages]
    unknown = [
        f"{name}: there is no phase {phase!r}{_suggest_phase(phase, phases)}"
        for name in PHASE_SETTINGS
        for phase in getattr(settings, name)
        if phase not in phases
    ]
    if unknown:
        raise Invalid(f"{'; '.join(unknown)}. The phases are: {', '.join(phases)}")


def _suggest_phase(name: str, phases: Sequence[str]) -> str:
    same_stage = [phase for phase in phases if name in phase.split("/")]
    close = same_stage or difflib.get_close_matches(name, phases, n=1)
    return f", did you mean {' or '.join(close)}?" if close else ""


def build_stages(tools: Tools, settings: Settings) -> Stages:
    """Every phase of every pipeline; Invalid if a setting names a phase that does not exist."""
    stages = _list_stages(tools, settings)
    _check_phases(settings, stages)
    return {phase: _configure(phase, stage, settings) for phase, stage in stages.items()}


def _list_stages(tools: Tools, settings: Settings) -> Stages:
    waiting = replace(tools, fetch=PostponingFetch(tools.fetch))
    recorded = partial(submission.recorded, tools)
    keep = dt.timedelta(days=settings.keep_finished_days)
    keep_closed = dt.timedelta(days=settings.keep_closed_days)
    keep_reports = dt.timedelta(days=settings.report_keep_days)
    stage = partial(
        Stage,
        processors=settings.processors,
        capacity=settings.queue_capacity,
        run_limit=dt.timedelta(seconds=settings.run_limit_seconds),
        max_retries=settings.max_retries,
        max_spawn_depth=settings.max_spawn_depth,
    )
    return {
        (company.KIND, "fetch"): stage(partial(company.fetch, tools)),
        (company.KIND, "extract"): stage(partial(company.extract, tools, settings.company_model)),
        (company.KIND, "analyze"): stage(partial(company.analyze, tools)),
        (company.KIND, "save"): stage(partial(company.save, tools)),
        (source.KIND, "scrape"): stage(partial(source.scrape, tools, os.environ)),
        (preview.KIND, "try"): stage(partial(preview.try_source, tools, os.environ)),
        (rotation.KIND, "run"): stage(
            partial(rotation.rotate, rotation.request_from_settings(settings)), processors=1
        ),
        (discovery.KIND, "discover"): stage(recorded(partial(discovery.discover, waiting))),
        (discovery.KIND, "validate"): stage(
            recorded(partial(discovery.validate, waiting, os.environ))
        ),
        (discovery.KIND, "configure"): stage(recorded(partial(discovery.configure, waiting))),
        (discovery.KIND, "test"): stage(recorded(partial(discovery.test, waiting, os.environ))),
        (submission.KIND, "detect"): stage(recorded(partial(submission.detect, waiting))),
        (judging.KIND, "scrape"): stage(
            recorded(partial(listing.scrape, waiting, os.environ, settings.rotation_calls_per_day))
        ),
        (judging.KIND, "filter"): stage(partial(listing.apply_filter, tools)),
        (judging.KIND, "analyze"): stage(partial(listing.analyze, tools)),
        (judging.KIND, "ask"): stage(partial(listing.review, tools)),
        (judging.KIND, "save"): stage(partial(listing.save, tools)),
        (report.KIND, "website-analysis"): stage(
            partial(report.analyze_website, tools, settings.report_pages)
        ),
        (report.KIND, "prompt-forming"): stage(partial(report.form, tools)),
        (report.KIND, "model-analysis"): stage(
            partial(report.analyze_models, tools, report.configured_models(settings))
        ),
        (documents.KIND, "write"): stage(partial(documents.write, tools)),
        (notices.KIND, "mail"): stage(
            partial(notices.send_letter, tools, notices.LetterSender(settings)),
            max_retries=max(notices.RETRIES["mail"], settings.max_retries),
        ),
        (notices.KIND, "webhook"): stage(
            partial(notices.call_webhook, tools, WebhookSender(settings)),
            max_retries=max(notices.RETRIES["webhook"], settings.max_retries),
        ),
        **{
            (notifications.KIND, transport): stage(
                partial(notifications.send, tools, notifications.NotificationSender(settings)),
                max_retries=max(notifications.RETRIES, settings.max_retries),
            )
            for transport in ("mail", "post")
        },
        (maintenance.KIND, "prune"): stage(
            partial(maintenance.prune_items, tools, keep), processors=1
        ),
        (maintenance.KIND, "prune_listings"): stage(
            partial(maintenance.prune_listings, tools, keep_closed), processors=1
        ),
        (maintenance.KIND, "prune_records"): stage(
            partial(maintenance.prune_records, tools, keep_reports), processors=1
        ),
        (maintenance.KIND, "pending_companies"): stage(
            partial(maintenance.analyze_pending_companies, tools), processors=1
        ),
        (maintenance.KIND, "postponed_pages"): stage(
            partial(maintenance.read_postponed_pages, tools, settings.rotation_calls_per_day),
            processors=1,
        ),
        (maintenance.KIND, "erase_applicants"): stage(
            partial(maintenance.erase_applicants, tools), processors=1
        ),
    }


async def declare_stages(tools: Tools, settings: Settings) -> None:
    """Store the phases, so that items can be submitted before the first worker runs."""
    async with tools.db.transaction() as tx:
        await queue.declare_stages(tx, build_stages(tools, settings))


async def declare_schedules(tools: Tools) -> None:
    """Store the schedules of this version; called by processes that run workers."""
    async with tools.db.transaction() as tx:
        await schedule.declare_schedules(tx, SCHEDULES)


def build_worker(
    tools: Tools, settings: Settings, *, only: Sequence[tuple[str, str]] | None = None
) -> Worker:
    """Build a worker for all phases, or `only` some; Invalid if a message template is broken."""
    if only is None or any(kind == notices.KIND for kind, _ in only):
        letters.check_templates(settings.letters_dir)
    feeds = (*FEEDS, *notices.queue_feeds(settings), *notifications.queue_feeds())
    # Polling workers do not receive feed notifications.
    scan_every = 1.0 if settings.poll_only else SCAN_EVERY
    return Worker(
        tools.db,
        build_stages(tools, settings),
        only=only,
        poll_only=settings.poll_only,
        periodic_tasks=[
            PeriodicTask(1.0, schedule.schedule_task(SCHEDULES)),
            PeriodicTask(alerts.CHECK_EVERY, alerts.check_rules),
            PeriodicTask(SCAN_EVERY, status_log.statistics_task(settings.log_statistics_level)),
            PeriodicTask(
                status_log.HEALTH_EVERY, status_log.health_task(settings.log_health_level)
            ),
            PeriodicTask(300.0, company.fail_abandoned),
            PeriodicTask(300.0, submission.keep_abandoned),
            PeriodicTask(30.0, report.settle_abandoned),
            PeriodicTask(SCAN_EVERY, report.create_recurring),
            PeriodicTask(SCAN_EVERY, report.unblock_task(settings, os.environ)),
            PeriodicTask(deadlines.POLL_SECONDS, deadlines.run_cycle),
            PeriodicTask(1.0, hiring_notices.announce_due),
            PeriodicTask(notifications.PLAN_EVERY, notifications.plan),
            PeriodicTask(notifications.STEPS_EVERY, notification_events.record_due_steps),
            *(PeriodicTask(scan_every, feed_task(feed), on_feed_notify=True) for feed in feeds),
        ],
    )


def _configure(phase: tuple[str, str], stage: Stage, settings: Settings) -> Stage:
    name = "/".join(phase)
    processors = settings.processors_by_phase.get(name, stage.processors)
    rate = settings.start_rate_by_phase.get(name)
    return replace(
        stage,
        run=_logged(stage.run),
        processors=processors,
        rate=_start_rate(rate) if rate else None,
    )


def _start_rate(text: str) -> StartRate:
    starts, seconds = parse_start_rate(text)
    return StartRate(starts, dt.timedelta(seconds=seconds))


def _logged(run: Run) -> Run:
    async def with_item(work: Work) -> Move:
        with log.bound(item=work.id):
            return await run(work)

    return with_item
