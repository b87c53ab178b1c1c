"""Draws a lineage: who came from whom, how each fared, and what was refused."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from rich.tree import Tree

from jobmill.cli.board import STYLES, count
from jobmill.cli.show import plain
from jobmill.queue.inspect import Event, Item


def draw(items: Sequence[Item], refusals: Sequence[Event]) -> Tree:
    """The tree of `items`, not one left out, whatever order an import gave them."""
    root = Tree(Text(f"lineage {items[0].tracking_id}", style="bold"))
    nodes: dict[int, Tree] = {}
    left = {item.id: item for item in items}
    while left:
        ready = [item for item in left.values() if item.parent_id not in left]
        # None is ready only where an import made two items each other's ancestor.
        for item in ready or [next(iter(left.values()))]:
            del left[item.id]
            parent = nodes.get(item.parent_id or 0)
            nodes[item.id] = (parent or root).add(_label(item, orphan=parent is None))
    for event in refusals:
        nodes[event.item_id].add(
            Text.assemble(("✗ refused ", "red"), (plain(event.note or ""), "bright_black"))
        )
    return root


def _label(item: Item, *, orphan: bool) -> Text:
    label = Text.assemble(
        (f"{item.id} ", "bold"),
        (f"{item.status} ", STYLES[item.status]),
        f"{item.kind}/{item.stage} {plain(item.key)}",
        (f"  depth {item.spawn_depth}", "bright_black"),
    )
    if item.handed_over:
        label.append("  next stage of its parent", style="bright_black")
    if item.final is False:
        label.append("  → handed over", style="bright_black")
    if item.retry_count:
        label.append(f"  retried {count(item.retry_count, 'time')}", style="yellow")
    if orphan and item.parent_id:
        label.append(
            f"  parent {item.parent_id} is not in this lineage any more", style="bright_black"
        )
    if item.status in ("FAILED", "BLOCKED") and item.message:
        label.append(f"\n{plain(item.message)}", style="bright_black")
    return label
