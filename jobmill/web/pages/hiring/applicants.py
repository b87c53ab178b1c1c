"""/hiring/{opening_id}/people: an applicant, and actions on one or many applicants."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import parse_qsl
from uuid import UUID

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.db import Tx
from jobmill.errors import AppError, Conflict, Invalid
from jobmill.hiring.applications import bulk_actions, offers, timeline, withdrawals
from jobmill.hiring.forms import stored_answers, uploads
from jobmill.hiring.forms.stored_answers import AnsweredForm
from jobmill.hiring.interviews import bookings
from jobmill.hiring.interviews.bookings import OwnBooking
from jobmill.hiring.messages import personal_links
from jobmill.hiring.records import applicants, applications, openings
from jobmill.hiring.records.applicants import Applicant
from jobmill.hiring.records.applications import Application, ApplicationNotFound
from jobmill.hiring.records.openings import Opening
from jobmill.hiring.stages.stage_definitions import get_stage, list_stages
from jobmill.web import consistent_reads, event_lines
from jobmill.web.auth import Links, Recruiter, Viewer, Visitor
from jobmill.web.consistent_reads import LONG_TIMEOUT
from jobmill.web.dependencies import Db, RequestDatabase, no_store
from jobmill.web.event_lines import AuditEventLine
from jobmill.web.file_downloads import send_upload
from jobmill.web.form import Fields
from jobmill.web.pages.hiring import review_panel
from jobmill.web.pages.hiring.review_panel import NO_DRAFT, NoteDraft, ReviewPanel
from jobmill.web.pages.openings import opening_page
from jobmill.web.parameters import MAX_ID, PathId
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.status_labels import status_labels

router = APIRouter(prefix="/hiring/{opening_id}")

Step = Literal["remove", "promote"]
ACTIONS: dict[str, bulk_actions.BulkAction] = {
    "message": "message",
    "promote": "promote",
    "remove": "withdraw",
}
MAX_REASON_LENGTH = 2_000
MAX_SELECTED = 1_000
NUMBER = re.compile(r"[0-9]{1,12}")
MAX_EVENTS = 200
"""Events of one applicant on the page."""


@dataclass(frozen=True, slots=True)
class ApplicantDetails:
    opening: Opening
    application: Application
    applicant: Applicant
    position: int | None
    history: list[AuditEventLine]
    answers: AnsweredForm | None
    review: ReviewPanel
    titles: Mapping[int, str]
    """Of all openings that the history is about."""
    booking: OwnBooking | None
    """The interview time of the applicant."""


@dataclass(frozen=True, slots=True)
class ApplicantForm:
    """A form that a recruiter submits about one applicant of an opening."""

    opening_id: int
    application_id: int
    fields: Mapping[str, str]
    page: PageRenderer

    @property
    def place(self) -> tuple[PageRenderer, int, int]:
        """What `show_applicant` needs to show the applicant again."""
        return self.page, self.opening_id, self.application_id


# Not `def`: FastAPI would run it in a thread.
async def _read_applicant_form(
    opening_id: PathId, application_id: PathId, visitor: Recruiter, fields: Fields, page: Page
) -> ApplicantForm:
    return ApplicantForm(opening_id, application_id, fields, page)


SubmittedApplicantForm = Annotated[ApplicantForm, Depends(_read_applicant_form)]


@dataclass(frozen=True, slots=True)
class ActionForm:
    """The input of an action on one applicant."""

    step: str = ""
    reason: str = ""
    add_slot: bool = False


@router.get("/people/{application_id}")
async def show(
    opening_id: PathId,
    application_id: PathId,
    visitor: Viewer,
    page: Page,
    edit: Annotated[int | None, Query(ge=1, le=MAX_ID)] = None,
    to: str = "",
) -> HTMLResponse:
    """The applicant; `edit` is the note to edit, `to` the stage to preselect."""
    draft = NoteDraft(note_id=edit)
    return await show_applicant(page, opening_id, application_id, draft=draft, target_stage=to)


@router.get("/people/{application_id}/files/{file_id}")
async def download_file(
    opening_id: PathId, application_id: PathId, file_id: UUID, visitor: Viewer, db: Db
) -> Response:
    async with db.transaction() as tx:
        await get_application(tx, opening_id, application_id)
        file = await uploads.get_for_application(tx, application_id, file_id)
    return send_upload(db, file)


@router.post("/people/{application_id}/link")
async def give_link(
    opening_id: PathId, application_id: PathId, visitor: Recruiter, page: Page, links: Links
) -> HTMLResponse:
    """Show the applicant's personal link; anyone with the link can act for the applicant."""
    async with page.db.transaction() as tx:
        applicant_id = (await get_application(tx, opening_id, application_id)).applicant_id
        path = await personal_links.issue_path(tx, links, applicant_id, visitor.actor.name)
    link = page.site_settings.link(page.request, path)
    return no_store(await show_applicant(page, opening_id, application_id, link=link))


