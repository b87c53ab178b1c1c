"""A draw that anyone can check.

Before the first entry, the log gets the SHA-256 of a secret seed. The draw publishes the seed and the digest of
the entries, and orders the entries by SHA-256(seed || entry number). The company can choose neither the seed
after it has seen the entries nor the entries after the draw.

The number of an entry is the number of the event with which the person applied. It belongs to the opening and
is in its public log, unlike the id of the application, which other answers link to a person.
"""

from __future__ import annotations

import datetime as dt
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from jobmill.db import Tx, fetch_one, fetch_single_value
from jobmill.errors import Conflict
from jobmill.hiring.actor import Actor
from jobmill.hiring.admission import decisions
from jobmill.hiring.audit_log.draws import commit_to, digest_entries
from jobmill.hiring.audit_log.verify_fairness import draw_order
from jobmill.hiring.locked_opening import LockedOpening
from jobmill.hiring.records import applications, openings
from jobmill.hiring.waitlist.deadlines import lock_and_expire_offers

SEED_BYTES = 32
MAX_REMOVED = 1_000


@dataclass(frozen=True, slots=True)
class LotteryProof:
    """What a stranger needs to check the last lottery of an opening."""

    opening_id: int
    title: str
    commitment: str
    """SHA-256 of the seed, in the log since before the first entry."""
    opened_at: dt.datetime
    drawn_at: dt.datetime | None
    seed: str | None
    """Secret until the draw."""
    entries: int | None
    """How many took part; None before the draw."""
    entries_digest: str | None
    order: Sequence[int]
    """The numbers of the entries as they were drawn, perhaps only the first ones; empty before the draw."""
    removed: Sequence[int]
    """The numbers of entries that the company removed before the draw, at most `MAX_REMOVED`."""


@dataclass(frozen=True, slots=True)
class _LoggedLottery:
    commitment: str
    opened_seq: int
    opened_at: dt.datetime
    drawn_seq: int | None
    drawn_at: dt.datetime | None
    seed: str | None
    entries: int | None
    entries_digest: str | None


async def open_lottery(locked: LockedOpening) -> None:
    """Commit to a secret seed before the first entry.

    A seed that was never drawn is used again: the company could otherwise try seeds until it likes one.
    """
    locked.drawn = False
    if await _has_undrawn_seed(locked):
        return
    seed = secrets.token_bytes(SEED_BYTES)
    locked.record_opening_event("LOTTERY_OPENED", {"commitment": commit_to(seed)})
    await locked.tx.execute(
        "INSERT INTO hiring.lottery (opening_id, opened_seq, seed) VALUES (%s, %s, %s)",
        [locked.opening.id, locked.seq, seed],
    )


async def _has_undrawn_seed(locked: LockedOpening) -> bool:
    cursor = await locked.tx.execute(
        "SELECT FROM hiring.lottery WHERE opening_id = %s AND drawn_seq IS NULL",
        [locked.opening.id],
    )
    return await cursor.fetchone() is not None


async def draw(tx: Tx, opening_id: int, by: Actor) -> LotteryProof:
    """Put all entries on the waitlist in a random order and offer the free slots, once.

    Raises Conflict if the opening has no lottery, no entries, or was drawn already.
    """
    async with lock_and_expire_offers(tx, opening_id, by) as locked:
        if locked.opening.admission != "lottery":
            raise Conflict("This opening has no lottery. Change its admission first.")
        if locked.drawn:
            raise Conflict("The lottery of this opening has been drawn already.")
        entries = await applications.find_in_review(await locked.flush(), locked.opening.id)
        if not entries:
            raise Conflict("There are no entries to draw from yet.")
        seed = await _take_seed(locked)
        numbers = await find_entry_numbers(locked.tx, [entry.id for entry in entries])
        by_number = {numbers[entry.id]: entry for entry in entries}
        locked.record_opening_event(
            "LOTTERY_DRAWN",
            {
                "seed": seed.hex(),
                "commitment": commit_to(seed),
                "entries": len(entries),
                "entriesDigest": digest_entries(by_number),
            },
        )
        locked.drawn = True
        why = {"rule": "drawn by lot", "cause": locked.seq}
        drawn = [by_number[number] for number in draw_order(seed, by_number)]
        await decisions.accept_all(locked, drawn, why=why)
    proof = await find_proof(tx, opening_id)
    assert proof
    return proof


