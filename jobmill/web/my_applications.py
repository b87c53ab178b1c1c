"""What an applicant sees of their own applications: standing, estimated wait and history."""

from __future__ import annotations

import datetime as dt
import hashlib
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from jobmill.db import Tx
from jobmill.db.clock import server_time
from jobmill.errors import Gone
from jobmill.hiring.actor import ISSUED_BY
from jobmill.hiring.applications import applicant_applications, timeline
from jobmill.hiring.applications.applicant_applications import ApplicantApplication
from jobmill.hiring.applications.outcomes import Answer, MissedOffer, Placement
from jobmill.hiring.applications.submissions import COLLECTED
from jobmill.hiring.audit_log import fairness_proof
from jobmill.hiring.audit_log.events import AuditEvent
from jobmill.hiring.interviews import booking_events, bookings, interview_times
from jobmill.hiring.interviews.bookings import InterviewChoice
from jobmill.hiring.messages import notices
from jobmill.hiring.messages.notices import ReceivedMessage
from jobmill.hiring.privacy import StoredData, summarize_stored_data
from jobmill.hiring.records import fairness_keys
from jobmill.hiring.records.applicants import Applicant
from jobmill.hiring.transitions import ApplicationStatus
from jobmill.hiring.waitlist import wait_estimates
from jobmill.hiring.waitlist.wait_estimates import OfferPace, WaitRange
from jobmill.web.booking_lines import describe_booking_event
from jobmill.web.translations import say, say_many

MAX_EVENTS = 1_000
MAX_MESSAGES = 100
MAX_WAITS = 20
"""For how many openings of one applicant the wait is estimated."""
HOUR, DAY = dt.timedelta(hours=1), dt.timedelta(days=1)
MAX_PREDICTABLE = 730 * DAY


@dataclass(frozen=True, slots=True)
class HistoryLine:
    at: dt.datetime
    text: str
    note: str | None = None


@dataclass(frozen=True, slots=True)
class MissedOffers:
    count: int
    last_at: dt.datetime
    remaining: int
    """How many more end the application."""


@dataclass(frozen=True, slots=True)
class MyApplication:
    standing: ApplicantApplication
    summary: str
    missed: MissedOffers | None
    """None if no offer was missed, or the application has ended."""
    wait: str | None
    """The estimated wait, or why there is no estimate."""
    history: Sequence[HistoryLine]
    """Newest first."""
    pseudonym: str | None = None
    """In the public log of the opening, if the company publishes it."""
    entry: int | None = None
    """The number in the draw, if the opening has or had a lottery."""
    messages: Sequence[ReceivedMessage] = ()
    """Newest first."""
    bookings: Sequence[HistoryLine] = ()
    """What happened to the interview, newest first."""

    @property
    def activity(self) -> list[HistoryLine]:
        """The history with the interview, newest first."""
        return sorted([*self.bookings, *self.history], key=lambda line: line.at, reverse=True)

    @property
    def is_live(self) -> bool:
        return self.standing.status != "INACTIVE"


@dataclass(frozen=True, slots=True)
class MyData:
    applicant: Applicant
    applications: Sequence[MyApplication]
    stored: StoredData
    interviews: Mapping[int, InterviewChoice]
    """Interview times to book and the booked one, by application id."""
    read_at: dt.datetime
    """By the database's clock, which the remaining time of an offer is measured from."""

    @property
    def digest(self) -> str:
        """Changes when something on the page changes."""
        shown = [
            (
                application.standing.application_id,
                application.summary,
                application.standing.acknowledge_deadline,
                application.missed,
                application.wait,
                application.history[:1],
                application.messages[:1],
                application.bookings[:1],
            )
            for application in self.applications
        ]
        booked = [(choice.booking, len(choice.times)) for choice in self.interviews.values()]
        return hashlib.sha256(repr((shown, booked)).encode()).hexdigest()[:16]


async def read_my_data(tx: Tx, applicant_id: int) -> MyData:
    """Everything that an applicant's pages show; raises ApplicantNotFound."""
    applicant, listed = await applicant_applications.list_by_applicant(tx, applicant_id)
    events = await timeline.list_timeline(
        tx, applicant_id, limit=MAX_EVENTS, newest=True, for_applicant=True
    )
    waiting = [standing.job_id for standing in listed if standing.status == "WAITLIST"]
    paces = await wait_estimates.find_paces(tx, waiting[:MAX_WAITS])
    keys = await fairness_keys.find_published(tx, {standing.job_id for standing in listed})
    messages = await notices.list_received(tx, applicant_id, MAX_MESSAGES)
    booked = await booking_events.list_booking_events(tx, applicant_id, MAX_EVENTS)
    applications = [
        replace(
            _describe_application(standing, events, paces),
            messages=[
                message for message in messages if message.application_id == standing.application_id
            ],
            bookings=[
                HistoryLine(event.created_at, describe_booking_event(event))
                for event in booked
                if event.application_id == standing.application_id
            ],
            pseudonym=fairness_proof.make_pseudonym(keys[standing.job_id], applicant_id)
            if standing.job_id in keys
            else None,
        )
        for standing in listed
    ]
    stored = await summarize_stored_data(tx, applicant_id)
    interviews = await _read_interviews(tx, listed)
    return MyData(applicant, applications[::-1], stored, interviews, await server_time(tx))


