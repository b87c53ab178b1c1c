"""Explanations of events: which slot, which rule and which applications were ahead, in plain sentences."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, LiteralString, TypeAlias

from jobmill.db import Tx, fetch_one
from jobmill.hiring.audit_log import replay
from jobmill.hiring.audit_log.changed_terms import describe_term
from jobmill.hiring.audit_log.hash_chain import EventFields
from jobmill.hiring.audit_log.replay import NONE_AHEAD, ApplicationsAhead, EventNotFound
from jobmill.hiring.records import applicants, openings
from jobmill.hiring.timestamps import format_timestamp
from jobmill.hiring.transitions import OCCUPYING, EventType

COLUMNS: LiteralString = """
               opening_id, seq, application_id, type, from_status, to_status, queue_key, deadline,
               metadata, why, actor, note, note_digest IS NOT NULL AS had_note, created_at"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExplainedEvent(EventFields):
    queue_key: int | None
    deadline: dt.datetime | None
    note: str | None
    had_note: bool
    """There was a note, which may have been erased."""


@dataclass(frozen=True, slots=True)
class Occupancy:
    """The counts when the rule was applied."""

    occupied: int
    capacity: int
    waiting: int


@dataclass(frozen=True, slots=True)
class EventContext:
    """An event with the events that led to it."""

    event: ExplainedEvent
    previous: ExplainedEvent | None = None
    """The previous event of the same application."""
    cause: ExplainedEvent | None = None
    """The event that freed the slot."""
    occupancy: Occupancy | None = None
    ahead: ApplicationsAhead = NONE_AHEAD
    """Applications before the queue key that this application took, or else left."""


@dataclass(frozen=True, slots=True)
class ApplicationMention:
    """An application in a sentence: pages show the applicant's name, programs the id."""

    application_id: int
    listed: bool = False
    """Part of a list that says once what its items are."""

    def __str__(self) -> str:
        return str(self.application_id) if self.listed else f"application {self.application_id}"


Piece: TypeAlias = str | dt.datetime | ApplicationMention
Sentence: TypeAlias = tuple[Piece, ...]


def render_sentence(
    sentence: Sentence,
    names: Mapping[int, str] = {},
    format_time: Callable[[dt.datetime], str] = format_timestamp,
) -> str:
    """A sentence as text; an application without a name is called by its id."""
    text = "".join(_render_piece(piece, names, format_time) for piece in sentence)
    first = sentence[0]
    is_name = isinstance(first, ApplicationMention) and first.application_id in names
    return text if is_name else text[:1].upper() + text[1:]


def _render_piece(
    piece: Piece, names: Mapping[int, str], format_time: Callable[[dt.datetime], str]
) -> str:
    match piece:
        case dt.datetime():
            return format_time(piece)
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
    """Applications that waited before this one."""
    by: str
    at: dt.datetime
    pieces: list[Sentence]
    """The sentences, with times and applications for pages to format."""
    names: Mapping[int, str]
    """The names of the applicants in the sentences, for readers with access to them."""

    @property
    def sentences(self) -> list[str]:
        """The sentences for programs: applications by id, times as the API writes them."""
        return [render_sentence(sentence) for sentence in self.pieces]


async def explain_event(tx: Tx, opening_id: int, seq: int) -> EventExplanation:
    """Why an event happened; raises OpeningNotFound and EventNotFound."""
    await openings.get(tx, opening_id)
    context = await _read_context(tx, opening_id, seq)
    event, sentences = context.event, compose_sentences(context)
    mentioned = {
        piece.application_id
        for sentence in sentences
        for piece in sentence
        if isinstance(piece, ApplicationMention)
    }
    return EventExplanation(
        opening_id,
        seq,
        event.type,
        event.application_id,
        event.why.get("rule"),
        context.cause.seq if context.cause else None,
        context.ahead,
        event.actor,
        event.created_at,
        sentences,
        await applicants.find_names(tx, mentioned),
    )


async def _read_context(tx: Tx, opening_id: int, seq: int) -> EventContext:
    event = await _find_event(tx, opening_id, seq)
    if event is None:
        raise EventNotFound(opening_id, seq)
    if event.application_id is None:
        return EventContext(event)
    previous = await _find_previous(tx, event.application_id, seq)
    cause = event.why.get("cause")
    key = event.queue_key or (previous.queue_key if previous else None)
    return EventContext(
        event,
        previous,
        await _find_event(tx, opening_id, cause) if cause else None,
        await _read_occupancy(tx, event) if event.type in ("APPLIED", "PROMOTED") else None,
        await replay.find_ahead(tx, opening_id, seq - 1, key) if key else NONE_AHEAD,
    )


