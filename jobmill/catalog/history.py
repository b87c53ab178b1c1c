"""Events of companies, sources, listings, submissions and reports."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from psycopg.types.json import Jsonb

from jobmill.db import Tx, fetch_all

Noun: TypeAlias = Literal["company", "source", "listing", "vendor", "submission", "report"]


@dataclass(frozen=True, slots=True)
class CatalogEvent:
    id: int
    at: dt.datetime
    what: str
    data: dict[str, Any]
    actor: str | None


async def record(
    tx: Tx, noun: Noun, id: object, what: str, *, actor: str | None = None, **data: object
) -> None:
    """Record an event in the transaction that causes it."""
    await record_all(tx, noun, what, [(id, data)], actor=actor)


async def record_all(
    tx: Tx,
    noun: Noun,
    what: str,
    happened: Sequence[tuple[object, Mapping[str, object]]],
    *,
    actor: str | None = None,
) -> None:
    """Record the same kind of event for several objects."""
    await tx.execute(
        """
        INSERT INTO catalog.event (subject_type, subject_id, type, data, actor)
        SELECT %(noun)s, happened.id, %(what)s, happened.data, %(actor)s
          FROM unnest(%(ids)s::text[], %(data)s::jsonb[]) AS happened (id, data)
        """,
        {
            "noun": noun,
            "what": what,
            "actor": actor,
            "ids": [str(id) for id, _ in happened],
            "data": [Jsonb(data) for _, data in happened],
        },
    )


async def find_events(tx: Tx, noun: Noun, id: object, *, limit: int = 200) -> list[CatalogEvent]:
    """The last `limit` events of an object, oldest first."""
    return await fetch_all(
        tx,
        CatalogEvent,
        """
        SELECT id, at, what, data, actor
          FROM (SELECT id, at, type AS what, data, actor FROM catalog.event
                 WHERE subject_type = %(noun)s AND subject_id = %(id)s
                 ORDER BY id DESC LIMIT %(limit)s) AS newest
         ORDER BY id
        """,
        {"noun": noun, "id": str(id), "limit": limit},
    )
