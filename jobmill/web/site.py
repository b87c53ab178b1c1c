"""The application: its pages, and what surrounds all of them."""

from __future__ import annotations

from collections.abc import Iterable

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from jobmill.db import Database
from jobmill.errors import AppError
from jobmill.web import faults
from jobmill.web.guard import Guard
from jobmill.web.pages import health, metrics, status
from jobmill.web.view import HERE, PATIENCE, Door, environment, renderer


def make(database: Database, *, hosts: Iterable[str] = (), patience: float = PATIENCE) -> ASGIApp:
    """The site on a database, for requests that call it localhost or one of `hosts`."""
    # No pages made by the framework: they load scripts from elsewhere.
    app = FastAPI(title="Jobmill", openapi_url=None)
    app.state.door = Door(database, patience)
    app.state.render = render = renderer(environment())

    def tell(request: Request, error: Exception) -> Response:
        return faults.answer(request, render, error)

    for kind in (AppError, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, tell)
    app.include_router(health.router)
    app.include_router(metrics.router)
    app.include_router(status.router)
    app.mount("/static", StaticFiles(directory=HERE / "static"), name="static")
    return Guard(app, hosts, tell)
