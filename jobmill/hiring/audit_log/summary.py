"""Key figures of an opening, computed from its audit log alone."""

from __future__ import annotations

from dataclasses import dataclass

from jobmill.db import Tx, fetch_single
from jobmill.hiring.audit_log import replay
from jobmill.hiring.records import openings


@dataclass(frozen=True, slots=True)
class OpeningSummary:
    opening_id: int
    title: str
    capacity: int
    active_count: int
    """An expired offer takes no slot: its applicant counts as waiting."""
    waitlist_count: int
    inactive_count: int
    total_applications: int
    avg_time_to_promotion_seconds: float | None
    """From applying to the first offer, for applicants from the waitlist."""
    avg_acknowledgment_time_seconds: float | None
    """From an offer to its confirmation."""
    decay_events: int
    in_review_count: int = 0


async def summarize(tx: Tx, opening_id: int) -> OpeningSummary:
    """The figures up to now; raises OpeningNotFound."""
    opening = await openings.get(tx, opening_id)
    state = await replay.state_at(tx, opening_id, opening.last_seq)
    return await fetch_single(
        tx,
        OpeningSummary,
        """
        WITH flow AS (
            -- Sums of changes: no sort, however long the log is.
            SELECT count(*) FILTER (WHERE type = 'APPLIED') AS total,
                   count(*) FILTER (WHERE to_status = 'INACTIVE') AS inactive,
                   count(*) FILTER (WHERE to_status = 'WAITLIST')
                   - count(*) FILTER (WHERE from_status = 'WAITLIST') AS waiting,
                   count(*) FILTER (WHERE to_status = 'IN_REVIEW')
                   - count(*) FILTER (WHERE from_status = 'IN_REVIEW') AS in_review
              FROM hiring.event
             WHERE opening_id = %(opening)s AND seq <= %(seq)s
        ), offered AS (
            SELECT application_id,
                   min(created_at) FILTER (WHERE type = 'PROMOTED') AS promoted_at,
                   -- No offer follows a confirmation: the last offer is the confirmed one.
                   max(created_at) FILTER (WHERE to_status = 'PENDING_ACKNOWLEDGMENT'
                                             AND type <> 'ADDRESS_CONFIRMED') AS offered_at,
                   max(created_at) FILTER (WHERE type = 'ACKNOWLEDGED') AS acknowledged_at,
                   count(*) FILTER (WHERE type = 'DECAY_TRIGGERED') AS decays,
                   count(*) FILTER (WHERE to_status = 'PENDING_ACKNOWLEDGMENT')
                   > count(*) FILTER (WHERE from_status = 'PENDING_ACKNOWLEDGMENT')
                   AND (array_agg(deadline ORDER BY seq DESC) FILTER (WHERE deadline IS NOT NULL))[1]
                       <= clock_timestamp() AS late
              FROM hiring.event
             WHERE opening_id = %(opening)s AND seq <= %(seq)s
               AND (to_status = 'PENDING_ACKNOWLEDGMENT' OR from_status = 'PENDING_ACKNOWLEDGMENT')
             GROUP BY application_id
        ), timed AS (
            SELECT extract(epoch FROM avg(promoted_at - event.created_at))::float AS promotion,
                   extract(epoch FROM avg(acknowledged_at - offered_at))::float AS acknowledgment,
                   coalesce(sum(decays), 0)::bigint AS decays,
                   count(*) FILTER (WHERE late) AS late
              FROM offered
              LEFT JOIN hiring.event ON event.opening_id = %(opening)s AND seq <= %(seq)s
                                    AND event.application_id = offered.application_id AND type = 'APPLIED'
        )
        SELECT %(opening)s::bigint AS opening_id, %(title)s::text AS title,
               %(capacity)s::int AS capacity,
               total - inactive - waiting - in_review - late AS active_count,
               waiting + late AS waitlist_count, in_review AS in_review_count,
               inactive AS inactive_count, total AS total_applications,
               promotion AS avg_time_to_promotion_seconds,
               acknowledgment AS avg_acknowledgment_time_seconds, decays AS decay_events
          FROM flow CROSS JOIN timed
        """,
        {
            "opening": opening_id,
            "seq": opening.last_seq,
            "title": opening.title,
            "capacity": state.capacity,
        },
    )
