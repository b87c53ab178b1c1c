"""A web process that is killed in the middle of a write leaves nothing half, and the client can repeat it."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import LiteralString

import httpx2
import pytest

from jobmill.db import Database, open_connection
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.audit_log import verification
from jobmill.hiring.forms import form_versions
from jobmill.people import keys
from tests.cli.forked import ForkedProcess
from tests.hiring import storm_process
from tests.hiring.forms.documents import large_pdf
from tests.hiring.hiring_writes import FORM, make_waiting
from tests.hiring.killed_connections import Content, read_content
from tests.queue.helpers import fetch
from tests.web.helpers import site_with

CONNECTION_LOST = (httpx2.TransportError, httpx2.TimeoutException)
CV = large_pdf(600_000)
"""Three chunks."""

Send = Callable[[httpx2.AsyncClient], Awaitable[httpx2.Response]]


class WebProcess:
    def __init__(self, url: str, folder: Path) -> None:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            self.port = int(listener.getsockname()[1])
        self._process = ForkedProcess(storm_process.run, url, self.port, str(folder))

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@pytest.fixture
def processes(url: str, tmp_path: Path) -> Iterator[list[WebProcess]]:
    started = [WebProcess(url, tmp_path) for _ in range(2)]
    yield started
    for process in started:
        process.kill()


async def read_hiring(database: Database) -> Content:
    """Without the tables of people, which note when an API key was used."""
    async with database.transaction() as tx:
        content = await read_content(tx)
    return Content({row: n for row, n in content.items() if not row[0].startswith("people.")})


async def kill_during(
    database: Database, process: WebProcess, table: LiteralString, key: str, send: Send
) -> None:
    """Send a request, and kill the web process while it waits to write to the table."""
    origin = f"http://127.0.0.1:{process.port}"
    async with (
        httpx2.AsyncClient(base_url=origin, headers=key_header(key), timeout=60) as client,
        await open_connection(database.url) as blocker,
    ):
        await wait_until_served(client)
        async with blocker.transaction():
            await blocker.execute(f"LOCK TABLE {table} IN SHARE MODE")
            request = asyncio.create_task(_send_lost(send, client))
            backend = await wait_until_blocked(database)
            process.kill()
            assert await request
        await wait_until_gone(database, backend)


async def _send_lost(send: Send, client: httpx2.AsyncClient) -> bool:
    try:
        await send(client)
    except CONNECTION_LOST:
        return True
    return False


def key_header(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}


async def wait_until_served(client: httpx2.AsyncClient) -> None:
    async with asyncio.timeout(120):
        while await _send_lost(lambda client: client.get("/healthz"), client):
            await asyncio.sleep(0.05)


async def wait_until_blocked(database: Database) -> int:
    """The server process of the web process that waits for the lock."""
    async with asyncio.timeout(60):
        while True:
            waiting = await fetch(
                database,
                """
                SELECT pid FROM pg_stat_activity
                 WHERE datname = current_database() AND wait_event_type = 'Lock'
                """,
            )
            if waiting:
                return waiting[0]
            await asyncio.sleep(0.01)


async def wait_until_gone(database: Database, backend: int) -> None:
    async with asyncio.timeout(60):
        while await fetch(database, "SELECT FROM pg_stat_activity WHERE pid = %s", [backend]):
            await asyncio.sleep(0.01)


async def test_a_killed_upload_and_a_killed_closing_leave_nothing_and_can_be_repeated(
    database: Database, processes: list[WebProcess]
) -> None:
    async with database.transaction() as tx:
        key = (await keys.add(tx, "client", "hiring")).key
        opening, waiting = await make_waiting(tx)
        await form_versions.save_form(tx, opening.id, FORM, LOCAL)

    async def upload(client: httpx2.AsyncClient) -> httpx2.Response:
        query = {"field": "cv", "name": "cv.pdf"}
        return await client.post(f"/api/jobs/{opening.id}/files", params=query, content=CV)

    async def close(client: httpx2.AsyncClient) -> httpx2.Response:
        headers = {"Idempotency-Key": "close"}
        path = f"/api/jobs/{opening.id}/close-and-tell"
        return await client.post(path, json={"tell": True}, headers=headers)

    before = await read_hiring(database)
    await kill_during(database, processes[0], "hiring.file_chunk", key, upload)
    await kill_during(database, processes[1], "hiring.notice", key, close)
    assert await read_hiring(database) == before

    async with site_with(database) as site:
        site.headers.update(key_header(key))
        assert (await upload(site)).status_code == 201
        answers = [await close(site) for _ in range(2)]
    assert [answer.json()["letters"] for answer in answers] == [2, 2]
    assert answers[1].headers["idempotent-replayed"] == "true"
    letters = await fetch(
        database, "SELECT application_id FROM hiring.notice WHERE kind = 'closed' ORDER BY 1"
    )
    assert letters == list(waiting[1:])
    assert await fetch(database, "SELECT sum(length(data)) FROM hiring.file_chunk") == [len(CV)]
    async with database.transaction() as tx:
        assert (await verification.verify_log(tx, opening.id)).faults == []
