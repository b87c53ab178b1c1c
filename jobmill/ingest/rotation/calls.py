"""Calls: what was asked, who may ask it, and what came of it."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jobmill.catalog import sources
from jobmill.catalog.sources import Source
from jobmill.db import Tx, row, value
from jobmill.errors import Invalid
from jobmill.ingest import reading, saved

FREE_TEXT = ("keywords", "location")
"""Fields in which case and spaces make no difference to a site."""
WINDOW = dt.timedelta(hours=24)
"""The same question is not asked twice within it."""
CALLS_STAY = dt.timedelta(days=90)


@dataclass(frozen=True, slots=True)
class Signature:
    """What a call asks: for people, and as a key that no two questions share."""

    text: str
    key: bytes


def sign(source: str, params: Mapping[str, Any]) -> Signature:
    """`source:key1=value1&key2=value2`, sorted; what says nothing is left out."""
    pairs = sorted((name, _plain(name, one)) for name, one in params.items())
    said = [(name, one) for name, one in pairs if one not in (None, "", [], {})]
    text = "&".join(f"{name}={_shown(one)}" for name, one in said)
    # The text alone could be ambiguous: a value may hold an & or a =.
    exact = json.dumps([source, said], sort_keys=True, ensure_ascii=False)
    return Signature(f"{source}:{text}", hashlib.sha256(exact.encode()).digest())


def _plain(name: str, one: Any) -> Any:
    if isinstance(one, str):
        words = " ".join(one.split())
        return words.casefold() if name in FREE_TEXT else words
    return one


def _shown(one: Any) -> str:
    return one if isinstance(one, str) else json.dumps(one, sort_keys=True, ensure_ascii=False)


def of_source(source: Source) -> Signature:
    """What a run of the source asks, pages and date window included: they stand in its config."""
    try:
        platform = saved.platform(source.source_type)
        config = reading.configure(platform, source.config)
    except Invalid:
        return sign(source.source_type, source.config)
    return sign(platform.name, config.model_dump(mode="json", exclude_defaults=True))


@dataclass(frozen=True, slots=True)
class Asked:
    """Who asked the same before."""

    source_id: int
    signature: str
    called_at: dt.datetime


async def claim(
    tx: Tx, source_id: int, *, item: int, window: dt.timedelta, at: dt.datetime
) -> Asked | None:
    """None: ask, nobody else will; else who has asked the same within the window."""
    signature = of_source(await sources.get(tx, source_id))
    ours = await value(
        tx,
        bytes,
        """
        INSERT INTO rotation.signature AS known (key, signature, source_id, item, called_at)
        VALUES (%(key)s, %(text)s, %(source)s, %(item)s, %(at)s)
        ON CONFLICT (key) DO UPDATE
           SET source_id = excluded.source_id, item = excluded.item,
               called_at = excluded.called_at
         WHERE known.called_at <= %(at)s - %(window)s::interval OR known.item = excluded.item
        RETURNING key
        """,
        {
            "key": signature.key,
            "text": signature.text,
            "source": source_id,
            "item": item,
            "at": at,
            "window": window,
        },
    )
    if ours is not None:
        return None
    # A look of its own: the statement above may have waited for what it could not see yet.
    return await row(
        tx,
        Asked,
        "SELECT source_id, signature, called_at FROM rotation.signature WHERE key = %s",
        [signature.key],
    )


@dataclass(frozen=True, slots=True)
class Call:
    """One call, as it ended."""

    source_id: int
    platform: str
    run_id: int | None
    called_at: dt.datetime
    answer: str
    detail: str | None
    requests: int
    result_count: int
    new: int
    duplicates: int


async def record(tx: Tx, call: Call) -> None:
    """Keep a call; one that brought no answer may be made again before its window is over."""
    signature = of_source(await sources.get(tx, call.source_id))
    await tx.execute(
        """
        INSERT INTO rotation.call
               (source_id, platform, run_id, signature, key, called_at, answer, detail, requests,
                result_count, new, duplicates)
        VALUES (%(source)s, %(platform)s, %(run)s, %(text)s, %(key)s, %(at)s, %(answer)s,
                %(detail)s, %(requests)s, %(result_count)s, %(new)s, %(duplicates)s)
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
    if call.answer in ("ok", "not_modified"):
        await _asked(tx, signature, call)
    else:
        await forget(tx, call.source_id)


async def forget(tx: Tx, source_id: int) -> None:
    """What this source asked was not answered: it may be asked again at once."""
    await tx.execute("DELETE FROM rotation.signature WHERE source_id = %s", [source_id])


async def _asked(tx: Tx, signature: Signature, call: Call) -> None:
    """Whoever ran a source by hand has asked as well."""
    await tx.execute(
        """
        INSERT INTO rotation.signature AS known (key, signature, source_id, called_at)
        VALUES (%(key)s, %(text)s, %(source)s, %(at)s)
        ON CONFLICT (key) DO UPDATE SET called_at = greatest(known.called_at, excluded.called_at)
        """,
        {
            "key": signature.key,
            "text": signature.text,
            "source": call.source_id,
            "at": call.called_at,
        },
    )


async def prune(tx: Tx, *, most: int = 1_000) -> int:
    """Delete up to `most` old calls, runs without calls and signatures; returns how many."""
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
    return calls.rowcount + runs.rowcount + asked.rowcount
