"""/api/jobs/{jobId}/applications: all of them at once, in lists and tables."""

from __future__ import annotations

import csv
import io
import tempfile
from collections.abc import Iterator, Sequence
from typing import IO, Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import Field, StrictBool

from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.hiring.applications import bulk_actions
from jobmill.hiring.applications.bulk_actions import BulkAction
from jobmill.hiring.import_export import exports, imports, spreadsheets
from jobmill.hiring.import_export.imports import ImportedApplicant
from jobmill.hiring.import_export.spreadsheets import ApplicantEntry
from jobmill.hiring.openings import applicant_lists
from jobmill.hiring.records import openings
from jobmill.hiring.transitions import Status
from jobmill.web import consistent_reads
from jobmill.web.api.openapi import problems
from jobmill.web.api.pagination import Cursor, PageLimit, PageOfItems, json_response
from jobmill.web.api.schemas import RequestBody, Schema
from jobmill.web.auth import Recruiter, Viewer
from jobmill.web.dependencies import Db
from jobmill.web.idempotency import run_once
from jobmill.web.parameters import PLAIN_TEXT, BodyId, JobPathId, OutputTime
from jobmill.web.site_settings import CurrentSiteSettings

router = APIRouter(prefix="/jobs/{jobId}", tags=["applications"])

MOST_AT_ONCE = 1_000
"""One request holds the opening's lock for no longer than that many take."""
EXPORT = 600.0
"""Seconds that a table may take to write: a million lines took 40."""
IN_MEMORY = 8 * 1024 * 1024
PIECE = 64 * 1024

CSV_BODY = {
    "requestBody": {
        "required": True,
        "content": {
            "text/csv": {
                "schema": {"type": "string"},
                "example": "name,email\nAda Lovelace,ada@example.org\n",
            }
        },
    }
}
SHEET = (
    ",".join(exports.APPLICATION_FIELDS)
    + "\r\n1,1,Ada Lovelace,ada@example.org,ACTIVE,,0,2026-11-15T09:30:00.000Z,,\r\n"
)
CSV_ANSWER: dict[int | str, dict[str, Any]] = {
    200: {
        "content": {"text/csv": {"schema": {"type": "string"}, "example": SHEET}},
        "description": "A table.",
    }
}

DryRun = Annotated[
    bool, Query(alias="dryRun", description="Say what would happen, and do nothing.")
]


class Application(Schema):
    application_id: int
    applicant_id: int
    applicant_name: str
    applicant_email: str
    status: Status
    penalty_count: int
    applied_at: OutputTime
    entered_at: OutputTime
    """When it came into its status."""
    promoted_at: OutputTime | None
    acknowledge_deadline: OutputTime | None


class Applications(PageOfItems):
    items: list[Application]


class Bulk(RequestBody):
    action: BulkAction
    application_ids: Annotated[list[BodyId], Field(min_length=1, max_length=MOST_AT_ONCE)]
    reason: Annotated[
        str, Field(min_length=1, max_length=2_000, examples=["Season is over"]), PLAIN_TEXT
    ]
    message: Annotated[str, Field(max_length=10_000), PLAIN_TEXT] | None = None
    """What they are told, for the action `message`."""
    dry_run: StrictBool = False


class BulkLine(Schema):
    application_id: Annotated[int, Field(examples=[1])]
    applicant_id: int | None
    outcome: bulk_actions.BulkOutcome
    detail: str | None


class BulkAnswer(Schema):
    dry_run: bool
    lines: list[BulkLine]


class ImportLine(Schema):
    line: Annotated[int, Field(examples=[2])]
    email: Annotated[str, Field(examples=["ada@example.org"])]
    outcome: imports.ImportOutcome
    status: Status | None
    queue_position: Annotated[int | None, Field(validation_alias="position")]
    application_id: int | None
    detail: str | None


class ImportAnswer(Schema):
    dry_run: bool
    lines: list[ImportLine]


