"""A lineage: all that came from one item, as a tree."""

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
    """An item, what it spawned, and the spawns that it was refused."""

    item: Item
    is_orphan: bool
    """Whether it has a parent that is not in this tree."""
    children: list[LineageNode] = field(default_factory=list["LineageNode"])
    refused: list[ItemEvent] = field(default_factory=list[ItemEvent])


def build_trees(items: Sequence[Item], refusals: Sequence[ItemEvent]) -> list[LineageNode]:
    """The trees of `items`, not one left out, whatever order an import gave them."""
    roots: list[LineageNode] = []
    nodes: dict[int, LineageNode] = {}
    left = {item.id: item for item in items}
    while left:
        ready = [item for item in left.values() if item.parent_id not in left]
        # None is ready only where an import made two items each other's ancestor.
        for item in ready or [next(iter(left.values()))]:
            del left[item.id]
            parent = nodes.get(item.parent_id or 0)
            nodes[item.id] = LineageNode(item, parent is None and item.parent_id is not None)
            (parent.children if parent else roots).append(nodes[item.id])
    for event in refusals:
        nodes[event.item_id].refused.append(event)
    return roots


def walk_trees(roots: Sequence[LineageNode]) -> Iterator[tuple[int, LineageNode]]:
    """Every node below its parent, with how deep it stands; a chain may be longer than our stack."""
    left = [(0, node) for node in reversed(roots)]
    while left:
        level, node = left.pop()
        yield level, node
        left += [(level + 1, child) for child in reversed(node.children)]


async def read_lineage(
    tx: Tx, tracking_id: UUID, *, limit: int = 1_000, whole: bool = True
) -> list[Item]:
    """The items of a lineage, parents before their children; those that are not `whole` have no data."""
    cursor = await tx.execute(
        """
        SELECT id
          -- OFFSET 0 keeps the planner from walking the items of everybody in the order of their ids.
          FROM (SELECT id FROM queue.item WHERE tracking_id = %s OFFSET 0) AS kin
         ORDER BY id
         LIMIT %s
        """,
        [tracking_id, limit],
    )
    ids = [found[0] for found in await cursor.fetchall()]
    found = await inspect.find_items(tx, ids, whole=whole)
    return sorted(found, key=lambda item: (len(item.ancestry), item.id))


async def list_refused_spawns(
    tx: Tx, ids: Sequence[int], *, limit: int | None = None
) -> list[ItemEvent]:
    """The spawns that these items were refused."""
    return await fetch_all(
        tx,
        ItemEvent,
        """
        SELECT id, item_id, at, what, was, became, stage, worker, note FROM queue.event
         WHERE item_id = ANY (%s) AND what = 'spawn refused' ORDER BY id LIMIT %s
        """,
        [list(ids), limit],
    )


async def get_tracking_id(tx: Tx, id: ItemId) -> UUID:
    found = await fetch_value(tx, str, "SELECT tracking_id FROM queue.item WHERE id = %s", [id])
    if found is None:
        raise NotFound("item", id)
    return UUID(found)