async def _read_occupancy(tx: Tx, event: ExplainedEvent) -> Occupancy:
    """The counts that the event recorded, or else a replay of the log."""
    names = ("occupied", "capacity", "waiting")
    if all(name in event.why for name in names):
        return Occupancy(*(event.why[name] for name in names))
    counts = await replay.counts_at(tx, event.opening_id, event.seq - 1)
    state = await replay.state_at(tx, event.opening_id, event.seq - 1)
    return Occupancy(counts.occupied, state.capacity, counts.waiting)


async def _find_event(tx: Tx, opening_id: int, seq: int) -> ExplainedEvent | None:
    return await fetch_one(
        tx,
        ExplainedEvent,
        f"SELECT {COLUMNS} FROM hiring.event WHERE opening_id = %s AND seq = %s",
        [opening_id, seq],
    )


async def _find_previous(tx: Tx, application_id: int, seq: int) -> ExplainedEvent | None:
    return await fetch_one(
        tx,
        ExplainedEvent,
        f"""
        SELECT {COLUMNS}
          FROM hiring.event
         WHERE application_id = %s AND seq < %s
         ORDER BY seq DESC
         LIMIT 1
        """,
        [application_id, seq],
    )


def compose_sentences(context: EventContext) -> list[Sentence]:
    match context.event.type:
        case "APPLIED":
            sentences = _explain_application(context)
        case "PROMOTED":
            sentences = _explain_offer(context)
        case "ACKNOWLEDGED":
            sentences = [
                (*_offer_period(context), " and was accepted in time."),
                (_mention(context.event), " keeps the place."),
            ]
        case "WITHDRAWN":
            sentences = _explain_withdrawal(context)
        case "DECAY_TRIGGERED" | "LAPSED":
            sentences = _explain_missed_offer(context)
        case "ADDRESS_CONFIRMED" | "ADDRESS_UNCONFIRMED":
            sentences = _explain_confirmation(context)
        case "ACCEPTED" | "REJECTED" | "SCORED" | "STAGE_CHANGED":
            sentences = _explain_decision(context)
        case _:
            sentences = [(text,) for text in _explain_opening_event(context.event)]
    return [*sentences, *_reason(context.event)]


def _explain_application(context: EventContext) -> list[Sentence]:
    event, occupancy = context.event, context.occupancy
    if event.to_status == "IN_REVIEW":
        wait = "the draw" if event.why.get("rule") == "entries wait for the draw" else "a decision"
        return [(_mention(event), f" was received and is waiting for {wait}.")]
    if event.to_status == "WAITLIST":
        sentences: list[Sentence] = [
            (_why_waitlisted(occupancy),),
            (_mention(event), " joined the waitlist ", *_behind(context.ahead), "."),
        ]
        behind = occupancy.waiting - context.ahead.count if occupancy else 0
        if behind > 0:
            sentences.append(
                (
                    f"{_count(behind, 'application')} that missed an offer stayed behind this position.",
                )
            )
        return sentences
    free = (f"A place was free{_taken(occupancy)} and nobody was waiting.",)
    if event.deadline:
        offered: Sentence = ("It was offered to ", _mention(event), " until ", event.deadline, ".")
        return [free, offered, *_explain_quiet_hours(event)]
    return [free, (_mention(event), " took it at once.")]


def _why_waitlisted(occupancy: Occupancy | None) -> str:
    if occupancy and occupancy.occupied < occupancy.capacity:
        return f"A place was free{_taken(occupancy)}, but others were already waiting for it."
    return f"No place was free{_taken(occupancy)}."


def _explain_offer(context: EventContext) -> list[Sentence]:
    event, ahead = context.event, context.ahead
    sentences: list[Sentence] = [(f"A place was free{_taken(context.occupancy)}.",)]
    # An application that was just accepted frees no place: it is offered one that was free before.
    if context.cause and context.cause.type != "ACCEPTED":
        sentences.append((f"Event {context.cause.seq} freed it: ", *_freed_by(context.cause), "."))
    if event.why.get("rule") == "next in line":
        sentences.append((_mention(event), " was next in line, ", *_behind(ahead), "."))
    else:
        sentences.append(("The company offered it to ", _mention(event), " out of turn."))
        passed_over = ("Passed over: ", *_list_ahead(ahead), ".")
        sentences.append(passed_over if ahead.count else ("Nobody was passed over.",))
    if event.deadline:
        sentences.append(("The offer is open until ", event.deadline, "."))
    return [*sentences, *_explain_quiet_hours(event)]


