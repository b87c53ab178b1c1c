"""The page of one opening: people with a place, the waitlist and the last events."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlencode

from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.db import Tx
from jobmill.errors import AppError
from jobmill.hiring.applications import closing
from jobmill.hiring.audit_log import events
from jobmill.hiring.openings import applicant_lists
from jobmill.hiring.openings.applicant_lists import ApplicantRow
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import Opening
from jobmill.web import consistent_reads, event_lines
from jobmill.web.auth import Visitor
from jobmill.web.confirmation import Confirmation
from jobmill.web.event_lines import AuditEventLine
from jobmill.web.shell import PageRenderer
from jobmill.web.status_labels import status_labels

COLUMN_SIZE = 50
"""People in a column."""
HISTORY_SIZE = 12
"""Events on the page; the page of the audit log has the rest."""
RECENT_SIZE = 6
"""Events of the change that was just made."""

EVENT_RANGE = re.compile(r"([0-9]{1,12})-([0-9]{1,12})")


@dataclass(frozen=True, slots=True)
class PageState:
    """The page of each column, and the change that was just made."""

    id: int
    slots: int = 0
    waiting: int = 0
    did: str = ""
    """The events of the change: `12-15`."""
    messages: int = 0
    """How many messages the change sent."""

    def at(self, **changes: int) -> str:
        """The URL of these columns, or of others, without the change."""
        columns = {"slots": self.slots, "waiting": self.waiting} | changes
        query = urlencode({name: value for name, value in columns.items() if value})
        return f"/hiring/{self.id}" + (f"?{query}" if query else "")


@dataclass(frozen=True, slots=True)
class OpeningBoard:
    opening: Opening
    slots: list[ApplicantRow]
    more_slots: int | None
    waiting: list[ApplicantRow]
    more_waiting: int | None
    history: list[AuditEventLine]
    recent: list[AuditEventLine]
    """The change that was just made."""
    has_unplaced: bool
    """Whether an applicant waits, is in review or has an open offer."""

    @property
    def excess(self) -> int:
        """How many people have a place beyond the capacity."""
        return max(self.opening.occupied - self.opening.capacity, 0)


async def show(
    page: PageRenderer,
    place: PageState,
    *,
    confirmation: Confirmation | None = None,
    error: AppError | None = None,
) -> HTMLResponse:
    board = await consistent_reads.read_opening(
        page.db, place.id, lambda tx: _read(tx, place, page.visitor)
    )
    return page(
        "openings/opening.html",
        topics=["hiring"],
        place=place,
        board=board,
        opening=board.opening,
        confirmation=confirmation,
        error=error,
        labels=status_labels(),
    )


async def _read(tx: Tx, place: PageState, visitor: Visitor) -> OpeningBoard:
    opening = await openings.get(tx, place.id)
    slots = await applicant_lists.get_detail(
        tx, place.id, after=f"active:{place.slots}", limit=COLUMN_SIZE
    )
    waiting = await applicant_lists.list_waiting(
        tx, place.id, after=place.waiting, limit=COLUMN_SIZE + 1
    )
    more = slots.next is not None and slots.next.startswith("active:")
    return OpeningBoard(
        opening,
        slots.active,
        slots.active[-1].application_id if more else None,
        waiting[:COLUMN_SIZE],
        waiting[COLUMN_SIZE - 1].queue_key if len(waiting) > COLUMN_SIZE else None,
        await event_lines.list_latest(
            tx, place.id, visitor, upto=opening.last_seq, limit=HISTORY_SIZE
        ),
        await list_recent(tx, place, visitor),
        await closing.has_unplaced(tx, place.id),
    )


async def list_recent(tx: Tx, place: PageState, visitor: Visitor) -> list[AuditEventLine]:
    """The first events of the change that was just made."""
    match = EVENT_RANGE.fullmatch(place.did)
    if not match:
        return []
    after, upto = int(match[1]), int(match[2])
    changes = await events.find_by_opening(tx, place.id, after=after, upto=upto, limit=RECENT_SIZE)
    return await event_lines.describe_events(tx, changes, visitor)


def redirect_to_changes(before: Opening, after: Opening) -> RedirectResponse:
    """Redirect to the page of the opening, which then shows the events between these two states."""
    path = f"/hiring/{after.id}"
    if after.last_seq > before.last_seq:
        path += f"?did={before.last_seq}-{after.last_seq}"
    return RedirectResponse(path, 303)