async def find_entry_numbers(tx: Tx, application_ids: Collection[int]) -> dict[int, int]:
    """The numbers of entries by application id."""
    cursor = await tx.execute(
        """
        SELECT application_id, seq FROM hiring.event
         WHERE application_id = ANY (%s) AND type = 'APPLIED'
        """,
        [list(application_ids)],
    )
    return dict(await cursor.fetchall())


async def _take_seed(locked: LockedOpening) -> bytes:
    """The seed of the lottery that is open; the draw is the next event."""
    seed = await fetch_single_value(
        locked.tx,
        bytes,
        """
        UPDATE hiring.lottery SET drawn_seq = %(drawn)s
         WHERE opening_id = %(opening)s
           AND opened_seq = (SELECT max(opened_seq) FROM hiring.lottery
                              WHERE opening_id = %(opening)s)
        RETURNING seed
        """,
        {"opening": locked.opening.id, "drawn": locked.seq + 1},
    )
    return bytes(seed)


async def find_proof(tx: Tx, opening_id: int, *, limit: int | None = None) -> LotteryProof | None:
    """The last lottery of an opening as its log has it; None if there was none.

    With the first `limit` drawn entries, or with all.
    """
    opening = await openings.get(tx, opening_id)
    lottery = await fetch_one(
        tx,
        _LoggedLottery,
        """
        SELECT opened.metadata->>'commitment' AS commitment, opened_seq,
               opened.created_at AS opened_at,
               drawn.seq AS drawn_seq, drawn.created_at AS drawn_at,
               drawn.metadata->>'seed' AS seed, (drawn.metadata->'entries')::int AS entries,
               drawn.metadata->>'entriesDigest' AS entries_digest
          FROM hiring.lottery
          JOIN hiring.event AS opened ON opened.opening_id = lottery.opening_id
                                     AND opened.seq = opened_seq
          LEFT JOIN hiring.event AS drawn ON drawn.opening_id = lottery.opening_id
                                         AND drawn.seq = drawn_seq
         WHERE lottery.opening_id = %s
         ORDER BY opened_seq DESC
         LIMIT 1
        """,
        [opening_id],
    )
    if lottery is None:
        return None
    return LotteryProof(
        opening_id,
        opening.title,
        lottery.commitment,
        lottery.opened_at,
        lottery.drawn_at,
        lottery.seed,
        lottery.entries,
        lottery.entries_digest,
        await _list_drawn(tx, opening_id, lottery, limit),
        await _list_removed(tx, opening_id, lottery),
    )


async def _list_drawn(
    tx: Tx, opening_id: int, lottery: _LoggedLottery, limit: int | None
) -> list[int]:
    if lottery.drawn_seq is None or lottery.entries is None:
        return []
    # The drawn entries are accepted in the events right after the draw.
    last = lottery.drawn_seq + min(lottery.entries, limit or lottery.entries)
    cursor = await tx.execute(
        """
        SELECT applied.seq
          FROM hiring.event AS accepted
          JOIN hiring.event AS applied ON applied.application_id = accepted.application_id
                                      AND applied.type = 'APPLIED'
         WHERE accepted.opening_id = %s AND accepted.seq > %s AND accepted.seq <= %s
         ORDER BY accepted.seq
        """,
        [opening_id, lottery.drawn_seq, last],
    )
    return [number for (number,) in await cursor.fetchall()]


async def _list_removed(tx: Tx, opening_id: int, lottery: _LoggedLottery) -> list[int]:
    cursor = await tx.execute(
        """
        SELECT applied.seq
          FROM hiring.event AS applied
          JOIN hiring.event AS removed ON removed.application_id = applied.application_id
         WHERE applied.opening_id = %(opening)s AND applied.type = 'APPLIED'
           AND applied.to_status = 'IN_REVIEW' AND applied.seq > %(opened)s
           AND removed.to_status = 'INACTIVE' AND removed.from_status = 'IN_REVIEW'
           AND removed.type IN ('REJECTED', 'WITHDRAWN') AND removed.metadata->>'actor' = 'company'
           AND (%(drawn)s::bigint IS NULL OR removed.seq < %(drawn)s)
         ORDER BY applied.seq
         LIMIT %(limit)s
        """,
        {
            "opening": opening_id,
            "opened": lottery.opened_seq,
            "drawn": lottery.drawn_seq,
            "limit": MAX_REMOVED,
        },
    )
    return [number for (number,) in await cursor.fetchall()]
