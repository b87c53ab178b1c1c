"""/api/jobs/{jobId}/applications: list, CSV export and import, bulk actions."""

from __future__ import annotations

import csv
import io
import tempfile
from typing import IO, Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import StreamingResponse
from pydantic import Field, StrictBool

from jobmill.catalog import csv_files
from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.hiring.applications import bulk_actions
from jobmill.hiring.applications.bulk_actions import BulkAction
from jobmill.hiring.import_export import exports, imports, spreadsheets
from jobmill.hiring.openings import applicant_lists
from jobmill.hiring.records import openings
from jobmill.hiring.transitions import ApplicationStatus
from jobmill.web import consistent_reads
from jobmill.web.api.callers import RecruiterCaller, ViewerCaller
from jobmill.web.api.openapi import file_answer, file_body, text_content
from jobmill.web.api.pagination import AfterId, PageLimit, PageOfItems
from jobmill.web.api.schemas import RequestBody, Schema
from jobmill.web.auth import Viewer
from jobmill.web.dependencies import Db
from jobmill.web.file_downloads import iter_chunks
from jobmill.web.parameters import PLAIN_TEXT, BodyId, JobPathId, OutputTime

router = APIRouter(prefix="/jobs/{jobId}", tags=["applications"])

MAX_AT_ONCE = 1_000
"""Limits how long one request holds the opening's lock."""
EXPORT_TIMEOUT = 600.0
"""Seconds; a million lines took 40."""
MAX_BYTES_IN_MEMORY = 8 * 1024 * 1024


CSV_BODY = file_body("text/csv", text_content("name,email\nAda Lovelace,ada@example.org\n"))
CSV_SAMPLE = (
    ",".join(exports.APPLICATION_FIELDS)
    + "\r\n1,1,Ada Lovelace,ada@example.org,ACTIVE,,0,2026-11-15T09:30:00.000Z,,,,interview\r\n"
)
CSV_ANSWER = file_answer(["text/csv"], text_content(CSV_SAMPLE), "CSV with a header.")

DryRun = Annotated[
    bool, Query(alias="dryRun", description="Report what would happen without changing anything.")
]


class ApplicationItem(Schema):
    application_id: int
    applicant_id: int
    applicant_name: str
    applicant_email: str
    status: ApplicationStatus
    penalty_count: int
    applied_at: OutputTime
    entered_at: OutputTime
    """When it got its current status."""
    promoted_at: OutputTime | None
    acknowledge_deadline: OutputTime | None


class ApplicationPage(PageOfItems):
    items: list[ApplicationItem]


class BulkBody(RequestBody):
    action: BulkAction
    application_ids: Annotated[list[BodyId], Field(min_length=1, max_length=MAX_AT_ONCE)]
    reason: Annotated[
        str, Field(min_length=1, max_length=2_000, examples=["Season is over"]), PLAIN_TEXT
    ]
    tell_reason: StrictBool = False
    """Whether rejected applicants are told the reason."""
    message: Annotated[str, Field(max_length=10_000), PLAIN_TEXT] | None = None
    """The text to send, for the action `message`."""
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
    status: ApplicationStatus | None
    queue_position: Annotated[int | None, Field(validation_alias="position")]
    application_id: int | None
    detail: str | None


class ImportAnswer(Schema):
    dry_run: bool
    lines: list[ImportLine]


@router.get("/applications", response_model=ApplicationPage)
async def list_applications(
    job_id: JobPathId,
    caller: ViewerCaller,
    status: ApplicationStatus | None = None,
    after: AfterId = 0,
    limit: PageLimit = 100,
) -> Response:
    """All applications, including ended ones, oldest first."""

    async def work(tx: Tx) -> list[applicant_lists.ApplicationRow]:
        await openings.get(tx, job_id)
        return await applicant_lists.list_applications(
            tx, job_id, status=status, after=after, limit=limit + 1
        )

    rows = await consistent_reads.read_opening(caller.db, job_id, work)
    return caller.respond_page(ApplicationPage, rows, limit, "application_id")


@router.get("/applications.csv", response_class=Response, responses=CSV_ANSWER)
async def export_applications(job_id: JobPathId, visitor: Viewer, db: Db) -> Response:
    """All applications as CSV: active, then waiting by position, then ended."""
    file = await consistent_reads.read_opening(
        db, job_id, lambda tx: _write(tx, job_id), time_limit=EXPORT_TIMEOUT
    )
    name = f'attachment; filename="applications-{job_id}.csv"'
    return StreamingResponse(
        iter_chunks(file), media_type="text/csv", headers={"Content-Disposition": name}
    )


async def _write(tx: Tx, id: int) -> IO[bytes]:
    """Write the complete CSV first: a slow client must not keep a transaction open."""
    file = tempfile.SpooledTemporaryFile(MAX_BYTES_IN_MEMORY)  # noqa: SIM115 - closed after sending
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    table = csv.writer(text)
    fields = await exports.find_application_fields(tx, id)
    table.writerow([csv_files.escape_cell(field) for field in fields])
    async for application in exports.iter_applications(tx, id):
        table.writerow([csv_files.escape_cell(value) for value in application.values()])
    text.detach()
    file.seek(0)
    return file


@router.post("/import", response_model=ImportAnswer, openapi_extra=CSV_BODY)
async def import_applications(
    job_id: JobPathId,
    caller: RecruiterCaller,
    dry_run: DryRun = False,
) -> Response:
    """Apply for the people of a CSV file with the columns `name` and `email`, in order."""
    entries = await spreadsheets.parse_uploaded_applicants(
        await caller.request.body(), fold=caller.site_settings.fold_aliases
    )
    if len(entries) > MAX_AT_ONCE:
        raise Invalid(f"Import at most {MAX_AT_ONCE:,} lines at once. Split the file.")

    async def work(tx: Tx) -> ImportAnswer:
        async with tx.transaction(force_rollback=dry_run):
            lines = await imports.import_applicants(tx, job_id, entries, caller.actor)
        return ImportAnswer.of(dry_run=dry_run, lines=lines)

    return await caller.run_once(work)


@router.post("/bulk", response_model=BulkAnswer)
async def change_many(job_id: JobPathId, body: BulkBody, caller: RecruiterCaller) -> Response:
    """Withdraw, promote, message, accept or reject many applications at once. A refused one does not stop the others."""

    return await caller.run_once(
        lambda tx: bulk_actions.run_bulk_action(
            tx,
            job_id,
            body.action,
            body.application_ids,
            caller.actor,
            reason=body.reason,
            message=body.message,
            tell_reason=body.tell_reason,
            dry_run=body.dry_run,
        ),
        to_schema=lambda lines: BulkAnswer.of(dry_run=body.dry_run, lines=lines),
    )
