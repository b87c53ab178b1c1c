"""How listings come to be judged: submitted by a person, or fed from those that sources have shown."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.matching import judging_feed
from jobmill.matching.judging_feed import PendingJudgement
from jobmill.queue import ItemId, NewItem, RefusedItem, feed
from jobmill.queue.feed import QueueFeed
from jobmill.queue.spawn import ChildItem

KIND = "listing"
BY_HAND = 50
"""The priority of what a person submits: before what the sources bring."""
LONGEST_PAGE = 3_900
"""Letters of an address that leave room for the rest of a key."""


def new_item_for_url(url: str, profile_id: int, *, force: bool = False) -> NewItem:
    """The item that judges what a person submits; Invalid for what is no URL."""
    key = _key(PLATFORM_RULES.canonical(url), profile_id)
    # Asked as it was given: what we call its canonical form nobody may serve.
    data: dict[str, Any] = {"url": url.strip(), "profile_id": profile_id}
    if force:
        data["force"] = True
    return NewItem(KIND, "scrape", key, data=data, priority=BY_HAND)


def _work(one: PendingJudgement) -> NewItem:
    """The item that judges a listing that a source has shown."""
    data: dict[str, Any] = {
        "url": one.url,
        "profile_id": one.profile_id,
        "listing_id": one.listing_id,
    }
    if one.forced:
        # What a person once insisted on stays, whatever is judged later.
        data["force"] = True
    return NewItem(KIND, "scrape", _key(_page(one), one.profile_id), data=data)


def _key(page: str, profile_id: int) -> str:
    """One item at a time for each listing and profile."""
    return f"{page} for profile {profile_id}"


def _page(one: PendingJudgement) -> str:
    # A posting without a page of its own, or with an address that fits into no key, is known by its
    # number: one that the queue refuses would keep all the others waiting.
    try:
        page = PLATFORM_RULES.canonical(one.url)
    except Invalid:
        page = ""
    return page if page and len(page) <= LONGEST_PAGE else f"listing {one.listing_id}"


async def add_listings(tx: Tx, ids: Sequence[int], *, parent: ItemId | None = None) -> int:
    """Let listings be judged for every profile that is not paused; says how many now wait anew."""
    added = await judging_feed.add(tx, ids, parent_item=parent)
    if added:
        await feed.notify_feeds(tx)
    return added


async def take_items(tx: Tx, most: int) -> list[NewItem | ChildItem]:
    """The items of those that wait longest, each as a child of the item that found it."""
    return [
        _work(one) if one.parent_item is None else ChildItem(ItemId(one.parent_item), _work(one))
        for one in await judging_feed.take(tx, most)
    ]


async def return_refused(tx: Tx, refused: Sequence[RefusedItem]) -> None:
    """Their items are at work, and may have begun before the listing changed."""
    for one in refused:
        await judging_feed.requeue_later(tx, one.new.data["profile_id"], one.new.data["listing_id"])


FEED = QueueFeed(KIND, "scrape", take_items, return_refused)
