"""/healthz and /readyz: whether the process is alive and ready to serve."""

from __future__ import annotations

from dataclasses import asdict, dataclass

from fastapi import APIRouter
from fastapi.responses import JSONResponse, PlainTextResponse

from jobmill.db import Tx, migrate
from jobmill.errors import Unavailable
from jobmill.queue import alerts, inspect, ticks
from jobmill.web.dependencies import Db

router = APIRouter()


@dataclass(frozen=True, slots=True)
class ReadinessCheck:
    ok: bool
    detail: str


@router.api_route("/healthz", methods=["GET", "HEAD"])
async def healthz() -> PlainTextResponse:
    """The process responds; nothing else is checked."""
    return PlainTextResponse("ok\n")


@router.api_route("/readyz", methods=["GET", "HEAD"])
async def readyz(db: Db) -> JSONResponse:
    """The database responds, its migrations are applied, and workers check schedules and deadlines."""
    try:
        async with db.transaction() as tx:
            checks = {
                "database": ReadinessCheck(True, "responds"),
                "migrations": await _migrations(tx),
                "schedules": await _periodic_task(tx, "scheduler"),
                "deadlines": await _periodic_task(tx, "deadlines"),
            }
    except Unavailable:
        checks = {"database": ReadinessCheck(False, "does not respond")}
    ready = all(check.ok for check in checks.values())
    body = {"ready": ready, "parts": {name: asdict(check) for name, check in checks.items()}}
    return JSONResponse(body, 200 if ready else 503)


async def _migrations(tx: Tx) -> ReadinessCheck:
    applied, bundled = await migrate.list_applied(tx), migrate.list_migrations()
    pending = [name for name in bundled if name not in applied]
    newer = [name for name in applied if name not in bundled]
    if pending:
        return ReadinessCheck(False, f"not applied: {', '.join(pending)}")
    if newer:
        return ReadinessCheck(False, f"applied by a newer Jobmill: {', '.join(newer)}")
    return ReadinessCheck(True, "up to date")


async def _periodic_task(tx: Tx, name: str) -> ReadinessCheck:
    return check_periodic_task(
        has_workers=bool(await inspect.list_workers(tx)),
        seconds_ago=await ticks.seconds_since_tick(tx, name),
    )


def check_periodic_task(*, has_workers: bool, seconds_ago: float | None) -> ReadinessCheck:
    """Registered workers must complete its cycles; a worker that died stays registered."""
    if not has_workers:
        return ReadinessCheck(True, "no worker is registered")
    if seconds_ago is None:
        return ReadinessCheck(False, "no worker has checked them yet")
    return ReadinessCheck(
        seconds_ago <= alerts.MAX_SILENCE.total_seconds(), f"checked {seconds_ago:.0f} s ago"
    )
