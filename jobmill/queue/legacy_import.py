"""Imports items that an older queue exported: one JSON object per line, with or without tracking fields."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.queue.admission import uuid7
from jobmill.queue.insert_sql import ITEM_COLUMNS, LIVE_COLUMNS
from jobmill.queue.items import NewItem

from .value_encoding import encode_new_item, encode_row, join_rows

MAX_LINES = 200_000
MAX_SHOWN_ERRORS = 20

Text = Annotated[str, BeforeValidator(lambda raw: str(raw) if isinstance(raw, int) else raw)]


class ExportedItem(BaseModel):
    """One exported item; its fields may have the names of the old queue or of this one."""

    model_config = ConfigDict(extra="ignore")

    id: Text | None = None
    kind: str = Field(validation_alias=AliasChoices("kind", "type"))
    key: str = Field(validation_alias=AliasChoices("key", "url"))
    stage: str | None = Field(
        default=None,
        validation_alias=AliasChoices("stage", "company_sub_task", "sub_task", "pipeline_stage"),
    )
    status: Literal[
        "pending", "processing", "blocked", "success", "filtered", "skipped", "failed"
    ] = "pending"
    data: dict[str, Any] = Field(
        default_factory=dict, validation_alias=AliasChoices("data", "pipeline_state")
    )
    priority: int = 100
    tracking_id: str | None = None
    ancestry: list[Text] | None = Field(
        default=None, validation_alias=AliasChoices("ancestry", "ancestry_chain")
    )
    spawn_depth: int | None = Field(default=None, ge=0, le=1_000)
    max_spawn_depth: int | None = Field(default=None, ge=0, le=1_000)
    parent: Text | None = Field(
        default=None, validation_alias=AliasChoices("parent_id", "parent_item_id")
    )
    retry_count: int = Field(default=0, ge=0, le=1_000)
    max_retries: int | None = Field(default=None, ge=0, le=1_000)
    message: str | None = Field(
        default=None, validation_alias=AliasChoices("message", "result_message")
    )
    error: str | None = Field(
        default=None, validation_alias=AliasChoices("error_text", "error_details")
    )


@dataclass(frozen=True, slots=True)
class ImportReport:
    """The result of an import."""

    imported: int = 0
    known: int = 0
    bad: list[str] = field(default_factory=list[str])


async def import_lines(
    tx: Tx,
    lines: Iterable[str],
    *,
    rename: Mapping[str, str] | None = None,
    skip_bad: bool = False,
) -> ImportReport:
    """Import the items that are new; if lines are bad and `skip_bad` is false, import nothing and raise Invalid.

    A second import of the same file changes nothing: a lineage without an id gets one that is derived from
    the id of its item.
    """
    phases = await _phases(tx)
    good, bad = _read(lines, phases, rename or {})
    if bad and not skip_bad:
        shown = "\n".join(bad[:MAX_SHOWN_ERRORS])
        more = f"\n… and {len(bad) - MAX_SHOWN_ERRORS} more" if len(bad) > MAX_SHOWN_ERRORS else ""
        raise Invalid(f"{len(bad)} bad lines, nothing was imported:\n{shown}{more}")
    # One import at a time, so that two imports of the same file do not both import everything.
    await tx.execute("SELECT pg_advisory_xact_lock(hashtext('jobmill.import'))")
    ids = await _reserve(tx, len(good))
    rows = _initialise(good, ids)
    imported = 0
    for start in range(0, len(rows), 500):
        imported += await _insert(tx, rows[start : start + 500])
    return ImportReport(imported, len(good) - imported, bad)


def _read(
    lines: Iterable[str], phases: Mapping[str, Sequence[str]], rename: Mapping[str, str]
) -> tuple[list[ExportedItem], list[str]]:
    good: list[ExportedItem] = []
    bad: list[str] = []
    for number, text in enumerate(lines, 1):
        if number > MAX_LINES:
            raise Invalid(f"the file has more than {MAX_LINES:,} lines: split it")
        if text.strip():
            try:
                good.append(_line(text, phases, rename))
            except Invalid as error:
                bad.append(f"line {number}: {error}")
    return good, bad


def _line(
    text: str, phases: Mapping[str, Sequence[str]], rename: Mapping[str, str]
) -> ExportedItem:
    line = _parse(text)
    kind = rename.get(line.kind, line.kind)
    if kind not in phases:
        kinds = ", ".join(sorted(phases)) or "none yet"
        hint = f" (map it to one of them with --rename {line.kind}=…)"
        raise Invalid(f"unknown kind {kind!r}; the kinds are: {kinds}{hint}")
    # An item without a stage, or with one that this queue does not have, starts at the first stage.
    stage = line.stage if line.stage and line.stage in phases[kind] else phases[kind][0]
    line = line.model_copy(update={"kind": kind, "stage": stage})
    encode_new_item(NewItem(line.kind, stage, line.key, line.data, line.priority))
    # Check the other texts as well, so that an error names the line.
    encode_row(line.model_dump())
    return line


def _parse(text: str) -> ExportedItem:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise Invalid("not a JSON object")
    try:
        return ExportedItem.model_validate(fields)
    except ValidationError as error:
        raise Invalid(_first_problem(error)) from error


def _first_problem(error: ValidationError) -> str:
    problem = error.errors()[0]
    where = ".".join(str(part) for part in problem["loc"])
    return f"{where or 'line'}: {problem['msg']}"


def _initialise(lines: Sequence[ExportedItem], ids: Sequence[int]) -> list[str]:
    """Fill in missing tracking fields, and replace the ids of the old queue by new ones."""
    new_ids = {line.id: id for line, id in zip(lines, ids, strict=True) if line.id}
    keys = {line.id: line.key for line in lines if line.id}
    rows: list[str] = []
    for line, id in zip(lines, ids, strict=True):
        # In some exports a chain also contains the item itself or the id of the lineage.
        chain = [
            old_id for old_id in line.ancestry or [] if old_id in new_ids and old_id != line.id
        ]
        parent = line.parent if line.parent in new_ids else (chain[-1] if chain else None)
        rows.append(
            encode_row(
                {
                    "id": id,
                    "kind": line.kind,
                    "stage": line.stage,
                    "key": line.key,
                    "data": line.data,
                    "priority": line.priority,
                    "status": "PENDING" if line.status == "processing" else line.status.upper(),
                    "tracking_id": str(_tracking(line)),
                    "parent_id": new_ids.get(parent) if parent else None,
                    "ancestry": [new_ids[old_id] for old_id in chain],
                    "ancestor_keys": [_hash(keys[old_id]) for old_id in chain],
                    "spawn_depth": line.spawn_depth or 0,
                    "max_spawn_depth": line.max_spawn_depth,
                    "retry_count": line.retry_count,
                    "max_retries": line.max_retries,
                    "message": line.message,
                    "error_text": line.error,
                }
            )
        )
    return rows


def _tracking(line: ExportedItem) -> UUID:
    if line.tracking_id:
        try:
            return UUID(line.tracking_id)
        except ValueError:
            return UUID(_hash(f"lineage {line.tracking_id}"))
    return UUID(_hash(f"item {line.id}")) if line.id else uuid7()


def _hash(text: str) -> str:
    return hashlib.md5(text.encode(), usedforsecurity=False).hexdigest()


async def _phases(tx: Tx) -> dict[str, list[str]]:
    cursor = await tx.execute(
        "SELECT kind, array_agg(stage ORDER BY place) FROM queue.phase GROUP BY kind"
    )
    return dict(await cursor.fetchall())


async def _reserve(tx: Tx, n: int) -> list[int]:
    cursor = await tx.execute(
        "SELECT nextval('queue.item_id_seq') FROM generate_series(1, %s)", [n]
    )
    return [row[0] for row in await cursor.fetchall()]


async def _insert(tx: Tx, rows: Sequence[str]) -> int:
    cursor = await tx.execute(
        f"""
        WITH exported AS MATERIALIZED (
            SELECT DISTINCT ON (tracking_id, kind, key, stage)
                   id, kind, stage, key, md5(key)::uuid AS key_hash, data, priority, status,
                   tracking_id, parent_id, ancestry, ancestor_keys, false AS handed_over,
                   spawn_depth, retry_count, message, error_text,
                   coalesce(line.max_spawn_depth, phase.max_spawn_depth) AS max_spawn_depth,
                   coalesce(line.max_retries, phase.max_retries) AS max_retries
              FROM json_to_recordset(%(rows)s::json) AS line(
                       id bigint, kind text, stage text, key text, data jsonb, priority smallint,
                       status queue.status, tracking_id uuid, parent_id bigint, ancestry bigint[],
                       ancestor_keys uuid[], spawn_depth smallint, max_spawn_depth smallint,
                       retry_count smallint, max_retries smallint, message text, error_text text)
              JOIN queue.phase USING (kind, stage)
             WHERE NOT EXISTS (SELECT FROM queue.item
                                WHERE item.tracking_id = line.tracking_id
                                  AND item.key_hash = md5(line.key)::uuid
                                  AND item.kind = line.kind AND item.stage = line.stage)
        ), inserted AS (
            INSERT INTO queue.live ({LIVE_COLUMNS}, retry_count)
            SELECT id, kind, stage, key_hash, priority, now(), false, retry_count FROM exported
             WHERE status IN ('PENDING', 'BLOCKED')
             ORDER BY kind, key_hash
            ON CONFLICT (kind, key_hash) DO NOTHING
            RETURNING id
        ), imported AS (
            SELECT exported.* FROM exported LEFT JOIN inserted USING (id)
             WHERE inserted.id IS NOT NULL OR status NOT IN ('PENDING', 'BLOCKED')
        ), inserted_items AS (
            INSERT INTO queue.item ({ITEM_COLUMNS}, message, error_text)
            SELECT {ITEM_COLUMNS}, message, error_text FROM imported
        ), ended AS (
            INSERT INTO queue.ending (item_id, status, stage, final, message, retry_count, attempts)
            SELECT id, status, stage, true, message, retry_count, retry_count FROM imported
             WHERE status NOT IN ('PENDING', 'BLOCKED')
        ), logged AS (
            INSERT INTO queue.event (item_id, what, became, stage)
            SELECT id, 'imported',
                   CASE WHEN status = 'BLOCKED' THEN 'PENDING' ELSE status END, stage FROM imported
        )
        SELECT count(*) FROM imported
        """,
        {"rows": join_rows(rows)},
    )
    row = await cursor.fetchone()
    return row[0] if row else 0
