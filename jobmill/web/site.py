"""Create the web application with its pages, API and middleware."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.telemetry import TelemetryConfig
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.routing import BaseRoute, Mount
from starlette.staticfiles import StaticFiles

from jobmill.db import Database
from jobmill.errors import AppError
from jobmill.queue.overview import RateTracker
from jobmill.web import auth, html_errors, live_updates, translations
from jobmill.web.access_rights import Workspace
from jobmill.web.api.router import router as api_router
from jobmill.web.apply_batch import ApplyBatches
from jobmill.web.banners import Banners, refresh_banners
from jobmill.web.client_address import ClientResolver
from jobmill.web.dependencies import (
    DATABASE_TIMEOUT,
    WEB_DIR,
    Render,
    RequestDatabase,
    make_environment,
)
from jobmill.web.fairness_exports import FairnessExports
from jobmill.web.live_updates import LiveUpdates
from jobmill.web.local_access import LocalAccess
from jobmill.web.middleware import RequestMiddleware
from jobmill.web.pages import (
    api_docs,
    applications,
    budget,
    companies,
    demo,
    documents,
    health,
    hiring,
    listings,
    matches,
    metrics,
    old_addresses,
    openings,
    people,
    probes,
    profile,
    public,
    queue,
    reports,
    rotation,
    settings,
    setup,
    sources,
    today,
)
from jobmill.web.pages.account import account_page, sign_in_page, two_factor_page
from jobmill.web.pages.notifications import atom_feed, preferences_page, unsubscribe_page
from jobmill.web.rate_limits import RateLimits, limit_reads
from jobmill.web.route_table import RouteTable
from jobmill.web.site_settings import SiteSettings


def create_app(
    database: Database,
    *,
    hosts: Iterable[str] = (),
    database_timeout: float = DATABASE_TIMEOUT,
    local: bool = False,
    local_access: LocalAccess | None = None,
    proxies: Iterable[str] = (),
    public_per_minute: int = 60,
    site_settings: SiteSettings | None = None,
    locale: Path = translations.LOCALE,
) -> RequestMiddleware:
    """The site for requests to localhost or one of `hosts`.

    `local`: the server listens on loopback only, and `local_access` admits the user who runs it.
    """
    # No OpenAPI pages: they load scripts from other sites.
    app = FastAPI(title="Jobmill", openapi_url=None, telemetry=NO_TELEMETRY)
    app.state.request_database = RequestDatabase(database, database_timeout)
    app.state.database = database
    app.state.client_resolver = ClientResolver.create(local=local, proxies=proxies)
    app.state.local_access = local_access or LocalAccess()
    app.state.rate_limits = RateLimits(public_per_minute)
    app.state.signer = None
    app.state.site_settings = site_settings = site_settings or SiteSettings()
    app.state.live_updates = updates = LiveUpdates(database.direct_url)
    app.state.apply_batches = ApplyBatches(
        app.state.request_database, site_settings.applications_per_day
    )
    app.state.banners = banners = Banners(site_settings)
    app.state.rates = RateTracker()
    app.state.fairness_exports = FairnessExports()
    environment = make_environment(banners, sends_mail=site_settings.sends_mail)
    app.state.render = render = Render(environment)

    async def handle_error(request: Request, error: Exception) -> Response:
        return await html_errors.error_response(request, render, error)

    for kind in (AppError, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, handle_error)
    app.add_middleware(GZipMiddleware, minimum_size=1_000, compresslevel=5)
    app.router.routes.extend((prepare_routes(), STATIC_FILES))
    return RequestMiddleware(
        app,
        hosts,
        handle_error,
        stop=updates.stop,
        languages=translations.load_languages(locale),
        is_https=app.state.client_resolver.is_https,
    )


NO_TELEMETRY: TelemetryConfig = {"tracing": False, "metrics": False, "logs": False}
"""`/metrics` has the figures; otherwise FastAPI searches the environment at every request."""

WORKSPACES: Sequence[tuple[Workspace, Iterable[APIRouter]]] = (
    # Hiring first: `/hiring/applicants` is no id of an opening.
    ("hiring", (*hiring.routers, *openings.routers, *reports.routers, old_addresses.hiring_router)),
    (
        "search",
        (
            today.router,
            *matches.routers,
            *applications.routers,
            *documents.routers,
            *listings.routers,
            *companies.routers,
            *profile.routers,
        ),
    ),
    ("search", (*setup.routers,)),
    # Rotation first: `/sources/rotation` is no id of a source.
    ("system", (health.router, *queue.routers, *rotation.routers, *sources.routers, budget.router)),
    ("system", (*people.routers, *settings.routers, demo.router, old_addresses.system_router)),
)
"""The pages of each workspace; access_rights.py has the rights of each role."""


STATIC_FILES = Mount("/static", StaticFiles(directory=WEB_DIR / "static"), name="static")


@cache
def prepare_routes() -> RouteTable:
    """All applications of a process share them: preparing the dependencies takes a second."""
    return RouteTable(list_routes())


@cache
def list_routes() -> Sequence[BaseRoute]:
    """All routes but the static files."""
    # Routers inside of routers would be prepared at each level, so these are side by side.
    routes = APIRouter()
    routes.include_router(probes.router)
    with_banners = Depends(refresh_banners)
    routes.include_router(metrics.router, dependencies=[Depends(auth.viewer)])
    routes.include_router(live_updates.router, dependencies=[Depends(auth.signed_in)])
    for page_router in (
        *public.routers,
        unsubscribe_page.router,
        atom_feed.router,
        sign_in_page.router,
        api_docs.router,
    ):
        routes.include_router(page_router, dependencies=[Depends(limit_reads), with_banners])
    for page_router in (
        today.start_router,
        account_page.router,
        two_factor_page.router,
        preferences_page.router,
    ):
        routes.include_router(page_router, dependencies=[Depends(auth.signed_in), with_banners])
    for workspace, routers in WORKSPACES:
        gate = Depends(auth.workspace_gate(workspace))
        for page_router in routers:
            routes.include_router(page_router, dependencies=[gate, with_banners])
    return [*api_router.routes, *routes.routes]
