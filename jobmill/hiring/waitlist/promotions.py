"""Offers of slots: to the first applications on the waitlist, or to one chosen by the company."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

from jobmill.hiring.locked_opening import LockedOpening
from jobmill.hiring.records import applications
from jobmill.hiring.records.applications import Application
from jobmill.hiring.timestamps import format_timestamp
from jobmill.hiring.waitlist import quiet_hours

REMINDER_SHARE = 0.2
"""The share of an offer's time that is left when the applicant is reminded."""
MIN_REMINDER_TIME = dt.timedelta(minutes=1)


async def offer_free_slots(
    locked: LockedOpening, *, cause: int | None = None, put_back: Sequence[Application] = ()
) -> list[Application]:
    """Offer every free slot to the next application on the waitlist.

    `cause` is the event that freed the slots. `put_back` are applications that just missed an offer, in
    their order; their new queue keys are not written yet.
    """
    if locked.has_started:
        return []
    if locked.status != "open" or not locked.free_slots or not locked.waiting:
        return []
    tx = locked.tx if put_back else await locked.flush()
    first = await applications.find_first_waiting(tx, locked.opening.id, locked.free_slots)
    why = {"rule": "next in line", "cause": cause}
    candidates = [*first, *put_back][: locked.free_slots]
    return [offer_slot(locked, application, why=why) for application in candidates]


def count_next_offers(locked: LockedOpening, *, freed: int, joining: int) -> int:
    """How many places `offer_free_slots` offers once these places are free and these applications wait."""
    if locked.status != "open":
        return 0
    free = max(locked.capacity - locked.occupied + freed, 0)
    return min(free, locked.waiting + joining)


def offer_slot(
    locked: LockedOpening,
    application: Application,
    *,
    why: Mapping[str, Any],
    note: str | None = None,
) -> Application:
    """Offer a slot, which the applicant must confirm before the deadline."""
    starts_at = quiet_hours.find_offer_start(locked.opening, locked.at)
    deadline = locked.limit_deadline(starts_at + locked.opening.acknowledge_window)
    offered = locked.move_application(
        application,
        "PENDING_ACKNOWLEDGMENT",
        "PROMOTED",
        metadata={"acknowledgeDeadline": format_timestamp(deadline)},
        why={**why, **locked.occupancy, **describe_start(locked, starts_at)},
        note=note,
        acknowledge_deadline=deadline,
        promoted_at=locked.at,
        missed_at=None,
    )
    notify_offer(locked, offered, deadline, starts_at)
    return offered


def describe_start(locked: LockedOpening, starts_at: dt.datetime) -> dict[str, str]:
    """When the time of an offer begins, for the audit log; nothing if it begins at once."""
    return {"countsFrom": format_timestamp(starts_at)} if starts_at > locked.at else {}


def notify_offer(
    locked: LockedOpening,
    application: Application,
    deadline: dt.datetime,
    starts_at: dt.datetime,
) -> None:
    """Send the offer when its time begins, and a reminder before it ends if there is enough time."""
    locked.add_notice(
        "promoted", application, due_at=starts_at, deadline=format_timestamp(deadline)
    )
    remaining = (deadline - starts_at) * REMINDER_SHARE
    if remaining >= MIN_REMINDER_TIME:
        locked.add_notice(
            "reminder",
            application,
            due_at=deadline - remaining,
            deadline=format_timestamp(deadline),
        )
