"""/api/health: whether everything works."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from jobmill.web.api.callers import AdminCaller
from jobmill.web.api.schemas import Schema
from jobmill.web.banners import CurrentBanners
from jobmill.web.system_health import HealthArea, Severity

router = APIRouter(tags=["system"])


class ConditionItem(Schema):
    code: Annotated[str, Field(examples=["no_worker"])]
    area: HealthArea
    severity: Severity
    sentence: str
    advice: str


class HealthRecord(Schema):
    problems: Annotated[int, Field(examples=[0])]
    conditions: list[ConditionItem]
    """What does not work as it should; empty if everything works."""


@router.get("/health", response_model=HealthRecord)
async def show_system_health(caller: AdminCaller, banners: CurrentBanners) -> Response:
    """Every condition of the installation that needs attention."""
    async with caller.db.transaction() as tx:
        return caller.respond(HealthRecord.of(await banners.read_health(tx)))
