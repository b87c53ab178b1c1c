"""Why the queue refuses an item, and the live item that already does its work."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple
from uuid import UUID

from jobmill.db import Tx
from jobmill.queue.items import AcceptedItem, ItemId, NewItem, RefusedItem

log = logging.getLogger(__name__)


def explain_refusal(new: NewItem, reason: str, depth: int = 0) -> str:
    what = f"{new.kind}/{new.stage} for {new.key}"
    messages: Mapping[str, str] = {
        "depth": f"Max spawn depth ({depth}) reached",
        "circular": f"Circular dependency detected: {new.key} already in chain",
        "duplicate": f"Duplicate work: {what} already queued",
        "finished": f"Already completed: {what}",
        "live elsewhere": f"Another lineage already works on {what}",
        "queued": f"Already queued: {what}",
        "processing": f"Currently processing: {what}",
        "other phase": f"Wrong phase: {new.kind} for {new.key} is in another phase",
        "full": f"Queue full: phase {new.kind}/{new.stage} is at its capacity; try again later",
    }
    return messages[reason]


def log_refused_spawns(answers: Iterable[AcceptedItem | RefusedItem]) -> None:
    """Log a warning for each refused child."""
    for answer in answers:
        if isinstance(answer, RefusedItem):
            log.warning(
                "spawn refused",
                extra={
                    "item": answer.parent,
                    "tracking_id": answer.tracking_id,
                    "rule": answer.reason,
                    "reason": answer.message,
                },
            )


class LiveItem(NamedTuple):
    id: ItemId
    stage: str
    status: str
    tracking_id: UUID


async def find_live_item(tx: Tx, new: NewItem) -> LiveItem | None:
    cursor = await tx.execute(
        """
        SELECT live.id, live.stage, live.status, item.tracking_id
          FROM queue.live JOIN queue.item USING (id)
         WHERE live.kind = %(kind)s AND live.key_hash = md5(%(key)s)::uuid
        """,
        {"kind": new.kind, "key": new.key},
    )
    row: Any = await cursor.fetchone()
    return LiveItem(*row) if row else None
