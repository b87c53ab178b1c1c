"""Draws a lineage: who came from whom, how each fared, and what was refused."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from rich.tree import Tree

from jobmill.cli.queue.tables import STYLES, count
from jobmill.cli.support.output import plain
from jobmill.queue.inspect import Item, ItemEvent
from jobmill.queue.lineage import LineageNode, build_trees, walk_trees


def draw(items: Sequence[Item], refusals: Sequence[ItemEvent]) -> Tree:
    """The tree of `items`, with what each was refused below it."""
    root = Tree(Text(f"lineage {items[0].tracking_id}", style="bold"))
    path, drawn = [root], list[tuple[LineageNode, Tree]]()
    for level, node in walk_trees(build_trees(items, refusals)):
        del path[level + 1 :]
        path.append(path[level].add(_label(node)))
        drawn.append((node, path[-1]))
    # After the children, which are what an item did.
    for node, branch in drawn:
        for event in node.refused:
            branch.add(
                Text.assemble(("✗ refused ", "red"), (plain(event.note or ""), "bright_black"))
            )
    return root


def _label(node: LineageNode) -> Text:
    item = node.item
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
    if node.is_orphan:
        label.append(
            f"  parent {item.parent_id} is not in this lineage any more", style="bright_black"
        )
    if item.status in ("FAILED", "BLOCKED") and item.message:
        label.append(f"\n{plain(item.message)}", style="bright_black")
    return label
