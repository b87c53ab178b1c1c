"""/health: every condition of the installation, by area."""

from __future__ import annotations

from typing import NamedTuple

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from jobmill.web.auth import Admin
from jobmill.web.banners import CurrentBanners
from jobmill.web.dependencies import Db
from jobmill.web.shell import Page
from jobmill.web.system_health import AREAS, HealthArea, SystemHealth
from jobmill.web.translations import say

router = APIRouter(prefix="/health")


class AreaRow(NamedTuple):
    name: str
    checked: str
    """What is checked."""
    health: SystemHealth


@router.get("")
async def show(visitor: Admin, db: Db, page: Page, banners: CurrentBanners) -> HTMLResponse:
    async with db.transaction() as tx:
        health = await banners.read_health(tx)
    rows = [AreaRow(*_describe(area), health.of(area)) for area in AREAS]
    return page("health/page.html", topics=["queue", "sources", "hiring"], health=health, rows=rows)


def _describe(area: HealthArea) -> tuple[str, str]:
    names = {
        "database": (say("Database"), say("It responds, and all migrations are applied")),
        "disk": (say("Disk"), say("At least 5 GB are free, if the database is the bundled one")),
        "network": (say("Network"), say("Host names can be resolved")),
        "queue": (say("Queue"), say("Workers are running; no alerts, pauses or blocked tasks")),
        "schedules": (say("Schedules"), say("Schedules and deadlines are checked in time")),
        "sources": (say("Sources"), say("The last run of every source succeeded")),
        "mail": (say("Messages"), say("Emails to applicants are sent")),
    }
    return names[area]
