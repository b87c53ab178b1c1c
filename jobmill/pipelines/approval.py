"""What follows from a person's decision: an approved source runs, an approved board is looked at."""

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
    """The item that does what follows."""
    note: str


async def approve(tx: Tx, ref: ApprovalRef, *, actor: str | None = None) -> ApprovalResult:
    """Let it in, and queue what follows, in one transaction."""
    wanted = await approvals.approve(tx, ref, actor=actor)
    if ref.noun == "source":
        item, how = await _submit(tx, source.new_item(ref.id))
        note = f"It is enabled, and its first run {how}."
    else:
        item, how = await _submit(tx, _look(wanted, actor))
        if item is None:
            # An approved board that nobody looks at would be forgotten.
            raise Conflict(f"{ref} was not approved, as its look {how}: try again later")
        note = f"The look at its board {how}; it runs as soon as a test works."
    return ApprovalResult(str(ref), wanted.state, wanted.name, item, note)


async def reject(
    tx: Tx, ref: ApprovalRef, reason: str, *, actor: str | None = None
) -> ApprovalResult:
    """Keep it out; it stays known."""
    unwanted = await approvals.reject(tx, ref, reason, actor=actor)
    note = f"It stays known and is not proposed again. `jobmill approval approve {ref}` undoes it."
    return ApprovalResult(str(ref), unwanted.state, unwanted.name, None, note)


def _look(board: Approval, actor: str | None) -> NewItem:
    assert board.url is not None
    config = DiscoveryConfig(url=board.url, company_id=board.company_id, company_name=board.company)
    return discovery.new_item(config, via="company_analysis", approved=True, by=actor)


async def _submit(tx: Tx, new: NewItem) -> tuple[ItemId | None, str]:
    """The item, and in words what became of it: one that does this work already is as good."""
    (answer,) = await queue.submit_all(tx, [new])
    if isinstance(answer, RefusedItem):
        return answer.live, f"was not queued ({answer.message})"
    return answer.id, "is queued"
