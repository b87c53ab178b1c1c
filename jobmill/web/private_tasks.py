"""Hide what tasks say about other people's job search: admins see that a task runs, not its result."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, replace

from jobmill.db import Tx
from jobmill.matching import profiles
from jobmill.pipelines import documents, judging, submission
from jobmill.queue import ItemId, inspect
from jobmill.queue.inspect import Item, ItemEvent
from jobmill.web.auth import Visitor

KINDS = (judging.KIND, submission.KIND, documents.KIND)
MAX_EVENTS = 300


@dataclass(frozen=True, slots=True)
class ItemDetail:
    item: Item
    events: list[ItemEvent]
    waiting: int
    """How many items wait for this one."""
    is_private: bool
    """Whether it scores a job for another person, so that its data and result are hidden."""


async def read_detail(tx: Tx, item_id: int, visitor: Visitor) -> ItemDetail:
    id = ItemId(item_id)
    item = await inspect.get_item(tx, id)
    events = await inspect.list_events(tx, id, limit=MAX_EVENTS)
    is_private = bool(await find_private(tx, [item], visitor))
    if is_private:
        item, events = _redact(item), [replace(event, note=None) for event in events]
    else:
        events = await redact_refusals(tx, [item], events, visitor)
    return ItemDetail(item, events, await inspect.count_waiting_for(tx, id), is_private)


async def find_private(tx: Tx, items: Iterable[Item], visitor: Visitor) -> set[int]:
    """The ids of tasks that score a job for a profile of another person."""
    own = await _find_own_profiles(tx, visitor)
    return {item.id for item in items if _is_private(item.kind, item.key, own)}


async def _find_own_profiles(tx: Tx, visitor: Visitor) -> set[int]:
    return {summary.profile_id for summary in await profiles.find_all(tx, owner=visitor.owner)}


def _is_private(kind: str, key: str, own: Container[int]) -> bool:
    profile_id = judging.find_profile_id(key) if kind in KINDS else None
    return profile_id is not None and profile_id not in own


async def redact_items(tx: Tx, items: Sequence[Item], visitor: Visitor) -> list[Item]:
    """The tasks without data and results of private ones."""
    private = await find_private(tx, items, visitor)
    return [_redact(item) if item.id in private else item for item in items]


async def redact_refusals(
    tx: Tx, items: Sequence[Item], events: Iterable[ItemEvent], visitor: Visitor
) -> list[ItemEvent]:
    """The events; refused spawns keep only their reason if the parent or the refused task is private."""
    own = await _find_own_profiles(tx, visitor)
    private = {item.id for item in items if _is_private(item.kind, item.key, own)}
    return [
        _redact_refusal(event) if event.item_id in private or _spawns_private(event, own) else event
        for event in events
    ]


def _spawns_private(event: ItemEvent, own: Container[int]) -> bool:
    if event.what != "spawn refused":
        return False
    phase, _, key = (event.note or "").partition(": ")[2].partition(" ")
    return _is_private(phase.partition("/")[0], key, own)


def _redact_refusal(event: ItemEvent) -> ItemEvent:
    return replace(event, note=(event.note or "").partition(": ")[0])


def _redact(item: Item) -> Item:
    """Its key and its error name the page that the person added."""
    key = f"for profile {judging.find_profile_id(item.key)}"
    return replace(item, key=key, data={}, message=None, error_text=None)
