"""Downloads of public logs: they need no account, so a process writes one at a time."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
from collections.abc import Awaitable, Callable
from typing import IO, Annotated, TypeVar, cast

from fastapi import Depends, Request
from fastapi.responses import StreamingResponse

from jobmill.db import Tx
from jobmill.hiring.audit_log import fairness_proof
from jobmill.hiring.audit_log.fairness_proof import PublicHeads
from jobmill.web import consistent_reads
from jobmill.web.consistent_reads import LONG_TIMEOUT
from jobmill.web.dependencies import RequestDatabase
from jobmill.web.file_downloads import iter_chunks

MAX_BYTES_IN_MEMORY = 1_000_000

T = TypeVar("T")


class FairnessExports:
    """What the requests for public logs share in a process."""

    def __init__(self) -> None:
        self.heads = PublicHeads()
        self.lock = asyncio.Lock()
        """A long log takes seconds: anonymous visitors must not use all connections for it."""

    async def read(
        self, db: RequestDatabase, opening_id: int, work: Callable[[Tx], Awaitable[T]]
    ) -> T:
        """Run `work`, which finds the head of the public log; raises NoFairnessProof."""
        async with self.heads.lock(opening_id):
            return await consistent_reads.read_opening(
                db, opening_id, work, time_limit=LONG_TIMEOUT
            )

    async def respond(self, db: RequestDatabase, opening_id: int) -> StreamingResponse:
        """The public log as a file; raises NoFairnessProof."""
        async with self.lock:
            file = await consistent_reads.read_opening(
                db, opening_id, lambda tx: _write(tx, opening_id), time_limit=LONG_TIMEOUT
            )
        name = f'attachment; filename="fairness-{opening_id}.jsonl"'
        return StreamingResponse(
            iter_chunks(file), media_type="application/jsonl", headers={"Content-Disposition": name}
        )


async def _write(tx: Tx, opening_id: int) -> IO[bytes]:
    """Write the complete file first: a slow client must not keep a transaction open."""
    with contextlib.ExitStack() as stack:
        file = stack.enter_context(tempfile.SpooledTemporaryFile(MAX_BYTES_IN_MEMORY))
        async for line in fairness_proof.iter_lines(tx, opening_id):
            file.write(line.encode() + b"\n")
        file.seek(0)
        # `iter_chunks` closes it.
        stack.pop_all()
        return file


# Not `def`: FastAPI would run it in a thread.
async def _get_exports(request: Request) -> FairnessExports:
    return cast(FairnessExports, request.app.state.fairness_exports)


Exports = Annotated[FairnessExports, Depends(_get_exports)]
