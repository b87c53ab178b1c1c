"""Why: for every event, which slot, which rule, and who was ahead, in plain sentences."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobmill.db import Tx, row
from jobmill.hiring import openings, replay
from jobmill.hiring.replay import NOBODY, Before, NoEvent
from jobmill.hiring.transitions import OCCUPYING, EventType, Status
from jobmill.hiring.waitlist import stamp


@dataclass(frozen=True, slots=True)
class Event:
    """An event with all that explains it."""

    opening_id: int
    seq: int
    application_id: int | None
    type: EventType
    from_status: Status | None
    to_status: Status | None
    queue_key: int | None
    deadline: dt.datetime | None
    metadata: Mapping[str, Any]
    why: Mapping[str, Any]
    actor: str
    note: str | None
    noted: bool
    """There was a note, which may have been erased since."""
    created_at: dt.datetime


@dataclass(frozen=True, slots=True)
class Seen:
    """How full it was when the rule looked."""

    occupied: int
    capacity: int
    waiting: int


@dataclass(frozen=True, slots=True)
class Scene:
    """An event among those that led to it."""

    event: Event
    previous: Event | None = None
    """The one before it of the same application."""
    cause: Event | None = None
    """The one that freed the slot."""
    seen: Seen | None = None
    ahead: Before = NOBODY
    """Who waited before this application's place: the one it took, or else the one it left."""


@dataclass(frozen=True, slots=True)
class Why:
    opening_id: int
    seq: int
    type: EventType
    application_id: int | None
    rule: str | None
    cause: int | None
    """The event that freed the slot."""
    ahead: Before
    """Who waited before this application."""
    by: str
    at: dt.datetime
    sentences: list[str]


async def explain(tx: Tx, opening_id: int, seq: int) -> Why:
    """Why an event happened; NoOpening and NoEvent where there is no such."""
    await openings.get(tx, opening_id)
    scene = await _scene(tx, opening_id, seq)
    event = scene.event
    return Why(
        opening_id,
        seq,
        event.type,
        event.application_id,
        event.why.get("rule"),
        scene.cause.seq if scene.cause else None,
        scene.ahead,
        event.actor,
        event.created_at,
        tell(scene),
    )


async def _scene(tx: Tx, opening_id: int, seq: int) -> Scene:
    event = await _get(tx, opening_id, seq)
    if event is None:
        raise NoEvent(opening_id, seq)
    if event.application_id is None:
        return Scene(event)
    previous = await _previous(tx, event.application_id, seq)
    cause = event.why.get("cause")
    key = event.queue_key or (previous.queue_key if previous else None)
    return Scene(
        event,
        previous,
        await _get(tx, opening_id, cause) if cause else None,
        await _seen(tx, event) if event.type in ("APPLIED", "PROMOTED") else None,
        await replay.before(tx, opening_id, seq - 1, key) if key else NOBODY,
    )


async def _seen(tx: Tx, event: Event) -> Seen:
    """What the rule noted, or else what the log shows."""
    names = ("occupied", "capacity", "waiting")
    if all(name in event.why for name in names):
        return Seen(*(event.why[name] for name in names))
    then = await replay.count_at(tx, event.opening_id, event.seq - 1)
    frame = await replay.frame_at(tx, event.opening_id, event.seq - 1)
    return Seen(then.occupied, frame.capacity, then.waiting)


async def _get(tx: Tx, opening_id: int, seq: int) -> Event | None:
    return await row(
        tx,
        Event,
        """
        SELECT opening_id, seq, application_id, type, from_status, to_status, queue_key, deadline,
               metadata, why, actor, note, note_digest IS NOT NULL AS noted, created_at
          FROM hiring.event
         WHERE opening_id = %s AND seq = %s
        """,
        [opening_id, seq],
    )


async def _previous(tx: Tx, application_id: int, seq: int) -> Event | None:
    return await row(
        tx,
        Event,
        """
        SELECT opening_id, seq, application_id, type, from_status, to_status, queue_key, deadline,
               metadata, why, actor, note, note_digest IS NOT NULL AS noted, created_at
          FROM hiring.event
         WHERE application_id = %s AND seq < %s
         ORDER BY seq DESC
         LIMIT 1
        """,
        [application_id, seq],
    )


def tell(scene: Scene) -> list[str]:
    """The story of an event, a sentence at a time."""
    match scene.event.type:
        case "APPLIED":
            told = _applied(scene)
        case "PROMOTED":
            told = _promoted(scene)
        case "ACKNOWLEDGED":
            told = [
                f"{_offer(scene)} and was confirmed in time.",
                f"{_name(scene.event)} keeps its slot.",
            ]
        case "WITHDRAWN":
            told = _withdrawn(scene)
        case "DECAY_TRIGGERED" | "LAPSED":
            told = _missed(scene)
        case _:
            told = _turned(scene.event)
    return [*told, *_reason(scene.event)]


def _applied(scene: Scene) -> list[str]:
    event, seen = scene.event, scene.seen
    if event.to_status == "WAITLIST":
        told = [_why_waiting(seen), f"{_name(event)} joined the waitlist: {_behind(scene.ahead)}."]
        later = seen.waiting - scene.ahead.count if seen else 0
        if later > 0:
            told.append(f"Behind it: {later} who missed an offer.")
        return told
    told = [f"A slot was free{_filled(seen)}, and nobody waited for it."]
    if event.deadline:
        told.append(f"It was offered to {_name(event, inside=True)} until {stamp(event.deadline)}.")
    else:
        told.append(f"{_name(event)} took it at once.")
    return told


