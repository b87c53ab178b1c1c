"""Sources: where listings come from, how they are configured, and whether they may run."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NewType, TypeAlias

from psycopg.types.json import Jsonb

from jobmill.catalog import history, urls
from jobmill.catalog.companies import CompanyId
from jobmill.db import Tx, fetch_all, fetch_one, fetch_single_value, fetch_value
from jobmill.errors import Conflict, NotFound

SourceId = NewType("SourceId", int)
SourceStatus: TypeAlias = Literal["pending_validation", "active", "disabled", "rejected"]
Confidence: TypeAlias = Literal["high", "medium", "low"]
DiscoveredVia: TypeAlias = Literal[
    "user_submission", "automated_scan", "company_analysis", "import"
]

ADDRESS_KEYS = ("board_token", "base_url", "selectors", "url", "company_id", "keywords")
"""A config needs one of these to be readable."""


@dataclass(frozen=True, slots=True)
class NewSource:
    """The fields of a source that are known when it is added."""

    name: str
    source_type: str
    token: str
    config: Mapping[str, Any]
    url: str | None = None
    company_id: CompanyId | None = None
    company_name: str | None = None
    relation: Literal["own", "group"] = "own"
    discovered_via: DiscoveredVia = "user_submission"
    discovered_by: str | None = None
    discovery_confidence: Confidence | None = None
    evidence: str | None = None
    validation_required: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    id: SourceId
    name: str
    source_type: str
    token: str
    config: dict[str, Any]
    url: str | None
    status: SourceStatus
    enabled: bool
    company_id: CompanyId | None
    company_name: str | None
    relation: Literal["own", "group"]
    discovered_via: DiscoveredVia
    discovered_by: str | None
    discovered_at: dt.datetime
    discovery_confidence: Confidence | None
    evidence: str | None
    validation_required: bool
    tested_at: dt.datetime | None
    allow_empty: bool
    consecutive_failures: int
    empty_runs: int
    last_scraped_at: dt.datetime | None
    last_scraped_status: str | None
    last_cause: str | None
    last_detail: str | None
    disabled_reason: str | None
    retry_at: dt.datetime | None
    held_until: dt.datetime | None
    """Set while an incident of its platform lasts."""
    etag: str | None
    last_modified: str | None
    validators_url: str | None
    open_listings: int


def is_valid(source: Source) -> bool:
    """Whether the source has a type and an address."""
    return bool(source.source_type) and any(source.config.get(name) for name in ADDRESS_KEYS)


def is_complete(source: Source) -> bool:
    """Valid, tested, and detected with high confidence."""
    return (
        is_valid(source) and source.tested_at is not None and source.discovery_confidence == "high"
    )


def needs_validation(source: Source) -> bool:
    """Whether a person should check it before it runs."""
    return source.validation_required or source.discovery_confidence in ("medium", "low")


def completeness(source: Source) -> Literal["complete", "valid", "invalid"]:
    if is_complete(source):
        return "complete"
    return "valid" if is_valid(source) else "invalid"


async def add(tx: Tx, new: NewSource, *, enabled: bool) -> tuple[SourceId, bool]:
    """Add a source; returns its id and whether it is new. Each board is stored once."""
    created = await fetch_value(
        tx,
        SourceId,
        """
        INSERT INTO catalog.source
               (name, source_type, token, config, url, domain, status, company_id, company_name,
                relation, discovered_via, discovered_by, discovery_confidence, evidence,
                validation_required)
        VALUES (%(name)s, %(source_type)s, %(token)s, %(config)s, %(url)s, %(domain)s, %(status)s,
                %(company_id)s, %(company_name)s, %(relation)s, %(discovered_via)s,
                %(discovered_by)s, %(discovery_confidence)s, %(evidence)s, %(validation_required)s)
        ON CONFLICT ON CONSTRAINT source_once DO NOTHING
        RETURNING id
        """,
        {
            **asdict(new),
            "config": Jsonb(dict(new.config)),
            "domain": urls.domain(new.url) if new.url else None,
            "status": "active" if enabled else "pending_validation",
        },
    )
    if created is None:
        return await _update_existing(tx, new), False
    await history.record(tx, "source", created, "created", via=new.discovered_via, enabled=enabled)
    await name_boards(tx, [created])
    return created, True


async def _update_existing(tx: Tx, new: NewSource) -> SourceId:
    """The id of the stored source for the same board; fills in its company."""
    source_id = await fetch_single_value(
        tx,
        SourceId,
        """
        UPDATE catalog.source
           SET company_id = coalesce(company_id, %(company_id)s),
               company_name = coalesce(company_name, %(company_name)s)
         WHERE source_type = %(source_type)s AND token = %(token)s
        RETURNING id
        """,
        asdict(new),
    )
    await name_boards(tx, [source_id])
    return source_id


async def link_company(tx: Tx, id: SourceId, company_id: CompanyId, name: str) -> bool:
    """Link a source without a company to the only company that it lists, and the company to it."""
    linked = await tx.execute(
        """
        UPDATE catalog.source SET company_id = %(company)s,
               company_name = coalesce(company_name, %(name)s), updated_at = now()
         WHERE id = %(id)s AND company_id IS NULL
        """,
        {"id": id, "company": company_id, "name": name},
    )
    if linked.rowcount:
        await history.record(tx, "source", id, "company learned", company=company_id, name=name)
        await name_boards(tx, [id])
    return linked.rowcount > 0


async def name_boards(tx: Tx, ids: Sequence[SourceId]) -> None:
    """Store each of these sources as the job board of its own company, if that has none yet."""
    await tx.execute(
        """
        UPDATE catalog.company
           SET job_board_url = source.url, job_board_type = source.source_type,
               job_board_confidence = coalesce(source.discovery_confidence, 'high'),
               job_board_evidence = 'source ' || source.id
          FROM catalog.source
         WHERE source.id = ANY(%s) AND source.company_id = company.id AND relation = 'own'
           AND source.url IS NOT NULL AND job_board_url IS NULL AND status <> 'rejected'
        """,
        [list(ids)],
    )


async def get(tx: Tx, id: int) -> Source:
    """Return one source; raises NotFound."""
    sources = await find(tx, id=id, limit=1)
    if not sources:
        raise NotFound("source", id)
    return sources[0]


async def find_by_board(tx: Tx, source_type: str, token: str) -> Source | None:
    """The source of a board, also if it was rejected."""
    id = await fetch_value(
        tx,
        SourceId,
        "SELECT id FROM catalog.source WHERE source_type = %s AND token = %s",
        [source_type, token],
    )
    return None if id is None else await get(tx, id)


async def find(
    tx: Tx,
    *,
    id: int | None = None,
    ids: Sequence[int] | None = None,
    status: SourceStatus | None = None,
    source_type: str | None = None,
    company_id: int | None = None,
    q: str | None = None,
    after: int = 0,
    limit: int = 50,
) -> list[Source]:
    """Find sources, oldest first."""
    return await fetch_all(
        tx,
        Source,
        """
        SELECT source.id, name, source_type, token, config, url, status,
               status = 'active' AS enabled, company_id, company_name, relation, discovered_via,
               discovered_by, discovered_at, discovery_confidence, evidence, validation_required,
               tested_at, allow_empty, consecutive_failures, empty_runs, last_scraped_at,
               last_scraped_status, last_cause, last_detail, disabled_reason, retry_at,
               (SELECT incident.held_until FROM catalog.incident
                 WHERE vendor = source_type AND incident.held_until > now()) AS held_until,
               etag, last_modified, validators_url,
               (SELECT count(*)::int FROM catalog.listing
                 WHERE source_id = source.id AND closed_at IS NULL) AS open_listings
          FROM catalog.source
         WHERE source.id > %(after)s
           AND (%(id)s::bigint IS NULL OR source.id = %(id)s)
           AND (%(ids)s::bigint[] IS NULL OR source.id = ANY(%(ids)s))
           AND (%(status)s::catalog.source_status IS NULL OR status = %(status)s)
           AND (%(source_type)s::text IS NULL OR source_type = %(source_type)s)
           AND (%(company_id)s::bigint IS NULL OR company_id = %(company_id)s)
           AND (%(q)s::text IS NULL
                OR position(lower(%(q)s) IN lower(name || ' ' || token)) > 0)
         ORDER BY source.id
         LIMIT %(limit)s
        """,
        {
            "id": id,
            "ids": None if ids is None else list(ids),
            "status": status,
            "source_type": source_type,
            "company_id": company_id,
            "q": q,
            "after": after,
            "limit": limit,
        },
    )


async def find_enabled_ids(tx: Tx) -> list[SourceId]:
    """The ids of all enabled sources, oldest first."""
    cursor = await tx.execute("SELECT id FROM catalog.source WHERE status = 'active' ORDER BY id")
    return [SourceId(id) for (id,) in await cursor.fetchall()]


async def enable(tx: Tx, id: int, *, actor: str | None = None) -> None:
    """Enable a source, reset its failures and accept it as checked."""
    changed = await tx.execute(
        """
        UPDATE catalog.source
           SET status = 'active', disabled_reason = NULL, retry_at = NULL,
               consecutive_failures = 0, empty_runs = 0, validation_required = false,
               updated_at = now()
         WHERE id = %s AND status <> 'active'
        """,
        [id],
    )
    await _record_change(tx, id, changed.rowcount, "enabled", actor)


async def enable_after_test(tx: Tx, id: int) -> bool:
    """Enable a waiting source after a successful test; False if a person has decided in the
    meantime."""
    changed = await tx.execute(
        """
        UPDATE catalog.source
           SET status = 'active', validation_required = false, updated_at = now()
         WHERE id = %s AND status = 'pending_validation'
        """,
        [id],
    )
    if changed.rowcount:
        await history.record(tx, "source", id, "enabled", reason="its test worked")
    return changed.rowcount > 0


async def disable(tx: Tx, id: int, reason: str, *, actor: str | None = None) -> None:
    """Disable a source until a person enables it again."""
    changed = await tx.execute(
        """
        UPDATE catalog.source
           SET status = 'disabled', disabled_reason = %(reason)s, retry_at = NULL,
               updated_at = now()
         -- A source that failures disabled is tried again; one that a person disables is not.
         WHERE id = %(id)s AND (status <> 'disabled' OR retry_at IS NOT NULL)
        """,
        {"id": id, "reason": reason},
    )
    await _record_change(tx, id, changed.rowcount, "disabled", actor, reason=reason)


async def reject(tx: Tx, id: int, reason: str, *, actor: str | None = None) -> None:
    """Reject a source. The row stays, so that it is not proposed again."""
    changed = await tx.execute(
        """
        UPDATE catalog.source
           SET status = 'rejected', disabled_reason = NULL, retry_at = NULL, updated_at = now()
         WHERE id = %s AND status <> 'rejected'
        """,
        [id],
    )
    await _record_change(tx, id, changed.rowcount, "rejected", actor, reason=reason)


async def _record_change(
    tx: Tx, id: int, changed: int, what: str, actor: str | None, **data: object
) -> None:
    if not changed:
        source = await get(tx, id)
        raise Conflict(f"source {id} ({source.name}) is already {what}")
    await history.record(tx, "source", id, what, actor=actor, **data)


async def mark_tested(tx: Tx, id: int) -> None:
    """Record a successful test."""
    await tx.execute("UPDATE catalog.source SET tested_at = now() WHERE id = %s", [id])


async def find_by_url(tx: Tx, url: str, *, board: tuple[str, str] | None = None) -> Source | None:
    """The source of a URL: the source of its board, otherwise the only source on its domain."""
    id = await fetch_value(
        tx,
        SourceId,
        """
        SELECT id FROM catalog.source
         WHERE status <> 'rejected'
           AND (source_type = %(platform)s AND lower(token) = lower(%(token)s)
                OR domain = %(domain)s
                   AND 1 = (SELECT count(*) FROM catalog.source AS other
                             WHERE other.domain = %(domain)s AND status <> 'rejected'))
         ORDER BY (source_type IS NOT DISTINCT FROM %(platform)s
                   AND token IS NOT DISTINCT FROM %(token)s) DESC, id
         LIMIT 1
        """,
        {
            "platform": board[0] if board else None,
            "token": board[1] if board else None,
            # Customers of a platform share its domain: only the board tells them apart.
            "domain": None if board else urls.domain(url),
        },
    )
    return None if id is None else await get(tx, id)


@dataclass(frozen=True, slots=True)
class SourceRun:
    """A saved run of a source."""

    id: int
    started_at: dt.datetime
    ended_at: dt.datetime
    outcome: str
    cause: str | None
    detail: str | None
    calls: int
    seen: int
    added: int
    changed: int
    closed: int
    reopened: int
    duplicates: int


async def find_runs(tx: Tx, id: int, *, limit: int = 20) -> list[SourceRun]:
    """The last runs of a source, newest first."""
    return await fetch_all(
        tx,
        SourceRun,
        """
        SELECT id, started_at, ended_at, outcome, cause, detail, calls, seen, added, changed,
               closed, reopened, duplicates
          FROM catalog.run WHERE source_id = %s ORDER BY id DESC LIMIT %s
        """,
        [id, limit],
    )


@dataclass(frozen=True, slots=True)
class Incident:
    """An incident of a platform; its sources are held."""

    vendor: str
    cause: str
    detail: str
    since: dt.datetime
    held_until: dt.datetime
    holds: int


async def find_incident(tx: Tx, vendor: str) -> Incident | None:
    """The platform's current incident."""
    return await fetch_one(
        tx,
        Incident,
        """
        SELECT vendor, cause, detail, since, held_until, hold_count AS holds
          FROM catalog.incident WHERE vendor = %s
        """,
        [vendor],
    )
