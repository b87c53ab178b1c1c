"""Submissions: the URLs and texts that people added, and what became of each.

A submission belongs to one person. What a task finds out about a page is recorded in the submissions of
all owners (`profile_id` None), what it decides for a profile only in that of its owner."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, LiteralString, NewType, TypeAlias

from psycopg.types.json import Jsonb

from jobmill.catalog import history
from jobmill.db import Tx, fetch_all, fetch_single, fetch_single_value
from jobmill.errors import NotFound
from jobmill.people.persons import LOCAL, Owner

SubmissionId = NewType("SubmissionId", int)
SubmissionKind: TypeAlias = Literal["page", "job", "board", "company", "text"]
SubmissionState: TypeAlias = Literal["waiting", "done", "unknown"]


@dataclass(frozen=True, slots=True)
class Submission:
    id: SubmissionId
    key: str
    url: str | None
    """None for a pasted text."""
    kind: SubmissionKind
    """`page` until the page was read and told what it is."""
    state: SubmissionState
    reason: str | None
    partial: dict[str, Any]
    """What was read of a job that could not be read completely."""
    owner_id: Owner
    profile_id: int | None
    item_id: int | None
    listing_id: int | None
    source_id: int | None
    company_id: int | None
    submitted_by: str | None
    submitted_at: dt.datetime
    changed_at: dt.datetime

    @property
    def title(self) -> str | None:
        return self.partial.get("title")


_COLUMNS: LiteralString = """
    id, key, url, kind, state, reason, partial, owner_id, profile_id, item_id, listing_id, source_id,
    company_id, submitted_by, submitted_at, changed_at
