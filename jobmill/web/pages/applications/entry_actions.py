"""Add, change, remove and restore the notes, contacts and files of an application."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse
from starlette.datastructures import UploadFile

from jobmill.db import Tx
from jobmill.errors import Conflict, Invalid
from jobmill.matching import matches
from jobmill.matching.job_applications import entries, files
from jobmill.matching.job_applications.entries import ContactFields
from jobmill.people.persons import Owner
from jobmill.web.api.job_search.tracked_applications import (
    ENTRY_KINDS,
    EntryPath,
    download_application_file,
)
from jobmill.web.auth import Seeker, Visitor
from jobmill.web.dependencies import Db, RequestDatabase
from jobmill.web.form import Fields, read_whole_number
from jobmill.web.pages.applications.application_page import ApplicationQuery, render
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say

router = APIRouter(prefix="/applications")


router.get("/{match_id}/files/{file_id}")(download_application_file)


@router.post("/{match_id}/notes")
async def add_note(match_id: PathId, form: Fields, visitor: Seeker, page: Page) -> Response:
    save = partial(entries.add_note, body=form.get("body", ""))
    return await _save(page, match_id, "notes", form, save)


async def _save(
    page: PageRenderer,
    match_id: int,
    anchor: str,
    typed: Mapping[str, str],
    save: Callable[..., Awaitable[object]],
) -> Response:
    """Save an entry and show its part of the page, or the error and what was typed."""
    owner, actor = page.visitor.owner, page.visitor.actor.name
    try:
        async with page.db.transaction() as tx:
            await matches.get(tx, match_id, owner=owner)
            await save(tx, match_id, owner=owner, actor=actor)
    except (Conflict, Invalid) as error:
        return await render(page, match_id, error=error, typed=typed)
    return RedirectResponse(f"/applications/{match_id}#{anchor}", 303)


@router.post("/{match_id}/notes/{note_id}")
async def edit_note(
    match_id: PathId, note_id: PathId, form: Fields, visitor: Seeker, page: Page
) -> Response:
    async def save(tx: Tx, match_id: int, *, owner: Owner, actor: str) -> None:
        body = form.get("body", "")
        version = read_whole_number(
            form, "version", say("The form is not valid. Reload the page, then try again.")
        )
        await entries.edit_note(
            tx, match_id, note_id, body, based_on=version, owner=owner, actor=actor
        )

    # A refused text is in the form for a new note, so that it is not lost.
    return await _save(page, match_id, "notes", form, save)


@router.post("/{match_id}/contacts")
async def save_contact(match_id: PathId, form: Fields, visitor: Seeker, page: Page) -> Response:
    save = partial(entries.save_contact, contact=_read_contact(form))
    return await _save(page, match_id, "contacts", form, save)


@router.post("/{match_id}/contacts/{contact_id}")
async def edit_contact(
    match_id: PathId, contact_id: PathId, form: Fields, visitor: Seeker, page: Page
) -> Response:
    contact = _read_contact(form)
    save = partial(entries.edit_contact, id=contact_id, contact=contact, seen=form.get("seen", ""))
    typed = {**form, "contact_id": str(contact_id)}
    return await _save(page, match_id, "contacts", typed, save)


def _read_contact(form: Mapping[str, str]) -> ContactFields:
    names = ("role", "email", "phone", "link")
    return ContactFields(
        " ".join(form.get("contact_name", "").split()),
        **{name: form.get(name, "").strip() for name in names},
    )


@router.post("/{match_id}/files")
async def add_file(match_id: PathId, visitor: Seeker, page: Page) -> Response:
    async with page.db.transaction() as tx:
        await matches.get(tx, match_id, owner=visitor.owner)
    try:
        name, data = await _read_upload(page.request)
        async with page.db.transaction() as tx:
            await files.add(tx, match_id, name, data, owner=visitor.owner, actor=visitor.actor.name)
    except (Conflict, Invalid) as error:
        return await render(page, match_id, error=error)
    return RedirectResponse(f"/applications/{match_id}#files", 303)


async def _read_upload(request: Request) -> tuple[str, bytes]:
    async with request.form(max_files=1, max_fields=5, max_part_size=files.MAX_BYTES) as form:
        file = form.get("file")
        if not isinstance(file, UploadFile) or not file.filename:
            raise Invalid(say("Choose a file."))
        return file.filename, await file.read()


@router.post("/{match_id}/{entry_path}/{entry_id}/remove")
async def remove(
    match_id: PathId, entry_path: EntryPath, entry_id: PathId, visitor: Seeker, db: Db
) -> RedirectResponse:
    await _change(entries.remove, match_id, entry_path, entry_id, visitor, db)
    query = ApplicationQuery(removed=entry_path, entry=entry_id)
    return RedirectResponse(query.url(f"/applications/{match_id}"), 303)


@router.post("/{match_id}/{entry_path}/{entry_id}/restore")
async def restore(
    match_id: PathId, entry_path: EntryPath, entry_id: PathId, visitor: Seeker, db: Db
) -> RedirectResponse:
    await _change(entries.restore, match_id, entry_path, entry_id, visitor, db)
    return RedirectResponse(f"/applications/{match_id}#{entry_path}", 303)


async def _change(
    change: Callable[..., Awaitable[None]],
    match_id: int,
    path: EntryPath,
    entry_id: int,
    visitor: Visitor,
    db: RequestDatabase,
) -> None:
    async with db.transaction() as tx:
        by = {"owner": visitor.owner, "actor": visitor.actor.name}
        await change(tx, match_id, ENTRY_KINDS[path], entry_id, **by)
