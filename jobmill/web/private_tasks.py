"""Hide what tasks say about other people's job search: admins see that a task runs, not its result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from jobmill.db import Tx
from jobmill.matching import profiles
from jobmill.pipelines import documents, judging, submission
from jobmill.queue.inspect import Item, ItemEvent
from jobmill.web.auth import Visitor

KINDS = (judging.KIND, submission.KIND, documents.KIND)


async def find_private(tx: Tx, items: Iterable[Item], visitor: Visitor) -> set[int]:
    """The ids of tasks that score a job for a profile of another person."""
    by_profile: dict[int, list[int]] = {}
    for item in items:
        profile_id = judging.find_profile_id(item.key) if item.kind in KINDS else None
        if profile_id is not None:
            by_profile.setdefault(profile_id, []).append(item.id)
    own = {summary.profile_id for summary in await profiles.find_all(tx, owner=visitor.owner)}
    return {id for profile_id, ids in by_profile.items() if profile_id not in own for id in ids}


async def redact_items(tx: Tx, items: Sequence[Item], visitor: Visitor) -> list[Item]:
    """The tasks without data and results of private ones."""
    private = await find_private(tx, items, visitor)
    return [_redact(item) if item.id in private else item for item in items]


def _redact(item: Item) -> Item:
    """Its key and its error name the page that the person added."""
    key = f"for profile {judging.find_profile_id(item.key)}"
    return replace(item, key=key, data={}, message=None, error_text=None)


def redact_events(events: Sequence[ItemEvent]) -> list[ItemEvent]:
    """The events of a private task without notes."""
    return [replace(event, note=None) for event in events]
