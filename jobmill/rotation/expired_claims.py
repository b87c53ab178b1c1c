"""Releases claims of lost items and corrects timestamps of wrong clocks."""

from __future__ import annotations

import datetime as dt

from jobmill.db import Tx

from . import targets
from .epoch_times import latest_due, latest_valid
from .targets import CLAIM_LIFETIME

_MAX_TARGETS = 1_000
"""Targets per platform that one run corrects."""


async def release_and_correct(tx: Tx, at: dt.datetime) -> None:
    """Remove everything that would block a target without reason."""
    await _release_lost_claims(tx, at)
    await _correct_future_times(tx, at)


async def _release_lost_claims(tx: Tx, at: dt.datetime) -> None:
    cursor = await tx.execute(
        """
        SELECT source_id FROM rotation.target
         WHERE queued_at <= %(void)s OR queued_at > %(ahead)s
           FOR UPDATE SKIP LOCKED
        """,
        {"void": at - CLAIM_LIFETIME, "ahead": latest_valid(at)},
    )
    lost = [id for (id,) in await cursor.fetchall()]
    if lost:
        await targets.release(tx, ids=lost, why="its item was lost")


async def _correct_future_times(tx: Tx, at: dt.datetime) -> None:
    """As in the policies, a timestamp in the future counts as long past and blocks nothing."""
    await tx.execute(
        """
        WITH wrong AS MATERIALIZED (
            SELECT source_id FROM rotation.target
             WHERE source_id = ANY (ARRAY(
                SELECT candidate.source_id FROM rotation.platform
                 CROSS JOIN LATERAL (
                    (SELECT source_id FROM rotation.target
                      WHERE target.platform = platform.name AND status = 'active' AND enabled
                        AND greatest(added_at, last_called_at) > %(ahead)s
                      ORDER BY greatest(added_at, last_called_at) DESC LIMIT %(most)s)
                    UNION ALL
                    (SELECT source_id FROM rotation.target
                      WHERE target.platform = platform.name AND status = 'active' AND enabled
                        AND queued_at IS NULL AND (new_per_day IS NOT NULL OR blocked_until IS NOT NULL)
                        AND due_at > %(far)s
                      ORDER BY due_at DESC LIMIT %(most)s)
                    UNION ALL
                    (SELECT source_id FROM rotation.target
                      WHERE target.platform = platform.name AND status = 'bad'
                        AND next_allowed_at > %(far)s
                      ORDER BY next_allowed_at DESC LIMIT %(most)s)) AS candidate))
               FOR UPDATE SKIP LOCKED
        )
        UPDATE rotation.target AS target
           SET added_at = CASE WHEN added_at > %(ahead)s THEN 'epoch' ELSE added_at END,
               last_called_at = CASE WHEN last_called_at <= %(ahead)s THEN last_called_at END,
               last_success_at = CASE WHEN last_success_at <= %(ahead)s THEN last_success_at END,
               last_ok_at = CASE WHEN last_ok_at > %(ahead)s THEN 'epoch' ELSE last_ok_at END,
               blocked_until = CASE WHEN last_called_at > %(ahead)s OR blocked_until > %(far)s
                              THEN least(blocked_until, %(at)s) ELSE blocked_until END,
               next_allowed_at = CASE WHEN last_called_at > %(ahead)s OR next_allowed_at > %(far)s
                                      THEN least(next_allowed_at, %(at)s)
                                      ELSE next_allowed_at END,
               due_at = CASE WHEN last_called_at > %(ahead)s OR due_at > %(far)s THEN %(at)s
                             ELSE due_at END
          FROM wrong WHERE target.source_id = wrong.source_id
        """,
        {"at": at, "ahead": latest_valid(at), "far": latest_due(at), "most": _MAX_TARGETS},
    )
