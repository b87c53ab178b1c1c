"""Next steps that are due."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all
from jobmill.matching.matches import MatchId, Status
from jobmill.people.persons import LOCAL, Owner


@dataclass(frozen=True, slots=True)
class DueStep:
    match_id: MatchId
    title: str | None
    company: str | None
    status: Status
    step: str
    due_on: dt.date


async def due(tx: Tx, owner: Owner = LOCAL, *, limit: int = 20) -> list[DueStep]:
    """Read the next steps of an owner whose day has come, over all of their profiles, the oldest
    first. Rejected and dismissed applications need no next step."""
    return await fetch_all(
        tx,
        DueStep,
        """
        SELECT match.id AS match_id, listing.title, listing.company, match.status,
               next_step AS step, next_step_on AS due_on
          FROM matching.application JOIN matching.match ON match.id = match_id
          JOIN matching.profile ON profile.id = profile_id
          JOIN catalog.listing ON listing.id = listing_id
         WHERE owner_id IS NOT DISTINCT FROM %s::bigint AND next_step_on <= current_date
           AND match.status NOT IN ('rejected', 'dismissed')
         ORDER BY next_step_on, match.id LIMIT %s
        """,
        [owner, limit],
    )
