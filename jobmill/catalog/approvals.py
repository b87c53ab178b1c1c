"""Decisions that wait for a person: new sources, and job boards found on company pages."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import Literal, LiteralString, NamedTuple, TypeAlias

from jobmill.catalog import history, sources
from jobmill.catalog.companies import BOARD_NEEDS_APPROVAL, CompanyId
from jobmill.catalog.sources import Confidence
from jobmill.db import Tx, fetch_all, fetch_value
from jobmill.errors import Conflict, Invalid, NotFound

Noun: TypeAlias = Literal["board", "source"]
Decision: TypeAlias = Literal["approved", "rejected"]


class ApprovalRef(NamedTuple):
    """The subject of a decision: `source:12`, or `board:7` for the board of company 7."""

    noun: Noun
    id: int

    def __str__(self) -> str:
        return f"{self.noun}:{self.id}"


def parse_ref(text: str) -> ApprovalRef:
    """Parse `source:12` or `board:7`; raises Invalid for anything else."""
    match re.fullmatch(r"(board|source):(\d{1,18})", text.strip().lower()):
        case re.Match() as found:
            return ApprovalRef("board" if found[1] == "board" else "source", int(found[2]))
        case None:
            raise Invalid(f"{text!r} is not a source or board: write source:12 or board:7")


@dataclass(frozen=True, slots=True)
class Approval:
    """A source or board that waits for a decision, or the decision made; see `state`."""

    noun: Noun
    id: int
    state: Literal["waiting", "approved", "rejected"]
    name: str
    company_id: CompanyId | None
    company: str | None
    platform: str | None
    url: str | None
    confidence: Confidence | None
    evidence: str | None
    tested_at: dt.datetime | None
    detail: str | None
    """The problem of the last test or run."""
    since: dt.datetime

    @property
    def ref(self) -> ApprovalRef:
        return ApprovalRef(self.noun, self.id)


async def find(
    tx: Tx,
    *,
    noun: Noun | None = None,
    id: int | None = None,
    only_waiting: bool = True,
    after: ApprovalRef | None = None,
    limit: int = 50,
) -> list[Approval]:
    """Find approvals, boards first, oldest first; with `only_waiting=False` also those already
    decided."""
    return await fetch_all(
        tx,
        Approval,
        f"""
        WITH board AS (
            SELECT 'board' AS noun, id, coalesce(job_board_decision, 'waiting') AS state, name,
                   id AS company_id, name AS company, job_board_type AS platform,
                   job_board_url AS url, job_board_confidence AS confidence,
                   job_board_evidence AS evidence, NULL::timestamptz AS tested_at,
                   NULL::text AS detail, updated_at AS since,
                   -- A board with high confidence needs no approval; one that became a source is
                   -- approved as a source.
                   {BOARD_NEEDS_APPROVAL} AS waits
              FROM catalog.company WHERE job_board_url IS NOT NULL
        ), source AS (
            SELECT 'source' AS noun, id,
                   CASE status WHEN 'pending_validation' THEN 'waiting'
                               WHEN 'rejected' THEN 'rejected' ELSE 'approved' END AS state, name,
                   company_id, company_name AS company, source_type AS platform, url,
                   discovery_confidence AS confidence, evidence, tested_at,
                   last_detail AS detail, discovered_at AS since,
                   status = 'pending_validation' AS waits
              FROM catalog.source
        )
        SELECT noun, id, state, name, company_id, company, platform, url, confidence, evidence,
               tested_at, detail, since
          FROM (SELECT * FROM board UNION ALL SELECT * FROM source) AS pending
         WHERE (waits OR NOT %(waiting)s)
           AND (%(noun)s::text IS NULL OR noun = %(noun)s)
           AND (%(id)s::bigint IS NULL OR id = %(id)s)
           AND (noun, id) > (%(after_noun)s, %(after_id)s)
         ORDER BY noun, id
         LIMIT %(limit)s
        """,
        {
            "noun": noun,
            "id": id,
            "waiting": only_waiting,
            "after_noun": after.noun if after else "",
            "after_id": after.id if after else 0,
            "limit": limit,
        },
    )


async def count_waiting(tx: Tx, *, limit: int = 1_000) -> int:
    """Count the approvals that wait, up to `limit`."""
    sql: LiteralString = f"""
        SELECT count(*) FROM (
            SELECT id FROM catalog.company WHERE {BOARD_NEEDS_APPROVAL}
            UNION ALL
            SELECT id FROM catalog.source WHERE status = 'pending_validation'
             LIMIT %s) AS waiting
    """
    return await fetch_value(tx, int, sql, [limit]) or 0


async def get(tx: Tx, ref: ApprovalRef) -> Approval:
    """Return one approval, waiting or decided; raises NotFound."""
    approvals = await find(tx, noun=ref.noun, id=ref.id, only_waiting=False, limit=1)
    if not approvals:
        raise NotFound(ref.noun, ref.id)
    return approvals[0]


async def approve(tx: Tx, ref: ApprovalRef, *, actor: str | None = None) -> Approval:
    """Approve it, even after a rejection. A source may run from now on; the caller has to start
    the detection of a board."""
    if ref.noun == "source":
        await sources.enable(tx, ref.id, actor=actor)
    else:
        await _decide(tx, ref, "approved", actor)
    return await get(tx, ref)


async def reject(tx: Tx, ref: ApprovalRef, reason: str, *, actor: str | None = None) -> Approval:
    """Reject it. The row stays, so that it is not proposed again."""
    if ref.noun == "source":
        await sources.reject(tx, ref.id, reason, actor=actor)
    else:
        await _decide(tx, ref, "rejected", actor, reason=reason)
    return await get(tx, ref)


async def _decide(
    tx: Tx, ref: ApprovalRef, decision: Decision, actor: str | None, **more: object
) -> None:
    changed = await tx.execute(
        """
        UPDATE catalog.company SET job_board_decision = %(decision)s
         WHERE id = %(id)s AND job_board_url IS NOT NULL
           AND job_board_decision IS DISTINCT FROM %(decision)s
        """,
        {"id": ref.id, "decision": decision},
    )
    if not changed.rowcount:
        board = await get(tx, ref)
        raise Conflict(f"{ref} (the board of {board.name}) is already {decision}")
    await history.record(tx, "company", ref.id, f"board {decision}", actor=actor, **more)
