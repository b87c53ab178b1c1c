"""Draws of lotteries in the audit log: how an order follows from a seed, and whether a draw was fair."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all
from jobmill.hiring.audit_log.verify_fairness import draw_order


@dataclass(frozen=True, slots=True)
class LoggedDraw:
    """A draw and the entries that the log says took part."""

    seq: int
    opened_seq: int | None
    commitment: str | None
    seed: str
    entries_digest: str
    entries: Sequence[int]
    """The numbers of the events with which the people applied."""
    order: Sequence[int]


def commit_to(seed: bytes) -> str:
    return hashlib.sha256(seed).hexdigest()


def digest_entries(entries: Iterable[int]) -> str:
    """SHA-256 of the sorted numbers, one per line."""
    lines = "".join(f"{number}\n" for number in sorted(entries))
    return hashlib.sha256(lines.encode()).hexdigest()


async def find_draws(tx: Tx, opening_id: int) -> list[LoggedDraw]:
    """All draws of an opening, from its log alone."""
    return await fetch_all(
        tx,
        LoggedDraw,
        """
        SELECT draw.seq, draw.metadata->>'seed' AS seed,
               draw.metadata->>'entriesDigest' AS entries_digest,
               opened.seq AS opened_seq, opened.metadata->>'commitment' AS commitment,
               ARRAY(SELECT applied_seq
                       FROM (SELECT DISTINCT ON (application_id) to_status,
                                    first_value(seq) OVER (PARTITION BY application_id
                                                           ORDER BY seq) AS applied_seq
                               FROM hiring.event AS entry
                              WHERE entry.opening_id = draw.opening_id AND entry.seq < draw.seq
                                AND application_id IS NOT NULL
                              ORDER BY application_id, seq DESC) AS last
                      WHERE to_status = 'IN_REVIEW' ORDER BY applied_seq) AS entries,
               ARRAY(SELECT applied.seq
                       FROM hiring.event AS accepted
                       JOIN hiring.event AS applied
                         ON applied.application_id = accepted.application_id
                        AND applied.type = 'APPLIED'
                      WHERE accepted.opening_id = draw.opening_id AND accepted.seq > draw.seq
                        AND accepted.type = 'ACCEPTED'
                        AND (accepted.why->'cause')::bigint = draw.seq
                      ORDER BY accepted.seq) AS order
          FROM hiring.event AS draw
          LEFT JOIN LATERAL (SELECT seq, metadata FROM hiring.event
                              WHERE opening_id = draw.opening_id AND seq < draw.seq
                                AND type = 'LOTTERY_OPENED'
                              ORDER BY seq DESC LIMIT 1) AS opened ON true
         WHERE draw.opening_id = %s AND draw.type = 'LOTTERY_DRAWN'
         ORDER BY draw.seq
        """,
        [opening_id],
    )


def find_fault(draw: LoggedDraw) -> str | None:
    """What is wrong with a draw; None if it is fair."""
    seed = bytes.fromhex(draw.seed)
    if commit_to(seed) != draw.commitment:
        return "the seed is not the one that the log committed to"
    if min(draw.entries, default=draw.seq) < (draw.opened_seq or 0):
        return "the seed was fixed when entries were known"
    if digest_entries(draw.entries) != draw.entries_digest:
        return "the digest is not that of the entries"
    if list(draw.order) != draw_order(seed, draw.entries):
        return "the entries were not accepted in the drawn order"
    return None
