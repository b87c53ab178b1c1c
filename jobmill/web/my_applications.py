"""What an applicant is told of their own applications: where they stand, how long it may take, what
happened and how it ended."""

from __future__ import annotations

import datetime as dt
import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from jobmill.db import Tx
from jobmill.db.clock import server_time
from jobmill.hiring import kept
from jobmill.hiring.audit_log.events import AuditEvent
from jobmill.hiring.kept import StoredData
from jobmill.hiring.openings import applicant_lists
from jobmill.hiring.openings.applicant_lists import ApplicationStanding
from jobmill.hiring.records.applicants import Applicant
from jobmill.hiring.waitlist import wait_estimates
from jobmill.hiring.waitlist.wait_estimates import OfferPace, WaitRange
from jobmill.web.translations import say, say_many

MAX_EVENTS = 1_000
MAX_WAITS = 20
"""Openings of one person whose waits are estimated."""
HOUR, DAY = dt.timedelta(hours=1), dt.timedelta(days=1)
MAX_PREDICTABLE = 730 * DAY


@dataclass(frozen=True, slots=True)
class HistoryLine:
    at: dt.datetime
    text: str
    note: str | None = None


@dataclass(frozen=True, slots=True)
class MyApplication:
    """One application of theirs."""

    one: ApplicationStanding
    mark: str
    """In a word."""
    stands: str
    wait: str | None
    """How long it may take, or why that is not told."""
    story: Sequence[HistoryLine]
    """The newest first."""

    @property
    def lives(self) -> bool:
        return self.one.status != "INACTIVE"


@dataclass(frozen=True, slots=True)
class MyData:
    person: Applicant
    mine: Sequence[MyApplication]
    kept: StoredData
    read_at: dt.datetime
    """By the server's clock: the time that is left of an offer is measured from it."""

    @property
    def digest(self) -> str:
        """The same as long as nothing changed that is shown."""
        shown = [
            (one.one.application_id, one.stands, one.wait, len(one.story)) for one in self.mine
        ]
        return hashlib.sha256(repr(shown).encode()).hexdigest()[:16]


async def read_my_data(tx: Tx, applicant_id: int) -> MyData:
    """All that one person's pages show; NoApplicant where there is no such."""
    person, found = await applicant_lists.list_standings(tx, applicant_id)
    events = await applicant_lists.list_timeline(tx, applicant_id, limit=MAX_EVENTS)
    waiting = [one.job_id for one in found if one.status == "WAITLIST"]
    paces = await wait_estimates.find_paces(tx, waiting[:MAX_WAITS])
    mine = [_mine(one, events, paces) for one in found]
    return MyData(
        person,
        mine[::-1],
        await kept.summarize_stored_data(tx, applicant_id),
        await server_time(tx),
    )


def _mine(
    one: ApplicationStanding, events: Collection[AuditEvent], paces: Mapping[int, OfferPace]
) -> MyApplication:
    story = [event for event in events if event.application_id == one.application_id][::-1]
    pace = paces.get(one.job_id)
    return MyApplication(
        one,
        _mark(one),
        describe_standing(one, story[0] if story else None),
        describe_wait(pace, one.queue_position) if pace and one.queue_position else None,
        [describe_event(event) for event in story],
    )


def _mark(one: ApplicationStanding) -> str:
    match one.status:
        case "ACTIVE":
            return say("active")
        case "PENDING_ACKNOWLEDGMENT":
            return say("offered")
        case "WAITLIST":
            return say("waiting")
        case "INACTIVE":
            return say("ended")


def describe_standing(one: ApplicationStanding, last: AuditEvent | None) -> str:
    """Where they stand, in a sentence; of what has ended: how."""
    match one.status:
        case "ACTIVE":
            return say("You have a slot.")
        case "PENDING_ACKNOWLEDGMENT":
            return say("A slot is offered to you.")
        case "WAITLIST":
            return say(
                "You are number %(position)s on the waitlist.", position=f"{one.queue_position:,}"
            )
        case "INACTIVE":
            return describe_event(last).text if last else say("Your application has ended.")