@router.get("/applications", response_model=Applications, responses=problems(404))
async def list_applications(
    job_id: JobPathId,
    request: Request,
    visitor: Viewer,
    db: Db,
    status: Status | None = None,
    after: Cursor = 0,
    limit: PageLimit = 100,
) -> Response:
    """All applications, also those that ended; oldest first."""

    async def work(tx: Tx) -> list[applicant_lists.ApplicationRow]:
        await openings.get(tx, job_id)
        return await applicant_lists.list_applications(
            tx, job_id, status=status, after=after, limit=limit + 1
        )

    found = await consistent_reads.read_opening(db, job_id, work)
    next = found[limit - 1].application_id if len(found) > limit else None
    items = [Application.of(one) for one in found[:limit]]
    return json_response(request, Applications(items=items, next=next))


@router.get("/applications.csv", response_class=Response, responses={**CSV_ANSWER, **problems(404)})
async def export_applications(job_id: JobPathId, visitor: Viewer, db: Db) -> Response:
    """The same as a table: who is in it, who waits by position, and who ended."""
    file = await consistent_reads.read_opening(
        db, job_id, lambda tx: _write(tx, job_id), patience=EXPORT
    )
    name = f'attachment; filename="applications-{job_id}.csv"'
    return StreamingResponse(
        _pieces(file), media_type="text/csv", headers={"Content-Disposition": name}
    )


async def _write(tx: Tx, id: int) -> IO[bytes]:
    """The whole table, of one moment; a reader who is slow holds no transaction open."""
    file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - who sends it closes it
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    table = csv.writer(text)
    table.writerow(exports.APPLICATION_FIELDS)
    async for one in exports.iter_applications(tx, id):
        table.writerow([spreadsheets.escape_cell(value) for value in one.values()])
    text.detach()
    file.seek(0)
    return file


def _pieces(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while piece := file.read(PIECE):
            yield piece


@router.post(
    "/import", response_model=ImportAnswer, responses=problems(404), openapi_extra=CSV_BODY
)
async def import_applications(
    job_id: JobPathId,
    request: Request,
    visitor: Recruiter,
    db: Db,
    site_settings: CurrentSiteSettings,
    dry_run: DryRun = False,
) -> Response:
    """Have people apply, from a table with the columns `name` and `email`; in its order."""
    entries = spreadsheets.parse_applicants(await request.body(), fold=site_settings.fold_aliases)
    if len(entries) > MOST_AT_ONCE:
        raise Invalid(f"{MOST_AT_ONCE:,} lines at once, at most: send it in parts.")

    async def work(tx: Tx) -> Sequence[ImportedApplicant]:
        return await _admit(tx, job_id, entries, visitor, dry_run)

    def shape(lines: Sequence[ImportedApplicant]) -> ImportAnswer:
        return ImportAnswer(dry_run=dry_run, lines=[ImportLine.of(one) for one in lines])

    return await run_once(request, visitor, db, work, shape=shape)


async def _admit(
    tx: Tx, id: int, entries: Sequence[ApplicantEntry], visitor: Recruiter, dry_run: bool
) -> Sequence[ImportedApplicant]:
    async with tx.transaction(force_rollback=dry_run):
        return await imports.import_applicants(tx, id, entries, visitor.actor)


@router.post("/bulk", response_model=BulkAnswer, responses=problems(404))
async def change_many(
    job_id: JobPathId, body: Bulk, request: Request, visitor: Recruiter, db: Db
) -> Response:
    """Withdraw, promote or write to many, as one moment; one that is refused stops no other."""

    async def work(tx: Tx) -> list[bulk_actions.BulkResult]:
        return await bulk_actions.run_bulk_action(
            tx,
            job_id,
            body.action,
            body.application_ids,
            visitor.actor,
            reason=body.reason,
            message=body.message,
            dry_run=body.dry_run,
        )

    def shape(lines: list[bulk_actions.BulkResult]) -> BulkAnswer:
        return BulkAnswer(dry_run=body.dry_run, lines=[BulkLine.of(one) for one in lines])

    return await run_once(request, visitor, db, work, shape=shape)
