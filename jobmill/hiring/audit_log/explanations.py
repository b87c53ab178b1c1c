"""Why: for every event, which slot, which rule, and who was ahead, in plain sentences."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from jobmill.db import Tx, fetch_one
from jobmill.hiring.audit_log import replay, replay_preview
from jobmill.hiring.audit_log.replay import NONE_AHEAD, ApplicationsAhead, EventNotFound
from jobmill.hiring.records import openings
from jobmill.hiring.timestamps import format_timestamp
from jobmill.hiring.transitions import OCCUPYING, EventType, Status


@dataclass(frozen=True, slots=True)
class ExplainedEvent:
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
class Occupancy:
    """How full it was when the rule looked."""

    occupied: int
    capacity: int
    waiting: int


@dataclass(frozen=True, slots=True)
class EventContext:
    """An event among those that led to it."""

    event: ExplainedEvent
    previous: ExplainedEvent | None = None
    """The one before it of the same application."""
    cause: ExplainedEvent | None = None
    """The one that freed the slot."""
    seen: Occupancy | None = None
    ahead: ApplicationsAhead = NONE_AHEAD
    """Who waited before this application's place: the one it took, or else the one it left."""


@dataclass(frozen=True, slots=True)
class ApplicationMention:
    """Somebody in a sentence, whom each reader knows by another name."""

    application_id: int
    listed: bool = False
    """Among others, where one word says for all of them what they are."""

    def __str__(self) -> str:
        return str(self.application_id) if self.listed else f"application {self.application_id}"


Piece: TypeAlias = str | dt.datetime | ApplicationMention
Sentence: TypeAlias = tuple[Piece, ...]


def render_sentence(
    sentence: Sentence,
    names: Mapping[int, str] = {},
    when: Callable[[dt.datetime], str] = format_timestamp,
) -> str:
    """A sentence as a text; who has no name there is called by the number of the application."""
    told = "".join(_read(one, names, when) for one in sentence)
    first = sentence[0]
    is_name = isinstance(first, ApplicationMention) and first.application_id in names
    return told if is_name else told[:1].upper() + told[1:]


def _read(piece: Piece, names: Mapping[int, str], when: Callable[[dt.datetime], str]) -> str:
    match piece:
        case dt.datetime():
            return when(piece)
        case ApplicationMention():
            return names.get(piece.application_id, str(piece))
        case _:
            return piece


@dataclass(frozen=True, slots=True)
class EventExplanation:
    opening_id: int
    seq: int
    type: EventType
    application_id: int | None
    rule: str | None
    cause: int | None
    """The event that freed the slot."""
    ahead: ApplicationsAhead
    """Who waited before this application."""
    by: str
    at: dt.datetime
    story: list[Sentence]
    names: Mapping[int, str]
    """What those are called who are in the story, for those who may know."""

    @property
    def sentences(self) -> list[str]:
        """The story as programs are told it: by numbers, with times of the public contract."""
        return [render_sentence(one) for one in self.story]


async def explain_event(tx: Tx, opening_id: int, seq: int) -> EventExplanation:
    """Why an event happened; NoOpening and NoEvent where there is no such."""
    await openings.get(tx, opening_id)
    scene = await _scene(tx, opening_id, seq)
    event, story = scene.event, compose_sentences(scene)
    who = {
        one.application_id for told in story for one in told if isinstance(one, ApplicationMention)
    }
    return EventExplanation(
        opening_id,
        seq,
        event.type,
        event.application_id,
        event.why.get("rule"),
        scene.cause.seq if scene.cause else None,
        scene.ahead,
        event.actor,
        event.created_at,
        story,
        await replay_preview.find_names(tx, who),
    )


async def _scene(tx: Tx, opening_id: int, seq: int) -> EventContext:
    event = await _get(tx, opening_id, seq)
    if event is None:
        raise EventNotFound(opening_id, seq)
    if event.application_id is None:
        return EventContext(event)
    previous = await _previous(tx, event.application_id, seq)
    cause = event.why.get("cause")
    key = event.queue_key or (previous.queue_key if previous else None)
    return EventContext(
        event,
        previous,
        await _get(tx, opening_id, cause) if cause else None,
        await _seen(tx, event) if event.type in ("APPLIED", "PROMOTED") else None,
        await replay.find_ahead(tx, opening_id, seq - 1, key) if key else NONE_AHEAD,
    )


async def _seen(tx: Tx, event: ExplainedEvent) -> Occupancy:
    """What the rule noted, or else what the log shows."""
    names = ("occupied", "capacity", "waiting")
    if all(name in event.why for name in names):
        return Occupancy(*(event.why[name] for name in names))
    then = await replay.counts_at(tx, event.opening_id, event.seq - 1)
    frame = await replay.state_at(tx, event.opening_id, event.seq - 1)
    return Occupancy(then.occupied, frame.capacity, then.waiting)


async def _get(tx: Tx, opening_id: int, seq: int) -> ExplainedEvent | None:
    return await fetch_one(
        tx,
        ExplainedEvent,
        """
        SELECT opening_id, seq, application_id, type, from_status, to_status, queue_key, deadline,
               metadata, why, actor, note, note_digest IS NOT NULL AS noted, created_at
          FROM hiring.event
         WHERE opening_id = %s AND seq = %s
        """,
        [opening_id, seq],
    )


