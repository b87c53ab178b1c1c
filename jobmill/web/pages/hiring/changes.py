"""/hiring/{opening_id}: one opening, and what the company changes of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse

from jobmill.db import Tx
from jobmill.errors import AppError, Conflict, Invalid
from jobmill.hiring import company, openings, reading
from jobmill.hiring.actor import Actor
from jobmill.hiring.openings import Opening, OpeningStatus, Terms
from jobmill.web import faults, reads
from jobmill.web.api.shapes import WholePathId
from jobmill.web.form import Fields
from jobmill.web.pages.hiring import opening as opening_page
from jobmill.web.pages.hiring import terms
from jobmill.web.pages.hiring.opening import Ask, Place
from jobmill.web.reads import LONG
from jobmill.web.rights import Recruiter, Viewer
from jobmill.web.shell import Page
from jobmill.web.view import Db, Door

router = APIRouter(prefix="/hiring/{opening_id}")

Change = Literal["capacity", "pause", "resume", "close", "reopen"]
Turn = Callable[[Tx, int, Actor], Awaitable[Opening]]
Key = Annotated[int, Query(ge=0, le=2**62)]

NAMED = 5
"""Of those who would be offered a slot, so many are named."""

TURNS: Mapping[Change, tuple[Turn, set[OpeningStatus]]] = {
    "pause": (company.pause, {"open"}),
    "resume": (company.resume, {"paused"}),
    "close": (company.close, {"open", "paused"}),
    "reopen": (company.reopen, {"closed"}),
}
"""What does it, and from where."""

STAY = "Those who are in it or wait stay, and offers that are out go on."
WORDS: Mapping[Change, tuple[str, str, tuple[str, ...]]] = {
    "pause": ("Pause this opening?", "Pause it", (
        "Nobody may apply, and nobody is offered a slot by itself, until it is resumed.", STAY)),
    "resume": ("Resume this opening?", "Resume it", ("People may apply again.",)),
    "close": ("Close this opening?", "Close it", (
        "It is no longer published. Nobody may apply, and nobody is offered a slot by itself.",
        STAY, "It can be opened again.")),
    "reopen": ("Open it again?", "Open it again", ("It is published, and people may apply.",)),
}  # fmt: skip


@router.get("")
async def show(
    opening_id: WholePathId,
    visitor: Viewer,
    db: Db,
    page: Page,
    slots: Key = 0,
    waiting: Key = 0,
    did: str = "",
    told: Key = 0,
) -> HTMLResponse:
    return await opening_page.show(db, page, Place(opening_id, slots, waiting, did, told))


@router.get("/change/{change}")
async def ask(
    opening_id: WholePathId,
    change: Change,
    visitor: Recruiter,
    db: Db,
    page: Page,
    capacity: str = "",
) -> HTMLResponse:
    """What a change would lead to, before anything is done."""
    error: AppError | None = None
    try:
        asked = await _ask(db, opening_id, change, capacity)
    except (Invalid, Conflict) as refusal:
        asked, error = _refused(change, capacity), refusal
    return await opening_page.show(db, page, Place(opening_id), ask=asked, error=error)


@router.post("/change/{change}")
async def turn(
    opening_id: WholePathId, change: Change, visitor: Recruiter, form: Fields, db: Db, page: Page
) -> Response:
    """Do it, and say what followed."""
    typed = form.get("capacity", "")
    try:
        async with db.transaction(LONG) as tx:
            before = await openings.get(tx, opening_id)
            if change == "capacity":
                wanted = terms.whole(form, "capacity", "The capacity")
                after = await company.set_capacity(tx, opening_id, wanted, visitor.actor)
            else:
                after = await TURNS[change][0](tx, opening_id, visitor.actor)
    except (Invalid, Conflict) as error:
        asked = _refused(change, typed)
        return await opening_page.show(db, page, Place(opening_id), ask=asked, error=error)
    return opening_page.back(before, after)


async def _ask(db: Door, id: int, change: Change, typed: str) -> Ask:
    opening, heads = await reads.of_opening(db, id, lambda tx: _heads(tx, id))
    if change != "capacity":
        if opening.status not in TURNS[change][1]:
            raise Conflict(f"This opening is {opening.status}.")
        title, button, sentences = WORDS[change]
        offered: list[str] = []
        if change in ("resume", "reopen"):
            offered = [_offered(offers(opening, opening.capacity), heads)]
        return Ask(change, title, button, [*sentences, *offered], danger=change == "close")
    wanted = terms.whole({"capacity": typed}, "capacity", "The capacity")
    if not 1 <= wanted <= company.MOST:
        raise Invalid(f"The capacity should be 1 to {company.MOST:,}.")
    title = f"Change the capacity from {opening.capacity:,} to {wanted:,}?"
    return Ask(change, title, "Change it", _resized(opening, wanted, heads), capacity=str(wanted))


async def _heads(tx: Tx, id: int) -> tuple[Opening, list[str]]:
    """The opening, and who would be next."""
    waiting = await reading.queue(tx, id, limit=NAMED)
    return await openings.get(tx, id), [one.applicant_name for one in waiting]


def _refused(change: Change, typed: str) -> Ask | None:
    """What was typed, to be mended; a turn has nothing to mend."""
    if change != "capacity":
        return None
    return Ask(change, "Change the capacity", "See what follows", (), capacity=typed, ready=False)


def offers(opening: Opening, capacity: int) -> int:
    """How many would be offered a slot at once, if it were open and had that many."""
    return max(min(capacity - opening.occupied, opening.waiting), 0)


def _resized(opening: Opening, wanted: int, heads: list[str]) -> list[str]:
    if opening.status != "open" and offers(opening, wanted):
        return [f"It is {opening.status}: nobody is offered a slot until it is open again."]
    over = opening.occupied - wanted
    if over > 0:
        are = "is" if over == 1 else "are"
        return [
            f"{_people(over)} more than that {are} in it, and {are} not evicted.",
            f"A slot is given away again when {over + 1:,} have left.",
        ]
    return [_offered(offers(opening, wanted), heads)]


def _offered(count: int, heads: list[str]) -> str:
    if not count:
        return "Nobody is offered a slot by it."
    named = heads[:count]
    more = f" and {count - len(named):,} more" if count > len(named) else ""
    return f"{_people(count)} would be offered a slot at once: {', '.join(named)}{more}."


def _people(count: int) -> str:
    return "1 person" if count == 1 else f"{count:,} people"


@router.get("/edit")
async def edit(opening_id: WholePathId, visitor: Recruiter, db: Db, page: Page) -> HTMLResponse:
    async with db.transaction() as tx:
        opening = await openings.get(tx, opening_id)
    return page("hiring/terms.html", opening=opening, typed=terms.write(opening), error=None)


@router.post("/edit")
async def save(
    opening_id: WholePathId, visitor: Recruiter, form: Fields, db: Db, page: Page
) -> Response:
    """Change what was typed anew, or show the form again with it."""
    async with db.transaction() as tx:
        before = await openings.get(tx, opening_id)
    try:
        changed = terms.changes(before, form)
        async with db.transaction() as tx:
            after = await company.edit(tx, opening_id, visitor.actor, **changed)
    except (Invalid, Conflict) as error:
        typed = dict.fromkeys(terms.write(Terms("")), "") | dict(form)
        status = faults.status(error)
        return page("hiring/terms.html", status, opening=before, typed=typed, error=str(error))
    return opening_page.back(before, after)
