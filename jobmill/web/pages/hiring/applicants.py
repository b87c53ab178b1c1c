"""/hiring/{opening_id}/people: one who applied, and what is done to one or to many."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal
from urllib.parse import parse_qsl

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.db import Tx
from jobmill.errors import AppError, Conflict, Invalid
from jobmill.hiring.applications import bulk_actions, submissions
from jobmill.hiring.audit_log import replay_preview
from jobmill.hiring.messages import personal_links
from jobmill.hiring.openings import applicant_lists, lifecycle
from jobmill.hiring.records import applicants, applications, openings
from jobmill.hiring.records.applicants import Applicant
from jobmill.hiring.records.applications import Application, ApplicationNotFound
from jobmill.hiring.records.openings import Opening
from jobmill.web import consistent_reads, html_errors
from jobmill.web.auth import Links, Recruiter, Viewer, Visitor
from jobmill.web.consistent_reads import LONG_TIMEOUT
from jobmill.web.dependencies import Db, RequestDatabase
from jobmill.web.form import Fields
from jobmill.web.pages.hiring import activity_lines, opening_page
from jobmill.web.pages.hiring.activity_lines import Line
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.site_settings import CurrentSiteSettings

log = logging.getLogger(__name__)

router = APIRouter(prefix="/hiring/{opening_id}")

Step = Literal["remove", "promote"]
ACTIONS: dict[str, bulk_actions.BulkAction] = {"remove": "withdraw", "message": "message"}
LONGEST_REASON = 2_000
MOST_TICKED = 1_000
NUMBER = re.compile(r"[0-9]{1,12}")
STORY = 200
"""Events of one person that are shown."""


@dataclass(frozen=True, slots=True)
class Someone:
    opening: Opening
    application: Application
    person: Applicant
    position: int | None
    story: list[Line]


@dataclass(frozen=True, slots=True)
class Typed:
    """What stands in the form of one person."""

    step: str = ""
    reason: str = ""
    add_slot: bool = False


@router.get("/people/{application_id}")
async def show(
    opening_id: PathId, application_id: PathId, visitor: Viewer, db: Db, page: Page
) -> HTMLResponse:
    return await _page(db, page, opening_id, application_id)


@router.post("/people/{application_id}/link")
async def give_link(
    opening_id: PathId,
    application_id: PathId,
    request: Request,
    visitor: Recruiter,
    db: Db,
    page: Page,
    site_settings: CurrentSiteSettings,
    links: Links,
) -> HTMLResponse:
    """Show somebody's personal link, to be handed to them: who has it acts as they do."""
    async with db.transaction() as tx:
        who = (await _own(tx, opening_id, application_id)).applicant_id
        path = await personal_links.make_path(tx, links, who, renew=False)
    log.info("personal link given", extra={"applicant": who, "by": visitor.actor.name})
    link = site_settings.link(request, path)
    shown = await _page(db, page, opening_id, application_id, link=link)
    shown.headers["Cache-Control"] = "no-store"
    return shown


@router.post("/people/{application_id}/{step}")
async def take(
    opening_id: PathId,
    application_id: PathId,
    step: Step,
    visitor: Recruiter,
    form: Fields,
    db: Db,
    page: Page,
) -> Response:
    """Do it and say what followed, or show the form again with what was typed."""
    typed = Typed(step, form.get("reason", ""), form.get("add_slot") == "yes")
    try:
        async with db.transaction() as tx:
            await _own(tx, opening_id, application_id)
            before = await openings.get(tx, opening_id)
            await _take(tx, application_id, typed, visitor)
            after = await openings.get(tx, opening_id)
    except (Invalid, Conflict) as error:
        return await _page(db, page, opening_id, application_id, typed=typed, error=error)
    return opening_page.back(before, after)


async def _take(tx: Tx, application_id: int, typed: Typed, visitor: Visitor) -> None:
    reason = _reason(typed.reason)
    if typed.step == "promote":
        await lifecycle.offer_out_of_turn(
            tx, application_id, visitor.actor, reason=reason, add_slot=typed.add_slot
        )
    else:
        await submissions.withdraw(tx, application_id, visitor.actor, reason=reason)


def _reason(text: str) -> str:
    if not text.strip():
        raise Invalid("Say why: the log keeps the reason.")
    if len(text) > LONGEST_REASON:
        raise Invalid(f"A reason should have {LONGEST_REASON:,} characters at most.")
    return text.strip()


