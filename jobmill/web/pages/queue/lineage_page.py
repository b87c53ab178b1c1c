"""/queue/lineage/{tracking_id}: all that came from one item, drawn as a tree."""

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
from jobmill.web.dependencies import Db
from jobmill.web.parameters import MAX_ID
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/queue")

MOST = 500
REFUSED = 5_000
BELOW_ONE = 20
"""Refusals shown below one item; its timeline has the rest."""
DEEPEST = 30
"""Levels that are drawn; what is deeper stands beside them, for no screen is wide enough."""

UNFINISHED = {"PENDING", "PROCESSING", "BLOCKED"}


@dataclass(frozen=True, slots=True)
class Branch:
    """A node as it is written down: nested lists without recursion."""

    node: LineageNode
    refused: list[tuple[str, str]]
    """Why, and what."""
    more_refused: int
    opens: bool
    """Whether its children come next."""
    closes: int
    """How many lists end after it."""


@router.get("/lineage/{tracking_id}")
async def show(
    tracking_id: UUID, db: Db, page: Page, item: Annotated[int, Query(ge=0, le=MAX_ID)] = 0
) -> HTMLResponse:
    async with db.transaction() as tx:
        items = await lineage.read_lineage(tx, tracking_id, limit=MOST + 1, with_data=False)
        if not items:
            raise NotFound("lineage", tracking_id)
        more, items = len(items) > MOST, sorted(items, key=lambda one: one.id)[:MOST]
        refused = await lineage.list_refused_spawns(tx, [one.id for one in items], limit=REFUSED)
    roots = lineage.build_trees(items, refused)
    statuses = Counter(one.status for one in items)
    return page(
        "queue/lineage.html",
        topics=["queue"] if UNFINISHED & set(statuses) else [],
        tracking_id=tracking_id,
        root=roots[0].item,
        branches=lay(roots),
        here=item,
        is_here=any(one.id == item for one in items),
        statuses=statuses.most_common(),
        count=len(items),
        refused=len(refused),
        more=more,
    )


def lay(roots: Sequence[LineageNode]) -> list[Branch]:
    """The nodes one after the other, each with the lists that begin and end at it."""
    walked = [(min(level, DEEPEST), node) for level, node in lineage.walk_trees(roots)]
    after = [*(level for level, _ in walked[1:]), 0]
    return [
        Branch(
            node,
            [_refusal(event) for event in node.refused[:BELOW_ONE]],
            max(len(node.refused) - BELOW_ONE, 0),
            opens=below > level,
            closes=max(level - below, 0),
        )
        for (level, node), below in zip(walked, after, strict=True)
    ]


def _refusal(event: ItemEvent) -> tuple[str, str]:
    """Why a spawn was refused, in words, and what it would have been."""
    reason, _, what = (event.note or "").partition(": ")
    words = {
        "depth": say("too deep"),
        "circular": say("it is its own ancestor"),
        "duplicate": say("already in this lineage"),
        "finished": say("already done in this lineage"),
        "live elsewhere": say("it is worked on already"),
    }
    return words.get(reason, reason), what
