"""Moving applications between the stages of a slot, and changes of the stages while people are in them."""

from __future__ import annotations

from jobmill.db import Tx
from jobmill.errors import Conflict
from jobmill.hiring.actor import Actor
from jobmill.hiring.admission.decisions import is_address_confirmed, notify_rejected
from jobmill.hiring.locked_opening import LockedOpening
from jobmill.hiring.records.applications import Application
from jobmill.hiring.records.openings import OpeningTerms
from jobmill.hiring.stages.stage_definitions import OpeningStage, get_stage, list_stages
from jobmill.hiring.waitlist import promotions
from jobmill.hiring.waitlist.deadlines import lock_application


class StageMoved(Conflict):
    """The application is not in the stage that the caller saw."""

    code = "STAGE_MOVED"


async def move_to_stage(
    tx: Tx,
    application_id: int,
    to: str,
    by: Actor,
    *,
    seen: str | None,
    reason: str | None = None,
    tell_reason: bool = False,
) -> Application:
    """Move an application with a slot to a stage; a stage of the kind `rejected` ends it.

    `seen` is the stage that the caller saw; None: any. Raises StageMoved if the application is in another
    one, and Conflict if it has no slot.
    """
    async with lock_application(tx, application_id, by) as (locked, application):
        if application.status != "ACTIVE":
            raise Conflict(
                f"Application {application_id} is {application.status}. Only ACTIVE ones have a stage."
            )
        current, target = (
            get_stage(locked.opening, application.stage),
            get_stage(locked.opening, to),
        )
        if seen is not None and seen != current.key:
            raise StageMoved(
                f"Application {application_id} was moved: it is in {current.name} now. "
                "Reload the page and try again."
            )
        if target == current:
            raise StageMoved(f"Application {application_id} is in {current.name} already.")
        return await _move(locked, application, current, target, reason, tell_reason)


async def _move(
    locked: LockedOpening,
    application: Application,
    current: OpeningStage,
    target: OpeningStage,
    reason: str | None,
    tell_reason: bool,
) -> Application:
    metadata = {
        "from": current.key,
        "to": target.key,
        "fromName": current.name,
        "toName": target.name,
    }
    if target.kind != "rejected":
        return locked.change_application(
            application,
            "STAGE_CHANGED",
            metadata=metadata,
            why={"rule": "moved by the company", "kind": target.kind},
            note=reason,
            stage=target.key,
        )
    rejected = locked.move_application(
        application,
        "INACTIVE",
        "STAGE_CHANGED",
        metadata={
            **metadata,
            "actor": locked.by.side,
            "reasonTold": tell_reason and bool(reason),
        },
        why={
            "rule": "rejected by the company",
            "kind": target.kind,
            "occupied": locked.occupied,
            "capacity": locked.capacity,
        },
        note=reason,
        stage=target.key,
        missed_at=None,
    )
    if is_address_confirmed(application):
        notify_rejected(locked, rejected, reason if tell_reason else None)
    await promotions.offer_free_slots(locked, cause=locked.seq)
    return rejected


async def check_stage_change(
    locked: LockedOpening, before: OpeningTerms, after: OpeningTerms
) -> None:
    """Raise Conflict if people would silently change their stage or lose it."""
    if before.stages == after.stages:
        return
    old = {stage.key: stage for stage in list_stages(before)}
    new = {stage.key: stage for stage in list_stages(after)}
    for key, people in (await _count_people(locked)).items():
        stage = old[key] if key else next(iter(old.values()))
        kept = new.get(stage.key)
        count = f"{people} {'person is' if people == 1 else 'people are'} in {stage.name}"
        if kept is None:
            raise Conflict(f"{count}. Move them to another stage before you remove it.")
        if "rejected" in (stage.kind, kept.kind) and stage.kind != kept.kind:
            raise Conflict(f"{count}. Move them to another stage before you change its kind.")
        if key is None and next(iter(new)) != stage.key:
            raise Conflict(f"{count}, the first stage. Keep it first, or move them before.")


async def _count_people(locked: LockedOpening) -> dict[str | None, int]:
    """People with a slot by the key of their stage; None: not moved yet."""
    tx = await locked.flush()
    cursor = await tx.execute(
        """
        SELECT stage, count(*) FROM hiring.application
         WHERE opening_id = %s AND status = 'ACTIVE'
         GROUP BY stage
        """,
        [locked.opening.id],
    )
    return dict(await cursor.fetchall())
