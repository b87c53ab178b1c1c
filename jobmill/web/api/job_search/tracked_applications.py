"""/api/tracked-applications: the jobs that a person saved or applied to, with notes, dates and files."""

from __future__ import annotations

import datetime as dt
from collections.abc import Awaitable, Callable
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import Field, StrictBool

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.db import Tx
from jobmill.matching import matches, profiles
from jobmill.matching.job_applications import (
    board,
    csv_export,
    csv_import,
    custom_statuses,
    details,
    entries,
    files,
    followups,
    statistics,
)
from jobmill.matching.job_applications.csv_import import RowOutcome
from jobmill.matching.job_applications.details import MAX_STEP_LENGTH, ApplicationDetails
from jobmill.matching.job_applications.entries import MAX_NOTE_LENGTH, ContactFields, EntryKind
from jobmill.matching.matches import Status
from jobmill.people.persons import Owner
from jobmill.queue.feed import notify_feeds
from jobmill.web.api.callers import ApiCaller, SeekerCaller
from jobmill.web.api.etags import SeenVersion
from jobmill.web.api.openapi import BINARY, file_answer, file_body, problems, text_content
from jobmill.web.api.pagination import ProfileParameter
from jobmill.web.api.schemas import RequestBody, Schema
from jobmill.web.auth import Seeker
from jobmill.web.dependencies import Db
from jobmill.web.file_downloads import download_headers
from jobmill.web.parameters import PLAIN_TEXT, InputTime, OutputTime, PathId

router = APIRouter(prefix="/tracked-applications", tags=["tracked applications"])

IMPORT_SECONDS = 30.0
ApplicationStatusName = Literal["saved", "applied", "interviewing", "offer", "rejected"]
EntryPath = Literal["notes", "contacts", "files"]
ENTRY_KINDS: dict[EntryPath, EntryKind] = {"notes": "note", "contacts": "contact", "files": "file"}
ShortInput = Annotated[str, Field(max_length=300), PLAIN_TEXT]

FILE_BODY = file_body("application/octet-stream", BINARY)
CSV_BODY = file_body(
    "text/csv", text_content("company,title,status\nWells & Co,Pump Engineer,applied\n")
)
CSV_ANSWER = file_answer(
    ["text/csv"], text_content(",".join(csv_export.COLUMNS) + "\r\n"), "CSV with a header."
)
FILE_ANSWER = file_answer(
    [media_type for media_type, _ in files.TYPES.values()],
    BINARY,
    "The file, with its own media type.",
)


class ApplicationCard(Schema):
    match_id: Annotated[int, Field(validation_alias="id", examples=[1])]
    title: str | None
    company: str | None
    url: str
    location: str | None
    score: Annotated[int | None, Field(validation_alias="match_score")]
    closed_at: OutputTime | None
    status: Status
    custom_status: str | None
    status_at: OutputTime
    seen: str
    """Send it with a move, so that a move of an outdated card is refused."""
    applied_on: dt.date | None
    next_step: str | None
    next_step_on: dt.date | None
    is_due: bool


class ApplicationColumn(Schema):
    key: Annotated[str, Field(examples=["applied"])]
    """The `column` of a move."""
    name: str
    status: Status
    custom_status_id: int | None
    count: int
    applications: list[ApplicationCard]
    """The first 25."""


class DueStepItem(Schema):
    match_id: Annotated[int, Field(examples=[1])]
    title: str | None
    company: str | None
    status: Status
    step: str
    due_on: dt.date


class ApplicationBoard(Schema):
    profile: Annotated[str, Field(examples=["main"])]
    columns: list[ApplicationColumn]
    due: list[DueStepItem]
    """Next steps that are due, of all profiles."""


class WeekItem(Schema):
    week: Annotated[dt.date, Field(examples=["2026-11-16"])]
    count: int


class DurationItem(Schema):
    name: Annotated[str, Field(examples=["applied"])]
    median_days: float
    count: int


class ApplicationFigures(Schema):
    weeks: list[WeekItem]
    applied: int
    replied: int
    durations: list[DurationItem]


class NoteRecord(Schema):
    id: Annotated[int, Field(examples=[1])]
    body: str
    version: int
    """Send it as `If-Match: "1"` to change only this version."""
    created_at: OutputTime
    edited_at: OutputTime | None


