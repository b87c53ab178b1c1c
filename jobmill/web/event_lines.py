"""Events of the audit log as lines in words, for the company's pages."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jobmill.db import Tx
from jobmill.hiring.actor import SYSTEM
from jobmill.hiring.applications.apply_requests import UNREQUESTED_RULE
from jobmill.hiring.audit_log import events
from jobmill.hiring.audit_log.events import AuditEvent
from jobmill.hiring.records import applicants
from jobmill.hiring.transitions import EventType
from jobmill.web import actor_labels
from jobmill.web.auth import Visitor
from jobmill.web.public_event_lines import opening_event_labels
from jobmill.web.translations import say


@dataclass(frozen=True, slots=True)
class AuditEventLine:
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
) -> list[AuditEventLine]:
    """The last events up to a number, newest first."""
    # Event numbers have no gaps, so this reads at most `limit` events.
    page = await events.find_by_opening(tx, opening_id, after=max(upto - limit, 0), upto=upto)
    return await describe_events(tx, page[::-1], visitor)


async def describe_events(
    tx: Tx, listed: Sequence[AuditEvent], visitor: Visitor
) -> list[AuditEventLine]:
    ids = {event.application_id for event in listed if event.application_id}
    names = await applicants.find_names(tx, ids)
    actors = await actor_labels.find_labels(tx, {_get_actor(event) for event in listed}, visitor)
    return [
        AuditEventLine(
            event.opening_id,
            event.seq,
            event.created_at,
            describe_event(event),
            event.application_id,
            names.get(event.application_id) if event.application_id else None,
            actors[_get_actor(event)],
            event.note,
        )
        for event in listed
    ]


def _get_actor(event: AuditEvent) -> str:
    """The actor to show: an offer to the next in line is made by a rule, not by the actor of its cause."""
    is_automatic = event.type == "PROMOTED" and event.why.get("rule") == "next in line"
    return SYSTEM.name if is_automatic else event.actor


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
        "REJECTED": say("was not accepted"),
        **opening_event_labels(),
    }


def event_labels() -> Mapping[EventType, str]:
    """What happens, for each type of event."""
    return {
        "APPLIED": say("applied"),
        "ACCEPTED": say("was accepted and joined the waitlist"),
        "SCORED": say("got a score"),
        "STAGE_CHANGED": say("moved to another stage"),
        "DECAY_TRIGGERED": say("missed an offer and moved back on the waitlist"),
        "CAPACITY_CHANGED": say("Number of places changed"),
        **_event_texts(),
    }


def describe_event(event: AuditEvent) -> str:
    match event.type:
        case "APPLIED":
            return _application_text(event)
        case "ACCEPTED" | "SCORED" | "STAGE_CHANGED":
            return _decision_text(event)
        case "PROMOTED" if event.note:
            return say("was offered a place out of turn")
        case "WITHDRAWN" if event.why.get("rule") == "removed by the company":
            return say("was removed")
        case "WITHDRAWN" if event.why.get("rule") == "opening closed":
            return say("did not get a place: the opening was closed")
        case "WITHDRAWN" if event.why.get("rule") == "offer declined":
            return say("declined the offer")
        case "WITHDRAWN" if event.why.get("rule") == UNREQUESTED_RULE:
            return say("did not apply: someone else entered the address")
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


def _application_text(event: AuditEvent) -> str:
    match event.to_status:
        case "WAITLIST":
            return say("applied and joined the waitlist")
        case "PENDING_ACKNOWLEDGMENT":
            return say("applied and was offered a place")
        case "IN_REVIEW":
            return say("applied")
        case _:
            return say("applied and got a place")


def _decision_text(event: AuditEvent) -> str:
    facts = event.metadata
    match event.type:
        case "ACCEPTED" if event.why.get("rule") == "drawn by lot":
            return say(
                "was drawn and joined the waitlist as number %(n)s", n=f"{facts['position']:,}"
            )
        case "ACCEPTED":
            return say("was accepted and joined the waitlist")
        case "SCORED" if facts["to"] is None:
            return say("no longer has a score")
        case "SCORED":
            return say("got the score %(n)s", n=facts["to"])
        case _:
            return say(
                "moved from %(before)s to %(after)s",
                before=facts["fromName"],
                after=facts["toName"],
            )
