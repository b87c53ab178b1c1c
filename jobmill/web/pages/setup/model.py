"""/setup/model: whether a language model helps, which is never needed."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from jobmill.outside import model_check
from jobmill.outside.model_check import ModelTrial
from jobmill.web.house import House, HouseRules
from jobmill.web.pages.profile.edit import Whole
from jobmill.web.pages.setup import steps
from jobmill.web.rights import Admin, Recruiter
from jobmill.web.shell import Page, Pages
from jobmill.web.view import Db, Door

router = APIRouter(prefix="/setup/model")


@router.get("")
async def show(visitor: Recruiter, db: Db, page: Page, house: HouseRules) -> HTMLResponse:
    return await _show(db, page, house)


@router.post("")
async def check(
    visitor: Admin, db: Db, page: Page, house: HouseRules, database: Whole
) -> HTMLResponse:
    """Ask each model the smallest question there is, which costs money."""
    tried = await model_check.check_models(database, house.settings, house.environ)
    return await _show(db, page, house, tried)


async def _show(
    db: Door, page: Pages, house: House, tried: Sequence[ModelTrial] = ()
) -> HTMLResponse:
    async with db.transaction() as tx:
        standing = await steps.read(tx, house)
    return page(
        "setup/model.html",
        standing=standing,
        steps=steps.line(standing, "/setup/model"),
        seats=[(seat, model_check.key_variable(seat.model)) for seat in house.seats],
        some=standing.models,
        caps=house.caps,
        tried=tried,
    )
