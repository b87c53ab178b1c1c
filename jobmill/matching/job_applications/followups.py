"""Applications that wait for their person: next steps, interviews, offers, and no news for long."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all
from jobmill.matching.matches import MatchId, Status
from jobmill.matching.profiles import ProfileId
from jobmill.people.persons import LOCAL, Owner

FOLLOW_UP_AFTER = dt.timedelta(days=14)
"""Without news for this long after applying, it is time to ask."""
INTERVIEW_SOON = dt.timedelta(days=2)


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


@dataclass(frozen=True, slots=True)
class OpenApplication:
    """An application that waits for the person: an interview soon, an offer, or no news for long."""

    match_id: MatchId
    profile_id: ProfileId
    title: str | None
    company: str | None
    status: Status
    interview_at: dt.datetime | None
    """None if it is not soon."""
    offer_deadline: dt.date | None
    active_at: dt.datetime
    """When the person last did something about it."""


async def find_open(tx: Tx, owner: Owner = LOCAL, *, limit: int) -> list[OpenApplication]:
    """Read over all profiles of an owner: interviews first, then offers by their deadline, then the
    applications without news. A next step with a day replaces the question for news."""
    return await fetch_all(
        tx,
        OpenApplication,
        """
        -- Only the matches that can be meant: the events of all others are not read.
        WITH candidate AS MATERIALIZED (
            SELECT match.id, profile_id, listing_id, match.status, offer_deadline,
                   greatest(status_at, interview_at) AS changed_at,
                   CASE WHEN interview_at BETWEEN now() AND now() + %(soon)s
                        THEN interview_at END AS soon_at
              FROM matching.profile
              JOIN matching.match ON profile_id = profile.id AND dropped_at IS NULL
              LEFT JOIN matching.application ON match_id = match.id
             WHERE owner_id IS NOT DISTINCT FROM %(owner)s::bigint
               AND match.status IN ('saved', 'applied', 'interviewing', 'offer')
               AND (interview_at BETWEEN now() AND now() + %(soon)s OR match.status = 'offer'
                    OR match.status <> 'saved' AND next_step_on IS NULL
                       AND status_at < now() - %(after)s)
        )
        SELECT candidate.id AS match_id, profile_id, listing.title, listing.company, candidate.status,
               soon_at AS interview_at, offer_deadline, active.at AS active_at
          FROM candidate JOIN catalog.listing ON listing.id = listing_id
         CROSS JOIN LATERAL (SELECT greatest(candidate.changed_at, max(event.at)) AS at
                               FROM matching.event
                              WHERE event.match_id = candidate.id
                                AND type NOT IN ('created', 'back', 'rescored', 'dropped')) AS active
         WHERE soon_at IS NOT NULL OR candidate.status = 'offer' OR active.at < now() - %(after)s
         ORDER BY soon_at, candidate.status <> 'offer', offer_deadline, active.at, candidate.id
         LIMIT %(limit)s
        """,
        {"owner": owner, "soon": INTERVIEW_SOON, "after": FOLLOW_UP_AFTER, "limit": limit},
    )