class ContactRecord(Schema):
    id: Annotated[int, Field(examples=[1])]
    name: str
    role: str
    email: str
    phone: str
    link: str


class FileRecord(Schema):
    id: Annotated[int, Field(examples=[1])]
    name: str
    media_type: str
    size: int
    created_at: OutputTime


class TrackedApplication(Schema):
    match_id: Annotated[int, Field(examples=[1])]
    title: str | None
    company: str | None
    status: Status
    column: str | None
    version: int
    """Of the dates and the next step; 0 before they are set."""
    applied_on: dt.date | None
    interview_at: OutputTime | None
    offer_deadline: dt.date | None
    next_step: str | None
    next_step_on: dt.date | None
    notes: list[NoteRecord]
    contacts: list[ContactRecord]
    files: list[FileRecord]


class ApplicationDates(RequestBody):
    """Replaces all of them: those that are not given are cleared."""

    applied_on: dt.date | None = None
    interview_at: InputTime | None = None
    offer_deadline: dt.date | None = None
    next_step: (
        Annotated[str, Field(max_length=MAX_STEP_LENGTH, examples=["Call Ada"]), PLAIN_TEXT] | None
    ) = None
    next_step_on: dt.date | None = None


class ApplicationMove(RequestBody):
    column: Annotated[ShortInput, Field(examples=["applied"])]
    """The key of a column, or `dismissed`."""
    seen: ShortInput | None = None
    """Of the card that is moved; the move is refused with 409 if it was moved meanwhile."""


class UndoApplicationMove(RequestBody):
    seen: Annotated[ShortInput, Field(examples=["applied 2026-11-17T09:30:00Z"])] | None = None


class ApplicationNoteBody(RequestBody):
    body: Annotated[
        str, Field(min_length=1, max_length=MAX_NOTE_LENGTH, examples=["Called."]), PLAIN_TEXT
    ]


class ContactBody(RequestBody):
    name: Annotated[str, Field(min_length=1, max_length=200, examples=["Ada"]), PLAIN_TEXT]
    role: ShortInput = ""
    email: ShortInput = ""
    phone: ShortInput = ""
    link: ShortInput = ""


class CustomStatusBody(RequestBody):
    name: Annotated[
        str,
        Field(min_length=1, max_length=custom_statuses.MAX_NAME_LENGTH, examples=["Phone screen"]),
        PLAIN_TEXT,
    ]
    counts_as: ApplicationStatusName
    """The status that applications in it have."""
    shown_after: ApplicationStatusName
    profile: ShortInput | None = None


class CustomStatusRecord(Schema):
    id: Annotated[int, Field(examples=[1])]
    name: str


class ImportedApplication(Schema):
    line: Annotated[int, Field(examples=[2])]
    outcome: RowOutcome
    title: str
    company: str
    status: str
    problem: str


class ApplicationImport(Schema):
    dry_run: StrictBool
    lines: list[ImportedApplication]


async def _read(tx: Tx, match_id: int, owner: Owner) -> TrackedApplication:
    match = await matches.get(tx, match_id, owner=owner)
    return TrackedApplication.of(
        await details.get(tx, match_id),
        match_id=match.id,
        title=match.title,
        company=match.company,
        status=match.status,
        column=await custom_statuses.find_key(tx, match_id),
        notes=await entries.find_notes(tx, match_id),
        contacts=await entries.find_contacts(tx, match_id),
        files=await files.find_all(tx, match_id),
    )


async def _change(
    caller: ApiCaller,
    match_id: int,
    change: Callable[..., Awaitable[object]],
    *values: object,
    status: int = 200,
    **options: object,
) -> Response:
    """Change an application of the caller once, and respond with what it is then."""
    owner, actor = caller.owner, caller.actor.name

    async def work(tx: Tx) -> TrackedApplication:
        await change(tx, match_id, *values, owner=owner, actor=actor, **options)
        return await _read(tx, match_id, owner)

    return await caller.run_once(work, status=status)


@router.get("", response_model=ApplicationBoard, responses=problems(404))
async def show_application_board(
    caller: SeekerCaller, profile: ProfileParameter = None
) -> Response:
    """The columns of the board with their applications, and the next steps that are due."""
    async with caller.db.transaction() as tx:
        version = await profiles.get(tx, profile or None, owner=caller.owner)
        columns = await board.read_board(tx, version.profile_id)
        due = await followups.due(tx, caller.owner)
    shown = [
        ApplicationColumn.of(row.column, count=row.count, applications=row.applications)
        for row in columns
    ]
    return caller.respond(ApplicationBoard.of(profile=version.name, columns=shown, due=due))


