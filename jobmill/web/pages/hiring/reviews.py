"""/hiring/{opening_id}/people/{application_id}: notes, ratings and tags; /hiring/mentions: notes to read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from fastapi import APIRouter, Response
from fastapi.responses import RedirectResponse

from jobmill.db import Tx
from jobmill.errors import Conflict, Forbidden, Invalid
from jobmill.hiring.records import applications
from jobmill.hiring.reviews import mentions, notes, ratings, tags
from jobmill.hiring.reviews.notes import NoteNotFound
from jobmill.web.auth import Recruiter
from jobmill.web.dependencies import Db
from jobmill.web.pages.hiring import applicants
from jobmill.web.pages.hiring.applicants import ApplicantForm, SubmittedApplicantForm
from jobmill.web.pages.hiring.review_panel import NO_DRAFT, NoteDraft
from jobmill.web.parameters import PathId
from jobmill.web.translations import say

router = APIRouter(prefix="/hiring")

PERSON = "/{opening_id}/people/{application_id}"


@router.post(f"{PERSON}/notes")
async def add_note(form: SubmittedApplicantForm) -> Response:
    body = form.fields.get("body", "")

    async def work(tx: Tx) -> str:
        note = await notes.add_note(tx, form.application_id, body, form.page.visitor.actor)
        return f"note-{note.id}"

    return await _change(form, work, NoteDraft(body))


@router.post(f"{PERSON}/notes/{{note_id}}")
async def edit_note(note_id: PathId, form: SubmittedApplicantForm) -> Response:
    body = form.fields.get("body", "")

    async def work(tx: Tx) -> str:
        await _require_note(tx, form.application_id, note_id)
        await notes.edit_note(tx, note_id, body, form.page.visitor.actor)
        return f"note-{note_id}"

    return await _change(form, work, NoteDraft(body, note_id))


@router.post(f"{PERSON}/notes/{{note_id}}/delete")
async def delete_note(note_id: PathId, form: SubmittedApplicantForm) -> Response:
    async def work(tx: Tx) -> str:
        await _require_note(tx, form.application_id, note_id)
        await notes.delete_note(tx, note_id, form.page.visitor.actor)
        return "notes"

    return await _change(form, work)


@router.post(f"{PERSON}/rating")
async def rate(form: SubmittedApplicantForm) -> Response:
    """Save one's own rating; without a score it is removed."""

    async def work(tx: Tx) -> str:
        score, criterion = _read_score(form.fields), form.fields.get("criterion", "")
        actor = form.page.visitor.actor
        await ratings.rate(tx, form.application_id, score, actor, criterion=criterion)
        return "review"

    return await _change(form, work)


@router.post(f"{PERSON}/tags")
async def add_tag(form: SubmittedApplicantForm) -> Response:
    async def work(tx: Tx) -> str:
        tag = form.fields.get("tag", "")
        await tags.add_tag(tx, form.application_id, tag, form.page.visitor.actor)
        return "review"

    return await _change(form, work)


@router.post(f"{PERSON}/tags/remove")
async def remove_tag(form: SubmittedApplicantForm) -> Response:
    async def work(tx: Tx) -> str:
        await tags.remove_tag(tx, form.application_id, form.fields.get("tag", ""))
        return "review"

    return await _change(form, work)


@router.post("/mentions/{note_id}/read")
async def read_mention(note_id: PathId, visitor: Recruiter, db: Db) -> Response:
    """Open a note that mentions the visitor, which then counts as read."""
    async with db.transaction() as tx:
        note = await notes.get_note(tx, note_id)
        application = await applications.get(tx, note.application_id)
        if visitor.person_id is not None:
            await mentions.mark_read(tx, note_id, visitor.person_id)
    path = f"/hiring/{application.opening_id}/people/{application.id}#note-{note_id}"
    return RedirectResponse(path, 303)


async def _change(
    form: ApplicantForm, work: Callable[[Tx], Awaitable[str]], draft: NoteDraft = NO_DRAFT
) -> Response:
    """Make the change and show the part of the page that `work` names, or the error and the draft."""
    try:
        async with form.page.db.transaction() as tx:
            await applicants.get_application(tx, form.opening_id, form.application_id)
            anchor = await work(tx)
    except (Invalid, Conflict, Forbidden) as error:
        return await applicants.show_applicant(*form.place, error=error, draft=draft)
    path = f"/hiring/{form.opening_id}/people/{form.application_id}"
    return RedirectResponse(f"{path}#{anchor}", 303)


async def _require_note(tx: Tx, application_id: int, note_id: int) -> None:
    if (await notes.get_note(tx, note_id)).application_id != application_id:
        raise NoteNotFound(note_id)


def _read_score(form: Mapping[str, str]) -> int | None:
    typed = form.get("score", "")
    if typed not in ("", *map(str, ratings.SCORES)):
        raise Invalid(say("Choose a rating from 1 to 5."))
    return int(typed) if typed else None
