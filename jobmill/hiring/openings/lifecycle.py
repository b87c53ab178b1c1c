"""Creating, editing, resizing, pausing and closing an opening."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from jobmill.db import Tx
from jobmill.errors import Conflict, Invalid
from jobmill.hiring import timestamps
from jobmill.hiring.actor import Actor
from jobmill.hiring.admission import lottery
from jobmill.hiring.admission.admission_changes import InReviewDecision, apply_admission
from jobmill.hiring.locked_opening import LockedOpening, lock_opening
from jobmill.hiring.records import fairness_keys, openings
from jobmill.hiring.records.openings import Opening, OpeningId, OpeningStatus, OpeningTerms
from jobmill.hiring.stages.stage_definitions import validate_stages
from jobmill.hiring.stages.stage_moves import check_stage_change
from jobmill.hiring.transitions import OpeningEventType
from jobmill.hiring.waitlist import promotions
from jobmill.hiring.waitlist.deadlines import lock_and_expire_offers
from jobmill.time_zones import load_time_zone

MAX_NUMBER = 1_000_000
MAX_TITLE_LENGTH = 200
MAX_TEXT_LENGTH = 50_000
MAX_ACKNOWLEDGE_WINDOW = dt.timedelta(days=365)
DEADLINE_YEARS = range(1970, 9001)
"""Years in which a deadline is valid in every time zone; PostgreSQL drivers fail outside 1 to 9999."""


async def create(tx: Tx, terms: OpeningTerms, capacity: int, by: Actor) -> Opening:
    """Create an opening that takes applications at once."""
    terms = validate_terms(terms)
    _check_capacity(capacity)
    id = await openings.insert(tx, terms, capacity)
    if terms.fairness_proof:
        await fairness_keys.ensure(tx, id)
    async with lock_opening(tx, id, by) as locked:
        locked.record_opening_event("OPENED", {"capacity": capacity, **_loggable(terms)})
        if terms.admission == "lottery":
            await lottery.open_lottery(locked)
    return await openings.get(tx, id)


def validate_terms(terms: OpeningTerms) -> OpeningTerms:
    """Normalize the terms; raises Invalid."""
    terms = replace(
        terms, title=" ".join(terms.title.split()), stages=validate_stages(terms.stages)
    )
    if not 0 < len(terms.title) <= MAX_TITLE_LENGTH or not terms.title.isprintable():
        raise Invalid(f"The title should have 1 to {MAX_TITLE_LENGTH} characters.")
    for text in (terms.description, terms.employer, terms.location):
        if text and (len(text) > MAX_TEXT_LENGTH or "\0" in text):
            raise Invalid(f"A text should have {MAX_TEXT_LENGTH:,} characters at most.")
    if not dt.timedelta(seconds=1) <= terms.acknowledge_window <= MAX_ACKNOWLEDGE_WINDOW:
        raise Invalid("The time to accept an offer should be 1 second to 365 days.")
    if terms.apply_until and terms.apply_until.year not in DEADLINE_YEARS:
        raise Invalid("The application deadline should be between 1970 and 9000.")
    _check_range("The number of missed offers", terms.max_missed, 1)
    _check_range("The waitlist limit", terms.waitlist_limit, 0)
    _check_range("The number of days to keep data", terms.keep_days, 1)
    load_time_zone(terms.time_zone)
    _check_quiet_hours(terms)
    return terms


def _check_quiet_hours(terms: OpeningTerms) -> None:
    if (terms.quiet_from is None) != (terms.quiet_until is None):
        raise Invalid("Quiet hours need a start and an end, such as 21:00 and 08:00.")
    if terms.quiet_from is not None and terms.quiet_from == terms.quiet_until:
        raise Invalid("The start and the end of the quiet hours should differ.")


def _check_range(what: str, number: int | None, least: int) -> None:
    if number is not None and not least <= number <= MAX_NUMBER:
        raise Invalid(f"{what} should be {least} to {MAX_NUMBER:,}.")


def _check_capacity(capacity: int) -> None:
    _check_range("The number of places", capacity, 1)


async def edit(
    tx: Tx, id: int, by: Actor, *, in_review: InReviewDecision | None = None, **changes: Any
) -> Opening:
    """Change some of the terms; open offers keep their deadline.

    `in_review` says what happens to applications in review if the opening stops reviewing.
    """
    async with lock_and_expire_offers(tx, id, by) as locked:
        openings.refuse_interview_time(locked.opening)
        before = OpeningTerms(
            **{field.name: getattr(locked.opening, field.name) for field in fields(OpeningTerms)}
        )
        terms = validate_terms(replace(before, **changes))
        if terms != before:
            await check_stage_change(locked, before, terms)
            await openings.update_terms(tx, locked.opening.id, terms)
            # Offers that this change makes have the new terms.
            locked.opening = replace(
                locked.opening, **{name: getattr(terms, name) for name in OpeningTerms.__slots__}
            )
            if terms.fairness_proof:
                await fairness_keys.ensure(tx, locked.opening.id)
            was, now = _loggable(before), _loggable(terms)
            locked.record_opening_event(
                "EDITED", {name: now[name] for name in now if now[name] != was[name]}
            )
            await apply_admission(locked, before, terms, in_review)
    return await openings.get(tx, id)


def _loggable(terms: OpeningTerms) -> Mapping[str, Any]:
    """The terms as the audit log keeps them; only the length of the description."""
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
        "fairnessProof": terms.fairness_proof,
        "admission": terms.admission,
        "reviewOrder": terms.review_order,
        "stages": terms.stages,
        "timeZone": terms.time_zone,
        "quietFrom": timestamps.format_time_of_day(terms.quiet_from),
        "quietUntil": timestamps.format_time_of_day(terms.quiet_until),
    }


async def set_capacity(tx: Tx, id: int, capacity: int, by: Actor) -> Opening:
    """Change the number of slots.

    New slots are offered at once. With fewer slots all applicants keep theirs, and none is offered
    until enough applicants have left.
    """
    _check_capacity(capacity)
    async with lock_and_expire_offers(tx, id, by) as locked:
        if capacity != locked.capacity:
            resize(locked, capacity)
            await promotions.offer_free_slots(locked, cause=locked.seq)
    return await openings.get(tx, id)


def resize(locked: LockedOpening, capacity: int, note: str | None = None) -> None:
    """Change the capacity under the opening's lock, without offering any slot."""
    metadata = {"from": locked.capacity, "to": capacity, "occupied": locked.occupied}
    locked.capacity = capacity
    locked.excess = max(locked.occupied - capacity, 0)
    locked.record_opening_event("CAPACITY_CHANGED", metadata, note)