async def _read_interviews(
    tx: Tx, listed: Sequence[ApplicantApplication]
) -> dict[int, InterviewChoice]:
    active = [standing for standing in listed if standing.status == "ACTIVE"]
    with_times = await interview_times.find_openings_with_times(
        tx, [standing.job_id for standing in active]
    )
    choices = [
        await bookings.read_choice(tx, standing.application_id)
        for standing in active
        if standing.job_id in with_times
    ]
    return {choice.application_id: choice for choice in choices if choice}


def _describe_application(
    standing: ApplicantApplication, events: Collection[AuditEvent], paces: Mapping[int, OfferPace]
) -> MyApplication:
    history = [event for event in events if event.application_id == standing.application_id][::-1]
    pace, position = paces.get(standing.job_id), standing.queue_position
    last, entry = history[0] if history else None, _find_entry(history)
    return MyApplication(
        standing,
        describe_outcome(standing, last, is_entry=entry is not None),
        _find_missed(standing, history),
        describe_wait(pace, position) if pace and position else None,
        [describe_event(event) for event in history],
        entry=entry,
    )


def _find_entry(history: Sequence[AuditEvent]) -> int | None:
    applied = next((event for event in history if event.type == "APPLIED"), None)
    is_entry = applied and applied.why.get("rule") == COLLECTED["lottery"]
    return applied.seq if applied and is_entry else None


def _find_missed(
    standing: ApplicantApplication, history: Sequence[AuditEvent]
) -> MissedOffers | None:
    last = next((event for event in history if event.type == "DECAY_TRIGGERED"), None)
    if last is None or standing.status == "INACTIVE":
        return None
    deadline = last.why.get("deadline")
    # The event may be later than the deadline: while no worker runs, the next reader writes it.
    last_at = dt.datetime.fromisoformat(deadline) if deadline else last.created_at
    remaining = max(standing.max_missed - standing.penalty_count, 1)
    return MissedOffers(standing.penalty_count, last_at, remaining)


def describe_outcome(
    standing: ApplicantApplication, last: AuditEvent | None, *, is_entry: bool = False
) -> str:
    """The standing in a sentence; for an ended application, how it ended. `is_entry`: of a lottery."""
    match standing.status:
        case "ACTIVE":
            return say("You have a place.")
        case "PENDING_ACKNOWLEDGMENT":
            return say("You have been offered a place.")
        case "WAITLIST":
            return say(
                "You are number %(position)s on the waitlist.",
                position=f"{standing.queue_position:,}",
            )
        case "IN_REVIEW":
            return _undecided_text(is_entry=is_entry)
        case "INACTIVE":
            return describe_event(last).text if last else say("Your application has ended.")


def _undecided_text(*, is_entry: bool) -> str:
    if is_entry:
        return say("Your application is entered in the draw. You will see the result here.")
    return say("Your application is waiting for a decision. You will see the decision here.")


def describe_wait(pace: OfferPace, position: int) -> str:
    """The estimated wait and what it is based on."""
    if pace.status == "paused":
        return say("The opening is paused. No places are offered until it resumes.")
    if pace.status == "closed":
        return say("The opening is closed. No places are offered unless it reopens.")
    wait = pace.estimate(position)
    if wait is None:
        return say("No estimate yet: too few places have been offered recently.")
    return say_many(
        "Estimated wait: %(range)s, based on the last %(span)s (%(n)s place offered).",
        "Estimated wait: %(range)s, based on the last %(span)s (%(n)s places offered).",
        len(pace.offered_at),
        range=describe_range(wait),
        span=describe_period(pace.now - pace.since),
    )


def describe_range(wait: WaitRange) -> str:
    """A range in a suitable unit: 3 to 9 days."""
    if wait.most > MAX_PREDICTABLE:
        days = math.floor(wait.least / DAY)
        return say_many("%(n)s day or more", "%(n)s days or more", days)
    if wait.most > 2 * DAY:
        return _range(wait, DAY, say("%(low)s to %(high)s days"), say("up to %(high)s days"))
    if wait.most > 2 * HOUR:
        return _range(wait, HOUR, say("%(low)s to %(high)s hours"), say("up to %(high)s hours"))
    return _range(
        wait, HOUR / 60, say("%(low)s to %(high)s minutes"), say("up to %(high)s minutes")
    )


