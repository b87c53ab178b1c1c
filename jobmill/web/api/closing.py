"""/api/jobs/{jobId}/close-and-tell: close an opening and tell the waiting applicants."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field, StrictBool

from jobmill.hiring.applications import closing
from jobmill.hiring.messages.letter_templates import MAX_BODY_LENGTH, MAX_SUBJECT_LENGTH
from jobmill.hiring.messages.letter_variables import LetterText
from jobmill.web.api.callers import RecruiterCaller
from jobmill.web.api.schemas import RequestBody, Schema
from jobmill.web.consistent_reads import LONG_TIMEOUT
from jobmill.web.parameters import PLAIN_TEXT, JobPathId

router = APIRouter(prefix="/jobs/{jobId}", tags=["jobs"])


class LetterBody(RequestBody):
    subject: Annotated[
        str,
        Field(min_length=1, max_length=MAX_SUBJECT_LENGTH, examples=["$title is closed"]),
        PLAIN_TEXT,
    ]
    body: Annotated[
        str,
        Field(min_length=1, max_length=MAX_BODY_LENGTH, examples=["$greeting\n\nThank you."]),
        PLAIN_TEXT,
    ]

    def to_text(self) -> LetterText:
        return LetterText(self.subject, self.body)


class CloseAndTell(RequestBody):
    tell: Annotated[StrictBool, Field(examples=[True])]
    """Whether the applicants get the letter `closed`."""
    letter: LetterBody | None = None
    """The letter for this opening; null: the saved one."""
    reason: (
        Annotated[
            str,
            Field(
                min_length=1,
                max_length=closing.MAX_REASON_LENGTH,
                examples=["We found enough people."],
            ),
            PLAIN_TEXT,
        ]
        | None
    ) = None
    """What the applicants read on their personal page, and as `$text` in the letter."""
    dry_run: StrictBool = False


class Closing(Schema):
    job_id: Annotated[int, Field(validation_alias="opening_id")]
    ended: Annotated[int, Field(examples=[12])]
    """Applications without a place, which ended."""
    offers: int
    """How many of them had an open offer."""
    letters: int
    kept: int
    """Applications that keep their place."""


@router.post("/close-and-tell", response_model=Closing)
async def close_and_tell(
    job_id: JobPathId, body: CloseAndTell, caller: RecruiterCaller
) -> Response:
    """Close an opening, end all applications without a place, and send each a letter once.

    Also ends the applications of an opening that is closed already.
    """
    return await caller.run_once(
        lambda tx: closing.close_and_tell(
            tx,
            job_id,
            caller.actor,
            tell=body.tell,
            text=body.letter.to_text() if body.letter else None,
            reason=body.reason,
            dry_run=body.dry_run,
        ),
        to_schema=Closing.of,
        time_limit=LONG_TIMEOUT,
    )
