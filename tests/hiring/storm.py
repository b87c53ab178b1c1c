"""A storm over hiring: clients apply, accept and withdraw over HTTP while processes are killed at random.

`run_storm` starts two web processes and two workers, kills one of them every moment, and compares every
answer that clients got with the database afterwards.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import random
import socket
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx2

from jobmill.db import Database, connect
from jobmill.hiring.audit_log import replay, verification
from jobmill.people import keys
from tests.cli.forked import ForkedProcess
from tests.hiring import storm_process
from tests.hiring.helpers import make_opening
from tests.hiring.log_rules import check_log

WEB_PROCESSES = 2
WORKERS = 2
CLIENTS = 8
ANSWERS_PER_KILL = 20
OPENINGS = 3
TERMS: dict[str, Any] = {
    "require_acknowledgement": True,
    "acknowledge_window": dt.timedelta(seconds=3),
    "max_missed": 2,
}
CONNECTION_LOST = (httpx2.TransportError, httpx2.TimeoutException)


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@dataclass
class Processes:
    """Web processes and workers that are started again after they were killed."""

    url: str
    folder: Path
    ports: list[int] = field(default_factory=lambda: [_free_port() for _ in range(WEB_PROCESSES)])
    kills: Counter[str] = field(default_factory=Counter[str])
    _running: dict[int, ForkedProcess] = field(default_factory=dict[int, ForkedProcess])

    @contextmanager
    def run(self) -> Iterator[None]:
        try:
            for slot in range(WEB_PROCESSES + WORKERS):
                self._start(slot)
            yield
        finally:
            for process in self._running.values():
                process.kill()
                process.wait()

    def _start(self, slot: int) -> None:
        port = self.ports[slot] if slot < WEB_PROCESSES else 0
        self._running[slot] = ForkedProcess(storm_process.run, self.url, port, str(self.folder))

    def kill_one(self) -> None:
        slot = random.randrange(WEB_PROCESSES + WORKERS)
        self._running[slot].kill()
        self._running[slot].wait()
        self.kills["web" if slot < WEB_PROCESSES else "worker"] += 1
        self._start(slot)


@dataclass
class Answers:
    """What clients were told, by application: each 2xx answer must be in the log exactly once."""

    applied: dict[int, tuple[str, int]] = field(default_factory=dict[int, tuple[str, int]])
    """The address and the opening of each application."""
    accepted: set[int] = field(default_factory=set[int])
    withdrawn: set[int] = field(default_factory=set[int])
    statuses: Counter[str] = field(default_factory=Counter[str])


class StormClient:
    """One person after the other applies, then perhaps accepts or withdraws. Retries until answered."""

    def __init__(self, ports: list[int], key: str, openings: list[int], answers: Answers) -> None:
        self._ports = ports
        self._headers = {"Authorization": f"Bearer {key}"}
        self._openings = openings
        self._answers = answers

    async def run(self, numbers: Iterator[int], over: asyncio.Event) -> None:
        async with httpx2.AsyncClient(timeout=20) as client:
            while not over.is_set():
                await self._apply(client, next(numbers))

    async def _apply(self, client: httpx2.AsyncClient, number: int) -> None:
        email, job_id = f"storm{number}@example.org", random.choice(self._openings)
        is_keyed = number % 2 == 0
        body = {"name": "Ada", "email": email, "jobId": job_id}
        answer = await self._send(client, "apply-public", body, keyed=is_keyed)
        error = answer.json().get("error", {})
        if answer.status_code == 409 and not is_keyed:
            # Its web process died between COMMIT and the response: the id tells that it was received.
            id = error["applicationId"]
        else:
            assert answer.status_code == 201, answer.text
            id = answer.json()["applicationId"]
        # A second application for the same request would have another id.
        assert self._answers.applied.setdefault(id, (email, job_id)) == (email, job_id)
        await self._continue(client, id)

    async def _continue(self, client: httpx2.AsyncClient, id: int) -> None:
        body = {"applicationId": id}
        if random.random() < 0.5:
            answer = await self._send(client, "acknowledge", body, keyed=True)
            if answer.status_code == 200:
                self._answers.accepted.add(id)
        if random.random() < 0.7:
            answer = await self._send(client, "withdraw", body, keyed=True)
            if answer.status_code == 200:
                self._answers.withdrawn.add(id)

    async def _send(
        self, client: httpx2.AsyncClient, path: str, body: dict[str, Any], *, keyed: bool
    ) -> httpx2.Response:
        headers = self._headers | ({"Idempotency-Key": uuid4().hex} if keyed else {})
        while True:
            url = f"http://127.0.0.1:{random.choice(self._ports)}/api/{path}"
            try:
                answer = await client.post(url, json=body, headers=headers)
            except CONNECTION_LOST:
                await asyncio.sleep(0.05)
                continue
            self._answers.statuses[f"{path} {answer.status_code}"] += 1
            if answer.status_code < 500:
                return answer
            assert answer.headers["retry-after"]
            await asyncio.sleep(0.05)


async def run_storm(url: str, folder: Path, *, kills: int, seconds: float = 0) -> Answers:
    """Returns the answers after all of them were found in the database.

    Processes are killed after a few new answers, however long these take, at least so many times and for
    at least so many seconds.
    """
    answers = Answers()
    async with connect(url) as database, database.transaction() as tx:
        key = (await keys.add(tx, "storm", "hiring")).key
        openings = [(await make_opening(tx, 5, **TERMS)).id for _ in range(OPENINGS)]
    processes = Processes(url, folder)
    with processes.run():
        numbers, over, end = count(1), asyncio.Event(), time.monotonic() + seconds
        clients = [
            asyncio.create_task(
                StormClient(processes.ports, key, openings, answers).run(numbers, over)
            )
            for _ in range(CLIENTS)
        ]
        while processes.kills.total() < kills or time.monotonic() < end:
            seen = answers.statuses.total()
            while answers.statuses.total() < seen + ANSWERS_PER_KILL:
                await asyncio.sleep(0.02)
            await asyncio.to_thread(processes.kill_one)
        over.set()
        await asyncio.gather(*clients)
    async with connect(url) as database:
        await _check(database, openings, answers)
    return answers


async def _check(database: Database, openings: list[int], answers: Answers) -> None:
    async with database.transaction() as tx:
        cursor = await tx.execute(
            """
            SELECT application.id, email, opening_id
              FROM hiring.application JOIN hiring.applicant ON applicant.id = applicant_id
            """
        )
        stored = {id: (email, opening) for id, email, opening in await cursor.fetchall()}
        assert stored == answers.applied
        cursor = await tx.execute(
            "SELECT application_id, type::text, count(*) FROM hiring.event GROUP BY 1, 2"
        )
        counts = {(id, type): times for id, type, times in await cursor.fetchall()}
        for type, ids in (
            ("APPLIED", set(answers.applied)),
            ("ACKNOWLEDGED", answers.accepted),
            ("WITHDRAWN", answers.withdrawn),
        ):
            assert {id for id, name in counts if name == type} == ids, type
            assert all(counts[id, type] == 1 for id in ids), type
        for opening_id in openings:
            await check_log(tx, opening_id)
            assert (await verification.verify_log(tx, opening_id)).faults == []
            await _check_replay(database, opening_id)


async def _check_replay(database: Database, opening_id: int) -> None:
    async with database.transaction() as tx:
        replayed = await replay.replay_at(tx, opening_id)
        cursor = await tx.execute(
            "SELECT id FROM hiring.application WHERE opening_id = %s AND status <> 'INACTIVE'",
            [opening_id],
        )
        live = {id for (id,) in await cursor.fetchall()}
        shown = {row.application_id for row in (*replayed.active, *replayed.waiting)}
        assert shown == live
