"""What the log says, a line an event."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jobmill.db import Tx
from jobmill.hiring.audit_log import events, replay_preview
from jobmill.hiring.audit_log.events import AuditEvent
from jobmill.hiring.transitions import EventType, Status
from jobmill.web.translations import say


def statuses() -> Mapping[Status, str]:
    return {
        "ACTIVE": say("active"),
        "PENDING_ACKNOWLEDGMENT": say("offered"),
        "WAITLIST": say("waiting"),
        "INACTIVE": say("ended"),
    }


def _moves() -> Mapping[EventType, str]:
    return {
        "APPLIED": say("applied"),
        "PROMOTED": say("was offered a slot"),
        "ACKNOWLEDGED": say("confirmed the offer"),
        "WITHDRAWN": say("left"),
        "DECAY_TRIGGERED": say("missed an offer, and waits again"),
        "LAPSED": say("missed the last offer, and is out"),
        "OPENED": say("The opening was made"),
        "EDITED": say("The terms were changed"),
        "PAUSED": say("The opening was paused"),
        "RESUMED": say("The opening was resumed"),
        "CLOSED": say("The opening was closed"),
        "REOPENED": say("The opening was opened again"),
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
    found = await events.find_by_opening(tx, opening_id, after=max(upto - limit, 0), upto=upto)
    return await lines(tx, found[::-1])


async def lines(tx: Tx, found: Sequence[AuditEvent]) -> list[Line]:
    called = await replay_preview.find_names(
        tx, {one.application_id for one in found if one.application_id}
    )
    return [_line(one, called) for one in found]


def _line(one: AuditEvent, called: Mapping[int, str]) -> Line:
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


def _words(one: AuditEvent) -> str:
    match one.type:
        case "APPLIED" if one.to_status == "WAITLIST":
            return say("applied, and waits")
        case "APPLIED" if one.to_status == "PENDING_ACKNOWLEDGMENT":
            return say("applied, and was offered a slot")
        case "APPLIED":
            return say("applied, and has a slot")
        case "PROMOTED" if one.note:
            return say("was offered a slot out of turn")
        case "WITHDRAWN" if one.why.get("rule") == "removed by the company":
            return say("was removed by the company")
        case "WITHDRAWN" if one.why.get("rule") == "offer declined":
            return say("declined the offer")
        case "CAPACITY_CHANGED":
            was, now = one.metadata["from"], one.metadata["to"]
            return say(
                "The capacity was changed from %(was)s to %(now)s", was=f"{was:,}", now=f"{now:,}"
            )
        case _:
            return _moves()[one.type]
