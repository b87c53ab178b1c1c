"""What the log says, a line an event."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jobmill.db import Tx
from jobmill.hiring import board, events
from jobmill.hiring.events import Event
from jobmill.hiring.transitions import EventType, Status

STATUSES: Mapping[Status, str] = {
    "ACTIVE": "active",
    "PENDING_ACKNOWLEDGMENT": "offered",
    "WAITLIST": "waiting",
    "INACTIVE": "ended",
}

WORDS: Mapping[EventType, str] = {
    "APPLIED": "applied",
    "PROMOTED": "was offered a slot",
    "ACKNOWLEDGED": "confirmed the offer",
    "WITHDRAWN": "left",
    "DECAY_TRIGGERED": "missed an offer, and waits again",
    "LAPSED": "missed the last offer, and is out",
    "OPENED": "The opening was made",
    "EDITED": "The terms were changed",
    "CAPACITY_CHANGED": "The capacity was changed",
    "PAUSED": "The opening was paused",
    "RESUMED": "The opening was resumed",
    "CLOSED": "The opening was closed",
    "REOPENED": "The opening was opened again",
}


@dataclass(frozen=True, slots=True)
class Line:
    opening_id: int
    seq: int
    at: dt.datetime
    text: str
    application_id: int | None
    who: str | None
    """Of whom it tells; None: of the opening itself."""
    actor: str
    note: str | None


async def latest(tx: Tx, opening_id: int, *, upto: int, limit: int) -> list[Line]:
    """Events up to a number, the newest first."""
    # Numbers have no gaps: so many back from the last are so many events.
    found = await events.of_opening(tx, opening_id, after=max(upto - limit, 0), upto=upto)
    return await lines(tx, found[::-1])


async def lines(tx: Tx, found: Sequence[Event]) -> list[Line]:
    called = await board.names(tx, {one.application_id for one in found if one.application_id})
    return [_line(one, called) for one in found]


def _line(one: Event, called: Mapping[int, str]) -> Line:
    who = called.get(one.application_id) if one.application_id else None
    return Line(
        one.opening_id,
        one.seq,
        one.created_at,
        _words(one),
        one.application_id,
        who,
        one.actor,
        one.note,
    )


def _words(one: Event) -> str:
    match one.type:
        case "APPLIED" if one.to_status == "WAITLIST":
            return "applied, and waits"
        case "APPLIED" if one.to_status == "PENDING_ACKNOWLEDGMENT":
            return "applied, and was offered a slot"
        case "APPLIED":
            return "applied, and has a slot"
        case "PROMOTED" if one.note:
            return "was offered a slot out of turn"
        case "WITHDRAWN" if one.why.get("rule") == "removed by the company":
            return "was removed by the company"
        case "WITHDRAWN" if one.why.get("rule") == "offer declined":
            return "declined the offer"
        case "CAPACITY_CHANGED":
            was, now = one.metadata["from"], one.metadata["to"]
            return f"{WORDS[one.type]} from {was:,} to {now:,}"
        case _:
            return WORDS[one.type]
