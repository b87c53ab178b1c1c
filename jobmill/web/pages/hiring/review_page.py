"""/hiring/{opening_id}/review: applications that wait for a decision or the draw."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.db import Tx
from jobmill.errors import AppError, Conflict, Invalid
from jobmill.hiring.admission import decisions, lottery
from jobmill.hiring.admission.lottery import LotteryProof
from jobmill.hiring.applications import bulk_actions
from jobmill.hiring.openings import review_list
from jobmill.hiring.openings.review_list import ReviewPage
from jobmill.hiring.records import openings
from jobmill.hiring.records.applicants import find_names
from jobmill.hiring.records.openings import Opening
from jobmill.web import consistent_reads
from jobmill.web.auth import Recruiter, Viewer, Visitor
from jobmill.web.confirmation import read_optional_reason
from jobmill.web.consistent_reads import LONG_TIMEOUT
from jobmill.web.event_lines import AuditEventLine
from jobmill.web.form import Fields
from jobmill.web.pages.hiring import applicants
from jobmill.web.pages.hiring.applicants import BulkForm, SubmittedApplicantForm
from jobmill.web.pages.openings import opening_page
from jobmill.web.pages.openings.opening_page import PageState
from jobmill.web.pages.openings.terms_form import parse_number
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page, PageRenderer

router = APIRouter(prefix="/hiring/{opening_id}")

PAGE_SIZE = 100
Decision = Literal["accept", "reject", "score"]


@router.get("/review")
async def show(
    opening_id: PathId, visitor: Viewer, page: Page, after: str = "", did: str = ""
) -> HTMLResponse:
    return await _page(page, opening_id, after=after, did=did)


@router.post("/review")
async def decide_many(
    opening_id: PathId,
    visitor: Recruiter,
    form: Annotated[BulkForm, Depends(applicants.read_bulk_form)],
    page: Page,
) -> Response:
    """Accept the selected applications together, or reject them after a preview."""
    is_preview = form.action == "reject" and not form.confirmed
    try:
        if not form.ids:
            raise Invalid("Select at least one application.")
        if form.action not in ("accept", "reject"):
            raise Invalid("Choose an action: Accept or Reject.")
        async with page.db.transaction(LONG_TIMEOUT) as tx:
            before = await openings.get(tx, opening_id)
            results = await bulk_actions.run_bulk_action(
                tx,
                opening_id,
                form.action,
                form.ids,
                visitor.actor,
                reason=read_optional_reason({"reason": form.reason}),
                tell_reason=form.tell_reason,
                dry_run=is_preview,
            )
            names = await find_names(tx, form.ids) if is_preview else {}
            after = await openings.get(tx, opening_id)
        if all(result.outcome == "refused" for result in results):
            raise Conflict(f"Nothing was changed: {results[0].detail}.")
    except (Invalid, Conflict) as error:
        return await _page(page, opening_id, error=error)
    if is_preview:
        return page(
            "hiring/bulk.html",
            opening=before,
            form=form,
            results=results,
            names=names,
            path=f"/hiring/{opening_id}/review",
            back=f"/hiring/{opening_id}/review",
        )
    return _redirect(before, after)


@router.post("/people/{application_id}/review/{decision}")
async def decide(decision: Decision, form: SubmittedApplicantForm) -> Response:
    """Decide on one application, or show the person again with the error."""
    try:
        async with form.page.db.transaction() as tx:
            await applicants.get_application(tx, form.opening_id, form.application_id)
            before = await openings.get(tx, form.opening_id)
            await _decide(tx, form.application_id, decision, dict(form.fields), form.page.visitor)
            after = await openings.get(tx, form.opening_id)
    except (Invalid, Conflict) as error:
        return await applicants.show_applicant(*form.place, error=error)
    if decision == "score":
        return RedirectResponse(f"/hiring/{form.opening_id}/people/{form.application_id}", 303)
    return _redirect(before, after)


async def _decide(
    tx: Tx, application_id: int, decision: Decision, form: dict[str, str], visitor: Visitor
) -> None:
    reason = read_optional_reason(form) or None
    match decision:
        case "accept":
            await decisions.accept(tx, application_id, visitor.actor, reason=reason)
        case "reject":
            tell = form.get("tell_reason") == "yes"
            await decisions.reject(
                tx, application_id, visitor.actor, reason=reason, tell_reason=tell
            )
        case "score":
            typed = form.get("score", "").strip()
            points = parse_number(form, "score", "The score") if typed else None
            await decisions.score(tx, application_id, points, visitor.actor)


@router.post("/draw")
async def draw(opening_id: PathId, visitor: Recruiter, form: Fields, page: Page) -> Response:
    """Draw the entries of a lottery, once."""
    try:
        if form.get("confirmed") != "yes":
            raise Invalid("Confirm that the draw is final.")
        async with page.db.transaction(LONG_TIMEOUT) as tx:
            before = await openings.get(tx, opening_id)
            await lottery.draw(tx, opening_id, visitor.actor)
            after = await openings.get(tx, opening_id)
    except (Invalid, Conflict) as error:
        return await _page(page, opening_id, error=error)
    return _redirect(before, after)


def _redirect(before: Opening, after: Opening) -> RedirectResponse:
    return RedirectResponse(
        f"/hiring/{after.id}/review?did={before.last_seq}-{after.last_seq}", 303
    )


async def _page(
    page: PageRenderer,
    opening_id: int,
    *,
    after: str = "",
    did: str = "",
    error: AppError | None = None,
) -> HTMLResponse:
    async def read(tx: Tx) -> tuple[Opening, ReviewPage, LotteryProof | None, list[AuditEventLine]]:
        return (
            await openings.get(tx, opening_id),
            await review_list.list_in_review(tx, opening_id, after=after or None, limit=PAGE_SIZE),
            await lottery.find_proof(tx, opening_id, limit=1),
            await opening_page.list_recent(tx, PageState(opening_id, did=did), page.visitor),
        )

    opening, review, proof, recent = await consistent_reads.read_opening(page.db, opening_id, read)
    return page(
        "hiring/review.html",
        topics=["hiring"],
        opening=opening,
        review=review,
        lottery=proof if opening.admission == "lottery" else None,
        recent=recent,
        after=after,
        error=error,
    )
