"""/demo: what the demo is, and how to end it."""

from __future__ import annotations

from typing import cast

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.db import Database
from jobmill.demo import cleanup, setup
from jobmill.errors import Invalid
from jobmill.web.auth import Admin
from jobmill.web.form import Fields
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/demo")


@router.get("")
async def show(visitor: Admin, page: Page) -> HTMLResponse:
    """What ending the demo deletes."""
    async with page.db.transaction() as tx:
        is_demo = await setup.is_demo(tx)
        # Counted only in a demo, which is small.
        counts = await cleanup.count_data(tx) if is_demo else ()
    return page("demo/page.html", is_on=is_demo, counts=counts)


@router.post("/end")
async def end(request: Request, visitor: Admin, form: Fields) -> Response:
    """Delete the demo and start the set-up."""
    if form.get("confirmed") != "yes":
        raise Invalid(say("Confirm that you want to end the demo. Its data cannot be restored."))
    await cleanup.end_demo(cast(Database, request.app.state.database))
    request.app.state.banners.invalidate()
    return RedirectResponse("/setup", 303)
