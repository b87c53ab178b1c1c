"""Tells applicants on the waitlist when they come close to its front."""

from __future__ import annotations

from jobmill.hiring.locked_opening import LockedOpening
from jobmill.hiring.records import applications

MILESTONES = (10, 3, 1)
"""Positions that applicants are notified of when they reach them."""


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
        if is_older and (application.notified_position or position) > _last_milestone(position):
            locked.add_notice("position", application, position=position)
            await applications.set_notified_position(locked.tx, application.id, position)


def _last_milestone(position: int) -> int:
    """The last milestone that this position has reached."""
    return min(milestone for milestone in MILESTONES if milestone >= position)
