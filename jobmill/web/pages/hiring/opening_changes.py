"""/hiring/{opening_id}: one opening, and what the company changes of it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse

from jobmill.db import Tx
from jobmill.errors import AppError, Conflict, Invalid
from jobmill.hiring.actor import Actor
from jobmill.hiring.openings import applicant_lists, lifecycle
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import Opening, OpeningStatus, OpeningTerms
from jobmill.web import consistent_reads, html_errors
from jobmill.web.auth import Recruiter, Viewer
from jobmill.web.confirmation import Confirmation, NumberInput
from jobmill.web.consistent_reads import LONG_TIMEOUT
from jobmill.web.dependencies import Db, RequestDatabase
from jobmill.web.form import Fields
from jobmill.web.pages.hiring import opening_page, terms_form
from jobmill.web.pages.hiring.opening_page import Place
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page
from jobmill.web.translations import say, say_many

router = APIRouter(prefix="/hiring/{opening_id}")

Change = Literal["capacity", "pause", "resume", "close", "reopen"]
Turn = Callable[[Tx, int, Actor], Awaitable[Opening]]
Key = Annotated[int, Query(ge=0, le=2**62)]

NAMED = 5
"""Of those who would be offered a slot, so many are named."""

TURNS: Mapping[Change, tuple[Turn, set[OpeningStatus]]] = {
    "pause": (lifecycle.pause, {"open"}),
    "resume": (lifecycle.resume, {"paused"}),
    "close": (lifecycle.close, {"open", "paused"}),
    "reopen": (lifecycle.reopen, {"closed"}),
}
"""What does it, and from where."""


def _words(change: Change) -> tuple[str, str, tuple[str, ...]]:
    """What is asked, what the button says, and what follows."""
    stay = say("Those who are in it or wait stay, and offers that are out go on.")
    match change:
        case "pause":
            follows = say(
                "Nobody may apply, and nobody is offered a slot by itself, until it is resumed."
            )
            return say("Pause this opening?"), say("Pause it"), (follows, stay)
        case "resume":
            return say("Resume this opening?"), say("Resume it"), (say("People may apply again."),)
        case "close":
            follows = say(
                "It is no longer published. Nobody may apply, and nobody is offered a slot by itself."
            )
            back = say("It can be opened again.")
            return say("Close this opening?"), say("Close it"), (follows, stay, back)
        case _:
            follows = say("It is published, and people may apply.")
            return say("Open it again?"), say("Open it again"), (follows,)


@router.get("")
async def show(
    opening_id: PathId,
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
    opening_id: PathId,
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
        asked, error = _refused(opening_id, change, capacity), refusal
    return await opening_page.show(db, page, Place(opening_id), confirmation=asked, error=error)


@router.post("/change/{change}")
async def turn(
    opening_id: PathId, change: Change, visitor: Recruiter, form: Fields, db: Db, page: Page
) -> Response:
    """Do it, and say what followed."""
    typed = form.get("capacity", "")
    try:
        async with db.transaction(LONG_TIMEOUT) as tx:
            before = await openings.get(tx, opening_id)
            if change == "capacity":
                wanted = terms_form.whole(form, "capacity", "The capacity")
                after = await lifecycle.set_capacity(tx, opening_id, wanted, visitor.actor)
            else:
                after = await TURNS[change][0](tx, opening_id, visitor.actor)
    except (Invalid, Conflict) as error:
        asked = _refused(opening_id, change, typed)
        return await opening_page.show(db, page, Place(opening_id), confirmation=asked, error=error)
    return opening_page.back(before, after)


async def _ask(db: RequestDatabase, id: int, change: Change, typed: str) -> Confirmation:
    opening, heads = await consistent_reads.read_opening(db, id, lambda tx: _heads(tx, id))
    if change != "capacity":
        if opening.status not in TURNS[change][1]:
            raise Conflict(f"This opening is {opening.status}.")
        title, button, sentences = _words(change)
        offered: list[str] = []
        if change in ("resume", "reopen"):
            offered = [_offered(offers(opening, opening.capacity), heads)]
        return Confirmation(
            _url(id, change),
            f"/hiring/{id}",
            title,
            button,
            [*sentences, *offered],
            danger=change == "close",
            swap_target="opening",
        )
    wanted = terms_form.whole({"capacity": typed}, "capacity", "The capacity")
    if not 1 <= wanted <= lifecycle.MAX_NUMBER:
        raise Invalid(f"The capacity should be 1 to {lifecycle.MAX_NUMBER:,}.")
    title = say(
        "Change the capacity from %(was)s to %(now)s?",
        was=f"{opening.capacity:,}",
        now=f"{wanted:,}",
    )
    return Confirmation(
        _url(id, change),
        f"/hiring/{id}",
        title,
        say("Change it"),
        _resized(opening, wanted, heads),
        {"capacity": str(wanted)},
        swap_target="opening",
    )


def _url(id: int, change: Change) -> str:
    return f"/hiring/{id}/change/{change}"


async def _heads(tx: Tx, id: int) -> tuple[Opening, list[str]]:
    """The opening, and who would be next."""
    waiting = await applicant_lists.list_waiting(tx, id, limit=NAMED)
    return await openings.get(tx, id), [one.applicant_name for one in waiting]


def _refused(id: int, change: Change, typed: str) -> Confirmation | None:
    """What was typed, to be mended; a turn has nothing to mend."""
    if change != "capacity":
        return None
    title, button = say("Change the capacity"), say("See what follows")
    return Confirmation(
        _url(id, change),
        f"/hiring/{id}",
        title,
        button,
        number=NumberInput("capacity", say("Slots"), typed),
        swap_target="opening",
    )


def offers(opening: Opening, capacity: int) -> int:
    """How many would be offered a slot at once, if it were open and had that many."""
    return max(min(capacity - opening.occupied, opening.waiting), 0)


def _resized(opening: Opening, wanted: int, heads: list[str]) -> list[str]:
    if opening.status != "open" and offers(opening, wanted):
        if opening.status == "paused":
            return [say("It is paused: nobody is offered a slot until it is open again.")]
        return [say("It is closed: nobody is offered a slot until it is open again.")]
    over = opening.occupied - wanted
    if over > 0:
        return [
            say_many(
                "%(n)s person more than that is in it, and is not evicted.",
                "%(n)s people more than that are in it, and are not evicted.",
                over,
            ),
            say("A slot is given away again when %(n)s have left.", n=f"{over + 1:,}"),
        ]
    return [_offered(offers(opening, wanted), heads)]


def _offered(count: int, heads: list[str]) -> str:
    if not count:
        return say("Nobody is offered a slot by it.")
    named = heads[:count]
    names = ", ".join(named)
    if count > len(named):
        names = say("%(names)s and %(n)s more", names=names, n=f"{count - len(named):,}")
    return say_many(
        "%(n)s person would be offered a slot at once: %(names)s.",
        "%(n)s people would be offered a slot at once: %(names)s.",
        count,
        names=names,
    )


@router.get("/edit")
async def edit(opening_id: PathId, visitor: Recruiter, db: Db, page: Page) -> HTMLResponse:
    async with db.transaction() as tx:
        opening = await openings.get(tx, opening_id)
    return page("hiring/terms.html", opening=opening, typed=terms_form.write(opening), error=None)


@router.post("/edit")
async def save(
    opening_id: PathId, visitor: Recruiter, form: Fields, db: Db, page: Page
) -> Response:
    """Change what was typed anew, or show the form again with it."""
    async with db.transaction() as tx:
        before = await openings.get(tx, opening_id)
    try:
        changed = terms_form.changes(before, form)
        async with db.transaction() as tx:
            after = await lifecycle.edit(tx, opening_id, visitor.actor, **changed)
    except (Invalid, Conflict) as error:
        typed = dict.fromkeys(terms_form.write(OpeningTerms("")), "") | dict(form)
        status = html_errors.status_code(error)
        return page("hiring/terms.html", status, opening=before, typed=typed, error=str(error))
    return opening_page.back(before, after)
