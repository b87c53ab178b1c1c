"""All routes of /api, and its OpenAPI description."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from typing import Annotated

from fastapi import APIRouter, Depends
from fastapi.responses import JSONResponse, Response
from pydantic import BaseModel, Field

from jobmill.web.api import (
    admission,
    applicants,
    applications,
    audit_log,
    blocklist,
    closing,
    company,
    interviews,
    job_applications,
    job_forms,
    jobs,
    messages,
    notifications,
    pipeline,
    reports,
    reviews,
    session,
    submissions,
    webhooks,
)
from jobmill.web.api.job_search import (
    companies,
    documents,
    listings,
    matches,
    profiles,
    saved_views,
    tracked_applications,
)
from jobmill.web.api.openapi import describe, plain_id
from jobmill.web.api.query_parameters import refuse_unknown_parameters
from jobmill.web.api.system import (
    approvals,
    budget,
    health,
    people,
    rotation,
    searches,
    sources,
    tasks,
)

router = APIRouter(
    prefix="/api",
    generate_unique_id_function=plain_id,
    dependencies=[Depends(refuse_unknown_parameters)],
)


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
    job_forms,
    admission,
    reviews,
    interviews,
    audit_log,
    webhooks,
    blocklist,
    closing,
    company,
    messages,
    submissions,
    reports,
    session,
    listings,
    matches,
    saved_views,
    tracked_applications,
    documents,
    profiles,
    companies,
    sources,
    approvals,
    searches,
    rotation,
    tasks,
    budget,
    health,
    notifications,
    people,
):
    router.include_router(part.router)


@cache
def description() -> dict[str, object]:
    """The API in OpenAPI 3.1."""
    return describe(router.routes, version("jobmill"))
