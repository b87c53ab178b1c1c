"""Searches at aggregators: each pair of keywords and location is a slice, and slices are what runs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, LiteralString, TypedDict, Unpack

from jobmill.boards.adapters import PLATFORMS, find_platform
from jobmill.boards.platform import Platform
from jobmill.catalog import source_import
from jobmill.catalog.sources import NewSource
from jobmill.db import Tx, fetch_all, fetch_or_raise, fetch_value, unique_or_raise
from jobmill.errors import Conflict, Invalid, NotFound

from . import target_settings, targets

_INTERVAL = dt.timedelta(hours=24)
"""At most once a day each, until they warm."""
MAX_DAYS_BACK = 365
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
    min_interval: dt.timedelta | None
    call_window: dt.timedelta | None
    days_back: int | None
    since: dt.date | None
    enabled: bool
    slices: int
    created_at: dt.datetime

    @property
    def settings(self) -> SearchSettings:
        return SearchSettings(
            self.priority, self.min_interval, self.call_window, self.days_back, self.since
        )


@dataclass(frozen=True, slots=True)
class SearchSettings:
    """How a search is read; None: as usual."""

    priority: int = targets.DEFAULT_PRIORITY
    min_interval: dt.timedelta | None = None
    call_window: dt.timedelta | None = None
    days_back: int | None = None
    """Only jobs posted within this many days."""
    since: dt.date | None = None
    """Only jobs posted since then."""


class SettingChanges(TypedDict, total=False):
    """The settings to change."""

    priority: int
    min_interval: dt.timedelta | None
    call_window: dt.timedelta | None
    days_back: int | None
    since: dt.date | None


DEFAULT_SETTINGS = SearchSettings()


async def add(
    tx: Tx,
    platform: str,
    keywords: Sequence[str],
    locations: Sequence[str],
    settings: SearchSettings = DEFAULT_SETTINGS,
) -> SavedSearch:
    """Add a search with its slices; Conflict if it exists already."""
    name = find_platform(platform).name
    words, places = _normalize(keywords), _normalize(locations)
    _check(name, words, places, settings)
    id = await fetch_value(
        tx,
        int,
        """
        INSERT INTO rotation.search (platform, keywords, locations, priority, min_interval,
                                     call_window, days_back, since)
        VALUES (%(platform)s, %(keywords)s, %(locations)s, %(priority)s, %(min_interval)s,
                %(call_window)s, %(days_back)s, %(since)s)
        ON CONFLICT ON CONSTRAINT search_once DO NOTHING RETURNING id
        """,
        {"platform": name, "keywords": words, "locations": places, **asdict(settings)},
    )
    if id is None:
        raise Conflict(_DUPLICATE)
    await update_slices(tx, id)
    return await get(tx, id)


def _check(
    platform: str, keywords: Sequence[str], locations: Sequence[str], settings: SearchSettings
) -> None:
    """Invalid if the platform cannot be searched this way, or a setting is out of range."""
    if not 0 <= settings.priority <= targets.MAX_PRIORITY:
        raise Invalid(f"a priority is a whole number from 0 to {targets.MAX_PRIORITY}")
    target_settings.check_interval(settings.min_interval)
    target_settings.check_window(settings.call_window)
    if settings.days_back is not None and not 1 <= settings.days_back <= MAX_DAYS_BACK:
        raise Invalid(f"the number of days is from 1 to {MAX_DAYS_BACK}")
    build_slices(platform, keywords, locations, settings)


def _normalize(texts: Sequence[str]) -> list[str]:
    return sorted({" ".join(text.split()) for text in texts}) or [""]


def build_slices(
    platform: str,
    keywords: Sequence[str],
    locations: Sequence[str],
    settings: SearchSettings = DEFAULT_SETTINGS,
) -> list[NewSource]:
    """One source per pair; Invalid if the platform cannot be searched this way."""
    chosen = find_platform(platform)
    if chosen.disabled:
        raise Invalid(f"{chosen.title} is disabled: {chosen.disabled}")
    if chosen.inventory or "keywords" not in chosen.config.model_fields:
        raise Invalid(f"{chosen.title} cannot be searched")
    if len(keywords) * len(locations) > MAX_SLICES:
        raise Invalid(f"a search has at most {MAX_SLICES:,} pairs of words and place")
    period = _date_filter(chosen, settings)
    return [_build_slice(chosen, words, place, period) for words in keywords for place in locations]


def _date_filter(platform: Platform, settings: SearchSettings) -> dict[str, Any]:
    """The part of a slice's config that excludes old jobs."""
    if settings.days_back is not None and settings.since is not None:
        raise Invalid("set a number of days or a date, not both")
    wanted = {
        "days_back": settings.days_back,
        "since": settings.since.isoformat() if settings.since else None,
    }
    period = {name: value for name, value in wanted.items() if value is not None}
    for name in period:
        if name not in platform.config.model_fields:
            other = ({"days_back", "since"} - {name}) & platform.config.model_fields.keys()
            hint = f"; use {', '.join(other)}" if other else ""
            raise Invalid(f"{platform.title} cannot exclude old jobs by {name}{hint}")
    return period


