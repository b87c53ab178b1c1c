"""Events of the audit log as lines of an activity list."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jobmill.db import Tx
from jobmill.errors import NotFound
from jobmill.hiring.actor import ISSUED_BY, LOCAL, SYSTEM
from jobmill.hiring.audit_log import events
from jobmill.hiring.audit_log.events import AuditEvent
from jobmill.hiring.records import applicants
from jobmill.hiring.transitions import EventType
from jobmill.people import keys, persons
from jobmill.web.auth import Visitor
from jobmill.web.translations import say


@dataclass(frozen=True, slots=True)
class ActivityLine:
    opening_id: int
    seq: int
    at: dt.datetime
    text: str
    application_id: int | None
    name: str | None
    """The applicant's name; None for events of the opening itself."""
    actor: str
    note: str | None


async def list_latest(
    tx: Tx, opening_id: int, visitor: Visitor, *, upto: int, limit: int
) -> list[ActivityLine]:
    """The last events up to a number, newest first."""
    # Event numbers have no gaps, so this reads at most `limit` events.
    page = await events.find_by_opening(tx, opening_id, after=max(upto - limit, 0), upto=upto)
    return await describe_events(tx, page[::-1], visitor)


async def describe_events(
    tx: Tx, listed: Sequence[AuditEvent], visitor: Visitor
) -> list[ActivityLine]:
    ids = {event.application_id for event in listed if event.application_id}
    names = await applicants.find_names(tx, ids)
    actors = {
        actor: await _describe_actor(tx, actor, visitor)
        for actor in {event.actor for event in listed}
    }
    return [
        ActivityLine(
            event.opening_id,
            event.seq,
            event.created_at,
            _event_text(event),
            event.application_id,
            names.get(event.application_id) if event.application_id else None,
            actors[event.actor],
            event.note,
        )
        for event in listed
    ]


async def _describe_actor(tx: Tx, actor: str, visitor: Visitor) -> str:
    """The actor of an event: by you, by Cy Tran, automatically."""
    if actor == visitor.actor.name:
        return say("by you")
    if actor == SYSTEM.name:
        return say("automatically")
    if actor == LOCAL.name:
        return say("by the server's operator")
    actor, _, issuer = actor.partition(ISSUED_BY)
    if issuer:
        return say(
            "%(actor)s, with a link issued %(issuer)s",
            actor=await _describe_actor(tx, actor, visitor),
            issuer=await _describe_actor(tx, issuer, visitor),
        )
    kind, _, id = actor.partition(":")
    try:
        match kind:
            case "applicant":
                return say("by %(name)s", name=(await applicants.get(tx, int(id))).name)
            case "person":
                return say("by %(name)s", name=(await persons.get(tx, int(id))).name)
            case "key":
                return say("by API key %(name)s", name=(await keys.get(tx, int(id))).name)
            case _:
                return say("by %(name)s", name=actor)
    except NotFound:
        return say("by %(name)s", name=actor)


def _event_texts() -> Mapping[EventType, str]:
    return {
        "PROMOTED": say("was offered a place"),
        "ACKNOWLEDGED": say("accepted the offer"),
        "WITHDRAWN": say("withdrew"),
        "LAPSED": say("missed the last offer; the application has ended"),
        "ADDRESS_CONFIRMED": say("confirmed the email address"),
        "ADDRESS_UNCONFIRMED": say(
            "did not confirm the email address in time; the application has ended"
        ),
        "OPENED": say("Opening created"),
        "EDITED": say("Opening edited"),
        "PAUSED": say("Opening paused"),
        "RESUMED": say("Opening resumed"),
        "CLOSED": say("Opening closed"),
        "REOPENED": say("Opening reopened"),
    }


def _event_text(event: AuditEvent) -> str:
    match event.type:
        case "APPLIED" if event.to_status == "WAITLIST":
            return say("applied and joined the waitlist")
        case "APPLIED" if event.to_status == "PENDING_ACKNOWLEDGMENT":
            return say("applied and was offered a place")
        case "APPLIED":
            return say("applied and got a place")
        case "PROMOTED" if event.note:
            return say("was offered a place out of turn")
        case "WITHDRAWN" if event.why.get("rule") == "removed by the company":
            return say("was removed")
        case "WITHDRAWN" if event.why.get("rule") == "offer declined":
            return say("declined the offer")
        case "DECAY_TRIGGERED":
            position = f"{event.metadata['newPosition']:,}"
            return say("missed an offer and is now number %(n)s on the waitlist", n=position)
        case "CAPACITY_CHANGED":
            before, after = event.metadata["from"], event.metadata["to"]
            return say(
                "Places changed from %(before)s to %(after)s",
                before=f"{before:,}",
                after=f"{after:,}",
            )
        case _:
            return _event_texts()[event.type]
