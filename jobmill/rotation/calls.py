"""Calls: what was asked, who may ask it, and what came of it."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jobmill.boards import response_reader, saved_responses
from jobmill.catalog import sources
from jobmill.catalog.source_runs import PageCall
from jobmill.catalog.sources import Source
from jobmill.db import Tx, fetch_all, fetch_one, fetch_value
from jobmill.errors import Invalid

from . import timestamps

FREE_TEXT = ("keywords", "location")
"""Fields in which case and spaces make no difference to a site."""
WINDOW = dt.timedelta(hours=24)
"""The same question is not asked twice within it."""
GOOD = ("ok", "not_modified")
CALLS_STAY = dt.timedelta(days=90)
LONGEST = 1_000
"""Letters of a signature that people are shown; its key is of the whole."""


@dataclass(frozen=True, slots=True)
class Signature:
    """What a call asks: for people, and as a key that no two questions share."""

    text: str
    key: bytes


def sign(
    source: str, params: Mapping[str, Any], page: Mapping[str, Any] | None = None
) -> Signature:
    """`source:key1=value1&key2=value2`, sorted; what says nothing is left out, as is the first page."""
    pairs = sorted((name, _plain(name, one)) for name, one in params.items())
    said = [(name, one) for name, one in pairs if one not in (None, "", [], {})]
    beyond = sorted((page or {}).items())
    shown = sorted((name, _shown(one)) for name, one in (*said, *beyond))
    text = "&".join(f"{name}={one}" for name, one in shown)
    # The text alone could be ambiguous: a value may hold an & or a =.
    exact = [source, said, beyond] if beyond else [source, said]
    whole = json.dumps(exact, sort_keys=True, ensure_ascii=False).encode("utf-8", "surrogatepass")
    return Signature(_storable(f"{source}:{text}"), hashlib.sha256(whole).digest())


def _plain(name: str, one: Any) -> Any:
    if isinstance(one, str):
        words = " ".join(one.split())
        return words.casefold() if name in FREE_TEXT else words
    return one


def _shown(one: Any) -> str:
    return one if isinstance(one, str) else json.dumps(one, sort_keys=True, ensure_ascii=False)


def _storable(text: str) -> str:
    """Without what no database takes: a site's own cursor may hold anything."""
    return "".join(mark if mark.isprintable() else "\ufffd" for mark in text[:LONGEST])


def of_source(source: Source, page: Mapping[str, Any] | None = None) -> Signature:
    """What a run of the source asks for on its first page, or on this one. A date window stands in
    its config; and as each page's signature holds all of the first's, who may ask for that may ask
    for all."""
    try:
        platform = saved_responses.platform(source.source_type)
        config = response_reader.configure(platform, source.config)
    except Invalid:
        return sign(source.source_type, source.config, page)
    return sign(platform.name, config.model_dump(mode="json", exclude_defaults=True), page)


@dataclass(frozen=True, slots=True)
class Asked:
    """Who asked the same before."""

    source_id: int
    signature: str
    called_at: dt.datetime

    @property
    def words(self) -> str:
        return f"{self.signature} was asked at {self.called_at:%Y-%m-%d %H:%M} UTC"


