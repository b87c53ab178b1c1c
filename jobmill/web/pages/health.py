"""/healthz and /readyz: whether the process is alive, and whether it can do its work."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from fastapi import APIRouter
from fastapi.responses import JSONResponse, PlainTextResponse

from jobmill.db import Tx, migrate
from jobmill.errors import Unavailable
from jobmill.queue import inspect
from jobmill.queue.alerts import MAX_SCHEDULER_SILENCE
from jobmill.web.dependencies import Db

router = APIRouter()


@dataclass(frozen=True, slots=True)
class Part:
    ok: bool
    detail: str


@router.api_route("/healthz", methods=["GET", "HEAD"])
async def healthz() -> PlainTextResponse:
    """The process answers; nothing else is asked."""
    return PlainTextResponse("ok\n")


@router.api_route("/readyz", methods=["GET", "HEAD"])
async def readyz(db: Db) -> JSONResponse:
    """The database answers, its migrations are ours, and the schedules are looked at."""
    try:
        async with db.transaction() as tx:
            parts = {
                "database": Part(True, "answers"),
                "migrations": await _migrations(tx),
                "schedules": await _schedules(tx),
            }
    except Unavailable:
        parts = {"database": Part(False, "does not answer")}
    ready = all(part.ok for part in parts.values())
    told = {"ready": ready, "parts": {name: asdict(part) for name, part in parts.items()}}
    return JSONResponse(told, 200 if ready else 503)


async def _migrations(tx: Tx) -> Part:
    applied, known = await migrate.list_applied(tx), migrate.list_migrations()
    pending = [name for name in known if name not in applied]
    newer = [name for name in applied if name not in known]
    if pending:
        return Part(False, f"not applied: {', '.join(pending)}")
    if newer:
        return Part(False, f"applied by a newer Jobmill: {', '.join(newer)}")
    return Part(True, "up to date")


async def _schedules(tx: Tx) -> Part:
    return judge_schedules(
        expected=bool(await inspect.list_workers(tx)),
        ticked=await inspect.seconds_since_schedule_check(tx),
    )


def judge_schedules(*, expected: bool, ticked: float | None) -> Part:
    """A worker is expected where one signed on and never signed off: it runs, or it died."""
    if not expected:
        return Part(True, "no worker is signed on, so none is expected")
    if ticked is None:
        return Part(False, "no worker has looked at them yet")
    return Part(ticked <= MAX_SCHEDULER_SILENCE.total_seconds(), f"looked at {ticked:.0f} s ago")
