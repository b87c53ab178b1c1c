"""The end of an application: withdrawn by the applicant or removed by the company."""

from __future__ import annotations

from jobmill.db import Tx
from jobmill.errors import Conflict
from jobmill.hiring.actor import Actor
from jobmill.hiring.applications.outcomes import Placement
from jobmill.hiring.locked_opening import LockedOpening
from jobmill.hiring.messages.notices import NoticeKind
from jobmill.hiring.records.applications import Application
from jobmill.hiring.waitlist import promotions
from jobmill.hiring.waitlist.deadlines import lock_application


class AlreadyEnded(Conflict):
    def __init__(self, application_id: int) -> None:
        super().__init__(f"Application {application_id} has ended already.")


async def withdraw(
    tx: Tx, application_id: int, by: Actor, *, reason: str | None = None
) -> Placement:
    """End an application and offer its slot to the next; raises Conflict if it has ended already."""
    async with lock_application(tx, application_id, by) as (locked, application):
        if application.status == "INACTIVE":
            raise AlreadyEnded(application_id)
        ended = await end_application(locked, application, rule=withdrawal_rule(by), reason=reason)
        return Placement(ended)


def withdrawal_rule(by: Actor) -> str:
    """The rule that the audit log gives for a withdrawal."""
    return "removed by the company" if by.side == "company" else "withdrawn"


def _choose_letter(locked: LockedOpening) -> NoticeKind:
    if locked.opening.parent_id is not None:
        return "interview_cancelled"
    return "removed" if locked.by.side == "company" else "withdrawn"


async def end_application(
    locked: LockedOpening,
    application: Application,
    *,
    rule: str,
    reason: str | None,
    fill: bool = True,
) -> Application:
    """End an application under the opening's lock; `fill` offers its slot to the next at once."""
    ended = record_end(locked, application, rule=rule, reason=reason)
    locked.add_notice(
        _choose_letter(locked),
        ended,
        ended_offer=application.acknowledge_deadline,
    )
    if fill:
        await promotions.offer_free_slots(locked, cause=locked.seq)
    return ended


def record_end(
    locked: LockedOpening,
    application: Application,
    *,
    rule: str,
    reason: str | None,
    shows_reason: bool = False,
) -> Application:
    """End an application under the opening's lock, without a letter and without offering its slot.

    `shows_reason` shows the reason on the applicant's page.
    """
    return locked.move_application(
        application,
        "INACTIVE",
        "WITHDRAWN",
        metadata={"actor": locked.by.side, **({"reasonTold": True} if shows_reason else {})},
        why={"rule": rule, "occupied": locked.occupied, "capacity": locked.capacity},
        note=reason,
        missed_at=None,
    )
