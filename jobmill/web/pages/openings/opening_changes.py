"""/hiring/{opening_id}: the page of an opening, and its changes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.db import Tx
from jobmill.errors import AppError, Conflict, Invalid
from jobmill.hiring import company_identity
from jobmill.hiring.actor import Actor
from jobmill.hiring.openings import applicant_lists, lifecycle, posting_details
from jobmill.hiring.openings.posting_details import NO_DETAILS
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import (
    Opening,
    OpeningNotFound,
    OpeningStatus,
    OpeningTerms,
)
from jobmill.web import consistent_reads
from jobmill.web.auth import Recruiter, Viewer
from jobmill.web.confirmation import Confirmation, NumberInput
from jobmill.web.consistent_reads import LONG_TIMEOUT
from jobmill.web.dependencies import RequestDatabase
from jobmill.web.form import Fields
from jobmill.web.pages.openings import opening_page, posting_form, terms_form
from jobmill.web.pages.openings.opening_list import render_terms
from jobmill.web.pages.openings.opening_page import PageState
from jobmill.web.pages.openings.terms_form import PLACES
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say, say_many

router = APIRouter(prefix="/hiring/{opening_id}")

Change = Literal["capacity", "pause", "resume", "reopen"]
ChangeStatus = Callable[[Tx, int, Actor], Awaitable[Opening]]
Key = Annotated[int, Query(ge=0, le=2**62)]

NAMED = 5
"""How many of the people that would be offered a place are named."""

STATUS_CHANGES: Mapping[Change, tuple[ChangeStatus, set[OpeningStatus]]] = {
    "pause": (lifecycle.pause, {"open"}),
    "resume": (lifecycle.resume, {"paused"}),
    "reopen": (lifecycle.reopen, {"closed"}),
}
"""The function for each change, and the states in which it is possible."""


def _confirmation_texts(change: Change) -> tuple[str, str, tuple[str, ...]]:
    """The question, the button and the consequences."""
    stay = say(
        "Everyone keeps their place or their position on the waitlist. Current offers stay valid."
    )
    match change:
        case "pause":
            effect = say("This closes applications. Open places are not offered automatically.")
            return say("Pause this opening?"), say("Pause opening"), (effect, stay)
        case "resume":
            effect = say("This opens applications again.")
            return say("Resume this opening?"), say("Resume opening"), (effect,)
        case _:
            effect = say("This publishes the opening and opens applications.")
            return say("Reopen this opening?"), say("Reopen opening"), (effect,)


@router.get("")
async def show(
    opening_id: PathId,
    visitor: Viewer,
    page: Page,
    slots: Key = 0,
    waiting: Key = 0,
    did: str = "",
    sent: Key = 0,
) -> Response:
    place = PageState(opening_id, slots, waiting, did, sent)
    try:
        return await opening_page.show(page, place)
    except OpeningNotFound:
        async with page.db.transaction() as tx:
            parent_id = (await openings.get(tx, opening_id)).parent_id
        if parent_id is None:
            raise
        return RedirectResponse(f"/hiring/{parent_id}/interviews", 303)


@router.get("/change/{change}")
async def confirm(
    opening_id: PathId, change: Change, visitor: Recruiter, page: Page, capacity: str = ""
) -> HTMLResponse:
    """Show what the change would do, before anything changes."""
    error: AppError | None = None
    try:
        confirmation = await _make_confirmation(page.db, opening_id, change, capacity)
    except (Invalid, Conflict) as refusal:
        confirmation, error = _ask_for_correction(opening_id, change, capacity), refusal
    place = PageState(opening_id)
    return await opening_page.show(page, place, confirmation=confirmation, error=error)


@router.post("/change/{change}")
async def apply_change(
    opening_id: PathId, change: Change, visitor: Recruiter, form: Fields, page: Page
) -> Response:
    """Make the change and show its events."""
    try:
        async with page.db.transaction(LONG_TIMEOUT) as tx:
            before = await openings.get(tx, opening_id)
            openings.refuse_interview_time(before)
            if change == "capacity":
                capacity = terms_form.parse_number(form, "capacity", PLACES)
                after = await lifecycle.set_capacity(tx, opening_id, capacity, visitor.actor)
            else:
                after = await STATUS_CHANGES[change][0](tx, opening_id, visitor.actor)
    except (Invalid, Conflict) as error:
        confirmation = _ask_for_correction(opening_id, change, form.get("capacity", ""))
        place = PageState(opening_id)
        return await opening_page.show(page, place, confirmation=confirmation, error=error)
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
                "This is %(n)s place fewer than the number of people who have one. Nobody loses a place.",
                "This is %(n)s places fewer than the number of people who have one. Nobody loses a place.",
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
        "%(n)s person will be offered a place immediately: %(names)s.",
        "%(n)s people will be offered a place immediately: %(names)s.",
        count,
        names=names,
    )


@router.get("/edit")
async def edit(opening_id: PathId, visitor: Recruiter, page: Page) -> HTMLResponse:
    async with page.db.transaction() as tx:
        opening = await openings.get(tx, opening_id)
        openings.refuse_interview_time(opening)
        details = await posting_details.get_details(tx, opening_id)
    typed = terms_form.to_fields(opening) | posting_form.to_fields(details)
    return await _edit_page(page, opening, typed)


async def _edit_page(
    page: PageRenderer,
    opening: Opening,
    typed: Mapping[str, str],
    error: AppError | None = None,
    confirmation: Confirmation | None = None,
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        company = await company_identity.read_identity(tx)
    return render_terms(page, company, typed, error, opening=opening, confirmation=confirmation)


@router.post("/edit")
async def save(opening_id: PathId, visitor: Recruiter, form: Fields, page: Page) -> Response:
    """Save what the form changes, or show it again with the error and the input."""
    async with page.db.transaction() as tx:
        before = await openings.get(tx, opening_id)
    openings.refuse_interview_time(before)
    try:
        changed, details = terms_form.find_changes(before, form), posting_form.parse_posting(form)
        in_review = terms_form.parse_in_review(form)
        if in_review == "reject" and before.in_review and form.get("confirmed") != "reject":
            confirmation = _confirm_rejection(before, form)
            return await _edit_page(page, before, _keep_typed(form), confirmation=confirmation)
        async with page.db.transaction() as tx:
            await lifecycle.edit(
                tx,
                opening_id,
                visitor.actor,
                in_review=in_review,
                **changed,
            )
            await posting_details.save_details(tx, opening_id, details, visitor.actor)
            after = await openings.get(tx, opening_id)
    except (Invalid, Conflict) as error:
        return await _edit_page(page, before, _keep_typed(form), error)
    return opening_page.redirect_to_changes(before, after)


def _keep_typed(form: Mapping[str, str]) -> dict[str, str]:
    empty = terms_form.to_fields(OpeningTerms("")) | posting_form.to_fields(NO_DETAILS)
    return dict.fromkeys(empty, "") | dict(form)


def _confirm_rejection(opening: Opening, form: Mapping[str, str]) -> Confirmation:
    """Ask before the form rejects everyone in review."""
    return Confirmation(
        f"/hiring/{opening.id}/edit",
        f"/hiring/{opening.id}/edit",
        say_many(
            "Reject %(n)s application in review?",
            "Reject all %(n)s applications in review?",
            opening.in_review,
        ),
        say("Save and reject"),
        [say("Their applications end, and the applicants are notified.")],
        hidden=dict(form) | {"confirmed": "reject"},
        danger=True,
    )
