"""/hiring/{opening_id}: the page of an opening, and its changes."""

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
from jobmill.web.pages.hiring.opening_page import PageState
from jobmill.web.pages.hiring.terms_form import PLACES
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page
from jobmill.web.translations import say, say_many

router = APIRouter(prefix="/hiring/{opening_id}")

Change = Literal["capacity", "pause", "resume", "close", "reopen"]
ChangeStatus = Callable[[Tx, int, Actor], Awaitable[Opening]]
Key = Annotated[int, Query(ge=0, le=2**62)]

NAMED = 5
"""How many of the people that would be offered a place are named."""

STATUS_CHANGES: Mapping[Change, tuple[ChangeStatus, set[OpeningStatus]]] = {
    "pause": (lifecycle.pause, {"open"}),
    "resume": (lifecycle.resume, {"paused"}),
    "close": (lifecycle.close, {"open", "paused"}),
    "reopen": (lifecycle.reopen, {"closed"}),
}
"""The function for each change, and the states in which it is possible."""


def _confirmation_texts(change: Change) -> tuple[str, str, tuple[str, ...]]:
    """The question, the button and the consequences."""
    stay = say("People with a place and on the waitlist stay. Current offers stay valid.")
    match change:
        case "pause":
            effect = say("This closes applications. Open places are not offered automatically.")
            return say("Pause this opening?"), say("Pause opening"), (effect, stay)
        case "resume":
            effect = say("This opens applications again.")
            return say("Resume this opening?"), say("Resume opening"), (effect,)
        case "close":
            effect = say(
                "This unpublishes the opening and closes applications. "
                "Open places are not offered automatically."
            )
            back = say("You can reopen it later.")
            return say("Close this opening?"), say("Close opening"), (effect, stay, back)
        case _:
            effect = say("This publishes the opening and opens applications.")
            return say("Reopen this opening?"), say("Reopen opening"), (effect,)


@router.get("")
async def show(
    opening_id: PathId,
    visitor: Viewer,
    db: Db,
    page: Page,
    slots: Key = 0,
    waiting: Key = 0,
    did: str = "",
    sent: Key = 0,
) -> HTMLResponse:
    place = PageState(opening_id, slots, waiting, did, sent)
    return await opening_page.show(db, page, visitor, place)


@router.get("/change/{change}")
async def confirm(
    opening_id: PathId,
    change: Change,
    visitor: Recruiter,
    db: Db,
    page: Page,
    capacity: str = "",
) -> HTMLResponse:
    """Show what the change would do, before anything changes."""
    error: AppError | None = None
    try:
        confirmation = await _make_confirmation(db, opening_id, change, capacity)
    except (Invalid, Conflict) as refusal:
        confirmation, error = _ask_for_correction(opening_id, change, capacity), refusal
    place = PageState(opening_id)
    return await opening_page.show(db, page, visitor, place, confirmation=confirmation, error=error)


@router.post("/change/{change}")
async def apply_change(
    opening_id: PathId, change: Change, visitor: Recruiter, form: Fields, db: Db, page: Page
) -> Response:
    """Make the change and show its events."""
    try:
        async with db.transaction(LONG_TIMEOUT) as tx:
            before = await openings.get(tx, opening_id)
            if change == "capacity":
                capacity = terms_form.parse_number(form, "capacity", PLACES)
                after = await lifecycle.set_capacity(tx, opening_id, capacity, visitor.actor)
            else:
                after = await STATUS_CHANGES[change][0](tx, opening_id, visitor.actor)
    except (Invalid, Conflict) as error:
        confirmation = _ask_for_correction(opening_id, change, form.get("capacity", ""))
        place = PageState(opening_id)
        return await opening_page.show(
            db, page, visitor, place, confirmation=confirmation, error=error
        )
    return opening_page.redirect_to_changes(before, after)