async def pause(tx: Tx, id: int, by: Actor) -> Opening:
    return await _change_status(tx, id, by, "PAUSED", {"open"}, "paused")


async def resume(tx: Tx, id: int, by: Actor) -> Opening:
    """Take applications again and offer free slots at once."""
    return await _change_status(tx, id, by, "RESUMED", {"paused"}, "open")


async def close(tx: Tx, id: int, by: Actor) -> Opening:
    """Take no more applications and offer no more slots; current applications stay."""
    return await _change_status(tx, id, by, "CLOSED", {"open", "paused"}, "closed")


async def reopen(tx: Tx, id: int, by: Actor) -> Opening:
    return await _change_status(tx, id, by, "REOPENED", {"closed"}, "open")


async def _change_status(
    tx: Tx,
    id: int,
    by: Actor,
    type: OpeningEventType,
    before: set[OpeningStatus],
    after: OpeningStatus,
) -> Opening:
    async with lock_and_expire_offers(tx, id, by) as locked:
        openings.refuse_interview_time(locked.opening)
        if locked.status not in before:
            raise Conflict(f"The status cannot change from {locked.status} to {after}.")
        locked.status = after
        locked.record_opening_event(type, {})
        await promotions.offer_free_slots(locked, cause=locked.seq)
    return await openings.get(tx, OpeningId(id))