def _explain_quiet_hours(event: ExplainedEvent) -> list[Sentence]:
    start = event.why.get("countsFrom")
    if start is None:
        return []
    begins = dt.datetime.fromisoformat(start)
    return [("It was made in quiet hours, so the time to accept it counts from ", begins, ".")]


def _freed_by(cause: ExplainedEvent) -> Sentence:
    match cause.type:
        case "WITHDRAWN":
            return _mention(cause), f" left ({cause.why.get('rule', 'withdrawn')})"
        case "DECAY_TRIGGERED" | "LAPSED":
            return _mention(cause), " did not answer the offer in time"
        case "ADDRESS_UNCONFIRMED":
            return _mention(cause), " did not confirm the email address in time"
        case "STAGE_CHANGED":
            return _mention(cause), f" was moved to {cause.metadata['toName']}"
        case "CAPACITY_CHANGED":
            before, after = cause.metadata["from"], cause.metadata["to"]
            return (f"the number of places changed from {before} to {after}",)
        case _:
            return (f"the opening was {cause.type.lower()} and offers free places again",)


def _explain_withdrawal(context: EventContext) -> list[Sentence]:
    event = context.event
    application = _mention(event)
    sentence: Sentence
    match event.why.get("rule"):
        case "offer declined":
            sentence = application, " declined the offer."
        case "removed by the company":
            sentence = "The company removed ", application, "."
        case "opening closed":
            sentence = "The company closed the opening and ended ", application, "."
        case "withdrawn" | None:
            sentence = application, " withdrew."
        case rule:
            sentence = application, f" left ({rule})."
    if event.from_status in OCCUPYING:
        return [sentence, ("This freed the place.",)]
    if event.from_status == "IN_REVIEW":
        return [sentence, ("It was not decided yet.",)]
    return [sentence, ("Until then on the waitlist, ", *_behind(context.ahead), ".")]


def _explain_decision(context: EventContext) -> list[Sentence]:
    """Decisions of the company on an application, in review or with a place."""
    event, application = context.event, _mention(context.event)
    match event.type:
        case "ACCEPTED" if context.cause:
            return [
                (
                    f"The draw of event {context.cause.seq} placed ",
                    application,
                    ", ",
                    *_behind(context.ahead),
                    ".",
                ),
            ]
        case "ACCEPTED":
            return [
                ("The company accepted ", application, "."),
                ("It joined the waitlist ", *_behind(context.ahead), "."),
            ]
        case "REJECTED":
            return [("The company did not accept ", application, ". The application has ended.")]
        case "SCORED":
            points = event.metadata["to"]
            text = "removed the score" if points is None else f"set the score to {points}"
            return [(f"The company {text} of ", application, ".")]
        case _:
            return _explain_stage(event)


def _explain_stage(event: ExplainedEvent) -> list[Sentence]:
    facts, application = event.metadata, _mention(event)
    moved: Sentence = (
        "The company moved ",
        application,
        f" from {facts['fromName']} to {facts['toName']}.",
    )
    if event.to_status == "INACTIVE":
        return [moved, ("The application has ended. This freed the place.",)]
    return [moved, (application, " keeps the place.")]


def _explain_confirmation(context: EventContext) -> list[Sentence]:
    event, application = context.event, _mention(context.event)
    until = context.previous.metadata.get("confirmBy") if context.previous else None
    limit: Sentence = (" by ", dt.datetime.fromisoformat(until)) if until else ("",)
    sentence: Sentence = ("The email address had to be confirmed", *limit)
    if event.type == "ADDRESS_CONFIRMED":
        return [(*sentence, ", and was."), (application, " keeps its place in the order.")]
    ended: Sentence = (*sentence, ", and was not. ", application, " has ended.")
    if event.from_status in OCCUPYING:
        return [ended, ("This freed the place.",)]
    return [ended]


