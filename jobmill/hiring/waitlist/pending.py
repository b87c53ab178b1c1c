"""Offers that are out: whose time runs, and where."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all


@dataclass(frozen=True, slots=True)
class PendingOffer:
    application_id: int
    opening_id: int
    title: str
    name: str
    ends_at: dt.datetime


async def find_ending_soonest(tx: Tx, *, limit: int) -> list[PendingOffer]:
    """Those that end first, of what has not ended yet."""
    return await fetch_all(
        tx,
        PendingOffer,
        """
        SELECT application.id AS application_id, opening_id, opening.title, applicant.name,
               acknowledge_deadline AS ends_at
          FROM hiring.application
          JOIN hiring.opening ON opening.id = opening_id
          JOIN hiring.applicant ON applicant.id = applicant_id
         WHERE application.status = 'PENDING_ACKNOWLEDGMENT' AND acknowledge_deadline > now()
         ORDER BY acknowledge_deadline
         LIMIT %s
        """,
        [limit],
    )
