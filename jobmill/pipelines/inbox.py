"""Feeds the queue with listings that wait to be judged."""

from __future__ import annotations

from collections.abc import Sequence

from jobmill.db import Tx
from jobmill.matching import waiting
from jobmill.pipelines import listing
from jobmill.queue import ItemId, New, Refused, feed
from jobmill.queue.feed import Feed
from jobmill.queue.spawn import Child


async def put(tx: Tx, ids: Sequence[int], *, parent: ItemId | None = None) -> int:
    """Let listings be judged for every profile that is not paused; says how many now wait anew."""
    added = await waiting.add(tx, ids, parent_item=parent)
    if added:
        await feed.announce(tx)
    return added


async def take(tx: Tx, most: int) -> list[New | Child]:
    """The items of those that wait longest, each as a child of the item that found it."""
    return [
        listing.work_of(one)
        if one.parent_item is None
        else Child(ItemId(one.parent_item), listing.work_of(one))
        for one in await waiting.take(tx, most)
    ]


async def give_back(tx: Tx, refused: Sequence[Refused]) -> None:
    """Their items are at work, and may have begun before the listing changed."""
    for one in refused:
        if "listing_id" in one.new.data:
            await waiting.give_back(tx, one.new.data["profile_id"], one.new.data["listing_id"])


FEED = Feed(listing.KIND, "scrape", take, give_back)
