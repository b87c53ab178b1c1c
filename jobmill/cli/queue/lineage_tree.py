"""Draw a lineage as a tree: items, their status and the children that were refused."""

from __future__ import annotations

from collections.abc import Sequence

from rich.text import Text
from rich.tree import Tree

from jobmill.cli.queue.tables import STYLES
from jobmill.cli.support import hints
from jobmill.cli.support.output import format_count, printable
from jobmill.queue.inspect import Item, ItemEvent
from jobmill.queue.lineage import LineageNode, build_trees, walk_trees


def draw_lineage(items: Sequence[Item], refusals: Sequence[ItemEvent]) -> Tree:
    root = Tree(Text(f"lineage {items[0].tracking_id}", style="bold"))
    path, branches = [root], list[tuple[LineageNode, Tree]]()
    for level, node in walk_trees(build_trees(items, refusals)):
        del path[level + 1 :]
        path.append(path[level].add(_label(node)))
        branches.append((node, path[-1]))
    # Refused children come after the real ones.
    for node, branch in branches:
        for event in node.refused:
            branch.add(
                Text.assemble(("✗ refused ", "red"), (printable(event.note or ""), "bright_black"))
            )
    return root


def _label(node: LineageNode) -> Text:
    item = node.item
    label = Text.assemble(
        (f"{item.id} ", "bold"),
        (f"{item.status} ", STYLES[item.status]),
        f"{item.kind}/{item.stage} {printable(item.key)}",
        (f"  depth {item.spawn_depth}", "bright_black"),
    )
    if item.handed_over:
        label.append("  next stage of its parent", style="bright_black")
    if item.final is False:
        label.append("  → handed over", style="bright_black")
    if item.retry_count:
        label.append(f"  retried {format_count(item.retry_count, 'time')}", style="yellow")
    if node.is_orphan:
        label.append(
            f"  parent {item.parent_id} is no longer in this lineage", style="bright_black"
        )
    if item.status in ("FAILED", "BLOCKED") and item.message:
        label.append(f"\n{printable(_describe_end(item))}", style="bright_black")
    return label


def _describe_end(item: Item) -> str:
    """The message of an item, with the commands that help next."""
    text = hints.add_next_command(item.message or "")
    if item.status != "FAILED" or "`jobmill queue retry " in text:
        return text
    see, again = f"`jobmill queue show {item.id}`", f"`jobmill queue retry {item.id}`"
    return f"{text.removesuffix('.')}. See {see}; {again} runs it again"
