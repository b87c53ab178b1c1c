"""All routes of /api, and its OpenAPI description."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from typing import Annotated

from fastapi import APIRouter
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field

from jobmill.web.api import (
    applicants,
    applications,
    audit_log,
    blocklist,
    job_applications,
    jobs,
    pipeline,
    reports,
    session,
    submissions,
    webhooks,
)
from jobmill.web.api.openapi import describe, plain_id

router = APIRouter(prefix="/api", generate_unique_id_function=plain_id)


class Health(BaseModel):
    status: Annotated[str, Field(examples=["ok"])]


@router.get("/healthz", response_model=Health, tags=["health"])
async def show_health() -> Response:
    """The process responds; checks nothing else."""
    return JSONResponse({"status": "ok"})


@router.get("/openapi.json", include_in_schema=False)
async def show_description() -> Response:
    return JSONResponse(description())


for part in (
    applications,
    jobs,
    applicants,
    pipeline,
    job_applications,
    audit_log,
    webhooks,
    blocklist,
    submissions,
    reports,
    session,
):
    router.include_router(part.router)


@cache
def description() -> dict[str, object]:
    """The API in OpenAPI 3.1."""
    return describe(router.routes, version("jobmill"))