async def claim(
    tx: Tx, source_id: int, *, item: int, window: dt.timedelta, at: dt.datetime
) -> Asked | None:
    """None: ask, nobody else will; else who has asked the same within the window."""
    signature = of_source(await sources.get(tx, source_id))
    # The source first, then what it asks: as a run is saved.
    await tx.execute("SELECT 1 FROM catalog.source WHERE id = %s FOR KEY SHARE", [source_id])
    ours = await fetch_value(
        tx,
        bytes,
        """
        INSERT INTO rotation.signature AS known (key, signature, source_id, item, called_at)
        VALUES (%(key)s, %(text)s, %(source)s, %(item)s, %(at)s)
        ON CONFLICT (key) DO UPDATE
           SET source_id = excluded.source_id, item = excluded.item,
               called_at = excluded.called_at
         WHERE known.called_at <= %(before)s OR known.called_at > %(ahead)s
            OR known.item = excluded.item
        RETURNING key
        """,
        {
            "key": signature.key,
            "text": signature.text,
            "source": source_id,
            "item": item,
            "at": at,
            # Not in SQL: there a day has 23 or 25 hours where a server's clock changes.
            "before": at - window,
            "ahead": timestamps.ahead(at),
        },
    )
    if ours is not None:
        return None
    # A look of its own: the statement above may have waited for what it could not see yet.
    found = await fetch_one(
        tx,
        Asked,
        "SELECT source_id, signature, called_at FROM rotation.signature WHERE key = %s",
        [signature.key],
    )
    return found and replace(found, called_at=found.called_at.astimezone(dt.UTC))


@dataclass(frozen=True, slots=True)
class Call:
    """One call, as it ended."""

    source_id: int
    platform: str
    run_id: int | None
    item: int | None
    """The item that made it, and claimed the question if it had a window; None: a person made it."""
    called_at: dt.datetime
    answer: str
    detail: str | None
    requests: int
    result_count: int
    new: int
    duplicates: int
    pages: Sequence[PageCall] = ()


async def record(tx: Tx, call: Call) -> None:
    """Keep a call with its pages; where none was answered it may be made again at once."""
    source = await sources.get(tx, call.source_id)
    signature = of_source(source)
    id = await _insert(tx, signature, call)
    if call.pages:
        await _insert_pages(tx, id, [of_source(source, one.params) for one in call.pages], call)
    if call.answer in GOOD or any(one.count is not None for one in call.pages):
        await _asked(tx, signature, call)
    else:
        await forget(tx, call.source_id, item=call.item)


async def _insert(tx: Tx, signature: Signature, call: Call) -> int | None:
    return await fetch_value(
        tx,
        int,
        """
        INSERT INTO rotation.call
               (source_id, platform, run_id, signature, key, called_at, answer, detail, requests,
                result_count, new, duplicates)
        VALUES (%(source)s, %(platform)s,
                -- An item may have waited for so long that its run was pruned.
                (SELECT id FROM rotation.run WHERE id = %(run)s FOR KEY SHARE),
                %(text)s, %(key)s, %(at)s, %(answer)s,
                %(detail)s, %(requests)s, %(result_count)s, %(new)s, %(duplicates)s)
        RETURNING id
        """,
        {
            "source": call.source_id,
            "platform": call.platform,
            "run": call.run_id,
            "text": signature.text,
            "key": signature.key,
            "at": call.called_at,
            "answer": call.answer,
            "detail": call.detail,
            "requests": call.requests,
            "result_count": call.result_count,
            "new": call.new,
            "duplicates": call.duplicates,
        },
    )


async def _insert_pages(
    tx: Tx, id: int | None, signatures: Sequence[Signature], call: Call
) -> None:
    await tx.execute(
        """
        INSERT INTO rotation.call_page (call_id, number, signature, key, result_count)
        SELECT %(call)s, number, signature, key, result_count
          FROM unnest(%(texts)s::text[], %(keys)s::bytea[], %(counts)s::int[])
               WITH ORDINALITY AS page (signature, key, result_count, number)
        """,
        {
            "call": id,
            "texts": [one.text for one in signatures],
            "keys": [one.key for one in signatures],
            "counts": [one.count for one in call.pages],
        },
    )


@dataclass(frozen=True, slots=True)
class Told:
    """A call as people read it."""

    source: int
    platform: str
    slug: str
    called_at: dt.datetime
    answer: str
    detail: str | None
    requests: int
    result_count: int
    new: int
    duplicates: int
    pages: list[dict[str, Any]]
    """Each with its `signature` and its `result_count`, which is null where it was not answered."""


