"""Searches items by status, kind and key, one page at a time."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from jobmill.db import Tx, fetch_value
from jobmill.queue import inspect
from jobmill.queue.inspect import Item
from jobmill.queue.items import Status


@dataclass(frozen=True, slots=True)
class ItemFilter:
    """Which items to find; None does not filter."""

    status: Status | None = None
    kind: str | None = None
    key: str | None = None


class ItemPage(NamedTuple):
    items: list[Item]
    next: int | None
    """The `before` of the next page; None at the end."""


async def search_items(
    tx: Tx,
    filter: ItemFilter,
    *,
    before: int | None = None,
    limit: int = 50,
    reach: int | None = None,
    with_data: bool = True,
) -> ItemPage:
    """Find items with ids below `before`, newest first; ended items only among the next `reach` ids."""
    top = min(before or 2**62, await _newest(tx) + 1)
    is_live = filter.status in ("PENDING", "PROCESSING", "BLOCKED")
    floor = 0 if reach is None or is_live else max(top - reach - 1, 0)
    ids = await _ids(tx, asdict(filter) | {"before": top, "floor": floor, "limit": limit + 1})
    last = ids[limit - 1] if len(ids) > limit else floor + 1 if floor else None
    return ItemPage(await inspect.find_items(tx, ids[:limit], with_data=with_data), last)


async def _ids(tx: Tx, filters: dict[str, Any]) -> list[int]:
    match filters["status"]:
        case None:
            return await _all_ids(tx, filters)
        case "PENDING" | "PROCESSING" | "BLOCKED":
            return await _live_ids(tx, filters)
        case _:
            return await _ended_ids(tx, filters)


async def _newest(tx: Tx) -> int:
    return await fetch_value(tx, int, "SELECT max(id) FROM queue.item") or 0


async def _live_ids(tx: Tx, filters: dict[str, Any]) -> list[int]:
    cursor = await tx.execute(
        """
        SELECT id FROM queue.live
         WHERE status = %(status)s::queue.status AND id < %(before)s
           AND (%(kind)s::text IS NULL OR kind = %(kind)s)
           AND (%(key)s::text IS NULL OR key_hash = md5(%(key)s)::uuid)
         ORDER BY id DESC
         LIMIT %(limit)s
        """,
        filters,
    )
    return [row[0] for row in await cursor.fetchall()]


async def _ended_ids(tx: Tx, filters: dict[str, Any]) -> list[int]:
    cursor = await tx.execute(
        """
        SELECT item_id FROM queue.ending JOIN queue.item ON item.id = item_id
         WHERE ending.status = %(status)s::queue.status
           AND item_id < %(before)s AND item_id > %(floor)s
           -- Both columns, because the planner does not derive one condition from the other.
           AND item.id < %(before)s AND item.id > %(floor)s
           AND (%(kind)s::text IS NULL OR item.kind = %(kind)s)
           AND (%(key)s::text IS NULL OR item.key = %(key)s)
         ORDER BY item_id DESC
         LIMIT %(limit)s
        """,
        filters,
    )
    return [row[0] for row in await cursor.fetchall()]


async def _all_ids(tx: Tx, filters: dict[str, Any]) -> list[int]:
    cursor = await tx.execute(
        """
        SELECT id FROM queue.item
         WHERE id < %(before)s AND id > %(floor)s
           AND (%(kind)s::text IS NULL OR kind = %(kind)s)
           AND (%(key)s::text IS NULL OR key = %(key)s)
         ORDER BY id DESC
         LIMIT %(limit)s
        """,
        filters,
    )
    return [row[0] for row in await cursor.fetchall()]
