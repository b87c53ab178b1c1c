"""Create the items that judge listings: from URLs that people submit, and from the judging feed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import listing_pages
from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.matching import judging_feed
from jobmill.matching.judging_feed import PendingJudgement
from jobmill.queue import ItemId, NewItem, RefusedItem, feed
from jobmill.queue.feed import QueueFeed
from jobmill.queue.spawn_rules import ChildItem

KIND = "listing"
MANUAL_PRIORITY = 50
"""Priority of submitted URLs: before listings that sources bring."""
MAX_URL_LENGTH = 3_900
"""Maximum URL length; leaves room for the rest of the item's key."""


def new_item_for_url(url: str, profile_id: int, *, force: bool = False) -> NewItem:
    """The item that judges a submitted URL. Raises `Invalid` if it is not a URL."""
    key = _key(PLATFORM_RULES.canonical(url), profile_id)
    # Fetch the URL as submitted: the site may not serve its canonical form.
    data: dict[str, Any] = {"url": url.strip(), "profile_id": profile_id}
    if force:
        data["force"] = True
    return NewItem(KIND, "scrape", key, data=data, priority=MANUAL_PRIORITY)


def new_item_for_text(listing_id: int, profile_id: int, *, force: bool = False) -> NewItem:
    """The item that judges the listing of a pasted text, which has no URL."""
    data: dict[str, Any] = {"url": "", "profile_id": profile_id, "listing_id": listing_id}
    if force:
        data["force"] = True
    key = _key(f"listing {listing_id}", profile_id)
    return NewItem(KIND, "scrape", key, data=data, priority=MANUAL_PRIORITY)


def _new_item(pending: PendingJudgement) -> NewItem:
    """The item that judges a listing that a source has shown."""
    data: dict[str, Any] = {
        "url": pending.url,
        "profile_id": pending.profile_id,
        "listing_id": pending.listing_id,
    }
    if pending.forced:
        # A forced match stays forced when its listing is judged again.
        data["force"] = True
    return NewItem(KIND, "scrape", _key(_page_key(pending), pending.profile_id), data=data)


def _key(page: str, profile_id: int) -> str:
    """The deduplication key: one live item per listing and profile."""
    return f"{page} for profile {profile_id}"


def find_profile_id(key: str) -> int | None:
    """The profile that an item with this key works for."""
    _, _, id = key.rpartition(" for profile ")
    return int(id) if id.isascii() and id.isdecimal() else None


def _page_key(pending: PendingJudgement) -> str:
    # Fall back to the listing's id if it has no URL, or one too long for a key: an item that the
    # queue refuses would hold up the rest of the feed.
    try:
        page = PLATFORM_RULES.canonical(pending.url)
    except Invalid:
        page = ""
    return page if page and len(page) <= MAX_URL_LENGTH else f"listing {pending.listing_id}"


async def add_listings(tx: Tx, ids: Sequence[int], *, parent: ItemId | None = None) -> int:
    """Queue listings for judging by every profile that is not paused; return how many were added."""
    added = await judging_feed.add(tx, ids, parent_item=parent)
    if added:
        await feed.notify_feeds(tx)
    return added


async def add_postponed(tx: Tx, *, per_day: float) -> int:
    """Queue listings again whose own page was not read because the day's budget was spent, as far as
    there is budget now; returns how many."""
    left = int(per_day) - await listing_pages.count_recent(tx)
    ids = await listing_pages.find_postponed(tx, left) if left > 0 else []
    return await add_listings(tx, ids) if ids else 0


async def take_items(tx: Tx, limit: int) -> list[NewItem | ChildItem]:
    """Take the oldest entries of the feed as items, each a child of the item that found its
    listing."""
    return [
        _new_item(pending)
        if pending.parent_item is None
        else ChildItem(ItemId(pending.parent_item), _new_item(pending))
        for pending in await judging_feed.claim_due(tx, limit)
    ]


async def return_refused(tx: Tx, refused: Sequence[RefusedItem]) -> None:
    """Requeue refused listings: their live items may have started before the listing changed."""
    for item in refused:
        await judging_feed.requeue(tx, item.new.data["profile_id"], item.new.data["listing_id"])


FEED = QueueFeed(KIND, "scrape", take_items, return_refused)
