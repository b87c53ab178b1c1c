"""The order of the waitlist.

A position is a queue key that never changes. A new application takes the next key. An application that
missed an offer gets a key `1 + penalties` behind the last one, and later applications fill the gap
before it. A key that such an application vacates stays empty: an application is never overtaken by more
applications than the gaps before it allow.
"""

from __future__ import annotations

from jobmill.hiring.locked_opening import LockedOpening
from jobmill.hiring.records import applications

MILESTONES = (10, 3, 1)
"""Positions that applicants are notified of when they reach them."""


async def join(locked: LockedOpening) -> tuple[int, int]:
    """Assign the queue key and the position of a new application."""
    key = locked.next_key
    # Behind the next key only applications that missed an offer wait, and no two keys of theirs are adjacent.
    if key <= locked.top_key and await applications.is_place_closed(
        await locked.flush(), locked.opening.id, key
    ):
        key += 1
    locked.next_key = key + 1
    if key > locked.top_key:
        locked.top_key = key
        return key, locked.waiting + 1
    return key, 1 + await applications.count_ahead(await locked.flush(), locked.opening.id, key)


async def put_back(locked: LockedOpening, penalties: int) -> int:
    """Assign the queue key of an application that missed an offer: last, behind a gap."""
    if locked.last_key is None:
        locked.last_key = await applications.find_last_key(await locked.flush(), locked.opening.id)
    last = max(locked.last_key, locked.next_key - 1)
    if locked.top_key > last:
        await locked.reopen_places_beyond(last)
    locked.top_key = last + 1 + penalties
    return locked.top_key


async def notify_milestones(locked: LockedOpening) -> None:
    """Notify each applicant that reached or skipped a milestone, once per milestone."""
    if not locked.positions_changed or not locked.waiting:
        return
    first = await applications.find_first_waiting(
        await locked.flush(), locked.opening.id, MILESTONES[0]
    )
    for position, application in enumerate(first, 1):
        # Another letter tells the position of an application that joined the waitlist just now.
        is_older = application.entered_at < locked.at
        if is_older and (application.told_position or position) > _last_milestone(position):
            locked.add_notice("position", application, position=position)
            await applications.set_notified_position(locked.tx, application.id, position)


def _last_milestone(position: int) -> int:
    """The last milestone that this position has reached."""
    return min(milestone for milestone in MILESTONES if milestone >= position)