async def _page(
    db: RequestDatabase,
    page: PageRenderer,
    opening_id: int,
    application_id: int,
    *,
    typed: Typed | None = None,
    error: AppError | None = None,
    link: str | None = None,
) -> HTMLResponse:
    one = await consistent_reads.read_opening(
        db, opening_id, lambda tx: _read(tx, opening_id, application_id)
    )
    return page(
        "hiring/person.html",
        html_errors.status_code(error) if error else 200,
        topics=["hiring"],
        opening=one.opening,
        one=one,
        typed=typed or Typed(),
        link=link,
        error=str(error) if error else None,
        words=activity_lines.statuses(),
    )


async def _own(tx: Tx, opening_id: int, application_id: int) -> Application:
    """The application, if it is one of this opening."""
    found = await applications.get(tx, application_id)
    if found.opening_id != opening_id:
        raise ApplicationNotFound(application_id)
    return found


async def _read(tx: Tx, opening_id: int, application_id: int) -> Someone:
    opening = await openings.get(tx, opening_id)
    one = await _own(tx, opening_id, application_id)
    events = await applicant_lists.list_timeline(tx, one.applicant_id, limit=STORY)
    return Someone(
        opening,
        one,
        await applicants.get(tx, one.applicant_id),
        await submissions.find_position(tx, one),
        (await activity_lines.lines(tx, events))[::-1],
    )


@dataclass(frozen=True, slots=True)
class Ticked:
    """Those who were ticked, and what is to be done to them."""

    ids: Sequence[int]
    action: str = "remove"
    reason: str = ""
    message: str = ""
    sure: bool = False


async def _ticked(request: Request) -> Ticked:
    """A form whose boxes share a name, which `Fields` does not know."""
    try:
        body = (await request.body()).decode("ascii")
        found = parse_qsl(body, keep_blank_values=True, errors="strict", max_num_fields=MOST_TICKED)
    except ValueError as error:
        raise Invalid("This is not what a form sends.") from error
    if any("\0" in text for _, text in found):
        raise Invalid("A text cannot hold null characters.")
    form = dict(found)
    ids = [int(text) for name, text in found if name == "pick" and NUMBER.fullmatch(text)]
    return Ticked(
        list(dict.fromkeys(ids)),
        form.get("action", ""),
        form.get("reason", ""),
        form.get("message", ""),
        # What they are sure of is what they saw: another action is looked at first.
        bool(form.get("sure")) and form.get("sure") == form.get("action"),
    )


@router.post("/bulk")
async def change_many(
    opening_id: PathId,
    visitor: Recruiter,
    form: Annotated[Ticked, Depends(_ticked)],
    db: Db,
    page: Page,
) -> Response:
    """Show what would happen to each; do it where they are sure of that."""
    lines: list[bulk_actions.BulkResult] = []
    error: AppError | None = None
    try:
        before, lines, after = await _run(db, opening_id, form, visitor)
        if form.sure:
            return _done(before, lines, after)
    except (Invalid, Conflict) as refusal:
        error = refusal
    async with db.transaction() as tx:
        opening = await openings.get(tx, opening_id)
        called = await replay_preview.find_names(
            tx, {*form.ids, *(one.application_id for one in lines)}
        )
    return page(
        "hiring/bulk.html",
        html_errors.status_code(error) if error else 200,
        opening=opening,
        form=form,
        lines=lines,
        called=called,
        error=str(error) if error else None,
    )


async def _run(
    db: RequestDatabase, id: int, form: Ticked, visitor: Visitor
) -> tuple[Opening, list[bulk_actions.BulkResult], Opening]:
    if not form.ids:
        raise Invalid("Tick those whom it is about first.")
    action = ACTIONS.get(form.action)
    if action is None:
        raise Invalid("Choose what to do: remove them, or write to them.")
    async with db.transaction(LONG_TIMEOUT) as tx:
        before = await openings.get(tx, id)
        lines = await bulk_actions.run_bulk_action(
            tx,
            id,
            action,
            form.ids,
            visitor.actor,
            reason=_reason(form.reason),
            message=form.message.replace("\r\n", "\n") if action == "message" else None,
            dry_run=not form.sure,
        )
        return before, lines, await openings.get(tx, id)


def _done(before: Opening, lines: Sequence[bulk_actions.BulkResult], after: Opening) -> Response:
    told = sum(one.outcome == "told" for one in lines)
    if told:
        # A message leaves no event to tell of.
        return RedirectResponse(f"/hiring/{after.id}?told={told}", 303)
    return opening_page.back(before, after)
