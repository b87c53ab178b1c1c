"""Records calls, and prevents the same request from being made twice within its window."""

from __future__ import annotations

import datetime as dt
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from jobmill.boards.adapters import find_platform
from jobmill.catalog import sources
from jobmill.catalog.crawl_results import PageCall
from jobmill.catalog.sources import Source
from jobmill.db import Tx, fetch_all, fetch_one, fetch_value
from jobmill.errors import Invalid

from . import epoch_times
from .targets import RunProblem

FREE_TEXT_FIELDS = ("keywords", "location")
"""Fields in which sites ignore case and spaces."""
MAX_REPEAT_WINDOW = dt.timedelta(hours=24)
"""The same request is not repeated within this time."""
_GOOD_ANSWERS = ("ok", "not_modified")
_RETENTION = dt.timedelta(days=90)
MAX_SIGNATURE_LENGTH = 1_000
"""Signatures are cut to this length for display; the key covers the full text."""


@dataclass(frozen=True, slots=True)
class CallSignature:
    """Identifies a request: a text for people and a unique key."""

    text: str
    key: bytes


def build_signature(
    source: str, params: Mapping[str, Any], page: Mapping[str, Any] | None = None
) -> CallSignature:
    """Build `source:key1=value1&key2=value2`, sorted, without empty values and without the first
    page's number."""
    pairs = sorted((name, _normalize(name, value)) for name, value in params.items())
    parameters = [(name, value) for name, value in pairs if value not in (None, "", [], {})]
    beyond = sorted((page or {}).items())
    shown = sorted((name, _format_value(value)) for name, value in (*parameters, *beyond))
    text = "&".join(f"{name}={value}" for name, value in shown)
    # The text alone is ambiguous: a value may contain & or =.
    exact = [source, parameters, beyond] if beyond else [source, parameters]
    exact_json = json.dumps(exact, sort_keys=True, ensure_ascii=False).encode(
        "utf-8", "surrogatepass"
    )
    return CallSignature(_storable(f"{source}:{text}"), hashlib.sha256(exact_json).digest())


def _normalize(name: str, value: Any) -> Any:
    if isinstance(value, str):
        words = " ".join(value.split())
        return words.casefold() if name in FREE_TEXT_FIELDS else words
    return value


def _format_value(value: Any) -> str:
    return (
        value if isinstance(value, str) else json.dumps(value, sort_keys=True, ensure_ascii=False)
    )


def _storable(text: str) -> str:
    """Replace characters that PostgreSQL refuses; a site's cursor may contain anything."""
    return "".join(mark if mark.isprintable() else "\ufffd" for mark in text[:MAX_SIGNATURE_LENGTH])


def source_signature(source: Source, page: Mapping[str, Any] | None = None) -> CallSignature:
    """The signature of a source's first page, or of the given page. It includes the date window of
    the config. Every page's signature contains the first page's, so a claim on the first page
    covers all of them."""
    try:
        platform = find_platform(source.source_type)
        config = platform.parse_config(source.config)
    except Invalid:
        return build_signature(source.source_type, source.config, page)
    return build_signature(
        platform.name, config.model_dump(mode="json", exclude_defaults=True), page
    )


@dataclass(frozen=True, slots=True)
class EarlierCall:
    """An earlier call with the same signature."""

    source_id: int
    signature: str
    called_at: dt.datetime

    @property
    def description(self) -> str:
        return f"{self.signature} was asked at {self.called_at:%Y-%m-%d %H:%M} UTC"


async def claim_signature(
    tx: Tx, source_id: int, *, item: int, window: dt.timedelta, at: dt.datetime
) -> EarlierCall | None:
    """Claim the request: None if it may be made, otherwise the earlier call within the window."""
    signature = source_signature(await sources.get(tx, source_id))
    # Lock the source before the signature, as saving a run does.
    await tx.execute("SELECT 1 FROM catalog.source WHERE id = %s FOR KEY SHARE", [source_id])
    ours = await tx.execute(
        """
        INSERT INTO rotation.signature AS existing (key, signature, source_id, item, called_at)
        VALUES (%(key)s, %(text)s, %(source)s, %(item)s, %(at)s)
        ON CONFLICT (key) DO UPDATE
           SET source_id = excluded.source_id, item = excluded.item,
               called_at = excluded.called_at
         WHERE existing.called_at <= %(before)s OR existing.called_at > %(ahead)s
            OR existing.item = excluded.item
        """,
        {
            "key": signature.key,
            "text": signature.text,
            "source": source_id,
            "item": item,
            "at": at,
            # Not computed in SQL: there a day may have 23 or 25 hours.
            "before": at - window,
            "ahead": epoch_times.latest_valid(at),
        },
    )
    if ours.rowcount:
        return None
    # A second statement: the first may have waited for a row that its snapshot could not see.
    earlier = await fetch_one(
        tx,
        EarlierCall,
        "SELECT source_id, signature, called_at FROM rotation.signature WHERE key = %s",
        [signature.key],
    )
    return earlier and replace(earlier, called_at=earlier.called_at.astimezone(dt.UTC))


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """What a call brought."""

    called_at: dt.datetime
    answer: str
    detail: str | None
    requests: int
    result_count: int
    new: int
    duplicates: int


