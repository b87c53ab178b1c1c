"""/openings/{opening_id}/fairness: the public fairness proof of an opening."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse, HTMLResponse, StreamingResponse

from jobmill.db import Tx
from jobmill.hiring.audit_log import fairness_proof, verify_fairness
from jobmill.hiring.audit_log.fairness_proof import PublicHeads
from jobmill.hiring.audit_log.verification import ChainHead
from jobmill.hiring.records import fairness_keys, openings
from jobmill.hiring.records.openings import Opening
from jobmill.web.auth import Anyone
from jobmill.web.dependencies import Db, View, no_store
from jobmill.web.fairness_exports import Exports
from jobmill.web.my_applications import describe_period
from jobmill.web.parameters import PathId
from jobmill.web.public_event_lines import PublicEventLine, describe_line

router = APIRouter(prefix="/openings/{opening_id}/fairness")

SHOWN_EVENTS = 50
SCRIPT = Path(verify_fairness.__file__)


@dataclass(frozen=True, slots=True)
class FairnessPage:
    opening: Opening
    head: ChainHead
    lines: Sequence[PublicEventLine]
    """The last events, newest first."""
    own_pseudonym: str
    """The pseudonym of the applicant that this browser remembers; empty if none."""

    @property
    def offer_window(self) -> str:
        return describe_period(self.opening.acknowledge_window)


@router.get("")
async def show(
    opening_id: PathId, visitor: Anyone, db: Db, view: View, exports: Exports
) -> HTMLResponse:
    page = await exports.read(
        db, opening_id, lambda tx: _read_page(tx, opening_id, visitor.applicant_id, exports.heads)
    )
    response = view("public/fairness.html", proof=page, opening=page.opening)
    return no_store(response) if page.own_pseudonym else response


async def _read_page(
    tx: Tx, opening_id: int, applicant_id: int | None, heads: PublicHeads
) -> FairnessPage:
    opening = await openings.get(tx, opening_id)
    head = await heads.find(tx, opening_id)
    after = max(head.seq - SHOWN_EVENTS, 0)
    latest = await fairness_proof.list_public_fields(tx, opening_id, after=after)
    return FairnessPage(
        opening,
        head,
        [describe_line(line) for line in latest[::-1]],
        await _find_own_pseudonym(tx, opening_id, applicant_id),
    )


async def _find_own_pseudonym(tx: Tx, opening_id: int, applicant_id: int | None) -> str:
    if applicant_id is None:
        return ""
    key = await fairness_keys.get_published(tx, opening_id)
    return fairness_proof.make_pseudonym(key, applicant_id)


@router.get("/log.jsonl")
async def download_log(opening_id: PathId, db: Db, exports: Exports) -> StreamingResponse:
    return await exports.respond(db, opening_id)


@router.get("/verify_fairness.py")
async def download_script(opening_id: PathId, db: Db) -> FileResponse:
    async with db.transaction() as tx:
        await fairness_keys.get_published(tx, opening_id)
    return FileResponse(SCRIPT, media_type="text/x-python", filename=SCRIPT.name)
