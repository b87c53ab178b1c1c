"""One health model: the conditions of the whole installation, each with a sentence and what to do.

The chip of every page, Today, Health, Sources, Activity, `/metrics` and `jobmill doctor` show the
conditions that `assess` finds in the same facts, so that no two of them disagree.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from jobmill.catalog import source_list
from jobmill.catalog.source_list import TroubleCounts
from jobmill.db import Tx, migrate
from jobmill.hiring.messages import message_list
from jobmill.hiring.messages.message_list import Outbox
from jobmill.outside import connectivity
from jobmill.outside.connectivity import Offline
from jobmill.queue import inspect, ticks
from jobmill.queue.alerts import MAX_SILENCE, WATCHED_TASKS, Alert, list_alerts
from jobmill.queue.inspect import NamedCount
from jobmill.web.dependencies import format_moment
from jobmill.web.translations import say, say_many

Severity = Literal["problem", "warning"]
"""A problem stops something until a person acts; a warning is retried, or a person chose it."""
HealthArea = Literal["database", "disk", "network", "queue", "schedules", "sources", "mail"]
AREAS: tuple[HealthArea, ...] = (
    "database", "disk", "network", "queue", "schedules", "sources", "mail",
)  # fmt: skip
SEARCH_AREAS: tuple[HealthArea, ...] = tuple(area for area in AREAS if area != "mail")
"""The areas that people with a job search depend on."""
HIRING_AREAS: tuple[HealthArea, ...] = tuple(area for area in AREAS if area != "sources")
CODES = (
    "migrations_pending", "migrations_newer", "disk_space", "offline", "no_worker", "silent_worker",
    "scheduler_silent", "deadlines_silent", "alert", "paused", "blocked", "sources_disabled",
    "sources_failing", "mail_off", "mail_failed",
)  # fmt: skip
"""All conditions, so that the metric also reports those that do not hold."""
GB = 10**9
LOW_SPACE, SCARCE_SPACE = 5 * GB, 1 * GB
COUNT_LIMIT = 1_000
MAX_ALERTS = 20
NO_TROUBLE, EMPTY_OUTBOX = TroubleCounts(0, 0, 0), Outbox(False, 0, 0)


@dataclass(frozen=True, slots=True)
class HealthFacts:
    """What was read; without texts, because visitors share it and may read other languages."""

    pending_migrations: Sequence[str] = ()
    newer_migrations: Sequence[str] = ()
    free_space: int | None = None
    """Bytes on the disk of the bundled database; None if the database is elsewhere."""
    offline: Offline | None = None
    workers: int = 1
    silent_workers: int = 0
    silent_tasks: Sequence[str] = ()
    """Periodic tasks (`scheduler`, `deadlines`) that no worker has completed for a while."""
    alerts: Sequence[Alert] = ()
    paused: int = 0
    blocked: Sequence[NamedCount] = ()
    sources: TroubleCounts = NO_TROUBLE
    outbox: Outbox = EMPTY_OUTBOX
    sends_mail: bool = True


async def read_facts(
    tx: Tx, *, data_dir: Path | None = None, sends_mail: bool = True
) -> HealthFacts:
    """Read everything once; the cost does not grow with the data."""
    applied, bundled = await migrate.list_applied(tx), migrate.list_migrations()
    workers = await inspect.list_workers(tx)
    return HealthFacts(
        pending_migrations=[name for name in bundled if name not in applied],
        newer_migrations=[name for name in applied if name not in bundled],
        free_space=_free_space(data_dir) if data_dir else None,
        offline=await connectivity.find_offline(tx),
        workers=len(workers),
        silent_workers=sum(not worker.alive for worker in workers),
        silent_tasks=[name for name in WATCHED_TASKS if await _is_silent(tx, name)],
        alerts=await list_alerts(tx, limit=MAX_ALERTS),
        paused=len(await inspect.list_pauses(tx)),
        blocked=await inspect.count_blocked(tx),
        sources=await source_list.count_troubled(tx, limit=COUNT_LIMIT),
        outbox=await message_list.read_outbox(tx),
        sends_mail=sends_mail,
    )


def _free_space(folder: Path) -> int | None:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return None


async def _is_silent(tx: Tx, name: str) -> bool:
    seconds = await ticks.seconds_since_tick(tx, name)
    return seconds is not None and seconds > MAX_SILENCE.total_seconds()


@dataclass(frozen=True, slots=True)
class HealthCondition:
    """Something that does not work as it should."""

    code: str
    area: HealthArea
    severity: Severity
    sentence: str
    advice: str = ""
    path: str = "/health"
    """The page that shows the details."""
    action: str = ""
    """What the link to that page says."""

    @property
    def color(self) -> str:
        return "bad" if self.severity == "problem" else "calm"


@dataclass(frozen=True, slots=True)
class SystemHealth:
    """The conditions that hold, problems first."""

    conditions: Sequence[HealthCondition] = ()

    @property
    def problems(self) -> int:
        return sum(condition.severity == "problem" for condition in self.conditions)

    @property
    def color(self) -> Literal["good", "calm", "bad"]:
        return "bad" if self.problems else "calm" if self.conditions else "good"

    @property
    def summary(self) -> str:
        if self.problems:
            return say_many("%(n)s problem", "%(n)s problems", self.problems)
        if self.conditions:
            return say_many("%(n)s warning", "%(n)s warnings", len(self.conditions))
        return say("All working")

    @property
    def has_worker(self) -> bool:
        return all(condition.code != "no_worker" for condition in self.conditions)

    def describe_effect(self, *, on_search: bool) -> str:
        """What problems mean for people without the right to fix them; empty if they will not notice."""
        areas = SEARCH_AREAS if on_search else HIRING_AREAS
        if not self.of(*areas).problems:
            return ""
        if on_search:
            return say("New matches may be late. An admin can see why.")
        return say("Messages may be late. An admin can see why.")

    def of(self, *areas: HealthArea, code: str = "") -> SystemHealth:
        """Only the conditions of these areas, and those with this code."""
        return SystemHealth(
            [
                condition
                for condition in self.conditions
                if condition.area in areas or condition.code == code
            ]
        )


def assess(facts: HealthFacts) -> SystemHealth:
    """The conditions that these facts show, in the language of the request."""
    parts = (_database, _disk, _network, _workers, _schedules, _queue, _sources, _mail)
    conditions = [condition for part in parts for condition in part(facts)]
    return SystemHealth(sorted(conditions, key=lambda condition: condition.severity != "problem"))


def _database(facts: HealthFacts) -> Iterator[HealthCondition]:
    if n := len(facts.pending_migrations):
        sentence = say_many(
            "%(n)s database migration is not applied",
            "%(n)s database migrations are not applied",
            n,
        )
        advice = say("Apply the migrations, then restart Jobmill.")
        yield HealthCondition("migrations_pending", "database", "problem", sentence, advice)
    if facts.newer_migrations:
        sentence = say("The database was migrated by a newer Jobmill")
        advice = say("Upgrade this installation.")
        yield HealthCondition("migrations_newer", "database", "problem", sentence, advice)


def _disk(facts: HealthFacts) -> Iterator[HealthCondition]:
    if facts.free_space is not None and facts.free_space < LOW_SPACE:
        severity: Severity = "problem" if facts.free_space < SCARCE_SPACE else "warning"
        sentence = say("Only %(n)s GB of disk space is free", n=f"{facts.free_space / GB:.1f}")
        advice = say("Free some space, or move data_dir to a larger disk.")
        yield HealthCondition("disk_space", "disk", severity, sentence, advice)


def _network(facts: HealthFacts) -> Iterator[HealthCondition]:
    if facts.offline:
        sentence = say("This machine is offline: no host name can be resolved")
        at = format_moment(facts.offline.retry_at)
        advice = say("Nothing is lost; Jobmill tries again at %(time)s.", time=at)
        yield HealthCondition("offline", "network", "problem", sentence, advice)


def _workers(facts: HealthFacts) -> Iterator[HealthCondition]:
    page = ("/activity", say("View activity"))
    if facts.silent_workers == facts.workers:
        sentence = say("No worker is running, so no tasks are processed")
        advice = say("Start Jobmill or a worker on the server.")
        yield HealthCondition("no_worker", "queue", "problem", sentence, advice, *page)
    elif n := facts.silent_workers:
        sentence = say_many("%(n)s worker is not responding", "%(n)s workers are not responding", n)
        advice = say("Other workers take over the tasks when the lease expires.")
        yield HealthCondition("silent_worker", "queue", "problem", sentence, advice, *page)


def _schedules(facts: HealthFacts) -> Iterator[HealthCondition]:
    if facts.silent_workers == facts.workers:
        # Without a worker nothing is checked, which is reported already; Health says so.
        return
    sentences = {
        "scheduler": say("The schedules are not being checked"),
        "deadlines": say("The deadlines of offers are not being checked"),
    }
    advice = say("Restart the worker and look at its log.")
    for name in facts.silent_tasks:
        yield HealthCondition(
            f"{name}_silent", "schedules", "problem", sentences[name], advice,
            "/activity", say("View activity"),
        )  # fmt: skip


def _queue(facts: HealthFacts) -> Iterator[HealthCondition]:
    for alert in facts.alerts:
        # The ticks themselves were read: alerts about them can be out of date.
        if alert.rule not in WATCHED_TASKS:
            yield _describe_alert(alert)
    if n := facts.paused:
        sentence = say_many("%(n)s step is paused", "%(n)s steps are paused", n)
        advice = say("New tasks wait. Resume paused steps under Activity.")
        yield HealthCondition(
            "paused", "queue", "warning", sentence, advice, "/activity", say("View activity")
        )
    for resource in facts.blocked:
        sentence = say_many(
            "%(n)s task is waiting for %(name)s",
            "%(n)s tasks are waiting for %(name)s",
            resource.count,
            name=resource.name,
        )
        advice = say("Make it available, then unblock the tasks under Activity.")
        yield HealthCondition(
            "blocked", "queue", "warning", sentence, advice,
            "/activity/tasks?status=BLOCKED", say("View blocked tasks"),
        )  # fmt: skip


def _describe_alert(alert: Alert) -> HealthCondition:
    if source := re.fullmatch(r"source (\d+)", alert.subject):
        advice = say(
            "Check its URL. If its jobs are gone for good, clear the alert under Activity."
        )
        return HealthCondition(
            "alert", "sources", "problem", alert.detail, advice,
            f"/sources/{source[1]}", say("View source"),
        )  # fmt: skip
    sentence = say("Work queue alert: %(detail)s", detail=alert.detail)
    advice = say("Fix the cause, then clear the alert.")
    return HealthCondition(
        "alert", "queue", "problem", sentence, advice, "/activity", say("View alert")
    )


def _sources(facts: HealthFacts) -> Iterator[HealthCondition]:
    if n := facts.sources.given_up:
        sentence = say_many(
            "%(n)s source was disabled after repeated failures",
            "%(n)s sources were disabled after repeated failures",
            n,
        )
        advice = say("Jobmill tries again from time to time. Test a source to see what is wrong.")
        yield HealthCondition(
            "sources_disabled", "sources", "warning", sentence, advice,
            "/sources?show=disabled", say("View sources"),
        )  # fmt: skip
    if n := facts.sources.troubled:
        sentence = say_many(
            "%(n)s source could not be read and is retried automatically",
            "%(n)s sources could not be read and are retried automatically",
            n,
        )
        yield HealthCondition(
            "sources_failing", "sources", "warning", sentence, "",
            "/sources?show=troubled", say("View sources"),
        )  # fmt: skip


def _mail(facts: HealthFacts) -> Iterator[HealthCondition]:
    if not facts.sends_mail and facts.outbox.live_openings:
        sentence = say("Emails to applicants are off")
        advice = say(
            "Applicants see updates only on their personal page, and their email addresses are not verified."
        )
        yield HealthCondition(
            "mail_off",
            "mail",
            "warning",
            sentence,
            advice,
            "/hiring/messages/setup",
            say("Set up email"),
        )
    if n := facts.outbox.failed:
        sentence = say_many(
            "%(n)s message from the last 7 days could not be sent",
            "%(n)s messages from the last 7 days could not be sent",
            n,
        )
        yield HealthCondition(
            "mail_failed", "mail", "problem", sentence, "",
            "/hiring/messages?state=failed", say("View messages"),
        )  # fmt: skip
