"""Many sources at once: what an import brings."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from jobmill.catalog.sources import NewSource, SourceId
from jobmill.db import Tx, fetch_all, fetch_one

from . import history, urls


@dataclass(frozen=True, slots=True)
class _Kept:
    id: SourceId
    source_type: str
    token: str
    new: bool


async def add_all(
    tx: Tx, news: Sequence[NewSource], *, enabled: bool
) -> list[tuple[SourceId, bool]]:
    """For each its id, and whether it is new: as `sources.add`, in a few statements for all."""
    if not news:
        return []
    by_board = {(one.source_type, one.token): one for one in news}
    kept = await _insert(tx, list(by_board.values()), "active" if enabled else "pending_validation")
    fresh = [one for one in kept if one.new]
    told = [
        (one.id, {"via": by_board[one.source_type, one.token].discovered_via, "enabled": enabled})
        for one in fresh
    ]
    await history.record_all(tx, "source", "created", told)
    ids = {(one.source_type, one.token): (one.id, one.new) for one in kept}
    missing = [one for board, one in by_board.items() if board not in ids]
    ids |= {(one.source_type, one.token): (one.id, False) for one in await _known(tx, missing)}
    return [ids[one.source_type, one.token] for one in news]


async def _insert(tx: Tx, news: Sequence[NewSource], status: str) -> list[_Kept]:
    return await fetch_all(
        tx,
        _Kept,
        """
        INSERT INTO catalog.source
               (name, source_type, token, config, url, domain, status, company_name,
                discovered_via, discovered_by, evidence)
        SELECT name, source_type, token, config, url, domain, %(status)s::catalog.source_status,
               company_name, discovered_via, discovered_by, evidence
          FROM json_populate_recordset(NULL::catalog.source, %(rows)s::json)
         ORDER BY source_type, token
        ON CONFLICT ON CONSTRAINT source_once DO NOTHING
        RETURNING id, source_type, token, true AS new
        """,
        {"rows": json.dumps([_row(one) for one in news]), "status": status},
    )


def _row(new: NewSource) -> dict[str, object]:
    return {
        "name": new.name,
        "source_type": new.source_type,
        "token": new.token,
        "config": dict(new.config),
        "url": new.url,
        "domain": urls.domain(new.url) if new.url else None,
        "company_name": new.company_name,
        "discovered_via": new.discovered_via,
        "discovered_by": new.discovered_by,
        "evidence": new.evidence,
    }


async def _known(tx: Tx, news: Sequence[NewSource]) -> list[_Kept]:
    return await fetch_all(
        tx,
        _Kept,
        """
        SELECT id, source_type, token, false AS new FROM catalog.source
          JOIN unnest(%(types)s::text[], %(tokens)s::text[]) AS asked (source_type, token)
         USING (source_type, token)
        """,
        {
            "types": [one.source_type for one in news],
            "tokens": [one.token for one in news],
        },
    )


@dataclass(frozen=True, slots=True)
class ReadProgress:
    """How far sources that may run have been read."""

    all: int
    read: int
    failing: int
    """Whose last run failed."""

    @property
    def worked(self) -> int:
        return max(self.read - self.failing, 0)


async def count_progress(tx: Tx) -> ReadProgress:
    """All that are enabled together."""
    found = await fetch_one(
        tx,
        ReadProgress,
        """
        SELECT count(*)::int AS "all", count(last_scraped_at)::int AS read,
               count(*) FILTER (WHERE consecutive_failures > 0)::int AS failing
          FROM catalog.source WHERE status = 'active'
        """,
    )
    assert found
    return found