def _why_waiting(seen: Seen | None) -> str:
    if seen and seen.occupied < seen.capacity:
        return f"A slot was free{_filled(seen)}, but others waited for it already."
    return f"No slot was free{_filled(seen)}."


def _promoted(scene: Scene) -> list[str]:
    event, ahead = scene.event, scene.ahead
    told = [f"A slot was free{_filled(scene.seen)}."]
    if scene.cause:
        told.append(f"Event {scene.cause.seq} freed it: {_freed(scene.cause)}.")
    if event.why.get("rule") == "next in line":
        told.append(f"{_name(event)} was next in line: {_behind(ahead)}.")
    else:
        told.append(f"The company gave it to {_name(event, inside=True)} out of turn.")
        told.append(f"Passed over: {_names(ahead)}." if ahead.count else "Nobody was passed over.")
    if event.deadline:
        told.append(f"The offer is open until {stamp(event.deadline)}.")
    return told


def _freed(cause: Event) -> str:
    match cause.type:
        case "WITHDRAWN":
            return f"{_name(cause, inside=True)} left ({cause.why.get('rule', 'withdrawn')})"
        case "DECAY_TRIGGERED" | "LAPSED":
            return f"{_name(cause, inside=True)} did not answer its offer in time"
        case "CAPACITY_CHANGED":
            return f"the capacity went from {cause.metadata['from']} to {cause.metadata['to']}"
        case _:
            return f"the opening was {cause.type.lower()}, and gives its free slots away again"


def _withdrawn(scene: Scene) -> list[str]:
    event = scene.event
    name = _name(event)
    match event.why.get("rule"):
        case "offer declined":
            told = f"{name} turned its offer down."
        case "removed by the company":
            told = f"The company removed {_name(event, inside=True)}."
        case "withdrawn" | None:
            told = f"{name} was withdrawn."
        case rule:
            told = f"{name} ended ({rule})."
    if event.from_status in OCCUPYING:
        return [told, "Its slot was freed."]
    return [told, f"It had waited: {_behind(scene.ahead)}."]


def _missed(scene: Scene) -> list[str]:
    event = scene.event
    penalties = event.metadata["penaltyCount"]
    most = event.why.get("most")
    told = [f"{_offer(scene)} and was not answered."]
    told.append(f"It is missed offer {penalties}{f' of {most} that end it' if most else ''}.")
    if event.type == "LAPSED":
        return [*told, f"{_name(event)} ended."]
    place = f"place {event.metadata['newPosition']}, {_behind(scene.ahead)}"
    return [
        *told,
        f"{_name(event)} went behind all who wait: {place}.",
        f"Those who come next fill {_many(penalties, 'place')} before it, one for each offer missed.",
    ]


def _turned(event: Event) -> list[str]:
    facts = event.metadata
    match event.type:
        case "OPENED":
            return [f"The company opened it with {_many(facts['capacity'], 'slot')}."]
        case "EDITED":
            changed = ", ".join(sorted(name for name in facts if name != "jobId"))
            return [
                f"The company changed its terms: {changed}. Offers that are out stay as they are."
            ]
        case "CAPACITY_CHANGED":
            told = f"The company changed the capacity from {facts['from']} to {facts['to']}"
            return [f"{told}, with {facts['occupied']} taken.", _resized(facts)]
        case "PAUSED":
            return ["The company paused it: nobody may apply, and nobody is promoted by itself."]
        case "CLOSED":
            return ["The company closed it: nobody may apply, and nobody is promoted by itself."]
        case _:
            return [f"The company {event.type.lower()} it: its free slots are given away again."]


def _resized(facts: Mapping[str, Any]) -> str:
    free = facts["to"] - facts["occupied"]
    if free > 0:
        return f"{_many(free, 'slot')} can be given away."
    if free == 0:
        return "No slot is free."
    return f"Nobody is evicted: no slot is given away until {1 - free} have left."


def _reason(event: Event) -> list[str]:
    if event.note:
        return [f"Reason: {event.note}"]
    return ["The reason was erased with the applicant's data."] if event.noted else []


def _offer(scene: Scene) -> str:
    offer = scene.previous
    if offer is None or offer.deadline is None:
        return "The offer was open"
    return f"The offer of event {offer.seq} was open until {stamp(offer.deadline)}"


def _filled(seen: Seen | None) -> str:
    return f" ({seen.occupied} of {_many(seen.capacity, 'slot')} taken)" if seen else ""


def _behind(ahead: Before) -> str:
    return f"behind {_names(ahead)}" if ahead.count else "nobody was ahead of it"


def _names(ahead: Before) -> str:
    named = ", ".join(map(str, ahead.first))
    more = ahead.count - len(ahead.first)
    tail = f" and {more} more" if more else ""
    return f"{_many(ahead.count, 'application')} ({named}{tail})"


def _name(event: Event, *, inside: bool = False) -> str:
    return f"{'application' if inside else 'Application'} {event.application_id}"


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