@dataclass(frozen=True, slots=True)
class CallRecord(CallOutcome):
    """A finished call."""

    source_id: int
    platform: str
    run_id: int | None
    item: int | None
    """The item that made the call and holds the claim; None for a manual run."""
    pages: Sequence[PageCall] = ()


async def record_call(tx: Tx, call: CallRecord) -> None:
    """Store a call with its pages; if no page was answered, release the claim."""
    source = await sources.get(tx, call.source_id)
    signature = source_signature(source)
    id = await _insert(tx, signature, call)
    if call.pages:
        await _insert_pages(
            tx, id, [source_signature(source, page.params) for page in call.pages], call
        )
    if call.answer in _GOOD_ANSWERS or any(page.count is not None for page in call.pages):
        await _mark_answered(tx, signature, call)
    else:
        await release_claim(tx, call.source_id, item=call.item)


async def _insert(tx: Tx, signature: CallSignature, call: CallRecord) -> int | None:
    return await fetch_value(
        tx,
        int,
        """
        INSERT INTO rotation.call
               (source_id, platform, run_id, signature, key, called_at, answer, detail, requests,
                result_count, new, duplicates)
        VALUES (%(source_id)s, %(platform)s,
                -- An item may have waited for so long that its run was pruned.
                (SELECT id FROM rotation.run WHERE id = %(run_id)s FOR KEY SHARE),
                %(text)s, %(key)s, %(called_at)s, %(answer)s,
                %(detail)s, %(requests)s, %(result_count)s, %(new)s, %(duplicates)s)
        RETURNING id
        """,
        {**asdict(call), "text": signature.text, "key": signature.key},
    )


async def _insert_pages(
    tx: Tx, id: int | None, signatures: Sequence[CallSignature], call: CallRecord
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
            "texts": [entry.text for entry in signatures],
            "keys": [entry.key for entry in signatures],
            "counts": [entry.count for entry in call.pages],
        },
    )


@dataclass(frozen=True, slots=True)
class CallReport(CallOutcome):
    """A call as shown to people."""

    source: int
    platform: str
    slug: str
    pages: list[dict[str, Any]]
    """Each with `signature` and `result_count`, which is null for an unanswered page."""


async def calls_of_run(tx: Tx, run_id: int, *, limit: int = 1_000) -> list[CallReport]:
    """The calls of a run, oldest first."""
    return await fetch_all(
        tx,
        CallReport,
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


async def failed_calls(tx: Tx, run_id: int, *, limit: int = 100) -> list[RunProblem]:
    """The failed calls of a run with their reasons."""
    return await fetch_all(
        tx,
        RunProblem,
        """
        SELECT source_id AS source, platform, token AS slug,
               coalesce(call.detail, answer::text) AS why
          FROM rotation.call JOIN catalog.source ON source.id = source_id
         WHERE run_id = %s AND answer IN ('gone', 'error')
         ORDER BY platform, token LIMIT %s
        """,
        [run_id, limit],
    )


async def last_result_count(tx: Tx, source_id: int) -> int | None:
    """The result count of the last successful call."""
    return await fetch_value(
        tx,
        int,
        """
        SELECT result_count FROM rotation.call WHERE source_id = %s AND answer = 'ok'
         ORDER BY called_at DESC LIMIT 1
        """,
        [source_id],
    )


async def release_claim(tx: Tx, source_id: int, *, item: int | None) -> None:
    """Release the item's claim on the request of its source: it was not answered and may be
    repeated."""
    # An answered signature has no item, so a failing run does not release it. A manual run has
    # claimed nothing: another item may be making the request.
    await tx.execute(
        "DELETE FROM rotation.signature WHERE source_id = %s AND item = %s", [source_id, item]
    )


async def _mark_answered(tx: Tx, signature: CallSignature, call: CallRecord) -> None:
    """Mark the request as answered, also for manual runs."""
    await tx.execute(
        """
        INSERT INTO rotation.signature AS existing (key, signature, source_id, called_at)
        VALUES (%(key)s, %(text)s, %(source)s, %(at)s)
        ON CONFLICT (key) DO UPDATE
           SET item = NULL, called_at = greatest(existing.called_at, excluded.called_at)
        """,
        {
            "key": signature.key,
            "text": signature.text,
            "source": call.source_id,
            "at": call.called_at,
        },
    )


async def prune_calls(tx: Tx, *, most: int = 1_000) -> int:
    """Delete up to `most` old calls with their pages, runs and signatures; returns how many."""
    calls = await tx.execute(
        """
        DELETE FROM rotation.call WHERE id = ANY (ARRAY(
            SELECT id FROM rotation.call WHERE called_at < now() - %s ORDER BY called_at LIMIT %s))
        """,
        [_RETENTION, most],
    )
    runs = await tx.execute(
        """
        DELETE FROM rotation.run WHERE id = ANY (ARRAY(
            SELECT id FROM rotation.run WHERE started_at < now() - %s ORDER BY id LIMIT %s))
        """,
        [_RETENTION, most],
    )
    signatures = await tx.execute(
        """
        DELETE FROM rotation.signature WHERE key = ANY (ARRAY(
            SELECT key FROM rotation.signature
             WHERE called_at < now() - %s ORDER BY called_at LIMIT %s))
        """,
        [_RETENTION, most],
    )
    await tx.execute("DELETE FROM rotation.hourly_calls WHERE began_at < now() - %s", [_RETENTION])
    return calls.rowcount + runs.rowcount + signatures.rowcount
