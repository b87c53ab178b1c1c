"""What a handler asks for: the database, and a template filled in."""

from __future__ import annotations

import asyncio
import datetime as dt
import logging
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from copy import copy
from pathlib import Path
from typing import Annotated, Protocol, cast

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from jobmill.db import CONNECTION_ERRORS, Database, Tx
from jobmill.errors import Unavailable
from jobmill.web import texts

log = logging.getLogger(__name__)

PATIENCE = 3.0
"""Seconds that a page waits for the database before it says that there is none."""

HERE = Path(__file__).parent


class Door:
    """The database as pages use it: one that is away is Unavailable, and soon."""

    def __init__(self, database: Database, patience: float) -> None:
        self._database = database
        self._patience = patience
        self.by = ""
        """Who changes something in this request, for the record."""

    @asynccontextmanager
    async def transaction(self, patience: float | None = None) -> AsyncGenerator[Tx]:
        """`patience`: for what takes long by its nature."""
        try:
            limit = asyncio.timeout(patience or self._patience)
            async with limit, self._database.transaction(by=self.by) as tx:
                yield tx
        except (*CONNECTION_ERRORS, TimeoutError) as error:
            # Also a deadlock: whoever reads the log must see it, though trying again helps.
            log.warning("no answer from the database", extra={"error": repr(error)})
            raise Unavailable("The database does not answer. Try again in a moment.") from error


class Render(Protocol):
    def __call__(self, template: str, status: int = 200, /, **values: object) -> HTMLResponse: ...


def environment(is_demo: Callable[[], bool] = lambda: False) -> Environment:
    """Everything is escaped, and a name that is missing is an error."""
    made = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    texts.teach(made)
    cast(dict[str, object], made.globals)["is_demo"] = is_demo
    made.filters |= {"age": age, "number": lambda n: f"{n:,}", "span": span, "moment": moment}
    return made


def renderer(templates: Environment) -> Render:
    def render(template: str, status: int = 200, /, **values: object) -> HTMLResponse:
        return HTMLResponse(templates.get_template(template).render(values), status)

    return render


# Not `def`: the framework would start a thread for it.
async def _door(request: Request) -> Door:
    return copy(cast(Door, request.app.state.door))


async def _view(request: Request) -> Render:
    return cast(Render, request.app.state.render)


Db = Annotated[Door, Depends(_door)]
View = Annotated[Render, Depends(_view)]


def age(seconds: float) -> str:
    """A span in its largest unit: 5 s, 3 min, 2 h, 4 d."""
    for unit, length in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(seconds, 0):.0f} s"


def span(seconds: float) -> str:
    """How long a run took: 12 ms, 1.5 s."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:,.1f} s"


def moment(at: dt.datetime) -> str:
    """A time for people who may be anywhere: 2026-11-15 09:30 UTC."""
    return f"{at.astimezone(dt.UTC):%Y-%m-%d %H:%M} UTC"
