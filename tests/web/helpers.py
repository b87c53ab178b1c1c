"""A public site with additional routes of the test."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import httpx2
from fastapi import APIRouter, FastAPI

from jobmill.db import Database
from jobmill.web import site
from tests.web.conftest import served


@asynccontextmanager
async def site_with(
    database: Database, router: APIRouter | None = None, **options: Any
) -> AsyncIterator[httpx2.AsyncClient]:
    """Not local, unless the options set it."""
    guard = site.create_app(database, **options)
    if router:
        cast(FastAPI, guard.app).include_router(router)
    async with served(guard) as client:
        yield client


def status_and_code(answer: httpx2.Response) -> tuple[int, str]:
    """The status and the code of an error."""
    assert set(answer.json()["error"]) - {"applicationId"} == {"code", "message", "details"}
    return answer.status_code, answer.json()["error"]["code"]