@router.get("/statistics", response_model=ApplicationFigures, responses=problems(404))
async def show_application_statistics(
    caller: SeekerCaller, profile: ProfileParameter = None
) -> Response:
    """Applications per week, replies, and how long applications keep a status."""
    async with caller.db.transaction() as tx:
        version = await profiles.get(tx, profile or None, owner=caller.owner)
        counted = await statistics.read_statistics(tx, version.profile_id)
    replies = counted.replies
    return caller.respond(
        ApplicationFigures.of(counted, applied=replies.applied, replied=replies.replied)
    )


@router.get("/export.csv", response_class=Response, responses={**CSV_ANSWER, **problems(404)})
async def export_tracked_applications(
    visitor: Seeker, db: Db, profile: ProfileParameter = None
) -> Response:
    """All applications as CSV, which can be imported again."""
    async with db.transaction() as tx:
        version = await profiles.get(tx, profile or None, owner=visitor.owner)
        content = await csv_export.write(tx, version.profile_id)
    return Response(content, media_type="text/csv", headers=download_headers("applications.csv"))


@router.post(
    "/import", response_model=ApplicationImport, responses=problems(404), openapi_extra=CSV_BODY
)
async def import_tracked_applications(
    caller: SeekerCaller,
    profile: ProfileParameter = None,
    dry_run: Annotated[
        bool, Query(alias="dryRun", description="Report what would happen, and change nothing.")
    ] = False,
) -> Response:
    """Add the applications of a CSV file; known ones stay as they are."""
    async with caller.db.transaction() as tx:
        version = await profiles.get(tx, profile or None, owner=caller.owner)
    file = await csv_import.read_file(await caller.request.body())

    async def work(tx: Tx) -> ApplicationImport:
        actor = caller.actor.name
        rows = await csv_import.import_rows(
            tx, version, file, PLATFORM_RULES, actor=actor, dry_run=dry_run
        )
        if not dry_run:
            await notify_feeds(tx)
        return ApplicationImport.of(dry_run=dry_run, lines=rows)

    return await caller.run_once(work, time_limit=IMPORT_SECONDS)


@router.post(
    "/statuses", response_model=CustomStatusRecord, status_code=201, responses=problems(404)
)
async def create_custom_status(body: CustomStatusBody, caller: SeekerCaller) -> Response:
    """Add a column with a status of your own."""

    async def work(tx: Tx) -> CustomStatusRecord:
        version = await profiles.get(tx, body.profile or None, owner=caller.owner)
        id = await custom_statuses.add(
            tx,
            version.profile_id,
            body.name,
            status=body.counts_as,
            shown_after=body.shown_after,
            actor=caller.actor.name,
        )
        return CustomStatusRecord(id=id, name=body.name)

    return await caller.run_once(work, status=201)


@router.delete("/statuses/{custom_status_id}", status_code=204)
async def remove_custom_status(
    custom_status_id: PathId, visitor: Seeker, db: Db, profile: ProfileParameter = None
) -> None:
    """Remove a column; its applications keep the status that it counted as."""
    async with db.transaction() as tx:
        version = await profiles.get(tx, profile or None, owner=visitor.owner)
        await custom_statuses.remove(
            tx, version.profile_id, custom_status_id, actor=visitor.actor.name
        )


@router.get("/{match_id}", response_model=TrackedApplication)
async def show_tracked_application(match_id: PathId, caller: SeekerCaller) -> Response:
    """An application with its dates, notes, contacts and files."""
    async with caller.db.transaction() as tx:
        record = await _read(tx, match_id, caller.owner)
    return caller.respond(record, version=record.version)


@router.put("/{match_id}", response_model=TrackedApplication, responses=problems(412))
async def save_application_dates(
    match_id: PathId, body: ApplicationDates, caller: SeekerCaller, based_on: SeenVersion
) -> Response:
    """Replace the dates and the next step."""
    dates = ApplicationDetails(**body.model_dump())
    return await _change(caller, match_id, details.save, dates, based_on=based_on)