def _build_slice(platform: Platform, words: str, place: str, period: dict[str, Any]) -> NewSource:
    config = {"keywords": words, "location": place} | period
    parameters = {name: value for name, value in config.items() if value}
    checked = platform.parse_config(dict(parameters))
    shown = " in ".join(value for value in (words, place) if value) or "everything"
    return NewSource(
        name=f"{platform.title}: {shown}",
        source_type=platform.name,
        token=platform.token(checked),
        config=parameters,
        discovered_via="user_submission",
        evidence="a search",
    )


def searchable_platforms() -> list[Platform]:
    """Platforms that accept keywords."""
    return [
        platform
        for platform in PLATFORMS
        if not platform.inventory
        and not platform.disabled
        and "keywords" in platform.config.model_fields
    ]


async def update_slices(tx: Tx, id: int) -> None:
    """Create the slices of a search, and pause slices that no search needs any more."""
    search = await get(tx, id)
    before = await _slice_ids(tx, id)
    new_slices = (
        build_slices(search.platform, search.keywords, search.locations, search.settings)
        if search.enabled
        else []
    )
    slice_ids = [
        source_id for source_id, _ in await source_import.add_all(tx, new_slices, enabled=True)
    ]
    affected = sorted({*before, *slice_ids})
    await _lock_slices(tx, affected)
    await targets.add(tx, slice_ids, interval=search.min_interval or _INTERVAL)
    await tx.execute("DELETE FROM rotation.search_slice WHERE search_id = %s", [id])
    await tx.execute(
        "INSERT INTO rotation.search_slice (search_id, source_id) SELECT %s, unnest(%s::bigint[])",
        [id, list(slice_ids)],
    )
    await _pause_unused(tx, affected)
    await _apply_priorities(tx, affected)
    await target_settings.apply_gaps(tx, affected)


async def _apply_priorities(tx: Tx, ids: Sequence[int]) -> None:
    """A slice of several searches takes the highest of their priorities, unless a person has set
    its own."""
    await tx.execute(
        """
        UPDATE rotation.target SET priority = coalesce(own_priority, highest.priority)
          FROM (SELECT source_id, max(priority) AS priority
                  FROM rotation.search_slice JOIN rotation.search ON search.id = search_id
                 WHERE source_id = ANY (%s) AND enabled GROUP BY source_id) AS highest
         WHERE target.source_id = highest.source_id
        """,
        [list(ids)],
    )


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
    """Pause slices that no search needs, and resume the others, except those that a person paused."""
    await tx.execute(
        """
        UPDATE rotation.target
           SET status = CASE WHEN is_used THEN 'active' ELSE 'paused' END::rotation.status
          FROM (SELECT id, EXISTS (SELECT FROM rotation.search_slice
                                    WHERE source_id = id) AS is_used
                  FROM unnest(%s::bigint[]) AS id) AS slice
         WHERE source_id = slice.id AND NOT paused_by_person
           AND target.status = CASE WHEN is_used THEN 'paused' ELSE 'active' END::rotation.status
        """,
        [list(ids)],
    )


