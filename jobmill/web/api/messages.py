"""/api/messages: the letters to applicants of all openings, and sending failed ones again."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Response
from pydantic import Field

from jobmill.hiring.messages import message_list, notices
from jobmill.hiring.messages.message_list import MessageFilter
from jobmill.hiring.messages.notices import NoticeKind, NoticeState
from jobmill.web.api.callers import ViewerCaller
from jobmill.web.api.pagination import AfterId, PageOfItems, RowLimit
from jobmill.web.api.schemas import Schema
from jobmill.web.auth import Recruiter
from jobmill.web.dependencies import Db
from jobmill.web.parameters import OutputTime, PathId

router = APIRouter(prefix="/messages", tags=["messages"])


class MessageItem(Schema):
    id: Annotated[int, Field(examples=[1])]
    kind: NoticeKind
    state: NoticeState
    job_id: Annotated[int, Field(validation_alias="opening_id")]
    job_title: Annotated[str, Field(validation_alias="title")]
    application_id: int | None
    applicant_name: Annotated[str, Field(validation_alias="name")]
    attempts: int
    detail: str | None
    """Why it was not sent."""
    created_at: OutputTime
    due_at: OutputTime
    ended_at: OutputTime | None


class MessageList(PageOfItems):
    items: list[MessageItem]


@router.get("", response_model=MessageList)
async def list_messages(
    caller: ViewerCaller,
    state: MessageFilter | None = None,
    after: AfterId = 0,
    limit: RowLimit = 50,
) -> Response:
    """Letters to applicants, newest first."""
    async with caller.db.transaction() as tx:
        rows = await message_list.list_messages(
            tx, show=state, before=after or None, limit=limit + 1
        )
    return caller.respond_page(MessageList, rows, limit)


@router.post("/{notice_id}/retry", status_code=204)
async def retry_message(notice_id: PathId, visitor: Recruiter, db: Db) -> None:
    """Send a failed letter again."""
    async with db.transaction() as tx:
        await notices.retry_failed(tx, notice_id)