@router.post("/{match_id}/move", response_model=TrackedApplication)
async def move_application(
    match_id: PathId, body: ApplicationMove, caller: SeekerCaller
) -> Response:
    """Move an application to another column."""

    return await _change(caller, match_id, board.move, body.column, seen=body.seen)


@router.post("/{match_id}/undo", response_model=TrackedApplication)
async def undo_application_move(
    match_id: PathId, body: UndoApplicationMove, caller: SeekerCaller
) -> Response:
    """Move an application back to where it was."""

    return await _change(caller, match_id, board.undo, seen=body.seen)


@router.post("/{match_id}/step-done", response_model=TrackedApplication)
async def finish_application_step(match_id: PathId, caller: SeekerCaller) -> Response:
    """Mark the next step as done."""
    return await _change(caller, match_id, details.finish_next_step)


@router.post("/{match_id}/notes", response_model=TrackedApplication, status_code=201)
async def add_application_note(
    match_id: PathId, body: ApplicationNoteBody, caller: SeekerCaller
) -> Response:
    """Add a note. The same text again changes nothing."""

    return await _change(caller, match_id, entries.add_note, body.body, status=201)


@router.put(
    "/{match_id}/notes/{note_id}", response_model=TrackedApplication, responses=problems(412)
)
async def edit_application_note(
    match_id: PathId,
    note_id: PathId,
    body: ApplicationNoteBody,
    caller: SeekerCaller,
    based_on: SeenVersion,
) -> Response:
    """Replace the text of a note."""

    async def change(tx: Tx, match_id: int, *, owner: Owner, actor: str) -> None:
        await matches.lock(tx, match_id, owner=owner)
        versions = {note.id: note.version for note in await entries.find_notes(tx, match_id)}
        version = versions.get(note_id, 0) if based_on is None else based_on
        await entries.edit_note(
            tx, match_id, note_id, body.body, based_on=version, owner=owner, actor=actor
        )

    return await _change(caller, match_id, change)


@router.post("/{match_id}/contacts", response_model=TrackedApplication, status_code=201)
async def save_application_contact(
    match_id: PathId, body: ContactBody, caller: SeekerCaller
) -> Response:
    """Add a contact, or replace the one of the same name."""

    contact = ContactFields(**body.model_dump())
    return await _change(caller, match_id, entries.save_contact, contact, status=201)


@router.post(
    "/{match_id}/files", response_model=TrackedApplication, status_code=201, openapi_extra=FILE_BODY
)
async def add_application_file(
    match_id: PathId,
    name: Annotated[
        str,
        Query(
            min_length=1, max_length=200, pattern=r"^[^\x00]*$", description="The name to store."
        ),
    ],
    caller: SeekerCaller,
) -> Response:
    """Store a file: the body is its content, and the end of its name says what it is."""
    async with caller.db.transaction() as tx:
        await matches.get(tx, match_id, owner=caller.owner)
    data = await caller.request.body()
    return await _change(caller, match_id, files.add, name, data, status=201)


@router.get("/{match_id}/files/{file_id}", response_class=Response, responses=FILE_ANSWER)
async def download_application_file(
    match_id: PathId, file_id: PathId, visitor: Seeker, db: Db
) -> Response:
    """A stored file, always as a download."""
    async with db.transaction() as tx:
        file = await files.get(tx, match_id, file_id, owner=visitor.owner)
    return Response(file.data, media_type=file.media_type, headers=download_headers(file.name))


@router.delete("/{match_id}/{entry_path}/{entry_id}", status_code=204)
async def remove_application_entry(
    match_id: PathId, entry_path: EntryPath, entry_id: PathId, visitor: Seeker, db: Db
) -> None:
    """Remove a note, a contact or a file; it can be restored for a day."""
    kind, actor = ENTRY_KINDS[entry_path], visitor.actor.name
    async with db.transaction() as tx:
        await entries.remove(tx, match_id, kind, entry_id, owner=visitor.owner, actor=actor)


@router.post("/{match_id}/{entry_path}/{entry_id}/restore", response_model=TrackedApplication)
async def restore_application_entry(
    match_id: PathId, entry_path: EntryPath, entry_id: PathId, caller: SeekerCaller
) -> Response:
    """Undo the removal of a note, a contact or a file."""

    kind = ENTRY_KINDS[entry_path]
    return await _change(caller, match_id, entries.restore, kind, entry_id)
