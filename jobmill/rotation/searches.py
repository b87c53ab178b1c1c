"""Searches: what a person looks for at sites that gather postings; each pair of words and place is
a slice, and slices are what runs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from psycopg.errors import UniqueViolation

from jobmill.boards import response_reader, saved_responses
from jobmill.catalog import source_import
from jobmill.catalog.sources import NewSource
from jobmill.db import Tx, fetch_all, fetch_one, fetch_value
from jobmill.errors import Conflict, Invalid, NotFound

from . import targets

INTERVAL = dt.timedelta(hours=24)
"""At most once a day each, until they are warmed."""
HIGHEST = 100
MOST = 1_000
"""Slices of one search: a list that was pasted by mistake must not become a million calls."""
SAME = "there is the same search already: `rotate search list`"


@dataclass(frozen=True, slots=True)
class Search:
    id: int
    platform: str
    keywords: list[str]
    locations: list[str]
    priority: int
    """From 0 to 100, higher first."""
    enabled: bool
    slices: int
    created_at: dt.datetime


async def add(
    tx: Tx, platform: str, keywords: Sequence[str], locations: Sequence[str], *, priority: int = 50
) -> Search:
    """Keep a search and make its slices; Conflict if there is the same already."""
    name = saved_responses.platform(platform).name
    words, places = _plain(keywords), _plain(locations)
    slices(name, words, places)
    id = await fetch_value(
        tx,
        int,
        """
        INSERT INTO rotation.search (platform, keywords, locations, priority)
        VALUES (%s, %s, %s, %s) ON CONFLICT ON CONSTRAINT search_once DO NOTHING RETURNING id
        """,
        [name, words, places, priority],
    )
    if id is None:
        raise Conflict(SAME)
    await arrange(tx, id)
    return await get(tx, id)


def _plain(given: Sequence[str]) -> list[str]:
    return sorted({" ".join(one.split()) for one in given}) or [""]


def slices(platform: str, keywords: Sequence[str], locations: Sequence[str]) -> list[NewSource]:
    """One source for each pair; Invalid where the platform cannot be searched so."""
    chosen = saved_responses.platform(platform)
    if chosen.inventory or "keywords" not in chosen.config.model_fields:
        raise Invalid(f"{chosen.title} cannot be searched")
    if chosen.off:
        raise Invalid(f"{chosen.title} is off: {chosen.off}")
    if len(keywords) * len(locations) > MOST:
        raise Invalid(f"a search has at most {MOST:,} pairs of words and place")
    return [_slice(platform, words, place) for words in keywords for place in locations]


def _slice(platform: str, words: str, place: str) -> NewSource:
    chosen = saved_responses.platform(platform)
    config = {"keywords": words, "location": place}
    said = {name: one for name, one in config.items() if one}
    checked = response_reader.configure(chosen, dict(said))
    shown = " in ".join(one for one in (words, place) if one) or "everything"
    return NewSource(
        name=f"{chosen.title}: {shown}",
        source_type=chosen.name,
        token=chosen.token(checked),
        config=said,
        discovered_via="user_submission",
        evidence="a search",
    )


async def arrange(tx: Tx, id: int) -> None:
    """Make the slices of a search what it says; those that no search wants any more are paused."""
    search = await get(tx, id)
    before = await _slices_of(tx, id)
    wanted = slices(search.platform, search.keywords, search.locations) if search.enabled else []
    kept = [one for one, _ in await source_import.add_all(tx, wanted, enabled=True)]
    await _lock(tx, sorted({*before, *kept}))
    await targets.add(tx, kept, priority=HIGHEST - search.priority, interval=INTERVAL)
    await tx.execute("DELETE FROM rotation.search_slice WHERE search_id = %s", [id])
    await tx.execute(
        "INSERT INTO rotation.search_slice (search_id, source_id) SELECT %s, unnest(%s::bigint[])",
        [id, list(kept)],
    )
    await _settle(tx, sorted({*before, *kept}))


async def _slices_of(tx: Tx, id: int) -> list[int]:
    cursor = await tx.execute(
        "SELECT source_id FROM rotation.search_slice WHERE search_id = %s", [id]
    )
    return [source for (source,) in await cursor.fetchall()]


async def _lock(tx: Tx, ids: Sequence[int]) -> None:
    """Their sources, which a slice names, then their targets: as a run is saved."""
    await tx.execute(
        "SELECT 1 FROM catalog.source WHERE id = ANY (%s) ORDER BY id FOR KEY SHARE", [list(ids)]
    )
    await targets.lock(tx, ids)


async def _settle(tx: Tx, ids: Sequence[int]) -> None:
    """Pause the slices that no search wants, resume those that one does."""
    await tx.execute(
        """
        UPDATE rotation.target
           SET status = CASE WHEN wanted THEN 'active' ELSE 'paused' END::rotation.status
          FROM (SELECT id, EXISTS (SELECT FROM rotation.search_slice
                                    WHERE source_id = id) AS wanted
                  FROM unnest(%s::bigint[]) AS id) AS slice
         WHERE source_id = slice.id
           AND target.status = CASE WHEN wanted THEN 'paused' ELSE 'active' END::rotation.status
        """,
        [list(ids)],
    )


async def get(tx: Tx, id: int) -> Search:
    """One search; NotFound if there is none."""
    found = await fetch_one(
        tx,
        Search,
        """
        SELECT id, platform, keywords, locations, priority, enabled,
               (SELECT count(*)::int FROM rotation.search_slice
                 WHERE search_id = search.id) AS slices, created_at
          FROM rotation.search WHERE id = %s
        """,
        [id],
    )
    if found is None:
        raise NotFound("search", id)
    return found


async def find(tx: Tx) -> list[Search]:
    """All of them, the most wanted first."""
    return await fetch_all(
        tx,
        Search,
        """
        SELECT id, platform, keywords, locations, priority, enabled,
               (SELECT count(*)::int FROM rotation.search_slice
                 WHERE search_id = search.id) AS slices, created_at
          FROM rotation.search ORDER BY priority DESC, id
        """,
    )


async def change(
    tx: Tx, id: int, *, enabled: bool | None = None, priority: int | None = None
) -> Search:
    """Turn it on or off, or put it further ahead or behind."""
    await get(tx, id)
    await tx.execute(
        """
        UPDATE rotation.search
           SET enabled = coalesce(%(enabled)s::boolean, enabled),
               priority = coalesce(%(priority)s::int, priority)
         WHERE id = %(id)s
        """,
        {"id": id, "enabled": enabled, "priority": priority},
    )
    await arrange(tx, id)
    return await get(tx, id)


async def edit(
    tx: Tx,
    id: int,
    platform: str,
    keywords: Sequence[str],
    locations: Sequence[str],
    *,
    priority: int,
) -> Search:
    """Look for something else; slices that nobody wants any more rest, with what they have taught."""
    await get(tx, id)
    name = saved_responses.platform(platform).name
    words, places = _plain(keywords), _plain(locations)
    slices(name, words, places)
    try:
        await tx.execute(
            """
            UPDATE rotation.search
               SET platform = %s, keywords = %s, locations = %s, priority = %s WHERE id = %s
            """,
            [name, words, places, priority, id],
        )
    except UniqueViolation as error:
        raise Conflict(SAME) from error
    await arrange(tx, id)
    return await get(tx, id)


async def own_slices(tx: Tx, id: int) -> int:
    """How many slices no other search wants: without this one they rest."""
    found = await fetch_value(
        tx,
        int,
        """
        SELECT count(*)::int FROM rotation.search_slice AS own
         WHERE search_id = %(id)s
           AND NOT EXISTS (SELECT FROM rotation.search_slice AS other
                            WHERE other.source_id = own.source_id AND search_id <> %(id)s)
        """,
        {"id": id},
    )
    return found or 0


async def remove(tx: Tx, id: int) -> Search:
    """Forget a search; the listings that it found stay."""
    search = await change(tx, id, enabled=False)
    await tx.execute("DELETE FROM rotation.search WHERE id = %s", [id])
    return search
