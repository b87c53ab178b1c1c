"""/applications/{match_id}: notes, dates, contacts, files, the next step and the history."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import Field

from jobmill.documents import store
from jobmill.errors import Conflict, Invalid
from jobmill.matching import matches, profiles
from jobmill.matching.job_applications import custom_statuses, details, entries, files
from jobmill.matching.job_applications.details import ApplicationDetails, StoredDetails
from jobmill.time_zones import load_time_zone, parse_local_time
from jobmill.web import actor_labels, job_view
from jobmill.web.api.job_search.tracked_applications import ENTRY_KINDS, EntryPath
from jobmill.web.auth import Seeker
from jobmill.web.dependencies import Db
from jobmill.web.form import Fields, read_whole_number
from jobmill.web.page_query import PageQuery
from jobmill.web.parameters import MAX_ID, PathId
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/applications")


class ApplicationQuery(PageQuery):
    removed: EntryPath | None = None
    entry: Annotated[int, Field(ge=1, le=MAX_ID)] | None = None
    """The entry that was removed last."""


@router.get("/{match_id}")
async def show(
    match_id: PathId, query: Annotated[ApplicationQuery, Query()], visitor: Seeker, page: Page
) -> HTMLResponse:
    return await render(page, match_id, query=query)


async def render(
    page: Page,
    match_id: int,
    *,
    query: ApplicationQuery | None = None,
    error: Conflict | Invalid | None = None,
    typed: Mapping[str, str] | None = None,
) -> HTMLResponse:
    """The page; `error` says why a form was refused, and `typed` is what it contained."""
    query = query or ApplicationQuery()
    async with page.db.transaction() as tx:
        match = await matches.get(tx, match_id, owner=page.visitor.owner)
        version = await profiles.get(tx, match.profile, owner=page.visitor.owner)
        columns = await custom_statuses.read_columns(tx, version.profile_id)
        column_key = await custom_statuses.find_key(tx, match_id)
        stored = await details.get(tx, match_id)
        notes = await entries.find_notes(tx, match_id)
        contacts = await entries.find_contacts(tx, match_id)
        stored_files = await files.find_all(tx, match_id)
        document_ids = await store.find_ids(tx, match_id)
        logged = await matches.read_events(tx, match_id)
        events = await actor_labels.name_actors(tx, logged, page.visitor)
        removed = (
            await entries.find_removed(tx, match_id, ENTRY_KINDS[query.removed], query.entry)
            if query.removed and query.entry
            else None
        )
    zone = version.profile().person.timezone
    return page(
        "applications/application.html",
        match=match,
        url=job_view.web_url(match.apply_url) or job_view.web_url(match.url),
        columns=columns,
        column_key=column_key,
        details=stored,
        detail_values=_read_typed_details(typed) or _detail_values(stored, zone),
        time_zone=zone,
        notes=notes,
        contacts=contacts,
        files=stored_files,
        document_ids=document_ids,
        file_types=",".join(files.TYPES),
        today=dt.datetime.now(dt.UTC).date(),
        events=[(event.at, job_view.describe_match_event(event)) for event in reversed(events)],
        removed=removed,
        removed_kind=query.removed,
        error=error,
        typed=typed or {},
    )


@router.post("/{match_id}/details")
async def save_details(match_id: PathId, form: Fields, visitor: Seeker, page: Page) -> Response:
    """Save the dates and the next step."""
    try:
        async with page.db.transaction() as tx:
            match = await matches.get(tx, match_id, owner=visitor.owner)
            version = await profiles.get(tx, match.profile, owner=visitor.owner)
            await details.save(
                tx,
                match_id,
                _read_details(form, version.profile().person.timezone),
                owner=visitor.owner,
                based_on=read_whole_number(
                    form, "version", say("The form is not valid. Reload the page, then try again.")
                ),
                actor=visitor.actor.name,
            )
    except (Conflict, Invalid) as error:
        return await render(page, match_id, error=error, typed=form)
    return RedirectResponse(f"/applications/{match_id}", 303)


def _detail_values(stored: StoredDetails, zone: str) -> dict[str, str]:
    """The form with the stored details; its times are in the zone of the profile."""
    values = asdict(stored)
    if stored.interview_at:
        local = stored.interview_at.astimezone(load_time_zone(zone))
        values["interview_at"] = f"{local:%Y-%m-%dT%H:%M}"
    return {name: "" if value is None else str(value) for name, value in values.items()}


def _read_typed_details(typed: Mapping[str, str] | None) -> dict[str, str] | None:
    """A refused form as it was typed. Its version stays, so that it cannot overwrite a change that the
    person has not seen. None if another form was refused."""
    names = [field.name for field in fields(StoredDetails)]
    if not typed or "next_step" not in typed:
        return None
    return {name: typed.get(name, "") for name in names}


def _read_details(form: Mapping[str, str], zone: str) -> ApplicationDetails:
    interview = form.get("interview_at", "").strip()
    try:
        interview_at = parse_local_time(interview, zone) if interview else None
    except ValueError as error:
        raise Invalid(
            say("Enter the date and time of the interview, such as 2026-11-20 14:30.")
        ) from error
    return ApplicationDetails(
        _read_date(form, "applied_on"),
        interview_at,
        _read_date(form, "offer_deadline"),
        " ".join(form.get("next_step", "").split()) or None,
        _read_date(form, "next_step_on"),
    )


def _read_date(form: Mapping[str, str], name: str) -> dt.date | None:
    text = form.get(name, "").strip()
    try:
        return dt.date.fromisoformat(text) if text else None
    except ValueError as error:
        raise Invalid(say("Enter the date as year-month-day, such as 2026-11-20.")) from error


@router.post("/{match_id}/step-done")
async def finish_step(match_id: PathId, visitor: Seeker, db: Db) -> RedirectResponse:
    """Mark the next step as done."""
    async with db.transaction() as tx:
        await details.finish_next_step(tx, match_id, owner=visitor.owner, actor=visitor.actor.name)
    return RedirectResponse(f"/applications/{match_id}", 303)
