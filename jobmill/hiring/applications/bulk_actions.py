"""One thing done to many applications of an opening, under its lock, as one moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from jobmill.db import Tx, fetch_all
from jobmill.errors import Invalid
from jobmill.hiring.actor import Actor
from jobmill.hiring.applications import submissions
from jobmill.hiring.locked_opening import LockedOpening
from jobmill.hiring.openings import lifecycle
from jobmill.hiring.records import applications
from jobmill.hiring.records.applications import Application
from jobmill.hiring.waitlist import promotions
from jobmill.hiring.waitlist.deadlines import lock_and_expire_offers

BulkAction = Literal["withdraw", "promote", "message"]
BulkOutcome = Literal["withdrawn", "offered", "told", "refused"]

MAX_APPLICATIONS: Mapping[BulkAction, int] = {
    "withdraw": 5_000,
    "promote": 5_000,
    "message": 100_000,
}
"""So many are done at once: all others wait for the lock meanwhile."""
MAX_MESSAGE_LENGTH = 10_000


@dataclass(frozen=True, slots=True)
class BulkResult:
    """What became of one; those who took the slots of others are among them, at the end."""

    application_id: int
    applicant_id: int | None
    outcome: BulkOutcome
    detail: str | None = None


async def run_bulk_action(
    tx: Tx,
    opening_id: int,
    action: BulkAction,
    ids: Sequence[int] | None,
    by: Actor,
    *,
    reason: str,
    message: str | None = None,
    add_slots: bool = False,
    dry_run: bool = False,
) -> list[BulkResult]:
    """Do it to each, in the order given; None: to all who wait. One that is refused stops no other.

    A dry run does the same and takes it back.
    """
    _check(action, ids, reason, message)
    async with (
        tx.transaction(force_rollback=dry_run),
        lock_and_expire_offers(tx, opening_id, by) as desk,
    ):
        refused, found = await _choose(desk, ids, MAX_APPLICATIONS[action])
        match action:
            case "withdraw":
                done = await _withdraw(desk, found, reason)
            case "promote":
                done = await _promote(desk, found, reason, add_slots)
            case "message":
                done = [_tell(desk, one, reason, message or "") for one in found]
    return _in_order([*refused, *done], ids)


def _check(action: BulkAction, ids: Sequence[int] | None, reason: str, message: str | None) -> None:
    if not reason.strip():
        raise Invalid("Say why: the log keeps the reason.")
    if action == "message" and not (message and message.strip()):
        raise Invalid("Say what they are to be told.")
    if message and (len(message) > MAX_MESSAGE_LENGTH or "\0" in message):
        raise Invalid(f"A message should have {MAX_MESSAGE_LENGTH:,} characters at most.")
    if ids is not None and len(ids) > MAX_APPLICATIONS[action]:
        raise Invalid(f"{MAX_APPLICATIONS[action]:,} at once, at most.")


async def _choose(
    desk: LockedOpening, ids: Sequence[int] | None, most: int
) -> tuple[list[BulkResult], list[Application]]:
    """Those that are of this opening, each once, and a line for each that is not."""
    tx = await desk.written()
    if ids is None:
        waiting = await applications.find_first_waiting(tx, desk.opening.id, most + 1)
        if len(waiting) > most:
            raise Invalid(f"{desk.waiting:,} wait, and {most:,} at once is the most: name them.")
        return [], waiting
    wanted = list(dict.fromkeys(ids))
    known: dict[int, Application] = {
        one.id: one for one in await _find(tx, desk.opening.id, wanted)
    }
    missing = f"job {desk.opening.id} has no such application"
    refused = [BulkResult(id, None, "refused", missing) for id in wanted if id not in known]
    return refused, [known[id] for id in wanted if id in known]


async def _find(tx: Tx, opening_id: int, ids: Sequence[int]) -> list[Application]:
    return await fetch_all(
        tx,
        Application,
        """
        SELECT id, opening_id, applicant_id, status, queue_key, penalty_count, told_position,
               applied_at, entered_at, promoted_at, acknowledge_deadline, missed_at
          FROM hiring.application
         WHERE id = ANY (%s::bigint[]) AND opening_id = %s
        """,
        [[id for id in ids if 0 < id < 2**63], opening_id],
    )


async def _withdraw(
    desk: LockedOpening, found: Sequence[Application], reason: str
) -> list[BulkResult]:
    """All leave before any slot is given away: nobody is offered one and then sent off."""
    lines: list[BulkResult] = []
    rule = "removed by the company" if desk.by.side == "company" else "withdrawn"
    for one in found:
        if one.status == "INACTIVE":
            lines.append(_refuse(one, "it has ended already"))
            continue
        await submissions.end_application(desk, one, rule=rule, reason=reason, fill=False)
        lines.append(BulkResult(one.id, one.applicant_id, "withdrawn", f"was {one.status}"))
    if any(line.outcome == "withdrawn" for line in lines):
        for next in await promotions.offer_free_slots(desk, cause=desk.seq):
            lines.append(BulkResult(next.id, next.applicant_id, "offered", "next in line"))
    return lines


async def _promote(
    desk: LockedOpening, found: Sequence[Application], reason: str, add_slots: bool
) -> list[BulkResult]:
    lines: list[BulkResult] = []
    for one in found:
        if one.status != "WAITLIST":
            lines.append(_refuse(one, f"it does not wait: it is {one.status}"))
            continue
        if not desk.free:
            if not add_slots:
                lines.append(_refuse(one, "no slot is free"))
                continue
            await lifecycle.resize(desk, desk.occupied + 1, reason)
        why = {"rule": "out of turn, by the company"}
        promotions.offer_slot(desk, one, why=why, note=reason)
        lines.append(BulkResult(one.id, one.applicant_id, "offered"))
    return lines


def _tell(desk: LockedOpening, one: Application, reason: str, message: str) -> BulkResult:
    # What is told leaves no event: why, and by whom, stands with the notice.
    desk.tell("message", one, text=message, reason=reason, by=desk.by.name)
    return BulkResult(one.id, one.applicant_id, "told")


def _refuse(one: Application, why: str) -> BulkResult:
    return BulkResult(one.id, one.applicant_id, "refused", why)


def _in_order(lines: Sequence[BulkResult], ids: Sequence[int] | None) -> list[BulkResult]:
    """As they were named; what followed from it comes last."""
    place = {id: number for number, id in enumerate(dict.fromkeys(ids or ()))}
    return sorted(lines, key=lambda line: place.get(line.application_id, len(place)))
