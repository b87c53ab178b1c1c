"""/hiring/company/verification: check that no audit log was changed, and save the ends of the logs."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse
from starlette.datastructures import UploadFile

from jobmill.errors import AppError, Invalid
from jobmill.hiring.audit_log import saved_heads
from jobmill.hiring.audit_log.verification import ChainHead, VerificationReport, verify_log
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import Opening
from jobmill.sandbox import read_untrusted
from jobmill.web import consistent_reads
from jobmill.web.auth import Recruiter, Viewer
from jobmill.web.consistent_reads import LONG_TIMEOUT
from jobmill.web.dependencies import RequestDatabase
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.translations import say

router = APIRouter(prefix="/hiring/company/verification")

MAX_OPENINGS = 500
MAX_SECONDS = 60.0
"""A request verifies logs for this long; `jobmill hiring verify` has no limit."""
MAX_FILE_BYTES = 500_000


@dataclass(frozen=True, slots=True)
class VerifiedLog:
    opening: Opening
    report: VerificationReport


@dataclass(frozen=True, slots=True)
class VerificationRun:
    logs: Sequence[VerifiedLog]
    missing: Sequence[int]
    """Openings of the saved file that no longer exist."""
    is_complete: bool

    @property
    def is_good(self) -> bool:
        return not self.missing and not any(log.report.faults for log in self.logs)


@router.get("")
async def show(visitor: Viewer, page: Page) -> HTMLResponse:
    return _render(page)


@router.post("")
async def verify(visitor: Recruiter, page: Page) -> Response:
    """Verify all logs, also against a file saved earlier; or download their ends."""
    try:
        text, is_saving = await _read_form(page.request)
        heads = await _parse_heads(text) if text.strip() else {}
    except Invalid as error:
        return _render(page, error=error)
    run = await _verify_all(page.db, heads)
    if is_saving and run.is_good and run.is_complete:
        content = saved_heads.format_heads(log.report for log in run.logs)
        headers = {"Content-Disposition": 'attachment; filename="heads.jsonl"'}
        return Response(content, media_type="application/jsonl", headers=headers)
    return _render(page, run, is_compared=bool(heads))


async def _parse_heads(text: str) -> dict[int, ChainHead]:
    error_text = say(
        "Line %(n)s of the file is not a saved checksum. Choose the file that you downloaded with “Verify and download checksums”.",
        n="{line}",
    )
    return await read_untrusted(saved_heads.parse_heads, text, error_text)


async def _read_form(request: Request) -> tuple[str, bool]:
    """The text of the saved file, and whether to download the ends of the logs."""
    async with request.form(max_files=1, max_fields=5, max_part_size=MAX_FILE_BYTES) as form:
        file, is_saving = form.get("file"), form.get("action") == "save"
        if not isinstance(file, UploadFile) or not file.size:
            return "", is_saving
        if file.size > MAX_FILE_BYTES:
            raise Invalid(say("The file is larger than 500 KB. Split it into smaller files."))
        try:
            return (await file.read()).decode(), is_saving
        except UnicodeDecodeError as error:
            raise Invalid(
                say(
                    "This file does not contain saved checksums. Choose the file that you downloaded with “Verify and download checksums”."
                )
            ) from error


async def _verify_all(db: RequestDatabase, heads: Mapping[int, ChainHead]) -> VerificationRun:
    """Each log in its own snapshot, so that writers do not wait."""
    started_at = time.monotonic()
    async with db.transaction() as tx:
        listed = await openings.list_openings(tx, limit=MAX_OPENINGS + 1, with_interviews=True)
    logs: list[VerifiedLog] = []
    for opening in listed[:MAX_OPENINGS]:
        if time.monotonic() - started_at > MAX_SECONDS:
            break
        logs.append(VerifiedLog(opening, await _verify_one(db, opening.id, heads)))
    existing = {opening.id for opening in listed}
    is_complete = len(logs) == len(listed)
    missing = sorted(set(heads) - existing) if is_complete else []
    return VerificationRun(logs, missing, is_complete)


async def _verify_one(
    db: RequestDatabase, id: int, heads: Mapping[int, ChainHead]
) -> VerificationReport:
    against = [heads[id]] if id in heads else []
    return await consistent_reads.read_opening(
        db, id, lambda tx: verify_log(tx, id, against=against), time_limit=LONG_TIMEOUT
    )


def _render(
    page: PageRenderer,
    run: VerificationRun | None = None,
    *,
    is_compared: bool = False,
    error: AppError | None = None,
) -> HTMLResponse:
    return page(
        "hiring/verification.html",
        run=run,
        is_compared=is_compared,
        error=error,
    )
