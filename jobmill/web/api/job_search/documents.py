"""/api/documents: resumes and cover letters for matches."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Query, Response
from pydantic import Field, StrictBool

from jobmill.db import Tx
from jobmill.documents import document_files, drafting, store
from jobmill.documents.document import (
    ApplicationDocument,
    DocumentKind,
    DocumentLine,
    Paper,
    Template,
    Wording,
    edit_line,
    iter_lines,
    map_lines,
)
from jobmill.documents.store import FORMATS, DocumentFormat, StoredDocument
from jobmill.errors import Invalid
from jobmill.matching import matches, profiles
from jobmill.people.persons import Owner
from jobmill.pipelines import documents as document_pipeline
from jobmill.web import task_progress
from jobmill.web.api.callers import SeekerCaller
from jobmill.web.api.etags import SeenVersion
from jobmill.web.api.job_search.tracked_applications import FILE_ANSWER
from jobmill.web.api.openapi import problems
from jobmill.web.api.pagination import AfterId, PageOfItems, ProfileParameter, RowLimit
from jobmill.web.api.schemas import RequestBody, Schema
from jobmill.web.auth import Seeker, Visitor
from jobmill.web.dependencies import Db, RequestDatabase
from jobmill.web.file_downloads import download_headers
from jobmill.web.parameters import MAX_ID, PLAIN_TEXT, BodyId, OutputTime, PathId

router = APIRouter(prefix="/documents", tags=["documents"])

MatchFilter = Annotated[
    int | None, Query(alias="matchId", ge=1, le=MAX_ID, description="Only those of this match.")
]


class DocumentItem(Schema):
    id: Annotated[int, Field(examples=[1])]
    match_id: int
    kind: DocumentKind
    version: int
    title: str | None
    company: str | None
    saved_at: OutputTime
    sent_at: OutputTime | None


class DocumentItems(PageOfItems):
    items: list[DocumentItem]


class DocumentLineItem(Schema):
    key: Annotated[str, Field(examples=["resume.experience.0.highlights.2"])]
    """The fact of the profile that the line states."""
    text: str
    fact: str
    """The words of the fact when the line was written."""
    answers: list[str]
    """Words of the posting that the line answers."""
    source: str
    """The page that the line quotes."""
    enabled: bool
    wording: Wording


class DocumentRecord(Schema):
    id: Annotated[int, Field(examples=[1])]
    match_id: int
    kind: DocumentKind
    version: int
    newest: int
    """The number of the newest version."""
    saved_at: OutputTime
    template: Template
    paper: Paper
    lines: list[DocumentLineItem]
    dropped: list[str]
    """Rewordings of a model that claimed more than the fact; they are never printed."""


class NewDocument(RequestBody):
    match_id: Annotated[BodyId, Field(examples=[1])]
    kind: Annotated[DocumentKind, Field(examples=["resume"])]


class LineChange(Schema):
    key: Annotated[str, Field(max_length=200, examples=["resume.headline"]), PLAIN_TEXT]
    text: Annotated[str, Field(max_length=2_000), PLAIN_TEXT] | None = None
    """Empty: the words of the fact."""
    enabled: StrictBool | None = None


class DocumentChange(RequestBody):
    template: Annotated[Template | None, Field(examples=["modern"])] = None
    paper: Annotated[Paper | None, Field(examples=["a4"])] = None
    lines: Annotated[tuple[LineChange, ...], Field(max_length=1_000)] = ()
    """Lines that are not named stay as they are."""


class DocumentVersionItem(Schema):
    version: Annotated[int, Field(examples=[1])]
    what: str
    saved_at: OutputTime
    saved_by: str | None


class SentFile(Schema):
    version: int
    format: DocumentFormat
    size: int
    sha256: str
    sent_at: OutputTime


class DocumentHistory(Schema):
    versions: list[DocumentVersionItem]
    sent: list[SentFile]
    """Files that were frozen when they were sent."""


class SentBody(RequestBody):
    version: Annotated[BodyId, Field(examples=[1])]
    format: Annotated[DocumentFormat, Field(examples=["pdf"])]


class QueuedDocuments(Schema):
    tasks: Annotated[int, Field(examples=[10])]


@router.get("", response_model=DocumentItems)
async def list_documents(
    caller: SeekerCaller, match_id: MatchFilter = None, after: AfterId = 0, limit: RowLimit = 50
) -> Response:
    """Resumes and letters, the newest first."""
    async with caller.db.transaction() as tx:
        rows = await store.find_all(
            tx, owner=caller.owner, match_id=match_id, before=after or None, limit=limit + 1
        )
    return caller.respond_page(DocumentItems, rows, limit)


@router.post("", response_model=DocumentRecord, status_code=201, responses=problems(404))
async def write_document(body: NewDocument, caller: SeekerCaller) -> Response:
    """Write a document from the profile. A match that has one keeps it."""
    async with caller.db.transaction() as tx:
        material = await drafting.read_material(tx, body.match_id, owner=caller.owner)
        id = await store.find_id(tx, body.match_id, body.kind)
    document = await drafting.draft_document(material, body.kind)

    async def work(tx: Tx) -> DocumentRecord:
        stored = id or await store.create(
            tx, body.match_id, document, owner=caller.owner, actor=caller.actor.name
        )
        return await _read(tx, stored, caller.owner)

    return await caller.run_once(work, status=201)


@router.post("/best", response_model=QueuedDocuments, status_code=202, responses=problems(404))
async def write_best_documents(caller: SeekerCaller, profile: ProfileParameter = None) -> Response:
    """Write the documents of the best matches, as tasks."""

    async def work(tx: Tx) -> QueuedDocuments:
        version = await profiles.get(tx, profile or None, owner=caller.owner)
        items = await document_pipeline.list_best_items(
            tx, version.profile_id, reword=False, actor=caller.actor.name
        )
        tasks = {await task_progress.submit_or_join(tx, item) for item in items}
        return QueuedDocuments(tasks=len(tasks))

    return await caller.run_once(work, status=202)


@router.get("/{document_id}", response_model=DocumentRecord)
async def show_document(document_id: PathId, caller: SeekerCaller) -> Response:
    """The newest version. Its ETag goes into the If-Match header of a change."""
    async with caller.db.transaction() as tx:
        record = await _read(tx, document_id, caller.owner)
    return caller.respond(record, version=record.version)


@router.patch("/{document_id}", response_model=DocumentRecord, responses=problems(412))
async def edit_document(
    document_id: PathId, body: DocumentChange, caller: SeekerCaller, based_on: SeenVersion
) -> Response:
    """Switch lines on and off, edit them, or change the layout, as a new version."""

    def change(stored: StoredDocument) -> ApplicationDocument:
        return _apply(stored.document(), body)

    work = _save(document_id, caller.visitor, based_on, change, "edited")
    return await caller.run_once(work)


@router.post("/{document_id}/rebuild", response_model=DocumentRecord, responses=problems(412))
async def rebuild_document(
    document_id: PathId, caller: SeekerCaller, based_on: SeenVersion
) -> Response:
    """Write the document again from the newest profile, as a new version."""
    async with caller.db.transaction() as tx:
        stored = await store.get(tx, document_id, owner=caller.owner)
        material = await drafting.read_material(tx, stored.match_id, owner=caller.owner)
    draft = await drafting.draft_document(material, stored.kind)

    def change(stored: StoredDocument) -> ApplicationDocument:
        former = stored.document()
        return draft.model_copy(update={"template": former.template, "paper": former.paper})

    work = _save(document_id, caller.visitor, based_on, change, "written")
    return await caller.run_once(work)


@router.post(
    "/{document_id}/restore/{version}", response_model=DocumentRecord, responses=problems(412)
)
async def restore_document(
    document_id: PathId, version: PathId, caller: SeekerCaller, based_on: SeenVersion
) -> Response:
    """Save an older version again as the newest."""
    async with caller.db.transaction() as tx:
        older = await store.get(tx, document_id, version=version, owner=caller.owner)
    work = _save(document_id, caller.visitor, based_on, lambda stored: older.document(), "restored")
    return await caller.run_once(work)


@router.post("/{document_id}/reword", response_model=QueuedDocuments, status_code=202)
async def reword_document(document_id: PathId, caller: SeekerCaller) -> Response:
    """Let a task ask the model for other words, within the budget."""

    async def work(tx: Tx) -> QueuedDocuments:
        await submit_rewording(tx, document_id, caller.visitor)
        return QueuedDocuments(tasks=1)

    return await caller.run_once(work, status=202)


async def submit_rewording(tx: Tx, document_id: int, visitor: Visitor) -> None:
    stored = await store.get(tx, document_id, owner=visitor.owner)
    material = await drafting.read_material(tx, stored.match_id, owner=visitor.owner)
    item = document_pipeline.new_item(
        stored.match_id,
        material.version.profile_id,
        kinds=[stored.kind],
        reword=True,
        actor=visitor.actor.name,
    )
    await task_progress.submit_or_join(tx, item)


@router.get("/{document_id}/versions", response_model=DocumentHistory)
async def list_document_versions(document_id: PathId, caller: SeekerCaller) -> Response:
    """All versions, and the files that were sent."""
    async with caller.db.transaction() as tx:
        return caller.respond(await _read_history(tx, document_id, caller.owner))


@router.post("/{document_id}/sent", response_model=DocumentHistory)
async def mark_document_sent(document_id: PathId, body: SentBody, caller: SeekerCaller) -> Response:
    """Freeze the file that was sent."""
    async with caller.db.transaction() as tx:
        stored = await store.get(tx, document_id, version=body.version, owner=caller.owner)
    file = await document_files.render_file(stored.document(), body.format)

    async def work(tx: Tx) -> DocumentHistory:
        await store.mark_sent(
            tx,
            document_id,
            body.version,
            body.format,
            file.data,
            owner=caller.owner,
            actor=caller.actor.name,
        )
        return await _read_history(tx, document_id, caller.owner)

    return await caller.run_once(work)


@router.get(
    "/{document_id}/files/{version}/{format}", response_class=Response, responses=FILE_ANSWER
)
async def download_document(
    document_id: PathId, version: PathId, format: DocumentFormat, visitor: Seeker, db: Db
) -> Response:
    """The file of a version as it prints now."""
    stored, company = await _find_file(db, document_id, version, visitor.owner)
    file = await document_files.render_file(stored.document(), format)
    return _respond(stored, company, format, file.data)


@router.get(
    "/{document_id}/sent/{version}/{format}", response_class=Response, responses=FILE_ANSWER
)
async def download_sent_document(
    document_id: PathId, version: PathId, format: DocumentFormat, visitor: Seeker, db: Db
) -> Response:
    """The frozen file, byte for byte as it was sent."""
    stored, company = await _find_file(db, document_id, version, visitor.owner)
    async with db.transaction() as tx:
        data = await store.get_sent(tx, document_id, version, format)
    return _respond(stored, company, format, data)


async def _find_file(
    db: RequestDatabase, id: int, version: int, owner: Owner
) -> tuple[StoredDocument, str | None]:
    async with db.transaction() as tx:
        stored = await store.get(tx, id, version=version, owner=owner)
        match = await matches.get(tx, stored.match_id, owner=owner)
    return stored, match.company


def _respond(
    stored: StoredDocument, company: str | None, format: DocumentFormat, data: bytes
) -> Response:
    headers = download_headers(document_files.file_name(stored.document(), company, format))
    return Response(data, media_type=FORMATS[format], headers=headers)


def _save(
    id: int,
    visitor: Visitor,
    based_on: int | None,
    change: Callable[[StoredDocument], ApplicationDocument],
    what: str,
) -> Callable[[Tx], Awaitable[DocumentRecord]]:
    """Work that saves the changed document; without `based_on` it replaces whatever is there."""

    async def work(tx: Tx) -> DocumentRecord:
        stored = await store.lock(tx, id, owner=visitor.owner)
        await store.save(
            tx,
            id,
            change(stored),
            based_on=stored.version if based_on is None else based_on,
            what=what,
            owner=visitor.owner,
            actor=visitor.actor.name,
        )
        return await _read(tx, id, visitor.owner)

    return work


def _apply(document: ApplicationDocument, body: DocumentChange) -> ApplicationDocument:
    changes = {change.key: change for change in body.lines}
    keys = {line.key for line in iter_lines(document)}
    if unknown := [key for key in changes if key not in keys]:
        raise Invalid(f"The document has no line {unknown[0]!r}.")

    def changed(line: DocumentLine) -> DocumentLine:
        change = changes.get(line.key)
        if change is None:
            return line
        edited = line if change.text is None else edit_line(line, change.text)
        enabled = line.enabled if change.enabled is None else change.enabled
        return edited.model_copy(update={"enabled": enabled})

    layout = body.model_dump(include={"template", "paper"}, exclude_none=True)
    return map_lines(document, changed).model_copy(update=layout)


async def _read(tx: Tx, id: int, owner: Owner) -> DocumentRecord:
    stored = await store.get(tx, id, owner=owner)
    document = stored.document()
    return DocumentRecord.of(
        stored,
        template=document.template,
        paper=document.paper,
        lines=list(iter_lines(document)),
        dropped=list(document.dropped),
    )


async def _read_history(tx: Tx, id: int, owner: Owner) -> DocumentHistory:
    await store.get(tx, id, owner=owner)
    sent = await store.find_sent(tx, id)
    return DocumentHistory.of(
        versions=await store.find_versions(tx, id),
        sent=[SentFile.of(file, sha256=file.sha256.hex()) for file in sent],
    )
