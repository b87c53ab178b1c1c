"""/activity/lineage/{tracking_id}: all tasks of one lineage as a tree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from jobmill.errors import NotFound
from jobmill.queue import lineage
from jobmill.queue.inspect import ItemEvent
from jobmill.queue.lineage import LineageNode
from jobmill.web import private_tasks
from jobmill.web.auth import Admin
from jobmill.web.parameters import MAX_ID
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/activity")

MAX_ITEMS = 500
MAX_REFUSED = 5_000
MAX_REFUSED_PER_ITEM = 20
"""Refused spawns shown below one item; its timeline has the rest."""
MAX_INDENT = 30
"""Deeper levels are drawn at this indent, since no screen is wide enough."""

UNFINISHED = {"PENDING", "PROCESSING", "BLOCKED"}


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A node of nested lists that are written without recursion."""

    node: LineageNode
    refused: list[tuple[str, str]]
    """Reason and item."""
    more_refused: int
    opens: bool
    """Whether a list of its children follows."""
    closes: int
    """How many lists end after it."""


@router.get("/lineage/{tracking_id}")
async def show(
    tracking_id: UUID, visitor: Admin, page: Page, item: Annotated[int, Query(ge=0, le=MAX_ID)] = 0
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        items = await lineage.read_lineage(tx, tracking_id, limit=MAX_ITEMS + 1, with_data=False)
        if not items:
            raise NotFound("lineage", tracking_id)
        has_more = len(items) > MAX_ITEMS
        items = sorted(items, key=lambda member: member.id)[:MAX_ITEMS]
        ids = [member.id for member in items]
        refused = await lineage.list_refused_spawns(tx, ids, limit=MAX_REFUSED)
        # Before the items lose the keys that tell whose they are.
        refused = await private_tasks.redact_refusals(tx, items, refused, visitor)
        items = await private_tasks.redact_items(tx, items, visitor)
    roots = lineage.build_trees(items, refused)
    statuses = Counter(member.status for member in items)
    return page(
        "queue/lineage.html",
        topics=["queue"] if UNFINISHED & set(statuses) else [],
        tracking_id=tracking_id,
        root=roots[0].item,
        rows=tree_rows(roots),
        current_id=item,
        is_shown=item in ids,
        statuses=statuses.most_common(),
        count=len(items),
        refused=len(refused),
        has_more=has_more,
    )


def tree_rows(roots: Sequence[LineageNode]) -> list[TreeRow]:
    """The nodes in order, each with the lists that open and close at it."""
    nodes = [(min(level, MAX_INDENT), node) for level, node in lineage.walk_trees(roots)]
    next_levels = [*(level for level, _ in nodes[1:]), 0]
    return [
        TreeRow(
            node,
            [_describe_refusal(event) for event in node.refused[:MAX_REFUSED_PER_ITEM]],
            max(len(node.refused) - MAX_REFUSED_PER_ITEM, 0),
            opens=next_level > level,
            closes=max(level - next_level, 0),
        )
        for (level, node), next_level in zip(nodes, next_levels, strict=True)
    ]


def _describe_refusal(event: ItemEvent) -> tuple[str, str]:
    """Why a spawn was refused, and the item that it would have created."""
    reason, _, item = (event.note or "").partition(": ")
    names = {
        "depth": say("maximum depth reached"),
        "circular": say("would be its own ancestor"),
        "duplicate": say("already in this lineage"),
        "finished": say("already finished in this lineage"),
        "live elsewhere": say("already running elsewhere"),
    }
    return names.get(reason, reason), item
