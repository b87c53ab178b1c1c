"""Stores items of an older queue: ended ones as history, the others as live work, with their lineages."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeAlias

from jobmill.db import Tx
from jobmill.queue.insert_sql import ITEM_COLUMNS, LIVE_COLUMNS

from .value_encoding import encode_row, join_rows

BATCH_SIZE = 500
MAX_LEGACY_ID_LENGTH = 500

LegacyStatus: TypeAlias = Literal[
    "pending", "processing", "blocked", "success", "filtered", "skipped", "failed"
]
UNFINISHED: tuple[LegacyStatus, ...] = ("pending", "processing", "blocked")


@dataclass(frozen=True, slots=True)
class LegacyItem:
    """An item of an older queue in the terms of this one, except that ids are still those of the older queue."""

    id: str
    kind: str
    stage: str
    """The stage that it had reached in the older queue."""
    key: str
    data: str
    """A JSON object."""
    status: LegacyStatus
    tracking_id: str
    parent: str | None = None
    ancestry: tuple[str, ...] = ()
    spawn_depth: int | None = None
    max_spawn_depth: int | None = None
    retry_count: int = 0
    max_retries: int | None = None
    priority: int = 100
    message: str | None = None
    error: str | None = None
    error_fingerprint: str | None = None
    created_at: dt.datetime | None = None
    restart_stage: str | None = None
    """The stage at which an item that has not ended runs here."""

    @property
    def is_unfinished(self) -> bool:
        return self.status in UNFINISHED


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The result of an import."""

    imported: int = 0
    known: int = 0
    bad: list[str] = field(default_factory=list[str])


async def store_items(tx: Tx, items: Sequence[LegacyItem]) -> int:
    """Store the items that are new, and return how many; a second import of the same items stores none."""
    # One import at a time, so that two imports of the same file do not both import everything.
    await tx.execute("SELECT pg_advisory_xact_lock(hashtext('jobmill.import'))")
    items = skip_duplicates(items)
    rows = _encode(items, await _assign_ids(tx, items), await _stage_order(tx))
    stored = 0
    for start in range(0, len(rows), BATCH_SIZE):
        stored += await _insert(tx, rows[start : start + BATCH_SIZE])
    return stored


def skip_duplicates(items: Sequence[LegacyItem]) -> list[LegacyItem]:
    """The items, of which only the first of each work is unfinished: the same work is alive only once."""
    alive: set[tuple[str, str]] = set()
    answers: list[LegacyItem] = []
    for item in items:
        if item.is_unfinished:
            if (item.kind, item.key) in alive:
                message = f"Duplicate work: {item.kind} for {item.key} already queued"
                item = replace(item, status="skipped", message=message)
            alive.add((item.kind, item.key))
        answers.append(item)
    return answers


def find_hand_overs(
    items: Sequence[LegacyItem], stage_order: Mapping[tuple[str, str], int]
) -> dict[str, str]:
    """Parents by the ids of their hand-overs: items that are a later stage of the same work as their parent.

    A parent hands over to one item, so a second one is a repetition, as is an earlier or the same stage.
    """
    by_id = {item.id: item for item in items}
    parents: dict[str, str] = {}
    handed_over: set[str] = set()
    for item in items:
        parent = by_id.get(_parent_id(item, by_id) or "")
        if (
            parent is not None
            and parent.status == "success"
            and (parent.kind, parent.key) == (item.kind, item.key)
            and stage_order[parent.kind, parent.stage] < stage_order[item.kind, item.stage]
            and parent.id not in handed_over
        ):
            parents[item.id] = parent.id
            handed_over.add(parent.id)
    return parents


def _parent_id(item: LegacyItem, known: Mapping[str, Any]) -> str | None:
    if item.parent in known:
        return item.parent
    chain = _known_ancestors(item, known)
    return chain[-1] if chain else None


def _known_ancestors(item: LegacyItem, known: Mapping[str, Any]) -> list[str]:
    """The ancestors among the imported items: some exports also list the lineage or the item itself."""
    return [id for id in item.ancestry if id in known and id != item.id]


def _encode(
    items: Sequence[LegacyItem], ids: Sequence[int], stage_order: Mapping[tuple[str, str], int]
) -> list[str]:
    """Encode the items as rows with their new ids."""
    new_ids = {item.id: id for item, id in zip(items, ids, strict=True)}
    key_hashes = {item.id: _hash(item.key) for item in items}
    parents = find_hand_overs(items, stage_order)
    handed_over_from = set(parents.values())
    rows: list[str] = []
    for item, id in zip(items, ids, strict=True):
        chain = _known_ancestors(item, new_ids)
        parent = _parent_id(item, new_ids)
        rows.append(
            encode_row(
                {
                    "id": id,
                    "legacy_id": item.id,
                    "kind": item.kind,
                    "stage": item.restart_stage or item.stage,
                    "reached": item.stage,
                    "key": item.key,
                    "data": item.data,
                    "priority": item.priority,
                    "status": "PENDING" if item.is_unfinished else item.status.upper(),
                    "final": item.id not in handed_over_from,
                    "handed_over": item.id in parents,
                    "tracking_id": item.tracking_id,
                    "parent_id": new_ids[parent] if parent else None,
                    "ancestry": [new_ids[ancestor] for ancestor in chain],
                    "ancestor_keys": [key_hashes[ancestor] for ancestor in chain],
                    "spawn_depth": len(chain) if item.spawn_depth is None else item.spawn_depth,
                    "max_spawn_depth": item.max_spawn_depth,
                    "retry_count": item.retry_count,
                    "max_retries": item.max_retries,
                    "message": item.message,
                    "error_text": item.error,
                    "error_fingerprint": item.error_fingerprint,
                    "created_at": item.created_at and item.created_at.isoformat(),
                }
            )
        )
    return rows