@router.post("/people/{application_id}/{step}")
async def change_applicant(step: Step, form: SubmittedApplicantForm) -> Response:
    """Remove the applicant or offer a place, or show the form again with the error and the input."""
    fields = form.fields
    typed = ActionForm(step, fields.get("reason", ""), fields.get("add_slot") == "yes")
    try:
        async with form.page.db.transaction() as tx:
            await get_application(tx, form.opening_id, form.application_id)
            before = await openings.get(tx, form.opening_id)
            await _change_applicant(tx, form.application_id, typed, form.page.visitor)
            after = await openings.get(tx, form.opening_id)
    except (Invalid, Conflict) as error:
        return await show_applicant(*form.place, typed=typed, error=error)
    return opening_page.redirect_to_changes(before, after)


async def _change_applicant(
    tx: Tx, application_id: int, typed: ActionForm, visitor: Visitor
) -> None:
    reason = _reason(typed.reason)
    if typed.step == "promote":
        await offers.offer_out_of_turn(
            tx, application_id, visitor.actor, reason=reason, add_slot=typed.add_slot
        )
    else:
        await withdrawals.withdraw(tx, application_id, visitor.actor, reason=reason)


def _reason(text: str) -> str:
    if not text.strip():
        raise Invalid("Enter a reason. It is kept in the log.")
    if len(text) > MAX_REASON_LENGTH:
        raise Invalid(f"A reason can have at most {MAX_REASON_LENGTH:,} characters.")
    return text.strip()


async def show_applicant(
    page: PageRenderer,
    opening_id: int,
    application_id: int,
    *,
    typed: ActionForm | None = None,
    error: AppError | None = None,
    link: str | None = None,
    draft: NoteDraft = NO_DRAFT,
    target_stage: str = "",
) -> HTMLResponse:
    person = await consistent_reads.read_opening(
        page.db, opening_id, lambda tx: _read(tx, opening_id, application_id, page.visitor)
    )
    return page(
        "hiring/person.html",
        topics=["hiring"],
        opening=person.opening,
        person=person,
        typed=typed or ActionForm(),
        draft=draft,
        link=link,
        stages=list_stages(person.opening),
        target_stage=target_stage,
        stage=get_stage(person.opening, person.application.stage)
        if person.application.status == "ACTIVE"
        else None,
        error=error,
        labels=status_labels(),
    )


async def get_application(tx: Tx, opening_id: int, application_id: int) -> Application:
    """The application; raises ApplicationNotFound if it belongs to another opening."""
    application = await applications.get(tx, application_id)
    if application.opening_id != opening_id:
        raise ApplicationNotFound(application_id)
    return application


async def _read(tx: Tx, opening_id: int, application_id: int, visitor: Visitor) -> ApplicantDetails:
    opening = await openings.get(tx, opening_id)
    application = await get_application(tx, opening_id, application_id)
    events = await timeline.list_timeline(
        tx, application.applicant_id, limit=MAX_EVENTS, newest=True
    )
    return ApplicantDetails(
        opening,
        application,
        await applicants.get(tx, application.applicant_id),
        await applications.find_position(tx, application),
        (await event_lines.describe_events(tx, events, visitor))[::-1],
        await stored_answers.find_by_application(tx, opening_id, application_id),
        await review_panel.read_panel(tx, opening_id, application.id, visitor),
        await openings.find_titles(tx, {event.opening_id for event in events}),
        await bookings.find_booking(tx, application.id),
    )