def describe_wait(pace: OfferPace, position: int) -> str:
    """How long it may take, and what that is taken from."""
    if pace.status == "paused":
        return say("The opening is paused: nobody is offered a slot until it goes on.")
    if pace.status == "closed":
        return say("The opening is closed: nobody is offered a slot unless it is opened again.")
    found = pace.wait(position)
    if found is None:
        return say("How long it takes cannot be told yet: too few slots were offered lately.")
    return say_many(
        "It takes %(range)s, if it goes on as in the last %(span)s: %(n)s slot was offered.",
        "It takes %(range)s, if it goes on as in the last %(span)s: %(n)s slots were offered.",
        len(pace.given),
        range=describe_range(found),
        span=_span(pace.now - pace.since),
    )


def describe_range(found: WaitRange) -> str:
    """A range as people say it: about 3 to 9 days."""
    if found.most > MAX_PREDICTABLE:
        days = math.floor(found.least / DAY)
        return say_many("%(n)s day or more", "%(n)s days or more", days)
    if found.most > 2 * DAY:
        return _range(found, DAY, say("about %(low)s to %(high)s days"), say("up to %(high)s days"))
    if found.most > 2 * HOUR:
        return _range(
            found, HOUR, say("about %(low)s to %(high)s hours"), say("up to %(high)s hours")
        )
    return _range(
        found, HOUR / 60, say("about %(low)s to %(high)s minutes"), say("up to %(high)s minutes")
    )


def _range(found: WaitRange, unit: dt.timedelta, both: str, high: str) -> str:
    least, most = math.floor(found.least / unit), math.ceil(found.most / unit)
    return (both if least else high) % {"low": f"{least:,}", "high": f"{max(most, 2):,}"}


def _span(looked: dt.timedelta) -> str:
    if looked >= 2 * DAY:
        return say_many("%(n)s day", "%(n)s days", round(looked / DAY))
    if looked >= 2 * HOUR:
        return say_many("%(n)s hour", "%(n)s hours", round(looked / HOUR))
    return say_many("%(n)s minute", "%(n)s minutes", max(round(looked / (HOUR / 60)), 1))


def describe_event(event: AuditEvent) -> HistoryLine:
    """What happened to them, in a sentence; the company's reason, where it ended their application."""
    removed = event.why.get("rule") == "removed by the company"
    return HistoryLine(event.created_at, _words(event), event.note if removed else None)


def _words(event: AuditEvent) -> str:
    own = event.actor.startswith("applicant")
    match event.type, event.to_status:
        case "APPLIED", "WAITLIST":
            return say("You applied, and joined the waitlist.")
        case "APPLIED", "PENDING_ACKNOWLEDGMENT":
            return say("You applied, and a slot was offered to you.")
        case "APPLIED", _:
            return say("You applied, and got a slot.")
        case "PROMOTED", _:
            return say("A slot was offered to you.")
        case "ACKNOWLEDGED", _:
            return (
                say("You accepted the offer.") if own else say("The company noted that you accept.")
            )
        case "DECAY_TRIGGERED", _:
            place = event.metadata["newPosition"]
            return say(
                "The offer ended unanswered: you waited again, as number %(n)s.", n=f"{place:,}"
            )
        case "LAPSED", _:
            return _lapsed(event.metadata["penaltyCount"])
        case _:
            return _left(str(event.why.get("rule", "")))


def _lapsed(missed: int) -> str:
    return say_many(
        "The offer ended unanswered, which ends the application.",
        "%(n)s offers ended unanswered, which ends the application.",
        missed,
    )


def _left(rule: str) -> str:
    match rule:
        case "offer declined":
            return say("You declined the offer, which ends the application.")
        case "removed by the company":
            return say("The company ended your application.")
        case "withdrawn" | "":
            return say("You withdrew your application.")
        case _:
            return say("Your application has ended.")