def _range(wait: WaitRange, unit: dt.timedelta, both: str, high: str) -> str:
    least, most = math.floor(wait.least / unit), math.ceil(wait.most / unit)
    return (both if least else high) % {"low": f"{least:,}", "high": f"{max(most, 2):,}"}


def describe_period(period: dt.timedelta) -> str:
    """A duration in its largest suitable unit, in words: 2 days."""
    if period >= 2 * DAY:
        return say_many("%(n)s day", "%(n)s days", round(period / DAY))
    if period >= 2 * HOUR:
        return say_many("%(n)s hour", "%(n)s hours", round(period / HOUR))
    return say_many("%(n)s minute", "%(n)s minutes", max(round(period / (HOUR / 60)), 1))


def describe_event(event: AuditEvent) -> HistoryLine:
    """The event in a sentence, with the company's reason if it removed the applicant or told the reason."""
    removed = event.why.get("rule") == "removed by the company"
    told = removed or bool(event.metadata.get("reasonTold"))
    return HistoryLine(event.created_at, _event_text(event), event.note if told else None)


def _event_text(event: AuditEvent) -> str:
    match event.type:
        case "APPLIED":
            return _application_text(event.to_status)
        case "ACCEPTED":
            return say("Your application was accepted.")
        case "REJECTED" | "STAGE_CHANGED":
            return say("Your application was not accepted.")
        case "PROMOTED":
            return say("You were offered a place.")
        case "ACKNOWLEDGED":
            return _acceptance_text(event.actor)
        case "DECAY_TRIGGERED":
            position = f"{event.metadata['newPosition']:,}"
            return say(
                "You did not answer the offer in time and returned to the waitlist as number %(n)s.",
                n=position,
            )
        case "LAPSED":
            return say_many(
                "You did not answer the offer in time. Your application has ended.",
                "You did not answer %(n)s offers in time. Your application has ended.",
                event.metadata["penaltyCount"],
            )
        case "ADDRESS_CONFIRMED":
            return say("You confirmed your email address.")
        case "ADDRESS_UNCONFIRMED":
            return say("The email address was not confirmed in time. Your application has ended.")
        case _:
            return _withdrawal_text(event.actor, str(event.why.get("rule", "")))


def _application_text(status: ApplicationStatus | None) -> str:
    match status:
        case "WAITLIST":
            return say("You applied and joined the waitlist.")
        case "PENDING_ACKNOWLEDGMENT":
            return say("You applied and were offered a place.")
        case "IN_REVIEW":
            return say("You applied.")
        case _:
            return say("You applied and got a place.")


def _acceptance_text(actor: str) -> str:
    if ISSUED_BY in actor:
        return say("The offer was accepted with a link that the company issued.")
    if actor.startswith("applicant"):
        return say("You accepted the offer.")
    return say("The company accepted the offer for you.")


def _withdrawal_text(actor: str, rule: str) -> str:
    if ISSUED_BY in actor:
        return say("The application was ended with a link that the company issued.")
    match rule:
        case "offer declined":
            return say("You declined the offer. Your application has ended.")
        case "removed by the company":
            return say("The company ended your application.")
        case "opening closed":
            return say("The company closed the opening. Your application has ended.")
        case "withdrawn" | "":
            return say("You withdrew your application.")
        case _:
            return say("Your application has ended.")


def describe_placement(placement: Placement, *, is_entry: bool) -> str:
    """What an applicant reads right after applying; `is_entry`: of a lottery."""
    match placement.application.status:
        case "ACTIVE":
            return say("You have a place.")
        case "PENDING_ACKNOWLEDGMENT":
            return say("You have been offered a place. Accept it before the deadline.")
        case "IN_REVIEW" if is_entry:
            return say("We received your application. It is entered in the draw.")
        case "IN_REVIEW":
            return say("We received your application. It is waiting for a decision.")
        case _:
            return say(
                "You are number %(position)s on the waitlist.", position=f"{placement.position:,}"
            )


def describe_answer(answer: Answer, *, is_interview: bool) -> str:
    """What an applicant reads right after answering an offer of a place or of an interview time."""
    if is_interview and answer == "accept":
        return say("You accepted the offer. The interview time is yours.")
    if is_interview:
        return say("You declined the offer. You can choose another interview time.")
    if answer == "accept":
        return say("You accepted the offer. The place is yours.")
    return say("You declined the offer. Your application has ended.")


def missed_offer_error(missed: MissedOffer) -> Gone:
    """What an applicant reads after answering too late."""
    is_interview = missed.application.parent_id is not None
    is_over = missed.application.status == "INACTIVE"
    if is_interview and is_over:
        return Gone(say("You answered too late. Choose another interview time."))
    if is_interview:
        return Gone(
            say("You answered too late and are back on the waitlist for this interview time.")
        )
    if is_over:
        return Gone(say("You answered too late. Your application has ended."))
    return Gone(say("You answered too late and are back on the waitlist."))
