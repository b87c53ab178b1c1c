"""The order of the waitlist.

A position is a queue key that never changes. A new application takes the next key. An application that
missed an offer gets a key `1 + penalties` behind the last one, and later applications fill the gap
before it. A key that such an application vacates stays empty: an application is never overtaken by more
applications than the gaps before it allow.
"""

from __future__ import annotations

from jobmill.hiring.locked_opening import LockedOpening
from jobmill.hiring.records import applications


async def join(locked: LockedOpening) -> tuple[int, int]:
    """Assign the queue key and the position of a new application."""
    key = locked.next_key
    # Behind the next key only applications that missed an offer wait, and no two keys of theirs are adjacent.
    if key <= locked.max_key and await applications.is_place_closed(
        await locked.flush(), locked.opening.id, key
    ):
        key += 1
    locked.next_key = key + 1
    if key > locked.max_key:
        locked.max_key = key
        return key, locked.waiting + 1
    return key, 1 + await applications.count_ahead(await locked.flush(), locked.opening.id, key)


async def put_back(locked: LockedOpening, penalties: int) -> int:
    """Assign the queue key of an application that missed an offer: last, behind a gap."""
    if locked.last_key is None:
        locked.last_key = await applications.find_last_key(await locked.flush(), locked.opening.id)
    last = max(locked.last_key, locked.next_key - 1)
    if locked.max_key > last:
        await locked.reopen_places_beyond(last)
    locked.max_key = last + 1 + penalties
    return locked.max_key
