"""The waitlist: where one stands, and who is next.

A place is a key that is never changed. Newcomers take the next key; who missed an offer stands
`1 + penalties` keys beyond the last, and those who come later fill the gap before them. The place
that one of those leaves is closed: nobody is passed by more than the gaps before them allow.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

from jobmill.hiring.locked_opening import LockedOpening
from jobmill.hiring.records import applications
from jobmill.hiring.records.applications import Application
from jobmill.hiring.timestamps import format_timestamp

MILESTONES = (10, 3, 1)
"""Places that people are told of when they reach them."""
REMINDER_SHARE = 0.2
"""The share of an offer's time that is left when its holder is reminded."""
MIN_REMINDER_TIME = dt.timedelta(minutes=1)


async def join(desk: LockedOpening) -> tuple[int, int]:
    """The key and the position of who comes now."""
    key = desk.next_key
    # Beyond it are only the places of those who were put back, and never two of them side by side.
    if key <= desk.top_key and await applications.is_place_closed(
        await desk.written(), desk.opening.id, key
    ):
        key += 1
    desk.next_key = key + 1
    if key > desk.top_key:
        desk.top_key = key
        return key, desk.waiting + 1
    return key, 1 + await applications.count_ahead(await desk.written(), desk.opening.id, key)


async def put_back(desk: LockedOpening, penalties: int) -> int:
    """The key of who missed an offer: behind all, with a gap that later arrivals fill."""
    if desk.last_key is None:
        desk.last_key = await applications.find_last_key(await desk.written(), desk.opening.id)
    last = max(desk.last_key, desk.next_key - 1)
    if desk.top_key > last:
        await desk.forget_beyond(last)
    desk.top_key = last + 1 + penalties
    return desk.top_key


async def offer_free_slots(
    desk: LockedOpening, *, cause: int | None = None, behind: Sequence[Application] = ()
) -> list[Application]:
    """Give every free slot to who is next, until all are taken or nobody waits.

    `behind`: those who were just put back, in their order, and are not written yet.
    """
    if desk.status != "open" or not desk.free or not desk.waiting:
        return []
    tx = desk.tx if behind else await desk.written()
    heads = [*await applications.find_first_waiting(tx, desk.opening.id, desk.free), *behind]
    why = {"rule": "next in line", "cause": cause}
    return [offer_slot(desk, one, why=why) for one in heads[: desk.free]]


def offer_slot(
    desk: LockedOpening, one: Application, *, why: Mapping[str, Any], note: str | None = None
) -> Application:
    """Offer a slot, to be confirmed in time."""
    deadline = desk.at + desk.opening.acknowledge_window
    seen = {"occupied": desk.occupied, "capacity": desk.capacity, "waiting": desk.waiting}
    moved = desk.move(
        one,
        "PENDING_ACKNOWLEDGMENT",
        "PROMOTED",
        metadata={"acknowledgeDeadline": format_timestamp(deadline)},
        why={**why, **seen},
        note=note,
        acknowledge_deadline=deadline,
        promoted_at=desk.at,
        missed_at=None,
    )
    notify_offer(desk, moved, deadline)
    return moved


def notify_offer(desk: LockedOpening, one: Application, deadline: dt.datetime) -> None:
    """Tell of an offer now, and again before it ends, where there is time for that."""
    desk.tell("promoted", one, deadline=format_timestamp(deadline))
    left = (deadline - desk.at) * REMINDER_SHARE
    if left >= MIN_REMINDER_TIME:
        desk.tell("reminder", one, due_at=deadline - left, deadline=format_timestamp(deadline))


async def notify_milestones(desk: LockedOpening) -> None:
    """Tell those who reached a milestone or leapt over it, once each."""
    if not desk.somebody_moved_up or not desk.waiting:
        return
    heads = await applications.find_first_waiting(
        await desk.written(), desk.opening.id, MILESTONES[0]
    )
    for position, one in enumerate(heads, 1):
        # Who came to wait at this very moment is told their place by another letter.
        if one.entered_at < desk.at and (one.told_position or position) > _milestone(position):
            desk.tell("position", one, position=position)
            await applications.set_notified_position(desk.tx, one.id, position)


def _milestone(position: int) -> int:
    """The last one that who stands there has reached."""
    return min(one for one in MILESTONES if one >= position)