"""


async def add(
    tx: Tx,
    key: str,
    kind: SubmissionKind,
    *,
    owner: Owner = LOCAL,
    url: str | None = None,
    profile_id: int | None = None,
    by: str | None = None,
) -> Submission:
    """Record a submission, or restart its record."""
    submission = await fetch_single(
        tx,
        Submission,
        f"""
        INSERT INTO catalog.submission AS existing (owner_id, key, url, kind, profile_id, submitted_by)
        VALUES (%(owner)s, %(key)s, %(url)s, %(kind)s, %(profile_id)s, %(by)s)
        ON CONFLICT ON CONSTRAINT submission_once DO UPDATE
           SET url = excluded.url, kind = excluded.kind, state = 'waiting', reason = NULL,
               profile_id = coalesce(excluded.profile_id, existing.profile_id),
               submitted_by = excluded.submitted_by, submitted_at = now(), changed_at = now()
        RETURNING {_COLUMNS}
        """,
        {"owner": owner, "key": key, "url": url, "kind": kind, "profile_id": profile_id, "by": by},
    )
    await history.record(tx, "submission", submission.id, "submitted", actor=by, kind=kind)
    return submission


async def set_item(tx: Tx, id: SubmissionId, item: int) -> None:
    """Store the item that works on the submission."""
    await tx.execute("UPDATE catalog.submission SET item_id = %s WHERE id = %s", [item, id])


async def set_kind(
    tx: Tx, key: str, kind: SubmissionKind, *, profile_id: int | None = None
) -> None:
    """Store what the page turned out to be."""
    await tx.execute(
        """
        UPDATE catalog.submission SET kind = %(kind)s, changed_at = now()
         WHERE key_hash = md5(%(key)s)::uuid
           AND (%(profile)s::bigint IS NULL OR profile_id = %(profile)s)
        """,
        {"key": key, "profile": profile_id, "kind": kind},
    )


async def set_reason(tx: Tx, key: str, reason: str, *, profile_id: int | None = None) -> None:
    """Say why a submission still waits."""
    await tx.execute(
        """
        UPDATE catalog.submission SET reason = %(reason)s, changed_at = now()
         WHERE key_hash = md5(%(key)s)::uuid AND state = 'waiting'
           AND (%(profile)s::bigint IS NULL OR profile_id = %(profile)s)
        """,
        {"key": key, "profile": profile_id, "reason": reason},
    )


async def finish(
    tx: Tx,
    key: str,
    *,
    profile_id: int | None = None,
    reason: str | None = None,
    listing_id: int | None = None,
    source_id: int | None = None,
    company_id: int | None = None,
) -> None:
    """Record what became of a submission; keys without a submission are ignored."""
    result = {"listing": listing_id, "source": source_id, "company": company_id}
    await _set_state(tx, key, "done", profile_id, reason, {}, result)


async def mark_unknown(
    tx: Tx,
    key: str,
    reason: str,
    partial: Mapping[str, Any] | None = None,
    *,
    profile_id: int | None = None,
) -> None:
    """Keep a submission that could not be read, with the reason and what was read so far."""
    result = {"listing": None, "source": None, "company": None}
    await _set_state(tx, key, "unknown", profile_id, reason, partial, result)


async def _set_state(
    tx: Tx,
    key: str,
    state: Literal["done", "unknown"],
    profile_id: int | None,
    reason: str | None,
    partial: Mapping[str, Any] | None,
    result: Mapping[str, int | None],
) -> None:
    """`partial` None keeps what was read before, and ids that are None keep the known ones."""
    changed = await tx.execute(
        """
        UPDATE catalog.submission
           SET state = %(state)s, reason = %(reason)s, changed_at = now(),
               partial = coalesce(%(partial)s, partial),
               listing_id = coalesce(%(listing)s, listing_id),
               source_id = coalesce(%(source)s, source_id),
               company_id = coalesce(%(company)s, company_id)
         WHERE key_hash = md5(%(key)s)::uuid
           AND (%(profile)s::bigint IS NULL OR profile_id = %(profile)s)
        RETURNING id
        """,
        {
            "key": key,
            "state": state,
            "profile": profile_id,
            "reason": reason,
            "partial": None if partial is None else Jsonb(partial),
            **result,
        },
    )
    for (id,) in await changed.fetchall():
        await history.record(tx, "submission", id, state, reason=reason)


async def get(tx: Tx, id: int, *, owner: Owner = LOCAL) -> Submission:
    """One submission; NotFound if it does not exist or another person added it."""
    [*submissions] = await _find(tx, owner, id=id)
    if not submissions:
        raise NotFound("submission", id)
    return submissions[0]


async def find_by_key(tx: Tx, key: str, *, owner: Owner = LOCAL) -> Submission | None:
    return next(iter(await _find(tx, owner, key=key)), None)


async def find(
    tx: Tx, *, owner: Owner = LOCAL, state: SubmissionState | None = None, limit: int = 50
) -> list[Submission]:
    """The newest submissions of an owner."""
    return await _find(tx, owner, state=state, limit=limit)


async def find_waiting(tx: Tx, *, after: int = 0, limit: int) -> list[Submission]:
    """Submissions of everyone that are not read yet, the oldest first; `after` is the last id of the
    batch before."""
    return await fetch_all(
        tx,
        Submission,
        f"""
        SELECT {_COLUMNS} FROM catalog.submission WHERE state = 'waiting' AND id > %s
         ORDER BY id LIMIT %s
        """,
        [after, limit],
    )


async def _find(
    tx: Tx,
    owner: Owner,
    *,
    id: int | None = None,
    key: str | None = None,
    state: str | None = None,
    limit: int = 1,
) -> list[Submission]:
    return await fetch_all(
        tx,
        Submission,
        f"""
        SELECT {_COLUMNS} FROM catalog.submission
         WHERE owner_id IS NOT DISTINCT FROM %(owner)s::bigint
           AND (%(id)s::bigint IS NULL OR id = %(id)s)
           AND (%(key)s::text IS NULL OR key_hash = md5(%(key)s)::uuid)
           AND (%(state)s::text IS NULL OR state = %(state)s)
         ORDER BY submitted_at DESC, id DESC
         LIMIT %(limit)s
        """,
        {"owner": owner, "id": id, "key": key, "state": state, "limit": limit},
    )


async def count_unknown(tx: Tx, *, owner: Owner = LOCAL, limit: int) -> int:
    """How many submissions of an owner could not be read, counted up to the limit."""
    return await fetch_single_value(
        tx,
        int,
        """
        SELECT count(*) FROM (
            SELECT FROM catalog.submission
             WHERE state = 'unknown' AND owner_id IS NOT DISTINCT FROM %s::bigint LIMIT %s) AS unread
        """,
        [owner, limit],
    )
