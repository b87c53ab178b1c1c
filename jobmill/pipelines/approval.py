"""Carry out approval decisions: an approved source starts running, an approved board is discovered."""

from __future__ import annotations

from dataclasses import dataclass

from jobmill import queue
from jobmill.catalog import approvals
from jobmill.catalog.approvals import Approval, ApprovalRef
from jobmill.db import Tx
from jobmill.errors import Conflict
from jobmill.pipelines import discovery, source
from jobmill.pipelines.discovery import DiscoveryConfig
from jobmill.queue import ItemId, NewItem, RefusedItem


@dataclass(frozen=True, slots=True)
class ApprovalResult:
    ref: str
    state: str
    name: str
    item: ItemId | None
    """The item that runs the source or discovers the board."""
    note: str


async def approve(tx: Tx, ref: ApprovalRef, *, actor: str | None = None) -> ApprovalResult:
    """Approve a source or board and queue its first item, in one transaction."""
    approval = await approvals.approve(tx, ref, actor=actor)
    if ref.noun == "source":
        item, outcome = await _submit(tx, source.new_item(ref.id))
        note = f"Enabled. Its first run {outcome}."
    else:
        item, outcome = await _submit(tx, _discovery_item(approval, actor))
        if item is None:
            # Without its discovery item, nothing would ever read the approved board.
            raise Conflict(
                f"{ref} was not approved, because its discovery {outcome}. Try again later."
            )
        note = f"Its discovery {outcome}. The board becomes a source once a test succeeds."
    return ApprovalResult(str(ref), approval.state, approval.name, item, note)


async def reject(
    tx: Tx, ref: ApprovalRef, reason: str, *, actor: str | None = None
) -> ApprovalResult:
    """Reject a source or board. It stays stored, so that it is not proposed again."""
    approval = await approvals.reject(tx, ref, reason, actor=actor)
    note = f"It is not proposed again. To undo: `jobmill approval approve {ref}`"
    return ApprovalResult(str(ref), approval.state, approval.name, None, note)


def _discovery_item(board: Approval, actor: str | None) -> NewItem:
    assert board.url is not None
    config = DiscoveryConfig(url=board.url, company_id=board.company_id, company_name=board.company)
    return discovery.new_item(config, via="company_analysis", approved=True, by=actor)


async def _submit(tx: Tx, new: NewItem) -> tuple[ItemId | None, str]:
    """Submit the item; return its id and a phrase for the note. A live item for the same work
    counts."""
    (submitted,) = await queue.submit_all(tx, [new])
    if isinstance(submitted, RefusedItem):
        return submitted.live, f"was not queued ({submitted.message})"
    return submitted.id, "is queued"
