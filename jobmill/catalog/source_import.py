"""Adds many sources at once."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from jobmill.catalog.sources import NewSource, SourceId
from jobmill.db import Tx, fetch_all, fetch_single

from . import history, sources, urls


@dataclass(frozen=True, slots=True)
class _StoredSource:
    id: SourceId
    source_type: str
    token: str
    new: bool


async def add_all(
    tx: Tx, new_sources: Sequence[NewSource], *, enabled: bool
) -> list[tuple[SourceId, bool]]:
    """Add sources as `sources.add` does, in a few statements; returns the id of each and whether
    it is new."""
    if not new_sources:
        return []
    by_board = {(source.source_type, source.token): source for source in new_sources}
    stored = await _insert(
        tx, list(by_board.values()), "active" if enabled else "pending_validation"
    )
    created = [source for source in stored if source.new]
    events = [
        (
            source.id,
            {"via": by_board[source.source_type, source.token].discovered_via, "enabled": enabled},
        )
        for source in created
    ]
    await history.record_all(tx, "source", "created", events)
    await sources.name_boards(tx, [source.id for source in created])
    ids = {(source.source_type, source.token): (source.id, source.new) for source in stored}
    missing = [source for board, source in by_board.items() if board not in ids]
    ids |= {
        (source.source_type, source.token): (source.id, False)
        for source in await _find_existing(tx, missing)
    }
    return [ids[source.source_type, source.token] for source in new_sources]


async def _insert(tx: Tx, sources: Sequence[NewSource], status: str) -> list[_StoredSource]:
    return await fetch_all(
        tx,
        _StoredSource,
        """
        INSERT INTO catalog.source
               (name, source_type, token, config, url, domain, status, company_name,
                company_id, discovered_via, discovered_by, evidence)
        SELECT name, source_type, token, config, url, domain, %(status)s::catalog.source_status,
               company_name, company_id, discovered_via, discovered_by, evidence
          FROM json_populate_recordset(NULL::catalog.source, %(rows)s::json)
         ORDER BY source_type, token
        ON CONFLICT ON CONSTRAINT source_once DO NOTHING
        RETURNING id, source_type, token, true AS new
        """,
        {"rows": json.dumps([_row(source) for source in sources]), "status": status},
    )


def _row(new: NewSource) -> dict[str, object]:
    return {**asdict(new), "domain": urls.domain(new.url) if new.url else None}


async def _find_existing(tx: Tx, sources: Sequence[NewSource]) -> list[_StoredSource]:
    return await fetch_all(
        tx,
        _StoredSource,
        """
        SELECT id, source_type, token, false AS new FROM catalog.source
          JOIN unnest(%(types)s::text[], %(tokens)s::text[]) AS requested (source_type, token)
         USING (source_type, token)
        """,
        {
            "types": [source.source_type for source in sources],
            "tokens": [source.token for source in sources],
        },
    )


@dataclass(frozen=True, slots=True)
class ReadProgress:
    """How many enabled sources have been read."""

    total: int
    read: int
    failing: int
    """Sources with a failed last run."""

    @property
    def worked(self) -> int:
        return max(self.read - self.failing, 0)


async def count_progress(tx: Tx) -> ReadProgress:
    """Count the progress of all enabled sources."""
    return await fetch_single(
        tx,
        ReadProgress,
        """
        SELECT count(*)::int AS total, count(last_scraped_at)::int AS read,
               count(*) FILTER (WHERE consecutive_failures > 0)::int AS failing
          FROM catalog.source WHERE status = 'active'
        """,
    )