def _explain_missed_offer(context: EventContext) -> list[Sentence]:
    event = context.event
    missed = event.metadata["penaltyCount"]
    limit = event.why.get("most")
    sentences: list[Sentence] = [
        (*_offer_period(context), " and was not answered."),
        (
            f"This was missed offer {missed}{f'; the application ends after {limit}' if limit else ''}.",
        ),
    ]
    if event.type == "LAPSED":
        return [*sentences, ("The application has ended.",)]
    return [
        *sentences,
        (
            _mention(event),
            " moved to the end of the waitlist",
            *_describe_new_position(event.metadata["newPosition"], context.ahead),
        ),
        (
            f"The next {'application' if missed == 1 else f'{missed} applications'} will be placed ahead.",
        ),
    ]


def _describe_new_position(position: int, ahead: ApplicationsAhead) -> Sentence:
    """The position that the waitlist shows: that after the free places were offered to those ahead."""
    if position > ahead.count:
        return (f": position {position}, ", *_behind(ahead), ".")
    return (", ", *_behind(ahead), f": position {position} once the free places were offered.")


def _explain_opening_event(event: ExplainedEvent) -> list[str]:
    facts = event.metadata
    match event.type:
        case "OPENED":
            return [f"The company created the opening with {_count(facts['capacity'], 'place')}."]
        case "EDITED":
            changes = [
                describe_term(name, facts[name]) for name in sorted(facts) if name != "jobId"
            ]
            return [
                *(f"The company {change}." for change in changes),
                "Current offers keep their deadline.",
            ]
        case "FORM_CHANGED":
            questions = _count(facts["questions"], "question")
            return [
                f"The company saved version {facts['version']} of the form, with {questions}.",
                "Earlier applications keep the questions that they answered.",
            ]
        case "CAPACITY_CHANGED":
            change = (
                f"The company changed the number of places from {facts['from']} to {facts['to']}"
            )
            return [f"{change}, with {facts['occupied']} taken.", _explain_resize(facts)]
        case "LOTTERY_OPENED":
            return [
                "Entries are collected and drawn by lot.",
                f"The SHA-256 of the secret seed is {facts['commitment']}.",
            ]
        case "LOTTERY_DRAWN":
            return [
                f"The company drew the order of {_count(facts['entries'], 'application')}.",
                f"The seed is {facts['seed']}.",
                "Entries are sorted by the SHA-256 of the seed followed by their number.",
            ]
        case "PAUSED" | "CLOSED":
            return [
                f"The company {event.type.lower()} the opening.",
                "Applications are closed. Open places are not offered automatically.",
                *_explain_closing(facts),
            ]
        case _:
            return [
                f"The company {event.type.lower()} the opening.",
                "Open places are offered automatically again.",
            ]


def _explain_closing(facts: Mapping[str, Any]) -> list[str]:
    """What a closing did to waiting applications; nothing if they were kept."""
    if not facts.get("ended"):
        return []
    ended, told = _count(facts["ended"], "application"), _count(facts["told"], "email")
    return [f"{ended} without a place ended, with {told}. People with a place keep it."]


def _explain_resize(facts: Mapping[str, Any]) -> str:
    free = facts["to"] - facts["occupied"]
    if free > 0:
        return f"{_count(free, 'place')} can be offered."
    if free == 0:
        return "No place is free."
    return f"Nobody loses a place. The next place is free after {1 - free} people have left."


def _reason(event: ExplainedEvent) -> list[Sentence]:
    if event.note:
        return [(f"Reason: {event.note}",)]
    return [("The reason was erased with the applicant's data.",)] if event.had_note else []


def _offer_period(context: EventContext) -> Sentence:
    offer = context.previous
    if offer is None or offer.deadline is None:
        return ("The offer was open",)
    return f"The offer of event {offer.seq} was open until ", offer.deadline


def _taken(occupancy: Occupancy | None) -> str:
    return f" ({occupancy.occupied} of {occupancy.capacity} places taken)" if occupancy else ""


def _behind(ahead: ApplicationsAhead) -> Sentence:
    return ("behind ", *_list_ahead(ahead)) if ahead.count else ("with nobody ahead",)


def _list_ahead(ahead: ApplicationsAhead) -> Sentence:
    mentions: list[Piece] = []
    for id in ahead.first:
        mention = ApplicationMention(id, listed=True)
        mentions += [", ", mention] if mentions else [mention]
    more = ahead.count - len(ahead.first)
    tail = f" and {more} more" if more else ""
    return f"{_count(ahead.count, 'application')} (", *mentions, f"{tail})"


def _mention(event: ExplainedEvent) -> ApplicationMention:
    """The application of an event; must not be called for events of the opening itself."""
    return ApplicationMention(event.application_id or 0)


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
