"""/api/applications/{applicationId}/review, /api/notes, /api/mentions: what reviewers write."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Path, Response
from pydantic import Field

from jobmill.db import Tx
from jobmill.hiring.records import applications
from jobmill.hiring.reviews import application_reviews, mentions, notes, ratings, tags
from jobmill.hiring.reviews.application_reviews import ApplicationReview
from jobmill.web.api.callers import RecruiterCaller, ViewerCaller
from jobmill.web.api.openapi import NEVER_MISSING
from jobmill.web.api.schemas import RequestBody, Schema
from jobmill.web.auth import Recruiter
from jobmill.web.dependencies import Db
from jobmill.web.parameters import DIGITS_ONLY, MAX_ID, PLAIN_TEXT, ApplicationPathId, OutputTime

router = APIRouter(tags=["reviews"])

MAX_MENTIONS = 100

NotePathId = Annotated[int, Path(alias="noteId", ge=1, le=MAX_ID, examples=[1]), DIGITS_ONLY]
TagPath = Annotated[str, Path(max_length=tags.MAX_TAG_LENGTH, examples=["senior"]), PLAIN_TEXT]


class NoteBody(RequestBody):
    text: Annotated[
        str,
        Field(max_length=notes.MAX_NOTE_LENGTH, examples=["Good answers. @ada please call."]),
        PLAIN_TEXT,
    ]
    """`@` and the name or the address before the @ of a member asks them to read it."""


class RatingBody(RequestBody):
    score: Annotated[int | None, Field(strict=True, ge=1, le=5, examples=[4])]
    """Null removes your rating."""
    criterion: Annotated[str, Field(max_length=ratings.MAX_CRITERION_LENGTH), PLAIN_TEXT] = ""
    """Empty: overall."""


class TagBody(RequestBody):
    tag: Annotated[str, Field(max_length=200, examples=["senior"]), PLAIN_TEXT]


class NoteItem(Schema):
    id: Annotated[int, Field(examples=[1])]
    application_id: int
    author: str
    author_name: str | None
    text: Annotated[str, Field(validation_alias="body")]
    created_at: OutputTime
    edited_at: OutputTime | None
    mentioned: list[int]
    """Ids of the people that it mentions."""


class RatingItem(Schema):
    reviewer: str
    reviewer_name: str | None
    criterion: str
    score: int
    rated_at: OutputTime


class ReviewAnswer(Schema):
    application_id: int
    average: float | None
    """The average of the reviewers' averages; null without ratings."""
    ratings: list[RatingItem]
    tags: list[str]
    notes: list[NoteItem]


class MentionItem(Schema):
    note_id: int
    application_id: int
    job_id: Annotated[int, Field(validation_alias="opening_id")]
    applicant_name: str
    author: str | None
    created_at: OutputTime


@router.get("/applications/{applicationId}/review", response_model=ReviewAnswer)
async def show_review(application_id: ApplicationPathId, caller: ViewerCaller) -> Response:
    """Ratings, tags and notes of an application."""
    async with caller.db.transaction() as tx:
        await applications.get(tx, application_id)
        review = await application_reviews.read_review(tx, application_id)
    return caller.respond(ReviewAnswer.of(review))


@router.post("/applications/{applicationId}/notes", response_model=NoteItem, status_code=201)
async def add_note(
    application_id: ApplicationPathId, body: NoteBody, caller: RecruiterCaller
) -> Response:
    """Add a note. The same text again is the first note."""
    return await caller.run_once(
        lambda tx: notes.add_note(tx, application_id, body.text, caller.actor),
        to_schema=NoteItem.of,
        status=201,
    )


@router.patch("/notes/{noteId}", response_model=NoteItem)
async def edit_note(note_id: NotePathId, body: NoteBody, caller: RecruiterCaller) -> Response:
    """Change your own note."""
    return await caller.run_once(
        lambda tx: notes.edit_note(tx, note_id, body.text, caller.actor), to_schema=NoteItem.of
    )


@router.delete("/notes/{noteId}", status_code=204)
async def delete_note(note_id: NotePathId, visitor: Recruiter, db: Db) -> None:
    """Delete your own note; the history of changes keeps that it existed, without its text."""
    async with db.transaction() as tx:
        await notes.delete_note(tx, note_id, visitor.actor)


@router.put("/applications/{applicationId}/rating", response_model=ReviewAnswer)
async def rate(
    application_id: ApplicationPathId, body: RatingBody, caller: RecruiterCaller
) -> Response:
    """Set, replace or remove your rating, overall or for a criterion."""
    work = _change_review(
        application_id,
        lambda tx: ratings.rate(
            tx, application_id, body.score, caller.actor, criterion=body.criterion
        ),
    )
    return await caller.run_once(work, to_schema=ReviewAnswer.of)


@router.post("/applications/{applicationId}/tags", response_model=ReviewAnswer)
async def add_tag(
    application_id: ApplicationPathId, body: TagBody, caller: RecruiterCaller
) -> Response:
    """Add a tag."""
    work = _change_review(
        application_id, lambda tx: tags.add_tag(tx, application_id, body.tag, caller.actor)
    )
    return await caller.run_once(work, to_schema=ReviewAnswer.of)


@router.delete("/applications/{applicationId}/tags/{tag}", status_code=204)
async def remove_tag(
    application_id: ApplicationPathId, tag: TagPath, visitor: Recruiter, db: Db
) -> None:
    """Remove a tag."""
    async with db.transaction() as tx:
        await tags.remove_tag(tx, application_id, tag)


@router.get("/mentions", response_model=list[MentionItem])
async def list_mentions(caller: ViewerCaller) -> Response:
    """Notes that mention you and that you have not read, oldest first."""
    async with caller.db.transaction() as tx:
        unread = (
            await mentions.list_unread(tx, caller.visitor.person_id, limit=MAX_MENTIONS)
            if caller.visitor.person_id is not None
            else []
        )
    return caller.respond([MentionItem.of(mention) for mention in unread])


@router.post("/mentions/{noteId}/read", status_code=204, openapi_extra=NEVER_MISSING)
async def mark_read(note_id: NotePathId, visitor: Recruiter, db: Db) -> None:
    """Mark a note that mentions you as read."""
    async with db.transaction() as tx:
        if visitor.person_id is not None:
            await mentions.mark_read(tx, note_id, visitor.person_id)


def _change_review(
    application_id: int, change: Callable[[Tx], Awaitable[None]]
) -> Callable[[Tx], Awaitable[ApplicationReview]]:
    async def work(tx: Tx) -> ApplicationReview:
        await change(tx)
        return await application_reviews.read_review(tx, application_id)

    return work
