"""/demo: what the demo is, and its end."""

from __future__ import annotations

from typing import cast

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.db import Database
from jobmill.demo import ending, seeds
from jobmill.errors import Invalid
from jobmill.web.form import Fields
from jobmill.web.rights import Admin
from jobmill.web.shell import Page
from jobmill.web.view import Db

router = APIRouter(prefix="/demo")


@router.get("")
async def show(visitor: Admin, db: Db, page: Page) -> HTMLResponse:
    """What would go, before it goes."""
    async with db.transaction() as tx:
        on = await seeds.is_on(tx)
        # A demo is small: what is somebody's own need not be counted.
        held = await ending.count(tx) if on else ()
    return page("demo/page.html", on=on, held=held)


@router.post("/end")
async def end(request: Request, visitor: Admin, form: Fields) -> Response:
    """End it, and begin with one's own."""
    if form.get("sure") != "yes":
        raise Invalid("Say that you are sure: what the demo holds does not come back.")
    await ending.end(cast(Database, request.app.state.database))
    request.app.state.scene.forget()
    return RedirectResponse("/setup", 303)
