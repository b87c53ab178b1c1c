"""What handlers depend on: the database, and rendered templates."""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from copy import copy
from pathlib import Path
from typing import Annotated, TypeVar, cast

from fastapi import Depends, Request, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from jobmill.db import CONNECTION_ERRORS, Database, Tx
from jobmill.errors import AppError, Unavailable
from jobmill.hiring.company_identity import NO_IDENTITY, CompanyIdentity
from jobmill.time_zones import format_local_time
from jobmill.web import translations
from jobmill.web.api_errors import find_kind

log = logging.getLogger(__name__)

DATABASE_TIMEOUT = 3.0
"""Seconds after which a page reports that the database does not respond."""

WEB_DIR = Path(__file__).parent

NO_STORE = {"Cache-Control": "no-store"}
"""Keeps pages with personal data out of the browser's cache."""
ResponseT = TypeVar("ResponseT", bound=Response)


class RequestDatabase:
    """The database of one request: raises Unavailable soon if the server does not respond."""

    def __init__(self, database: Database, time_limit: float) -> None:
        self._database = database
        self._time_limit = time_limit
        self.changed_by = ""
        """The actor that changes of this request are recorded for."""
        self.lock_credential: Callable[[Tx], Awaitable[None]] | None = None
        """Locks the key or session of the request, so that revoking it waits for a running change and
        stops the next one."""

    @asynccontextmanager
    async def transaction(
        self, time_limit: float | None = None, *, reads_only: bool = False
    ) -> AsyncGenerator[Tx]:
        """`time_limit`: seconds, for transactions that take long. `reads_only`: locks no credential, so
        that the transaction can still choose its isolation level."""
        try:
            limit = asyncio.timeout(time_limit or self._time_limit)
            async with limit, self._database.transaction(by=self.changed_by) as tx:
                if self.lock_credential and not reads_only:
                    await self.lock_credential(tx)
                yield tx
        except (*CONNECTION_ERRORS, TimeoutError) as error:
            # Includes deadlocks: a retry helps, but operators should see them in the log.
            log.warning("database did not respond", extra={"error": repr(error)})
            raise Unavailable("The database does not respond. Try again in a moment.") from error


class Render:
    """Renders templates. They show `error`; an AppError also sets the status."""

    def __init__(self, templates: Environment) -> None:
        self._templates = templates

    def __call__(
        self,
        template: str,
        status: int = 200,
        /,
        *,
        error: AppError | str | None = None,
        **values: object,
    ) -> HTMLResponse:
        if isinstance(error, AppError):
            status, _ = find_kind(error)
        text = self._templates.get_template(template).render(values, error=error and str(error))
        return HTMLResponse(text, status)


class BannerState:
    """What every page shows of the installation; `Banners` reads it from the database."""

    is_demo: bool = False
    company: CompanyIdentity = NO_IDENTITY

    @property
    def health(self) -> object:
        """None: unknown, so that pages show none."""
        return None


def make_environment(banners: BannerState | None = None, *, sends_mail: bool = True) -> Environment:
    """Templates that escape all values and fail on undefined names."""
    environment = Environment(
        loader=FileSystemLoader(WEB_DIR / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    translations.install(environment)
    cast(dict[str, object], environment.globals).update(
        banners=banners or BannerState(), letters_are_off=not sends_mail
    )
    cast(dict[str, object], environment.filters).update(
        age=format_age,
        number=_format_number,
        span=format_span,
        moment=format_moment,
        local=format_local_time,
    )
    return environment


def no_store(response: ResponseT) -> ResponseT:
    """The response, which no cache may store."""
    response.headers.update(NO_STORE)
    return response


# Not `def`: FastAPI would run it in a thread.
async def _request_database(request: Request) -> RequestDatabase:
    return copy(cast(RequestDatabase, request.app.state.request_database))


async def _database(request: Request) -> Database:
    return cast(Database, request.app.state.database)


async def _render(request: Request) -> Render:
    return cast(Render, request.app.state.render)


Db = Annotated[RequestDatabase, Depends(_request_database)]
RawDb = Annotated[Database, Depends(_database)]
"""For handlers that open transactions of their own and compute between them."""
View = Annotated[Render, Depends(_render)]


def _format_number(number: float) -> str:
    return f"{number:,}"


def format_age(seconds: float) -> str:
    """A duration in its largest unit: 5 s, 3 min, 2 h, 4 d."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def format_span(seconds: float) -> str:
    """A short duration: 12 ms, 1.5 s."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:,.1f} s"


def format_moment(at: dt.datetime) -> str:
    """A time in UTC: 2026-11-15 09:30 UTC."""
    return f"{at.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC"
