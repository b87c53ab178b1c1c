"""The steps of an application: apply, confirm, decline, leave."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from jobmill.db import Tx
from jobmill.errors import AppError, Conflict, RateLimited
from jobmill.hiring import timestamps
from jobmill.hiring.actor import SYSTEM, Actor, by_applicant
from jobmill.hiring.locked_opening import LockedOpening
from jobmill.hiring.records import applicants, applications, blocklist
from jobmill.hiring.records.applicants import ApplicantId, ApplicantNotFound, ApplicantRef, Contact
from jobmill.hiring.records.applications import Application
from jobmill.hiring.records.openings import Opening
from jobmill.hiring.waitlist import promotions
from jobmill.hiring.waitlist.deadlines import lock_and_expire_offers

SECONDS_PER_DAY = 86_400


class AppliedTooOften(RateLimited):
    def __init__(self, most: int) -> None:
        super().__init__(SECONDS_PER_DAY)
        self.args = (f"One person may apply {most} times a day. Try again tomorrow.",)


@dataclass(frozen=True, slots=True)
class Placement:
    """Where somebody stands now; `position` counts from 1 and only those who wait have one."""

    application: Application
    position: int | None = None


@dataclass(frozen=True, slots=True)
class MissedOffer:
    """The offer had ended; that has consequences, which are written. The edge says so afterwards."""

    application: Application


@dataclass(frozen=True, slots=True)
class ApplyRequest:
    """Somebody wants an opening: one we know, by number, or anybody, by name and address."""

    who: int | Contact
    by: Actor | None = None
    """Who asks for it; None: they themselves."""

    @property
    def is_limited(self) -> bool:
        """Whether blocked addresses and the daily limit apply: not to an applicant whom the company
        itself names by number."""
        own = self.by is None or self.by.side == "applicant"
        return own or isinstance(self.who, Contact)


async def apply(tx: Tx, opening_id: int, applicant_id: int, by: Actor) -> Placement:
    """Take a free slot where nobody waits for it, or join the waitlist; Duplicate if in it already."""
    return single_result(await apply_all(tx, opening_id, [ApplyRequest(applicant_id, by)]))


async def apply_with_contact(
    tx: Tx, opening_id: int, one: Contact, by: Actor | None = None, *, most_a_day: int | None = None
) -> Placement:
    """Apply with a name and an address; who is new becomes known by it, or not at all if refused."""
    return single_result(
        await apply_all(tx, opening_id, [ApplyRequest(one, by)], most_a_day=most_a_day)
    )


def single_result(answers: Sequence[Placement | AppError]) -> Placement:
    """The answer to a single one."""
    [answer] = answers
    if isinstance(answer, AppError):
        raise answer
    return answer


async def apply_all(
    tx: Tx, opening_id: int, asks: Sequence[ApplyRequest], *, most_a_day: int | None = None
) -> list[Placement | AppError]:
    """Several apply, in their order, under one lock; who is refused costs the others nothing."""
    arrivals = await _arrive(tx, asks, most_a_day)
    admitted = [arrival for arrival in arrivals.values() if isinstance(arrival, ApplicantRef)]
    if not admitted:
        # Who applies is looked up before the opening, which nobody needs now.
        return [refusal for ask in asks if isinstance(refusal := arrivals[ask], AppError)]
    answers: list[Placement | AppError] = []
    newcomers = list(dict.fromkeys(arrival.id for arrival in admitted))
    async with lock_and_expire_offers(tx, opening_id, SYSTEM, newcomers=newcomers) as desk:
        for ask in asks:
            arrival = arrivals[ask]
            if isinstance(arrival, AppError):
                answers.append(arrival)
                continue
            desk.by = ask.by or by_applicant(arrival.id)
            try:
                answers.append(await apply_locked(desk, arrival.id))
            except Conflict as refusal:
                answers.append(refusal)
    placed = {
        answer.application.applicant_id for answer in answers if isinstance(answer, Placement)
    }
    fresh = {arrival.id for arrival in admitted if arrival.fresh}
    await applicants.delete(tx, sorted(fresh - placed))
    return answers


async def _arrive(
    tx: Tx, asks: Sequence[ApplyRequest], most_a_day: int | None
) -> dict[ApplyRequest, ApplicantRef | AppError]:
    """The applicant of each request, or why the request is refused.

    By request, not by person: a recruiter may name an applicant whose own request, in the same batch,
    is refused. Every transaction locks applicants before openings.
    """
    numbers = [ask.who for ask in asks if isinstance(ask.who, int)]
    people = [ask.who for ask in asks if isinstance(ask.who, Contact)]
    people_keys = [person.key for person in people]
    by_number = await applicants.lock_existing(tx, numbers, people_keys) if numbers else {}
    keys = people_keys + [known.key for known in by_number.values()]
    refused = await blocklist.find_blocked(tx, keys) if keys else set[str]()
    welcome = [person for person in people if person.key not in refused]
    by_key = await applicants.find_or_add_all(tx, welcome) if welcome else {}
    arrivals: dict[ApplyRequest, ApplicantRef | AppError] = {}
    for ask in asks:
        if isinstance(ask.who, Contact):
            arrivals[ask] = by_key.get(ask.who.key) or blocklist.AddressBlocked()
        elif (known := by_number.get(ask.who)) is None:
            arrivals[ask] = ApplicantNotFound(ask.who)
        else:
            arrivals[ask] = (
                blocklist.AddressBlocked() if ask.is_limited and known.key in refused else known
            )
    if most_a_day is not None:
        await _limit(tx, arrivals, most_a_day)
    return arrivals


async def _limit(
    tx: Tx, arrivals: dict[ApplyRequest, ApplicantRef | AppError], most_a_day: int
) -> None:
    """Refuse requests of applicants who reached the daily limit."""
    counted = {
        ask: known.id
        for ask, known in arrivals.items()
        if ask.is_limited and isinstance(known, ApplicantRef)
    }
    often = await applications.count_last_day(tx, list(counted.values())) if counted else {}
    for ask, id in counted.items():
        if often.get(id, 0) >= most_a_day:
            arrivals[ask] = AppliedTooOften(most_a_day)


async def apply_locked(desk: LockedOpening, applicant_id: ApplicantId) -> Placement:
    """Apply at a desk that is open."""
    desk.refuse_duplicate(applicant_id)
    refusal = reason_to_refuse(desk.opening, desk.free, desk.waiting, desk.at)
    if refusal:
        raise Conflict(refusal)
    seen = {"occupied": desk.occupied, "capacity": desk.capacity, "waiting": desk.waiting}
    if desk.waiting or not desk.free:
        rule = "people wait already" if desk.free else "no slot is free"
        key, position = await promotions.join(desk)
        one = desk.enter(
            applicant_id,
            "WAITLIST",
            queue_key=key,
            position=position,
            why={"rule": rule, **seen},
        )
        desk.tell("applied", one, position=position)
        return Placement(one, position)
    why = {"rule": "a slot is free and nobody waits", **seen}
    if not desk.opening.require_acknowledgement:
        one = desk.enter(applicant_id, "ACTIVE", why=why)
        desk.tell("applied", one)
        return Placement(one)
    deadline = desk.at + desk.opening.acknowledge_window
    one = desk.enter(applicant_id, "PENDING_ACKNOWLEDGMENT", deadline=deadline, why=why)
    promotions.notify_offer(desk, one, deadline)
    return Placement(one)


def reason_to_refuse(opening: Opening, free: int, waiting: int, at: dt.datetime) -> str | None:
    """Why nobody may apply now, or None."""
    if opening.status != "open":
        return f"Job {opening.id} is {opening.status}: it takes no applications now."
    if opening.apply_until and at > opening.apply_until:
        return f"Applications for job {opening.id} ended at {timestamps.format_timestamp(opening.apply_until)}."
    limit = opening.waitlist_limit
    if limit is not None and waiting >= limit and (waiting or not free):
        return f"The waitlist of job {opening.id} is full: it takes {limit} at most."
    return None


async def withdraw(
    tx: Tx, application_id: int, by: Actor, *, reason: str | None = None
) -> Placement:
    """End an application, and give its slot to the next; Conflict where it has ended already."""
    opening_id = await applications.find_opening_id(tx, application_id)
    async with lock_and_expire_offers(tx, opening_id, by) as desk:
        one = await desk.application(application_id)
        if one.status == "INACTIVE":
            raise Conflict(f"Application {application_id} has ended already.")
        return Placement(await end_application(desk, one, rule=_rule(by), reason=reason))


def _rule(by: Actor) -> str:
    return "removed by the company" if by.side == "company" else "withdrawn"


async def end_application(
    desk: LockedOpening, one: Application, *, rule: str, reason: str | None, fill: bool = True
) -> Application:
    """End an application at a desk that is open, and fill what it frees unless others leave, too."""
    moved = desk.move(
        one,
        "INACTIVE",
        "WITHDRAWN",
        metadata={"actor": desk.by.side},
        why={"rule": rule, "occupied": desk.occupied, "capacity": desk.capacity},
        note=reason,
        missed_at=None,
    )
    desk.tell("removed" if desk.by.side == "company" else "withdrawn", moved)
    if fill:
        await promotions.offer_free_slots(desk, cause=desk.seq)
    return moved


async def acknowledge(
    tx: Tx, application_id: int, by: Actor, *, deadline: dt.datetime | None = None
) -> Placement | MissedOffer:
    """Confirm an offer: the one that ends at `deadline` if that is given; Missed where it had ended,
    Conflict where there was none."""
    opening_id = await applications.find_opening_id(tx, application_id)
    async with lock_and_expire_offers(tx, opening_id, by) as desk:
        one = await desk.application(application_id)
        if is_missed(one, deadline):
            return MissedOffer(one)
        _refuse_without_offer(one)
        moved = desk.move(
            one,
            "ACTIVE",
            "ACKNOWLEDGED",
            metadata={"acknowledgedAt": timestamps.format_timestamp(desk.at)},
            why={"rule": "confirmed in time"},
        )
        return Placement(moved)


async def decline(
    tx: Tx,
    application_id: int,
    by: Actor,
    *,
    reason: str | None = None,
    deadline: dt.datetime | None = None,
) -> Placement | MissedOffer:
    """Turn an offer down, which ends the application; Missed and Conflict as for `acknowledge`."""
    opening_id = await applications.find_opening_id(tx, application_id)
    async with lock_and_expire_offers(tx, opening_id, by) as desk:
        one = await desk.application(application_id)
        if is_missed(one, deadline):
            return MissedOffer(one)
        _refuse_without_offer(one)
        return Placement(await end_application(desk, one, rule="offer declined", reason=reason))


def is_missed(one: Application, deadline: dt.datetime | None = None) -> bool:
    """Whether the last that happened to it is an offer that ended unanswered, or the offer that is out
    is a later one than that of `deadline`."""
    later = deadline is not None and one.acknowledge_deadline not in (deadline, None)
    return later or one.missed_at is not None


def _refuse_without_offer(one: Application) -> None:
    if one.status != "PENDING_ACKNOWLEDGMENT":
        raise Conflict(f"Application {one.id} has no offer to answer: it is {one.status}.")


async def find_position(tx: Tx, one: Application) -> int | None:
    """Where it stands on the waitlist, from 1; None where it does not wait."""
    if one.queue_key is None:
        return None
    return 1 + await applications.count_ahead(tx, one.opening_id, one.queue_key)
