"""Searches at aggregators: each pair of keywords and location is a slice, and slices are what runs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass

from psycopg.errors import UniqueViolation

from jobmill.boards.adapters import find_platform
from jobmill.catalog import source_import
from jobmill.catalog.sources import NewSource
from jobmill.db import Tx, fetch_all, fetch_one, fetch_value
from jobmill.errors import Conflict, Invalid, NotFound

from . import targets

_INTERVAL = dt.timedelta(hours=24)
"""At most once a day each, until they warm."""
MAX_PRIORITY = 100
MAX_SLICES = 1_000
"""Slices per search: a list pasted by mistake must not cause a million calls."""
_DUPLICATE = "there is the same search already: `rotate search list`"


@dataclass(frozen=True, slots=True)
class SavedSearch:
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
) -> SavedSearch:
    """Add a search with its slices; Conflict if it exists already."""
    name = find_platform(platform).name
    words, places = _normalize(keywords), _normalize(locations)
    build_slices(name, words, places)
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
        raise Conflict(_DUPLICATE)
    await update_slices(tx, id)
    return await get(tx, id)


def _normalize(texts: Sequence[str]) -> list[str]:
    return sorted({" ".join(text.split()) for text in texts}) or [""]


def build_slices(
    platform: str, keywords: Sequence[str], locations: Sequence[str]
) -> list[NewSource]:
    """One source per pair; Invalid if the platform cannot be searched this way."""
    chosen = find_platform(platform)
    if chosen.inventory or "keywords" not in chosen.config.model_fields:
        raise Invalid(f"{chosen.title} cannot be searched")
    if chosen.disabled:
        raise Invalid(f"{chosen.title} is disabled: {chosen.disabled}")
    if len(keywords) * len(locations) > MAX_SLICES:
        raise Invalid(f"a search has at most {MAX_SLICES:,} pairs of words and place")
    return [_build_slice(platform, words, place) for words in keywords for place in locations]


def _build_slice(platform: str, words: str, place: str) -> NewSource:
    chosen = find_platform(platform)
    config = {"keywords": words, "location": place}
    parameters = {name: value for name, value in config.items() if value}
    checked = chosen.parse_config(dict(parameters))
    shown = " in ".join(value for value in (words, place) if value) or "everything"
    return NewSource(
        name=f"{chosen.title}: {shown}",
        source_type=chosen.name,
        token=chosen.token(checked),
        config=parameters,
        discovered_via="user_submission",
        evidence="a search",
    )


async def update_slices(tx: Tx, id: int) -> None:
    """Create the slices of a search, and pause slices that no search needs any more."""
    search = await get(tx, id)
    before = await _slice_ids(tx, id)
    new_slices = (
        build_slices(search.platform, search.keywords, search.locations) if search.enabled else []
    )
    slice_ids = [
        source_id for source_id, _ in await source_import.add_all(tx, new_slices, enabled=True)
    ]
    await _lock_slices(tx, sorted({*before, *slice_ids}))
    await targets.add(tx, slice_ids, priority=MAX_PRIORITY - search.priority, interval=_INTERVAL)
    await tx.execute("DELETE FROM rotation.search_slice WHERE search_id = %s", [id])
    await tx.execute(
        "INSERT INTO rotation.search_slice (search_id, source_id) SELECT %s, unnest(%s::bigint[])",
        [id, list(slice_ids)],
    )
    await _pause_unused(tx, sorted({*before, *slice_ids}))


async def _slice_ids(tx: Tx, id: int) -> list[int]:
    cursor = await tx.execute(
        "SELECT source_id FROM rotation.search_slice WHERE search_id = %s", [id]
    )
    return [source for (source,) in await cursor.fetchall()]


async def _lock_slices(tx: Tx, ids: Sequence[int]) -> None:
    """Lock their sources, then their targets, as saving a run does."""
    await tx.execute(
        "SELECT 1 FROM catalog.source WHERE id = ANY (%s) ORDER BY id FOR KEY SHARE", [list(ids)]
    )
    await targets.lock(tx, ids)


async def _pause_unused(tx: Tx, ids: Sequence[int]) -> None:
    """Pause slices that no search needs, and resume the others."""
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


async def get(tx: Tx, id: int) -> SavedSearch:
    search = await fetch_one(
        tx,
        SavedSearch,
        """
        SELECT id, platform, keywords, locations, priority, enabled,
               (SELECT count(*)::int FROM rotation.search_slice
                 WHERE search_id = search.id) AS slices, created_at
          FROM rotation.search WHERE id = %s
        """,
        [id],
    )
    if search is None:
        raise NotFound("search", id)
    return search


async def list_all(tx: Tx) -> list[SavedSearch]:
    """All searches, highest priority first."""
    return await fetch_all(
        tx,
        SavedSearch,
        """
        SELECT id, platform, keywords, locations, priority, enabled,
               (SELECT count(*)::int FROM rotation.search_slice
                 WHERE search_id = search.id) AS slices, created_at
          FROM rotation.search ORDER BY priority DESC, id
        """,
    )


async def update_search(
    tx: Tx, id: int, *, enabled: bool | None = None, priority: int | None = None
) -> SavedSearch:
    """Enable or disable a search, or change its priority."""
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
    await update_slices(tx, id)
    return await get(tx, id)


async def replace_search(
    tx: Tx,
    id: int,
    platform: str,
    keywords: Sequence[str],
    locations: Sequence[str],
    *,
    priority: int,
) -> SavedSearch:
    """Change a search; slices that are no longer needed are paused and keep what they learnt."""
    await get(tx, id)
    name = find_platform(platform).name
    words, places = _normalize(keywords), _normalize(locations)
    build_slices(name, words, places)
    try:
        await tx.execute(
            """
            UPDATE rotation.search
               SET platform = %s, keywords = %s, locations = %s, priority = %s WHERE id = %s
            """,
            [name, words, places, priority, id],
        )
    except UniqueViolation as error:
        raise Conflict(_DUPLICATE) from error
    await update_slices(tx, id)
    return await get(tx, id)


async def count_exclusive_slices(tx: Tx, id: int) -> int:
    """How many slices no other search uses; they pause if this search is removed."""
    count = await fetch_value(
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
    return count or 0


async def remove(tx: Tx, id: int) -> SavedSearch:
    """Delete a search; its listings stay."""
    search = await update_search(tx, id, enabled=False)
    await tx.execute("DELETE FROM rotation.search WHERE id = %s", [id])
    return search