SAVED_SEARCHES: LiteralString = """
    SELECT id, platform, keywords, locations, priority, min_interval, call_window, days_back, since,
           enabled, (SELECT count(*)::int FROM rotation.search_slice
                      WHERE search_id = search.id) AS slices, created_at
      FROM rotation.search
"""


async def get(tx: Tx, id: int, *, lock: bool = False) -> SavedSearch:
    if lock:
        await tx.execute("SELECT 1 FROM rotation.search WHERE id = %s FOR UPDATE", [id])
    select: LiteralString = f"{SAVED_SEARCHES} WHERE id = %s"
    return await fetch_or_raise(tx, SavedSearch, select, [id], NotFound("search", id))


async def list_all(tx: Tx) -> list[SavedSearch]:
    """All searches, highest priority first."""
    return await fetch_all(tx, SavedSearch, f"{SAVED_SEARCHES} ORDER BY priority DESC, id")


async def update_search(
    tx: Tx, id: int, *, enabled: bool | None = None, **changes: Unpack[SettingChanges]
) -> SavedSearch:
    """Enable or disable a search, or change its settings."""
    search = await get(tx, id, lock=True)
    settings = replace(search.settings, **changes)
    # A search on a platform that is disabled meanwhile can still be switched off.
    if changes or (search.enabled if enabled is None else enabled):
        _check(search.platform, search.keywords, search.locations, settings)
    await tx.execute(
        """
        UPDATE rotation.search
           SET enabled = coalesce(%(enabled)s::boolean, enabled), priority = %(priority)s,
               min_interval = %(min_interval)s, call_window = %(call_window)s,
               days_back = %(days_back)s, since = %(since)s
         WHERE id = %(id)s
        """,
        {"id": id, "enabled": enabled, **asdict(settings)},
    )
    await update_slices(tx, id)
    return await get(tx, id)


async def replace_search(
    tx: Tx,
    id: int,
    platform: str,
    keywords: Sequence[str],
    locations: Sequence[str],
    settings: SearchSettings,
) -> SavedSearch:
    """Change a search; slices that are no longer needed are paused and keep what they learnt."""
    await get(tx, id)
    name = find_platform(platform).name
    words, places = _normalize(keywords), _normalize(locations)
    _check(name, words, places, settings)
    async with unique_or_raise(tx, Conflict(_DUPLICATE)):
        await tx.execute(
            """
            UPDATE rotation.search
               SET platform = %(platform)s, keywords = %(keywords)s, locations = %(locations)s
             WHERE id = %(id)s
            """,
            {"id": id, "platform": name, "keywords": words, "locations": places},
        )
    return await update_search(tx, id, **asdict(settings))


async def count_exclusive_slices(tx: Tx, id: int) -> int:
    """How many slices no other search uses; they pause if this search is removed."""
    count = await fetch_value(
        tx,
        int,
        """
        SELECT count(*)::int FROM rotation.search_slice AS slice
         WHERE search_id = %(id)s
           AND NOT EXISTS (SELECT FROM rotation.search_slice AS other
                            WHERE other.source_id = slice.source_id AND search_id <> %(id)s)
        """,
        {"id": id},
    )
    return count or 0


async def remove(tx: Tx, id: int) -> SavedSearch:
    """Delete a search; its listings stay."""
    search = await update_search(tx, id, enabled=False)
    await tx.execute("DELETE FROM rotation.search WHERE id = %s", [id])
    return search
