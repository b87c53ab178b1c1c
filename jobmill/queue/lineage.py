"""Lineages: all items that came from one submission, as trees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from jobmill.db import Tx, fetch_all, fetch_value
from jobmill.errors import NotFound
from jobmill.queue import inspect
from jobmill.queue.inspect import Item, ItemEvent
from jobmill.queue.items import ItemId


@dataclass(slots=True)
class LineageNode:
    """An item, its children, and its refused spawns."""

    item: Item
    is_orphan: bool
    """Whether its parent is not in this tree."""
    children: list[LineageNode] = field(default_factory=list["LineageNode"])
    refused: list[ItemEvent] = field(default_factory=list[ItemEvent])


def build_trees(items: Sequence[Item], refusals: Sequence[ItemEvent]) -> list[LineageNode]:
    """Build trees that contain every item, in whatever order an import created them."""
    roots: list[LineageNode] = []
    nodes: dict[int, LineageNode] = {}
    remaining = {item.id: item for item in items}
    while remaining:
        ready = [item for item in remaining.values() if item.parent_id not in remaining]
        # No item is ready only if an import made two items each other's ancestor.
        for item in ready or [next(iter(remaining.values()))]:
            del remaining[item.id]
            parent = nodes.get(item.parent_id or 0)
            nodes[item.id] = LineageNode(item, parent is None and item.parent_id is not None)
            (parent.children if parent else roots).append(nodes[item.id])
    for event in refusals:
        nodes[event.item_id].refused.append(event)
    return roots


def walk_trees(roots: Sequence[LineageNode]) -> Iterator[tuple[int, LineageNode]]:
    """Every node after its parent, with its depth. Iterative, because a chain may exceed the recursion limit."""
    stack = [(0, node) for node in reversed(roots)]
    while stack:
        level, node = stack.pop()
        yield level, node
        stack += [(level + 1, child) for child in reversed(node.children)]


async def read_lineage(
    tx: Tx, tracking_id: UUID, *, limit: int = 1_000, with_data: bool = True
) -> list[Item]:
    """The items of a lineage, parents before their children; without their data unless `with_data`."""
    cursor = await tx.execute(
        """
        SELECT id
          -- OFFSET 0 keeps the planner from scanning the items of all lineages in the order of their ids.
          FROM (SELECT id FROM queue.item WHERE tracking_id = %s OFFSET 0) AS members
         ORDER BY id
         LIMIT %s
        """,
        [tracking_id, limit],
    )
    ids = [row[0] for row in await cursor.fetchall()]
    items = await inspect.find_items(tx, ids, with_data=with_data)
    return sorted(items, key=lambda item: (len(item.ancestry), item.id))


async def list_refused_spawns(
    tx: Tx, ids: Sequence[int], *, limit: int | None = None
) -> list[ItemEvent]:
    """The refused spawns of these items."""
    return await fetch_all(
        tx,
        ItemEvent,
        """
        SELECT id, item_id, at, type AS what, from_status AS was, to_status AS became, stage, worker,
               note
          FROM queue.event
         WHERE item_id = ANY (%s) AND type = 'spawn refused' ORDER BY id LIMIT %s
        """,
        [list(ids), limit],
    )


async def get_tracking_id(tx: Tx, id: ItemId) -> UUID:
    tracking_id = await fetch_value(
        tx, str, "SELECT tracking_id FROM queue.item WHERE id = %s", [id]
    )
    if tracking_id is None:
        raise NotFound("item", id)
    return UUID(tracking_id)
