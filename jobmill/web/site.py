"""The application: its pages, and what surrounds all of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from fastapi import Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.staticfiles import StaticFiles

from jobmill.db import Database
from jobmill.errors import AppError
from jobmill.queue.overview import RateTracker
from jobmill.web import faults, rights, texts
from jobmill.web import live as streams
from jobmill.web.api import router
from jobmill.web.apply_batch import ApplyBatches
from jobmill.web.guard import Guard
from jobmill.web.house import House
from jobmill.web.limits import Limits
from jobmill.web.live import Live
from jobmill.web.pages import (
    account,
    budget,
    companies,
    ending,
    health,
    hiring,
    home,
    listings,
    matches,
    metrics,
    my,
    offer,
    openings,
    people,
    profile,
    queue,
    rotation,
    settings,
    setup,
    signin,
    sources,
)
from jobmill.web.peer import peers
from jobmill.web.scene import Scene
from jobmill.web.scene import look as look_at_scene
from jobmill.web.view import HERE, PATIENCE, Door, environment, renderer


def make(
    database: Database,
    *,
    hosts: Iterable[str] = (),
    patience: float = PATIENCE,
    local: bool = False,
    proxies: Iterable[str] = (),
    public_per_minute: int = 60,
    house: House | None = None,
    locale: Path = texts.LOCALE,
) -> Guard:
    """The site on a database, for requests that call it localhost or one of `hosts`.

    `local`: only this machine can reach it, and whoever is there may do everything.
    """
    # No pages made by the framework: they load scripts from elsewhere.
    app = FastAPI(title="Jobmill", openapi_url=None)
    app.state.door = Door(database, patience)
    app.state.database = database
    app.state.peers = peers(local=local, proxies=proxies)
    app.state.limits = Limits(public_per_minute)
    app.state.signer = None
    app.state.house = house = house or House()
    app.state.live = live = Live(database.direct_url)
    app.state.crowd = ApplyBatches(app.state.door, house.most_a_day)
    app.state.scene = scene = Scene()
    app.state.rates = RateTracker()
    app.state.render = render = renderer(environment(lambda: scene.is_demo))

    def tell(request: Request, error: Exception) -> Response:
        return faults.answer(request, render, error)

    for kind in (AppError, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, tell)
    app.add_middleware(GZipMiddleware, minimum_size=1_000, compresslevel=5)
    # First what is asked for most: routes are tried one after the other.
    app.include_router(router.router)
    app.include_router(health.router)
    inside, seen = Depends(rights.viewer), Depends(look_at_scene)
    for told in (metrics, streams):
        app.include_router(told.router, dependencies=[inside])
    for pages in (openings, my, offer, signin):
        app.include_router(pages.router, dependencies=[seen])
    for pages in (
        home,
        ending,
        queue,
        rotation,
        matches,
        listings,
        hiring,
        people,
        budget,
        account,
        companies,
        sources,
        profile,
        setup,
        settings,
    ):
        app.include_router(pages.router, dependencies=[inside, seen])
    app.mount("/static", StaticFiles(directory=HERE / "static"), name="static")
    return Guard(app, hosts, tell, stop=live.stop, languages=texts.languages(locale))
