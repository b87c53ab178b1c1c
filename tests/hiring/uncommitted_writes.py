"""Processes that write in a transaction and wait, without a commit, until they are killed."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Awaitable, Callable

from jobmill.db import Tx, connect
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.applications import apply_requests, closing, submissions
from jobmill.hiring.forms import uploads
from jobmill.hiring.forms.answers import FormSubmission
from jobmill.hiring.messages.signed_links import ConfirmationToken
from jobmill.hiring.records.applicants import parse_contact


def confirm_request(url: str, id: int) -> None:
    async def write(tx: Tx) -> None:
        await apply_requests.confirm(tx, ConfirmationToken("request", id))

    asyncio.run(_write_and_wait(url, write))


def close_opening(url: str, id: int) -> None:
    async def write(tx: Tx) -> None:
        await closing.close_and_tell(tx, id, LOCAL, tell=True)

    asyncio.run(_write_and_wait(url, write))


def apply_with_file(url: str, opening_id: int) -> None:
    async def write(tx: Tx) -> None:
        checked = uploads.CheckedFile("cv", "cv.pdf", "application/pdf", 600_000)
        file = await uploads.store(tx, opening_id, checked, io.BytesIO(bytes(600_000)))
        submission = FormSubmission(1, "{}", (str(file.id),))
        contact = parse_contact("Ada", "ada@example.org")
        request = submissions.ApplyRequest(contact, submission=submission)
        await submissions.apply_all(tx, opening_id, [request])

    asyncio.run(_write_and_wait(url, write))


async def _write_and_wait(url: str, write: Callable[[Tx], Awaitable[None]]) -> None:
    async with connect(url, size=1) as database, database.transaction() as tx:
        await write(tx)
        print("written", flush=True)
        await asyncio.sleep(600)