async def _make_confirmation(
    db: RequestDatabase, id: int, change: Change, typed: str
) -> Confirmation:
    opening, first = await consistent_reads.read_opening(db, id, lambda tx: _read_first(tx, id))
    if change != "capacity":
        if opening.status not in STATUS_CHANGES[change][1]:
            raise Conflict(f"This opening is {opening.status}.")
        title, button, sentences = _confirmation_texts(change)
        offered: list[str] = []
        if change in ("resume", "reopen"):
            offered = [_offers_text(count_offers(opening, opening.capacity), first)]
        return Confirmation(
            _url(id, change),
            f"/hiring/{id}",
            title,
            button,
            [*sentences, *offered],
            danger=change == "close",
            swap_target="opening",
        )
    capacity = terms_form.parse_number({"capacity": typed}, "capacity", PLACES)
    if not 1 <= capacity <= lifecycle.MAX_NUMBER:
        raise Invalid(f"{PLACES} should be 1 to {lifecycle.MAX_NUMBER:,}.")
    title = say(
        "Change the number of places from %(before)s to %(after)s?",
        before=f"{opening.capacity:,}",
        after=f"{capacity:,}",
    )
    return Confirmation(
        _url(id, change),
        f"/hiring/{id}",
        title,
        say("Update places"),
        _resize_texts(opening, capacity, first),
        {"capacity": str(capacity)},
        swap_target="opening",
    )


def _url(id: int, change: Change) -> str:
    return f"/hiring/{id}/change/{change}"


async def _read_first(tx: Tx, id: int) -> tuple[Opening, list[str]]:
    """The opening, and the names of the first people on the waitlist."""
    waiting = await applicant_lists.list_waiting(tx, id, limit=NAMED)
    return await openings.get(tx, id), [row.applicant_name for row in waiting]


def _ask_for_correction(id: int, change: Change, typed: str) -> Confirmation | None:
    """The number of places to correct; other changes have no input."""
    if change != "capacity":
        return None
    title, button = say("Change the number of places"), say("Preview")
    return Confirmation(
        _url(id, change),
        f"/hiring/{id}",
        title,
        button,
        number=NumberInput("capacity", say("Places"), typed),
        swap_target="opening",
    )


def count_offers(opening: Opening, capacity: int) -> int:
    """How many people an open opening with this capacity would offer a place at once."""
    return max(min(capacity - opening.occupied, opening.waiting), 0)


def _resize_texts(opening: Opening, capacity: int, first: list[str]) -> list[str]:
    if opening.status != "open" and count_offers(opening, capacity):
        if opening.status == "paused":
            return [say("The opening is paused. No places are offered until it resumes.")]
        return [say("The opening is closed. No places are offered unless it reopens.")]
    excess = opening.occupied - capacity
    if excess > 0:
        return [
            say_many(
                "%(n)s more person has a place than that. Nobody loses a place.",
                "%(n)s more people have a place than that. Nobody loses a place.",
                excess,
            ),
            say("The next place is offered after %(n)s people have left.", n=f"{excess + 1:,}"),
        ]
    return [_offers_text(count_offers(opening, capacity), first)]


def _offers_text(count: int, first: list[str]) -> str:
    if not count:
        return say("No place will be offered.")
    named = first[:count]
    names = ", ".join(named)
    if count > len(named):
        names = say("%(names)s and %(n)s more", names=names, n=f"{count - len(named):,}")
    return say_many(
        "%(n)s person will be offered a place at once: %(names)s.",
        "%(n)s people will be offered a place at once: %(names)s.",
        count,
        names=names,
    )


@router.get("/edit")
async def edit(opening_id: PathId, visitor: Recruiter, db: Db, page: Page) -> HTMLResponse:
    async with db.transaction() as tx:
        opening = await openings.get(tx, opening_id)
    return page(
        "hiring/terms.html", opening=opening, typed=terms_form.to_fields(opening), error=None
    )


@router.post("/edit")
async def save(
    opening_id: PathId, visitor: Recruiter, form: Fields, db: Db, page: Page
) -> Response:
    """Save what the form changes, or show it again with the error and the input."""
    async with db.transaction() as tx:
        before = await openings.get(tx, opening_id)
    try:
        changed = terms_form.find_changes(before, form)
        async with db.transaction() as tx:
            after = await lifecycle.edit(tx, opening_id, visitor.actor, **changed)
    except (Invalid, Conflict) as error:
        typed = dict.fromkeys(terms_form.to_fields(OpeningTerms("")), "") | dict(form)
        status = html_errors.status_code(error)
        return page("hiring/terms.html", status, opening=before, typed=typed, error=str(error))
    return opening_page.redirect_to_changes(before, after)
