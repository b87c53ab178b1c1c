"""Dates and the next step of an application."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields

from jobmill.db import Tx, fetch_all, fetch_one
from jobmill.errors import ChangedMeanwhile, Invalid
from jobmill.matching import matches
from jobmill.people.persons import LOCAL, Owner

MAX_STEP_LENGTH = 200
EARLIEST, LATEST = dt.date(1970, 1, 1), dt.date(2999, 12, 31)


@dataclass(frozen=True, slots=True)
class ApplicationDetails:
    applied_on: dt.date | None = None
    interview_at: dt.datetime | None = None
    offer_deadline: dt.date | None = None
    next_step: str | None = None
    next_step_on: dt.date | None = None
    """When to be reminded of it."""


@dataclass(frozen=True, slots=True)
class StoredDetails(ApplicationDetails):
    version: int = 0
    """0: nothing is stored yet."""


async def get(tx: Tx, match_id: int) -> StoredDetails:
    """Read the details of a match; the caller has checked the owner of the match."""
    stored = await fetch_one(
        tx,
        StoredDetails,
        """
        SELECT applied_on, interview_at, offer_deadline, next_step, next_step_on, version
          FROM matching.application WHERE match_id = %s
        """,
        [match_id],
    )
    return stored or StoredDetails()


async def find_all(tx: Tx, ids: Sequence[int]) -> dict[int, ApplicationDetails]:
    """Read the details of several matches."""
    rows = await fetch_all(
        tx,
        _DetailsOfMatch,
        """
        SELECT applied_on, interview_at, offer_deadline, next_step, next_step_on, match_id
          FROM matching.application WHERE match_id = ANY(%s)
        """,
        [list(ids)],
    )
    stored: dict[int, ApplicationDetails] = {row.match_id: row for row in rows}
    return {id: stored.get(id, ApplicationDetails()) for id in ids}


@dataclass(frozen=True, slots=True)
class _DetailsOfMatch(ApplicationDetails):
    match_id: int = 0


async def save(
    tx: Tx,
    match_id: int,
    details: ApplicationDetails,
    *,
    owner: Owner = LOCAL,
    based_on: int | None = None,
    actor: str | None = None,
) -> StoredDetails:
    """Store the details. Conflict if they are not the version that the change is based on."""
    checked(details)
    match = await matches.lock(tx, match_id, owner=owner)
    before = await get(tx, match_id)
    if based_on is not None and based_on != before.version:
        raise ChangedMeanwhile(
            "These details were changed in the meantime. Reload the page and change them again."
        )
    changed = [
        field.name
        for field in fields(ApplicationDetails)
        if getattr(before, field.name) != getattr(details, field.name)
    ]
    if not changed:
        return before
    await tx.execute(
        """
        INSERT INTO matching.application
               (match_id, applied_on, interview_at, offer_deadline, next_step, next_step_on)
        VALUES (%(match)s, %(applied_on)s, %(interview_at)s, %(offer_deadline)s, %(next_step)s,
                %(next_step_on)s)
        ON CONFLICT (match_id) DO UPDATE
           SET applied_on = excluded.applied_on, interview_at = excluded.interview_at,
               offer_deadline = excluded.offer_deadline, next_step = excluded.next_step,
               next_step_on = excluded.next_step_on, version = application.version + 1
        """,
        {
            "match": match.id,
            **{field.name: asdict(details)[field.name] for field in fields(ApplicationDetails)},
        },
    )
    await matches.record_event(tx, match.id, "details", actor=actor, fields=changed)
    return await get(tx, match_id)


def checked(details: ApplicationDetails) -> ApplicationDetails:
    """The same details. Invalid if they cannot be stored."""
    if details.next_step_on and not details.next_step:
        raise Invalid("Enter the next step that you want to be reminded of.")
    if len(details.next_step or "") > MAX_STEP_LENGTH:
        raise Invalid(f"The next step can have at most {MAX_STEP_LENGTH} characters.")
    dates = (details.applied_on, details.offer_deadline, details.next_step_on)
    days = [*dates, details.interview_at and details.interview_at.date()]
    if any(day and not EARLIEST <= day <= LATEST for day in days):
        raise Invalid("Enter dates between 1970 and 2999.")
    return details


async def finish_next_step(
    tx: Tx, match_id: int, *, owner: Owner = LOCAL, actor: str | None = None
) -> None:
    """Clear the next step. Nothing happens if there is none."""
    match = await matches.lock(tx, match_id, owner=owner)
    before = await get(tx, match_id)
    if before.next_step is None:
        return
    await tx.execute(
        """
        UPDATE matching.application
           SET next_step = NULL, next_step_on = NULL, version = version + 1 WHERE match_id = %s
        """,
        [match.id],
    )
    await matches.record_event(tx, match.id, "step done", actor=actor, step=before.next_step)