async def of_run(tx: Tx, run_id: int, *, limit: int = 1_000) -> list[Told]:
    """Calls of a run, as they were made."""
    return await fetch_all(
        tx,
        Told,
        """
        SELECT source_id AS source, platform, token AS slug, called_at, answer::text,
               call.detail, requests, result_count, new, duplicates,
               ARRAY(SELECT jsonb_build_object('signature', page.signature,
                                               'result_count', page.result_count)
                       FROM rotation.call_page AS page WHERE call_id = call.id
                      ORDER BY number) AS pages
          FROM rotation.call JOIN catalog.source ON source.id = source_id
         WHERE run_id = %s ORDER BY call.id LIMIT %s
        """,
        [run_id, limit],
    )


@dataclass(frozen=True, slots=True)
class Failed:
    """A call of a run that failed."""

    source: int
    platform: str
    slug: str
    why: str


async def failed(tx: Tx, run_id: int, *, limit: int = 100) -> list[Failed]:
    """Which calls of a run failed, and why."""
    return await fetch_all(
        tx,
        Failed,
        """
        SELECT source_id AS source, platform, token AS slug,
               coalesce(call.detail, answer::text) AS why
          FROM rotation.call JOIN catalog.source ON source.id = source_id
         WHERE run_id = %s AND answer IN ('gone', 'error')
         ORDER BY platform, token LIMIT %s
        """,
        [run_id, limit],
    )


async def last_count(tx: Tx, source_id: int) -> int | None:
    """How many its last good answer held."""
    return await fetch_value(
        tx,
        int,
        """
        SELECT result_count FROM rotation.call WHERE source_id = %s AND answer = 'ok'
         ORDER BY called_at DESC LIMIT 1
        """,
        [source_id],
    )


async def forget(tx: Tx, source_id: int, *, item: int | None) -> None:
    """What this item asked for its source was not answered: it may be asked again at once."""
    # What was answered names no item any more: a run that fails does not undo it. And a run without
    # an item has claimed nothing: the question may be under way in the item that has.
    await tx.execute(
        "DELETE FROM rotation.signature WHERE source_id = %s AND item = %s", [source_id, item]
    )


async def _asked(tx: Tx, signature: Signature, call: Call) -> None:
    """It was answered, also where somebody ran the source by hand: whoever asks next waits."""
    await tx.execute(
        """
        INSERT INTO rotation.signature AS known (key, signature, source_id, called_at)
        VALUES (%(key)s, %(text)s, %(source)s, %(at)s)
        ON CONFLICT (key) DO UPDATE
           SET item = NULL, called_at = greatest(known.called_at, excluded.called_at)
        """,
        {
            "key": signature.key,
            "text": signature.text,
            "source": call.source_id,
            "at": call.called_at,
        },
    )


async def prune(tx: Tx, *, most: int = 1_000) -> int:
    """Delete up to `most` old calls with their pages, runs and signatures; returns how many."""
    calls = await tx.execute(
        """
        DELETE FROM rotation.call WHERE id = ANY (ARRAY(
            SELECT id FROM rotation.call WHERE called_at < now() - %s ORDER BY called_at LIMIT %s))
        """,
        [CALLS_STAY, most],
    )
    runs = await tx.execute(
        """
        DELETE FROM rotation.run WHERE id = ANY (ARRAY(
            SELECT id FROM rotation.run WHERE started_at < now() - %s ORDER BY id LIMIT %s))
        """,
        [CALLS_STAY, most],
    )
    asked = await tx.execute(
        """
        DELETE FROM rotation.signature WHERE key = ANY (ARRAY(
            SELECT key FROM rotation.signature
             WHERE called_at < now() - %s ORDER BY called_at LIMIT %s))
        """,
        [CALLS_STAY, most],
    )
    await tx.execute("DELETE FROM rotation.hourly_calls WHERE began_at < now() - %s", [CALLS_STAY])
    return calls.rowcount + runs.rowcount + asked.rowcount