def _hash(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


async def _stage_order(tx: Tx) -> dict[tuple[str, str], int]:
    cursor = await tx.execute("SELECT kind, stage, place FROM queue.phase")
    return {(kind, stage): place for kind, stage, place in await cursor.fetchall()}


async def _assign_ids(tx: Tx, items: Sequence[LegacyItem]) -> list[int]:
    """The ids of earlier imports, to which the items of a longer export refer, and new ones."""
    cursor = await tx.execute(
        """
        SELECT coalesce(item.id, nextval('queue.item_id_seq'))
          FROM unnest(%s::uuid[], %s::text[], %s::text[], %s::text[]) WITH ORDINALITY
               AS line (tracking_id, kind, key, legacy_id, place)
          LEFT JOIN queue.item ON item.tracking_id = line.tracking_id AND item.kind = line.kind
               AND item.key_hash = md5(line.key)::uuid AND item.legacy_id = line.legacy_id
         ORDER BY place
        """,
        [
            [item.tracking_id for item in items],
            [item.kind for item in items],
            [item.key for item in items],
            [item.id for item in items],
        ],
    )
    return [row[0] for row in await cursor.fetchall()]


async def _insert(tx: Tx, rows: Sequence[str]) -> int:
    cursor = await tx.execute(
        f"""
        WITH exported AS MATERIALIZED (
            SELECT DISTINCT ON (tracking_id, kind, key, legacy_id)
                   id, kind, stage, reached, key, md5(key)::uuid AS key_hash, data::jsonb AS data,
                   priority, status, final, tracking_id, parent_id, ancestry, ancestor_keys,
                   handed_over, spawn_depth, retry_count, message, error_text, error_fingerprint,
                   legacy_id, least(created_at, now()) AS created_at,
                   coalesce(line.max_spawn_depth, phase.max_spawn_depth) AS max_spawn_depth,
                   coalesce(line.max_retries, phase.max_retries) AS max_retries
              FROM json_to_recordset(%(rows)s::json) AS line(
                       id bigint, legacy_id text, kind text, stage text, reached text, key text,
                       data text, priority smallint, status queue.status, final boolean,
                       handed_over boolean, tracking_id uuid, parent_id bigint, ancestry bigint[],
                       ancestor_keys uuid[], spawn_depth smallint, max_spawn_depth smallint,
                       retry_count smallint, max_retries smallint, message text, error_text text,
                       error_fingerprint uuid, created_at timestamptz)
              JOIN queue.phase USING (kind, stage)
             WHERE NOT EXISTS (SELECT FROM queue.item
                                WHERE item.tracking_id = line.tracking_id
                                  AND item.key_hash = md5(line.key)::uuid
                                  AND item.kind = line.kind AND item.legacy_id = line.legacy_id)
        ), inserted AS (
            INSERT INTO queue.live ({LIVE_COLUMNS}, retry_count)
            SELECT id, kind, stage, key_hash, priority, created_at, false, retry_count FROM exported
             WHERE status = 'PENDING'
             ORDER BY kind, key_hash
            ON CONFLICT (kind, key_hash) DO NOTHING
            RETURNING id
        ), imported AS (
            SELECT exported.* FROM exported LEFT JOIN inserted USING (id)
             WHERE inserted.id IS NOT NULL OR status <> 'PENDING'
        ), inserted_items AS (
            INSERT INTO queue.item ({ITEM_COLUMNS}, legacy_id, message, error_text,
                                    error_fingerprint, created_at)
            SELECT {ITEM_COLUMNS}, legacy_id, message, error_text, error_fingerprint, created_at
              FROM imported
        ), ended AS (
            -- They count as ended now, so that they are kept as long as other ended items.
            INSERT INTO queue.ending (item_id, status, stage, final, message, retry_count, attempts)
            SELECT id, status, stage, final, coalesce(message, error_text), retry_count,
                   retry_count + 1
              FROM imported WHERE status <> 'PENDING'
        ), logged AS (
            INSERT INTO queue.event (item_id, type, to_status, stage, note)
            SELECT id, 'imported', status, stage,
                   CASE WHEN reached <> stage THEN 'starts again; it had reached ' || reached END
              FROM imported
        )
        SELECT count(*) FROM imported
        """,
        {"rows": join_rows(rows)},
    )
    row = await cursor.fetchone()
    return row[0] if row else 0
