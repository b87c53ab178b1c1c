"""/health: every condition of the installation, by area."""

from __future__ import annotations

from typing import NamedTuple

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from jobmill.web.auth import Admin
from jobmill.web.banners import CurrentBanners
from jobmill.web.shell import Page
from jobmill.web.system_health import AREAS, HealthArea, SystemHealth
from jobmill.web.translations import say

router = APIRouter(prefix="/health")


class AreaRow(NamedTuple):
    name: str
    checked: str
    """What is checked."""
    color: str
    result: str


@router.get("")
async def show(visitor: Admin, page: Page, banners: CurrentBanners) -> HTMLResponse:
    async with page.db.transaction() as tx:
        health = await banners.read_health(tx)
    rows = [AreaRow(*_describe(area), *_result(health, area)) for area in AREAS]
    return page("health/page.html", topics=["queue", "sources", "hiring"], health=health, rows=rows)


def _result(health: SystemHealth, area: HealthArea) -> tuple[str, str]:
    """The color and the result of an area."""
    if area == "schedules" and not health.has_worker:
        return "calm", say("Not checked")
    part = health.of(area)
    return part.color, part.summary


def _describe(area: HealthArea) -> tuple[str, str]:
    names = {
        "database": (say("Database"), say("Whether it responds and all migrations are applied")),
        "disk": (
            say("Disk"),
            say("Whether at least 5 GB is free, if the database is the bundled one"),
        ),
        "network": (say("Network"), say("Whether host names can be resolved")),
        "queue": (say("Queue"), say("Whether workers are running and no tasks are held up")),
        "schedules": (say("Schedules"), say("Whether schedules and deadlines are checked in time")),
        "sources": (say("Sources"), say("Whether the last run of every source succeeded")),
        "mail": (say("Messages"), say("Whether emails to applicants are sent")),
    }
    return names[area]