async def _previous(tx: Tx, application_id: int, seq: int) -> ExplainedEvent | None:
    return await fetch_one(
        tx,
        ExplainedEvent,
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


def compose_sentences(scene: EventContext) -> list[Sentence]:
    """The story of an event, a sentence at a time."""
    match scene.event.type:
        case "APPLIED":
            told = _applied(scene)
        case "PROMOTED":
            told = _promoted(scene)
        case "ACKNOWLEDGED":
            told = [
                (*_offer(scene), " and was confirmed in time."),
                (_who(scene.event), " keeps the slot."),
            ]
        case "WITHDRAWN":
            told = _withdrawn(scene)
        case "DECAY_TRIGGERED" | "LAPSED":
            told = _missed(scene)
        case _:
            told = [(one,) for one in _turned(scene.event)]
    return [*told, *_reason(scene.event)]


def _applied(scene: EventContext) -> list[Sentence]:
    event, seen = scene.event, scene.seen
    if event.to_status == "WAITLIST":
        told: list[Sentence] = [
            (_why_waiting(seen),),
            (_who(event), " joined the waitlist: ", *_behind(scene.ahead), "."),
        ]
        later = seen.waiting - scene.ahead.count if seen else 0
        if later > 0:
            told.append((f"Behind that place: {later} who missed an offer.",))
        return told
    free = (f"A slot was free{_filled(seen)}, and nobody waited for it.",)
    if event.deadline:
        return [free, ("It was offered to ", _who(event), " until ", event.deadline, ".")]
    return [free, (_who(event), " took it at once.")]


def _why_waiting(seen: Occupancy | None) -> str:
    if seen and seen.occupied < seen.capacity:
        return f"A slot was free{_filled(seen)}, but others waited for it already."
    return f"No slot was free{_filled(seen)}."


def _promoted(scene: EventContext) -> list[Sentence]:
    event, ahead = scene.event, scene.ahead
    told: list[Sentence] = [(f"A slot was free{_filled(scene.seen)}.",)]
    if scene.cause:
        told.append((f"Event {scene.cause.seq} freed it: ", *_freed(scene.cause), "."))
    if event.why.get("rule") == "next in line":
        told.append((_who(event), " was next in line: ", *_behind(ahead), "."))
    else:
        told.append(("The company gave it to ", _who(event), " out of turn."))
        passed = ("Passed over: ", *_names(ahead), ".")
        told.append(passed if ahead.count else ("Nobody was passed over.",))
    if event.deadline:
        told.append(("The offer is open until ", event.deadline, "."))
    return told


def _freed(cause: ExplainedEvent) -> Sentence:
    match cause.type:
        case "WITHDRAWN":
            return _who(cause), f" left ({cause.why.get('rule', 'withdrawn')})"
        case "DECAY_TRIGGERED" | "LAPSED":
            return _who(cause), " did not answer the offer in time"
        case "CAPACITY_CHANGED":
            return (f"the capacity went from {cause.metadata['from']} to {cause.metadata['to']}",)
        case _:
            return (f"the opening was {cause.type.lower()}, and gives its free slots away again",)


def _withdrawn(scene: EventContext) -> list[Sentence]:
    event = scene.event
    who = _who(event)
    told: Sentence
    match event.why.get("rule"):
        case "offer declined":
            told = who, " turned the offer down."
        case "removed by the company":
            told = "The company removed ", who, "."
        case "withdrawn" | None:
            told = who, " left."
        case rule:
            told = who, f" left ({rule})."
    if event.from_status in OCCUPYING:
        return [told, ("The slot was freed.",)]
    return [told, ("Until then on the waitlist: ", *_behind(scene.ahead), ".")]


def _missed(scene: EventContext) -> list[Sentence]:
    event = scene.event
    penalties = event.metadata["penaltyCount"]
    most = event.why.get("most")
    told: list[Sentence] = [
        (*_offer(scene), " and was not answered."),
        (f"It is missed offer {penalties}{f' of {most} that end it' if most else ''}.",),
    ]
    if event.type == "LAPSED":
        return [*told, (_who(event), " is out.")]
    place = f"place {event.metadata['newPosition']}, "
    fill = f"Those who come next fill {_many(penalties, 'place')} before it"
    return [
        *told,
        (_who(event), f" went behind all who wait: {place}", *_behind(scene.ahead), "."),
        (f"{fill}, one for each offer missed.",),
    ]


def _turned(event: ExplainedEvent) -> list[str]:
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


def _reason(event: ExplainedEvent) -> list[Sentence]:
    if event.note:
        return [(f"Reason: {event.note}",)]
    return [("The reason was erased with the applicant's data.",)] if event.noted else []


def _offer(scene: EventContext) -> Sentence:
    offer = scene.previous
    if offer is None or offer.deadline is None:
        return ("The offer was open",)
    return f"The offer of event {offer.seq} was open until ", offer.deadline


def _filled(seen: Occupancy | None) -> str:
    return f" ({seen.occupied} of {_many(seen.capacity, 'slot')} taken)" if seen else ""


def _behind(ahead: ApplicationsAhead) -> Sentence:
    return ("behind ", *_names(ahead)) if ahead.count else ("nobody was ahead",)


def _names(ahead: ApplicationsAhead) -> Sentence:
    named: list[Piece] = []
    for one in ahead.first:
        named += (
            [", ", ApplicationMention(one, listed=True)]
            if named
            else [ApplicationMention(one, listed=True)]
        )
    more = ahead.count - len(ahead.first)
    tail = f" and {more} more" if more else ""
    return f"{_many(ahead.count, 'application')} (", *named, f"{tail})"


def _who(event: ExplainedEvent) -> ApplicationMention:
    """Only of an event that has an application."""
    return ApplicationMention(event.application_id or 0)


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
