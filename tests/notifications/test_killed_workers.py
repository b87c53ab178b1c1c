"""Workers are killed at random while a mail server and a webhook receiver fail half of the time.

Each event arrives once per channel by the receivers' count, or its delivery is reported as unknown.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiosmtpd.smtp import SMTP, Envelope, Session

from jobmill import app
from jobmill.db import Database
from jobmill.notifications import channels
from jobmill.notifications.channels import NewChannel
from jobmill.queue import alerts
from jobmill.settings import Settings
from jobmill.tools import Tools
from tests.cli.forked import ForkedProcess
from tests.notifications import worker_process
from tests.outside.mailbox import Mailbox, open_mailbox
from tests.outside.site import ReceivedRequest, ResponseWriter, open_site, reply
from tests.queue.helpers import fetch, make_due

ALERTS = 5
MAX_FAILURES = 8
"""In a row for one receiver: fewer than the retries, so that no delivery runs out of them."""
HOOK = "https://hook.example/in"


class Failing:
    """Decides which requests fail: half of them."""

    def __init__(self) -> None:
        self.random = random.Random(21)
        self.failures: Counter[str] = Counter()
        self.outcomes: Counter[str] = Counter()

    def choose(self, receiver: str) -> str:
        outcome = self.random.choice(["refuse", "hang up", "take", "take"])
        if outcome == "take" and self.random.random() < 0.03:
            outcome = "take and hang up"
        if outcome in ("refuse", "hang up"):
            self.failures[receiver] += 1
            if self.failures[receiver] > MAX_FAILURES:
                outcome = "take"
        if outcome.startswith("take"):
            self.failures[receiver] = 0
        self.outcomes[outcome] += 1
        return outcome


@dataclass
class FailingMailbox(Mailbox):
    failing: Failing = field(default_factory=Failing)
    received: Counter[str] = field(default_factory=Counter)
    """Letters by Message-ID."""

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        outcome = self.failing.choose(envelope.rcpt_tos[0])
        if outcome == "refuse":
            return "451 try later"
        if outcome.startswith("take"):
            assert isinstance(envelope.content, bytes)
            [id] = re.findall(rb"(?m)^Message-ID: (.+?)\r?$", envelope.content)
            self.received[id.decode()] += 1
        if outcome.endswith("hang up"):
            assert server.transport
            server.transport.abort()
        return "250 OK"


class FailingReceiver:
    def __init__(self) -> None:
        self.failing = Failing()
        self.received: dict[str, int] = {}
        """Events by the id of the delivery: a repetition has the same id."""

    async def __call__(self, request: ReceivedRequest, out: ResponseWriter) -> None:
        id = request.headers["jobmill-delivery"]
        outcome = self.failing.choose(id)
        if outcome.startswith("take"):
            self.received[id] = len(json.loads(request.body)["events"])
        if outcome.endswith("hang up"):
            out.reset()
        else:
            await reply(b"", status=503 if outcome == "refuse" else 200)(request, out)


class Workers:
    """Forked from a process that has loaded all modules: starting Python again takes longer than the work."""

    def __init__(self, url: str, settings: dict[str, Any]) -> None:
        self._arguments = (url, settings)
        self.processes: list[ForkedProcess] = []
        self.kills = 0
        self.random = random.Random(21)

    def fill_up(self, number: int) -> None:
        self.processes = [process for process in self.processes if process.poll() is None]
        while len(self.processes) < number:
            self.processes.append(ForkedProcess(worker_process.run, *self._arguments))

    def kill_one(self) -> None:
        process = self.random.choice(self.processes)
        process.kill()
        process.wait()
        self.kills += 1


@contextmanager
def worker_processes(url: str, settings: Settings, number: int) -> Iterator[Workers]:
    values = settings.model_dump(mode="json", exclude_unset=True)
    workers = Workers(url, values | {"smtp_url": settings.smtp_url.get_secret_value()})
    try:
        workers.fill_up(number)
        yield workers
    finally:
        for process in workers.processes:
            process.kill()
            process.wait()


async def add_people(database: Database, settings: Settings, number: int) -> None:
    """Admins with a mail channel and a webhook each."""
    async with database.transaction() as tx:
        people = await fetch(
            tx,
            """
            INSERT INTO people.person (name, email, email_key, role, password)
            SELECT 'Ada', n || '@example.org', n || '@example.org', 'admin', ''
              FROM generate_series(1, %s) AS n
            RETURNING id
            """,
            [number],
        )
        for id in people:
            address = f"{id}@example.org"
            hook = {"url": HOOK, "secret": "s3cret"}
            await channels.add(tx, id, NewChannel("email", address, {"address": address}, address))
            await channels.add(tx, id, NewChannel("webhook", "hook", hook, HOOK))
    await app.declare_stages(Tools(database), settings)


async def count_open(database: Database) -> int:
    [left] = await fetch(
        database,
        """
        SELECT (SELECT count(*) FROM notification.event WHERE planned_at IS NULL)::int
             + (SELECT count(*) FROM notification.delivery WHERE ended_at IS NULL)::int
        """,
    )
    return left


async def deliver_under_kills(
    url: str, database: Database, *, people: int, every: float, max_kills: int
) -> None:
    receiver = FailingReceiver()
    async with open_mailbox(FailingMailbox) as mailbox, open_site() as site:
        assert isinstance(mailbox, FailingMailbox)
        site.on("/in", receiver)
        settings = mailbox.settings(host_overrides={"hook.example": site.place}, processors=8)
        await add_people(database, settings, people)
        for number in range(ALERTS):
            async with database.transaction() as tx:
                await alerts.raise_alert(tx, "deep", f"lineage {number}", "12 items")
        with worker_processes(url, settings, 2) as workers:
            loop = asyncio.get_running_loop()
            next_kill = loop.time() + every
            while await count_open(database):
                # Retries are not waited for: their times are tested elsewhere.
                await make_due(database)
                if loop.time() >= next_kill and workers.kills < max_kills:
                    next_kill = loop.time() + workers.random.uniform(0, 2 * every)
                    workers.kill_one()
                    workers.fill_up(2)
                await asyncio.sleep(0.1)
    await check_deliveries(database, people, mailbox.received, receiver.received)
    print(
        f"{people * ALERTS} events, {workers.kills} kills, mail {dict(mailbox.failing.outcomes)}, "
        f"webhook {dict(receiver.failing.outcomes)}, deliveries "
        f"{await fetch(database, 'SELECT kind, state, count(*) FROM notification.delivery JOIN notification.channel ON channel.id = channel_id GROUP BY 1, 2 ORDER BY 1, 2')}"
    )
    assert workers.kills >= 1


async def check_deliveries(
    database: Database, people: int, letters: Counter[str], calls: dict[str, int]
) -> None:
    """Compare what was recorded with what the receivers counted."""
    rows = await fetch(
        database,
        """
        SELECT delivery.id, kind, state, to_char(delivery.created_at AT TIME ZONE 'UTC', 'YYYYMMDDHH24MISS'),
               (SELECT count(*)::int FROM notification.delivery_event WHERE delivery_id = delivery.id)
          FROM notification.delivery JOIN notification.channel ON channel.id = channel_id
        """,
    )
    assert sum(events for *_, events in rows) == people * ALERTS * 2
    assert max(letters.values()) == 1
    for id, kind, state, created_at, events in rows:
        if kind == "webhook":
            assert (state, calls[f"notification-{id}"]) == ("sent", events)
        else:
            arrived = letters[f"<notification.{id}.{created_at}@wells.example>"]
            assert (state, arrived) in {("sent", 1), ("unknown", 0), ("unknown", 1)}


async def test_300_events_arrive_once_per_channel_or_are_reported_as_unknown(
    url: str, database: Database
) -> None:
    await deliver_under_kills(url, database, people=300 // ALERTS, every=1.5, max_kills=3)


@pytest.mark.soak
async def test_10000_events_arrive_once_per_channel_or_are_reported_as_unknown(
    url: str, database: Database
) -> None:
    await deliver_under_kills(url, database, people=10_000 // ALERTS, every=5.0, max_kills=1_000)
