"""/hiring/messages: the letters to applicants of all openings, with their state and reason."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import Field

from jobmill.hiring.messages import message_list, notices
from jobmill.hiring.messages.message_list import MessageFilter
from jobmill.web.auth import Recruiter, Viewer
from jobmill.web.banners import CurrentBanners
from jobmill.web.dependencies import Db
from jobmill.web.page_query import PageQuery
from jobmill.web.pages.hiring.letter_pages import letter_names
from jobmill.web.parameters import MAX_ID, PathId
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/hiring/messages")

PAGE_SIZE = 50


class MessageListQuery(PageQuery):
    state: MessageFilter | None = None
    before: Annotated[int, Field(ge=1, le=MAX_ID)] | None = None


@router.get("")
async def show(
    query: Annotated[MessageListQuery, Query()],
    visitor: Viewer,
    page: Page,
    banners: CurrentBanners,
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        rows = await message_list.list_messages(
            tx, show=query.state, before=query.before, limit=PAGE_SIZE + 1
        )
        health = await banners.read_health(tx)
    has_more = len(rows) > PAGE_SIZE
    return page(
        "hiring/messages.html",
        topics=["hiring"],
        query=query,
        rows=rows[:PAGE_SIZE],
        health=health.of("mail"),
        kinds=_kinds(),
        states=_states(),
        current_url=query.url("/hiring/messages"),
        next_url=query.url("/hiring/messages", before=rows[PAGE_SIZE - 1].id) if has_more else None,
        first_url=query.without("before").url("/hiring/messages"),
    )


@router.post("/{notice_id}/retry")
async def retry(notice_id: PathId, visitor: Recruiter, db: Db) -> Response:
    """Send a failed letter again."""
    async with db.transaction() as tx:
        await notices.retry_failed(tx, notice_id)
    return RedirectResponse("/hiring/messages", 303)


def _kinds() -> dict[str, str]:
    """What each kind of letter is about; `waitlisted` is another letter of the kind `applied`."""
    names = {
        **letter_names(),
        "applied": say("Application received"),
        "admitted": say("Application accepted"),
        "lapsed": say("Offer expired"),
        "removed": say("Removed from the opening"),
        "position": say("New position on the waitlist"),
    }
    del names["waitlisted"]
    return names


def _states() -> dict[str, tuple[str, str]]:
    """The name and the color of each state."""
    return {
        "waiting": (say("Waiting"), ""),
        "queued": (say("Being sent"), "busy"),
        "sent": (say("Sent"), "good"),
        "dropped": (say("Not sent"), "off"),
        "failed": (say("Failed"), "bad"),
    }
