"""The page of one opening: its board, and what is asked or told above it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from urllib.parse import urlencode

from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.db import Tx
from jobmill.errors import AppError
from jobmill.hiring.audit_log import events
from jobmill.hiring.openings import applicant_lists
from jobmill.hiring.openings.applicant_lists import ApplicantRow
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import Opening
from jobmill.web import consistent_reads, html_errors
from jobmill.web.confirmation import Confirmation
from jobmill.web.dependencies import RequestDatabase
from jobmill.web.pages.hiring import activity_lines
from jobmill.web.pages.hiring.activity_lines import Line
from jobmill.web.shell import PageRenderer

AT_ONCE = 50
"""People in a column."""
IN_LOG = 12
"""Events below the board; the log has the rest."""
TOLD = 6
"""Lines about what was just done."""

SPAN = re.compile(r"([0-9]{1,12})-([0-9]{1,12})")


@dataclass(frozen=True, slots=True)
class Place:
    """Which page of each column is looked at, and what was just done."""

    id: int
    slots: int = 0
    waiting: int = 0
    did: str = ""
    told: int = 0

    def at(self, **changes: int) -> str:
        """The address of these columns, or of others; what was just done is said once."""
        here = {"slots": self.slots, "waiting": self.waiting} | changes
        query = urlencode({name: value for name, value in here.items() if value})
        return f"/hiring/{self.id}" + (f"?{query}" if query else "")


@dataclass(frozen=True, slots=True)
class Board:
    opening: Opening
    slots: list[ApplicantRow]
    more_slots: int | None
    waiting: list[ApplicantRow]
    more_waiting: int | None
    log: list[Line]
    done: list[Line]

    @property
    def over(self) -> int:
        """How many more are in it than it has slots."""
        return max(self.opening.occupied - self.opening.capacity, 0)


async def show(
    db: RequestDatabase,
    page: PageRenderer,
    place: Place,
    *,
    confirmation: Confirmation | None = None,
    error: AppError | None = None,
) -> HTMLResponse:
    """The whole page, whatever is asked or went wrong."""
    board = await consistent_reads.read_opening(db, place.id, lambda tx: _read(tx, place))
    return page(
        "hiring/opening.html",
        html_errors.status_code(error) if error else 200,
        topics=["hiring"],
        place=place,
        board=board,
        opening=board.opening,
        confirmation=confirmation,
        error=str(error) if error else None,
        words=activity_lines.statuses(),
    )


async def _read(tx: Tx, place: Place) -> Board:
    opening = await openings.get(tx, place.id)
    slots = await applicant_lists.get_detail(
        tx, place.id, after=f"active:{place.slots}", limit=AT_ONCE
    )
    waiting = await applicant_lists.list_waiting(
        tx, place.id, after=place.waiting, limit=AT_ONCE + 1
    )
    more = slots.next is not None and slots.next.startswith("active:")
    return Board(
        opening,
        slots.active,
        slots.active[-1].application_id if more else None,
        waiting[:AT_ONCE],
        waiting[AT_ONCE - 1].queue_key if len(waiting) > AT_ONCE else None,
        await activity_lines.latest(tx, place.id, upto=opening.last_seq, limit=IN_LOG),
        await _done(tx, place),
    )


async def _done(tx: Tx, place: Place) -> list[Line]:
    """What an action did, by the log: the first few of it."""
    span = SPAN.fullmatch(place.did)
    if not span:
        return []
    after, upto = int(span[1]), int(span[2])
    found = await events.find_by_opening(tx, place.id, after=after, upto=upto, limit=TOLD)
    return await activity_lines.lines(tx, found)


def back(before: Opening, after: Opening) -> RedirectResponse:
    """To the opening, which says what happened between these two."""
    path = f"/hiring/{after.id}"
    if after.last_seq > before.last_seq:
        path += f"?did={before.last_seq}-{after.last_seq}"
    return RedirectResponse(path, 303)
