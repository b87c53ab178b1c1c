"""Close an opening and tell the waiting applicants: their applications end, each with at most one letter.

Everything happens in one transaction under the opening's lock: a process that is killed has done nothing, and
a second request finds no application left to end. People with a place keep it.
"""

from __future__ import annotations

from dataclasses import dataclass

from jobmill.db import Tx, fetch_value
from jobmill.errors import Conflict, Invalid
from jobmill.hiring.actor import Actor
from jobmill.hiring.admission.decisions import is_address_confirmed
from jobmill.hiring.applications.withdrawals import record_end
from jobmill.hiring.locked_opening import LockedOpening
from jobmill.hiring.messages import letter_templates
from jobmill.hiring.messages.letter_variables import LetterText
from jobmill.hiring.records import applications, openings
from jobmill.hiring.records.applications import Application
from jobmill.hiring.records.openings import Opening
from jobmill.hiring.waitlist.deadlines import lock_and_expire_offers

LETTER = "closed"
RULE = "opening closed"
MAX_REASON_LENGTH = 2_000
MAX_ENDED = 100_000
"""Applications ended in one transaction, which holds the opening's lock."""


@dataclass(frozen=True, slots=True)
class ClosingResult:
    opening_id: int
    ended: int
    """Applications that ended."""
    offers: int
    """How many of them had an open offer."""
    letters: int
    """How many of them get a letter."""
    kept: int
    """Applications that keep their place."""


async def close_and_tell(
    tx: Tx,
    opening_id: int,
    by: Actor,
    *,
    tell: bool,
    text: LetterText | None = None,
    reason: str | None = None,
    dry_run: bool = False,
) -> ClosingResult:
    """Close the opening and end all applications without a place.

    `text` becomes the opening's own letter; without it the letter "closed" is sent. Applicants read `reason`
    on their pages, with or without letters, and as `$text` of the letter. A closed opening with
    waiting applications can be closed like this, too; Conflict if there are none. A dry run is rolled back.
    """
    reason = (reason or "").replace("\r\n", "\n").strip() or None
    if reason and len(reason) > MAX_REASON_LENGTH:
        raise Invalid(f"A reason can have at most {MAX_REASON_LENGTH:,} characters.")
    async with tx.transaction(force_rollback=dry_run):
        # Lock before the letter is saved, so that two closings of one opening do not meet there.
        opening = await openings.fetch_locked(
            await openings.request_lock(tx, opening_id), opening_id
        )
        openings.refuse_interview_time(opening)
        if tell and text:
            await letter_templates.save_text(tx, LETTER, text, by, opening_id=opening_id)
        async with lock_and_expire_offers(tx, opening_id, by) as locked:
            live = await _find_live(locked)
            letters = [
                application for application in live if tell and is_address_confirmed(application)
            ]
            if locked.status != "closed":
                locked.status = "closed"
                locked.record_opening_event("CLOSED", {"ended": len(live), "told": len(letters)})
            _end_all(locked, live, {application.id for application in letters}, reason)
            return ClosingResult(
                opening_id,
                len(live),
                sum(application.acknowledge_deadline is not None for application in live),
                len(letters),
                locked.occupied,
            )


async def count_effect(tx: Tx, opening: Opening) -> ClosingResult:
    """How many people closing would concern, counted without the opening's lock; at most `MAX_ENDED` + 1."""
    cursor = await tx.execute(
        """
        SELECT count(*), count(acknowledge_deadline), count(*) FILTER (WHERE confirm_by IS NULL)
          FROM (SELECT acknowledge_deadline, confirm_by FROM hiring.application
                 WHERE opening_id = %s AND status NOT IN ('ACTIVE', 'INACTIVE')
                 LIMIT %s) AS live
        """,
        [opening.id, MAX_ENDED + 1],
    )
    [(ended, offers, letters)] = await cursor.fetchall()
    return ClosingResult(opening.id, ended, offers, letters, opening.occupied - offers)


async def has_unplaced(tx: Tx, opening_id: int) -> bool:
    """Whether closing would end an application."""
    return bool(
        await fetch_value(
            tx,
            bool,
            """
            SELECT waiting > 0 OR in_review > 0
                   OR EXISTS (SELECT FROM hiring.application
                               WHERE opening_id = opening.id AND status = 'PENDING_ACKNOWLEDGMENT')
              FROM hiring.opening
             WHERE id = %s
            """,
            [opening_id],
        )
    )


async def _find_live(locked: LockedOpening) -> list[Application]:
    live = await applications.find_without_slot(
        await locked.flush(), locked.opening.id, MAX_ENDED + 1
    )
    if locked.status == "closed" and not live:
        raise Conflict("This opening is closed, and nobody is waiting for a place.")
    if len(live) > MAX_ENDED:
        raise Invalid(
            f"More than {MAX_ENDED:,} people wait, too many to end at once. "
            "Close the opening and keep them waiting, or remove some of them first."
        )
    return live


def _end_all(
    locked: LockedOpening, live: list[Application], letter_ids: set[int], reason: str | None
) -> None:
    for application in live:
        ended = record_end(locked, application, rule=RULE, reason=reason, shows_reason=bool(reason))
        if application.id in letter_ids:
            deadline = application.acknowledge_deadline
            locked.add_notice(LETTER, ended, ended_offer=deadline, text=reason or "")
