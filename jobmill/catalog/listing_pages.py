"""The last read of each listing's own page, and which of its fields came from there."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal, TypeAlias

from jobmill.catalog.listings import ListingId
from jobmill.db import Tx, fetch_all, fetch_single_value

PageOutcome: TypeAlias = Literal["read", "unreadable", "closed", "postponed"]

RETRY_AFTER = dt.timedelta(days=7)
"""A page that could not be read is tried again after this time, when its listing is judged again."""


@dataclass(frozen=True, slots=True)
class ListingPage:
    listing_id: ListingId
    url: str
    outcome: PageOutcome
    method: str | None
    fields: list[str]
    """The listing's fields that came from the page; all others came from its source."""
    note: str | None
    read_at: dt.datetime
    current: bool
    """Whether the source still shows the listing as it did when the page was read."""


@dataclass(frozen=True, slots=True)
class PageRead:
    """A page to record: what was read, or why nothing was."""

    url: str
    outcome: PageOutcome
    method: str | None = None
    fields: Sequence[str] = ()
    note: str | None = None


def is_due(page: ListingPage | None, now: dt.datetime) -> bool:
    """Whether to read the page of a listing that its source shows in part."""
    if page is None or page.outcome == "postponed" or not page.current:
        return True
    return page.outcome == "unreadable" and now - page.read_at > RETRY_AFTER


async def get(tx: Tx, id: ListingId) -> ListingPage | None:
    return (await find(tx, [id])).get(id)


async def find(tx: Tx, ids: Sequence[ListingId]) -> Mapping[ListingId, ListingPage]:
    """The pages of these listings, by listing; those without a read are left out."""
    pages = await fetch_all(
        tx,
        ListingPage,
        """
        SELECT listing_id, page.url, outcome, method, fields, note, read_at,
               page.listed_hash = listing.listed_hash AS current
          FROM catalog.listing_page AS page JOIN catalog.listing ON listing.id = listing_id
         WHERE listing_id = ANY(%s)
        """,
        [list(ids)],
    )
    return {page.listing_id: page for page in pages}


async def record(tx: Tx, id: ListingId, page: PageRead) -> None:
    """Record a read of a listing's page, as of what its source shows now."""
    await tx.execute(
        """
        INSERT INTO catalog.listing_page (listing_id, url, outcome, method, fields, note, listed_hash)
        SELECT id, %(url)s, %(outcome)s, %(method)s, %(fields)s, %(note)s, listed_hash
          FROM catalog.listing WHERE id = %(id)s
        ON CONFLICT (listing_id) DO UPDATE
           SET url = excluded.url, outcome = excluded.outcome, method = excluded.method,
               -- What an earlier read filled in is still in the listing.
               fields = CASE WHEN excluded.outcome = 'read' THEN excluded.fields
                             ELSE listing_page.fields END,
               note = excluded.note, listed_hash = excluded.listed_hash, read_at = now()
        """,
        {**asdict(page), "id": id, "fields": list(page.fields)},
    )


async def count_recent(tx: Tx) -> int:
    """The pages read within the last day."""
    return await fetch_single_value(
        tx,
        int,
        """
        SELECT count(*) FROM catalog.listing_page
         WHERE read_at > now() - interval '1 day' AND outcome <> 'postponed'
        """,
    )


async def find_postponed(tx: Tx, limit: int) -> list[ListingId]:
    """Open listings with a page that was not read because the day's budget was spent, newest first."""
    cursor = await tx.execute(
        """
        SELECT listing_id FROM catalog.listing_page
          JOIN catalog.listing ON listing.id = listing_id
         WHERE outcome = 'postponed' AND closed_at IS NULL
         ORDER BY listing_id DESC LIMIT %s
        """,
        [limit],
    )
    return [ListingId(id) for (id,) in await cursor.fetchall()]


async def find_closed(tx: Tx, ids: Sequence[ListingId]) -> set[ListingId]:
    """The listings that are closed by their own page and not changed by their source since."""
    pages = await find(tx, ids)
    return {id for id, page in pages.items() if page.outcome == "closed" and page.current}
