"""What the company does to an opening."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from jobmill.db import Tx
from jobmill.errors import Conflict, Invalid
from jobmill.hiring import timestamps
from jobmill.hiring.actor import Actor
from jobmill.hiring.locked_opening import LockedOpening, lock_opening
from jobmill.hiring.records import openings
from jobmill.hiring.records.applications import Application, find_opening_id
from jobmill.hiring.records.openings import Opening, OpeningId, OpeningStatus, OpeningTerms
from jobmill.hiring.transitions import InvalidTransition, Turn
from jobmill.hiring.waitlist import promotions
from jobmill.hiring.waitlist.deadlines import lock_and_expire_offers

MAX_NUMBER = 1_000_000
MAX_TITLE_LENGTH = 200
MAX_TEXT_LENGTH = 50_000
MAX_ACKNOWLEDGE_WINDOW = dt.timedelta(days=365)
DEADLINE_YEARS = range(1970, 9001)
"""What any zone can say; the database gives back no time before the year 1 or beyond 9999."""


async def create(tx: Tx, terms: OpeningTerms, capacity: int, by: Actor) -> Opening:
    """A new opening, open at once."""
    terms = validate_terms(terms)
    _check_capacity(capacity)
    id = await openings.insert(tx, terms, capacity)
    async with lock_opening(tx, id, by) as one:
        one.turn("OPENED", {"capacity": capacity, **_plain(terms)})
    return await openings.get(tx, id)


def validate_terms(terms: OpeningTerms) -> OpeningTerms:
    """The same, tidy; Invalid where it cannot be meant."""
    terms = replace(terms, title=" ".join(terms.title.split()))
    if not 0 < len(terms.title) <= MAX_TITLE_LENGTH or not terms.title.isprintable():
        raise Invalid(f"The title should have 1 to {MAX_TITLE_LENGTH} characters.")
    for text in (terms.description, terms.employer, terms.location):
        if text and (len(text) > MAX_TEXT_LENGTH or "\0" in text):
            raise Invalid(f"A text should have {MAX_TEXT_LENGTH:,} characters at most.")
    if not dt.timedelta(seconds=1) <= terms.acknowledge_window <= MAX_ACKNOWLEDGE_WINDOW:
        raise Invalid("The time to confirm an offer should be 1 second to 365 days.")
    if terms.apply_until and terms.apply_until.year not in DEADLINE_YEARS:
        raise Invalid("The time to apply should end between 1970 and 9000.")
    _check_range("The number of offers that may be missed", terms.max_missed, 1)
    _check_range("The limit of the waitlist", terms.waitlist_limit, 0)
    _check_range("The days that data are kept", terms.keep_days, 1)
    return terms


def _check_range(what: str, number: int | None, least: int) -> None:
    if number is not None and not least <= number <= MAX_NUMBER:
        raise Invalid(f"{what} should be {least} to {MAX_NUMBER:,}.")


def _check_capacity(capacity: int) -> None:
    _check_range("The capacity", capacity, 1)


async def edit(tx: Tx, id: int, by: Actor, **changes: Any) -> Opening:
    """Change some of the terms; offers that are out keep their deadline."""
    async with lock_and_expire_offers(tx, id, by) as one:
        before = OpeningTerms(
            **{field.name: getattr(one.opening, field.name) for field in fields(OpeningTerms)}
        )
        terms = validate_terms(replace(before, **changes))
        if terms != before:
            await openings.update_terms(tx, one.opening.id, terms)
            was, now = _plain(before), _plain(terms)
            one.turn("EDITED", {name: now[name] for name in now if now[name] != was[name]})
    return await openings.get(tx, id)


def _plain(terms: OpeningTerms) -> Mapping[str, Any]:
    """The terms as the log keeps them; long texts by their length."""
    return {
        "title": terms.title,
        "description": len(terms.description or ""),
        "employer": terms.employer,
        "location": terms.location,
        "remote": terms.remote,
        "requireAcknowledgement": terms.require_acknowledgement,
        "acknowledgeWindowSeconds": round(terms.acknowledge_window.total_seconds()),
        "maxMissed": terms.max_missed,
        "waitlistLimit": terms.waitlist_limit,
        "applyUntil": timestamps.format_timestamp(terms.apply_until) if terms.apply_until else None,
        "keepDays": terms.keep_days,
    }


async def set_capacity(tx: Tx, id: int, capacity: int, by: Actor) -> Opening:
    """More slots are given away at once; fewer evict nobody, and none is given until enough left."""
    _check_capacity(capacity)
    async with lock_and_expire_offers(tx, id, by) as one:
        if capacity != one.capacity:
            await resize(one, capacity)
            await promotions.offer_free_slots(one, cause=one.seq)
    return await openings.get(tx, id)


async def resize(one: LockedOpening, capacity: int, note: str | None = None) -> None:
    """Change the capacity at a desk that is open; nothing is given away."""
    metadata = {"from": one.capacity, "to": capacity, "occupied": one.occupied}
    one.capacity = capacity
    one.excess = max(one.occupied - capacity, 0)
    one.turn("CAPACITY_CHANGED", metadata, note)


async def pause(tx: Tx, id: int, by: Actor) -> Opening:
    return await _turn(tx, id, by, "PAUSED", {"open"}, "paused")


async def resume(tx: Tx, id: int, by: Actor) -> Opening:
    """Free slots are given away at once."""
    return await _turn(tx, id, by, "RESUMED", {"paused"}, "open")


async def close(tx: Tx, id: int, by: Actor) -> Opening:
    """Nobody may apply and nobody is promoted any more; those who are in it stay."""
    return await _turn(tx, id, by, "CLOSED", {"open", "paused"}, "closed")


async def reopen(tx: Tx, id: int, by: Actor) -> Opening:
    return await _turn(tx, id, by, "REOPENED", {"closed"}, "open")


async def _turn(
    tx: Tx, id: int, by: Actor, type: Turn, before: set[OpeningStatus], after: OpeningStatus
) -> Opening:
    async with lock_and_expire_offers(tx, id, by) as one:
        if one.status not in before:
            raise Conflict(f"Job {id} is {one.status} and cannot become {after}.")
        one.status = after
        one.turn(type, {})
        await promotions.offer_free_slots(one, cause=one.seq)
    return await openings.get(tx, OpeningId(id))


async def offer_out_of_turn(
    tx: Tx, application_id: int, by: Actor, *, reason: str, add_slot: bool = False
) -> Application:
    """Offer a slot out of turn, with a reason that the log keeps; `add_slot` makes room for it."""
    if not reason.strip():
        raise Invalid("Say why this person is taken out of turn.")
    id = await find_opening_id(tx, application_id)
    async with lock_and_expire_offers(tx, id, by) as one:
        chosen = await one.application(application_id)
        if chosen.status != "WAITLIST":
            raise InvalidTransition(chosen.status, "PENDING_ACKNOWLEDGMENT")
        if not one.free:
            if not add_slot:
                raise Conflict(
                    f"Job {id} has no free slot: add one for this person, or remove somebody first."
                )
            await resize(one, one.occupied + 1, reason)
        why = {"rule": "out of turn, by the company"}
        return promotions.offer_slot(one, chosen, why=why, note=reason)