@dataclass(frozen=True, slots=True)
class BulkForm:
    """The selected applications and the action on them."""

    ids: Sequence[int]
    action: str = ""
    reason: str = ""
    message: str = ""
    add_slots: bool = False
    confirmed: bool = False
    tell_reason: bool = False
    is_new: bool = False
    """Whether only people and an action were chosen so far."""


async def read_bulk_form(request: Request) -> BulkForm:
    """Parse a form with several fields of the same name, which `Fields` cannot."""
    try:
        body = (await request.body()).decode("ascii")
        fields = parse_qsl(
            body, keep_blank_values=True, errors="strict", max_num_fields=MAX_SELECTED
        )
    except ValueError as error:
        raise Invalid("The request body is not a valid form.") from error
    if any("\0" in text for _, text in fields):
        raise Invalid("A text cannot contain null characters.")
    form = dict(fields)
    ids = [int(text) for name, text in fields if name == "selected" and NUMBER.fullmatch(text)]
    return BulkForm(
        list(dict.fromkeys(ids)),
        form.get("action", ""),
        form.get("reason", ""),
        form.get("message", ""),
        form.get("add_slots") == "yes",
        # The confirmation counts only for the action of the preview.
        bool(form.get("confirmed")) and form.get("confirmed") == form.get("action"),
        form.get("tell_reason") == "yes",
        is_new="reason" not in form and bool(ids) and form.get("action") in ACTIONS,
    )


@router.post("/bulk")
async def change_many(
    opening_id: PathId,
    visitor: Recruiter,
    form: Annotated[BulkForm, Depends(read_bulk_form)],
    page: Page,
) -> Response:
    """Preview the action for each application, or run it after confirmation."""
    results: list[bulk_actions.BulkResult] = []
    error: AppError | None = None
    try:
        if not form.is_new:
            before, results, after = await _run(page.db, opening_id, form, visitor)
            if form.confirmed:
                return _redirect(before, results, after)
    except (Invalid, Conflict) as refusal:
        error = refusal
    async with page.db.transaction() as tx:
        opening = await openings.get(tx, opening_id)
        listed = {*form.ids, *(result.application_id for result in results)}
        names = await applicants.find_names(tx, listed)
    return page(
        "hiring/bulk.html",
        opening=opening,
        form=form,
        results=results,
        names=names,
        path=f"/hiring/{opening_id}/bulk",
        back=f"/hiring/{opening_id}",
        error=error,
    )


async def _run(
    db: RequestDatabase, id: int, form: BulkForm, visitor: Visitor
) -> tuple[Opening, list[bulk_actions.BulkResult], Opening]:
    if not form.ids:
        raise Invalid("Select at least one person.")
    action = ACTIONS.get(form.action)
    if action is None:
        raise Invalid("Choose an action: Message, Offer a place or Remove.")
    async with db.transaction(LONG_TIMEOUT) as tx:
        before = await openings.get(tx, id)
        results = await bulk_actions.run_bulk_action(
            tx,
            id,
            action,
            form.ids,
            visitor.actor,
            reason=_reason(form.reason),
            message=form.message.replace("\r\n", "\n") if action == "message" else None,
            add_slots=form.add_slots,
            dry_run=not form.confirmed,
        )
        return before, results, await openings.get(tx, id)


def _redirect(
    before: Opening, results: Sequence[bulk_actions.BulkResult], after: Opening
) -> Response:
    sent = sum(result.outcome == "told" for result in results)
    if sent:
        # Messages leave no events to show.
        return RedirectResponse(f"/hiring/{after.id}?sent={sent}", 303)
    return opening_page.redirect_to_changes(before, after)
