"""Documents of matches, with all their versions and what was sent. A document belongs to the owner of
its match."""

from __future__ import annotations

import datetime as dt
import hashlib
from dataclasses import dataclass
from typing import Any, Literal, NewType, TypeAlias

from psycopg.types.json import Jsonb

from jobmill.catalog import listings
from jobmill.db import Tx, fetch_all, fetch_or_raise, fetch_single_value, fetch_value
from jobmill.errors import ChangedMeanwhile, Conflict, NotFound
from jobmill.matching import matches
from jobmill.matching.matches import MatchId
from jobmill.people.persons import LOCAL, Owner

from .document import ApplicationDocument, DocumentKind

DocumentId = NewType("DocumentId", int)
DocumentFormat: TypeAlias = Literal["pdf", "docx", "txt"]
FORMATS: dict[DocumentFormat, str] = {
    "pdf": "application/pdf",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "txt": "text/plain; charset=utf-8",
}
MAX_VERSIONS = 500
"""Versions of one document; each save of a form adds one."""


@dataclass(frozen=True, slots=True)
class StoredDocument:
    id: DocumentId
    match_id: MatchId
    kind: DocumentKind
    version: int
    newest: int
    content: dict[str, Any]
    saved_at: dt.datetime

    def document(self) -> ApplicationDocument:
        return ApplicationDocument.model_validate(self.content)


@dataclass(frozen=True, slots=True)
class DocumentSummary:
    id: DocumentId
    match_id: MatchId
    kind: DocumentKind
    version: int
    title: str | None
    company: str | None
    saved_at: dt.datetime
    sent_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class VersionSummary:
    version: int
    what: str
    saved_at: dt.datetime
    saved_by: str | None


@dataclass(frozen=True, slots=True)
class SentDocument:
    version: int
    format: DocumentFormat
    size: int
    sha256: bytes
    sent_at: dt.datetime


async def create(
    tx: Tx,
    match_id: int,
    document: ApplicationDocument,
    *,
    owner: Owner = LOCAL,
    actor: str | None = None,
) -> DocumentId:
    """Store the first version; the existing document if the match has one of this kind. Its listing is
    then kept forever."""
    match = await matches.lock(tx, match_id, owner=owner)
    existing = await find_id(tx, match_id, document.kind)
    if existing is not None:
        return existing
    id = await fetch_single_value(
        tx,
        DocumentId,
        """
        INSERT INTO matching.document (match_id, kind, created_by) VALUES (%s, %s, %s) RETURNING id
        """,
        [match_id, document.kind, actor],
    )
    await _insert_version(tx, id, 1, document, "written", actor)
    await matches.record_event(tx, match.id, f"{document.kind} written", actor=actor, entry=id)
    await listings.mark(tx, match.listing_id, actor=actor)
    return id


async def save(
    tx: Tx,
    id: int,
    document: ApplicationDocument,
    *,
    based_on: int,
    what: str = "edited",
    owner: Owner = LOCAL,
    actor: str | None = None,
) -> int:
    """Store a new version and return its number; the newest if nothing changed. ChangedMeanwhile if the
    newest version is not the one that this was based on."""
    stored = await lock(tx, id, owner=owner)
    if stored.version != based_on:
        raise ChangedMeanwhile(
            f"This document was saved in another tab or by a task: version {stored.version} is newer than"
            f" yours ({based_on})."
        )
    if stored.document() == document:
        return stored.version
    if stored.version >= MAX_VERSIONS:
        raise Conflict(f"A document can have at most {MAX_VERSIONS} versions.")
    version = stored.version + 1
    await _insert_version(tx, stored.id, version, document, what, actor)
    await tx.execute("UPDATE matching.document SET version = %s WHERE id = %s", [version, id])
    await matches.record_event(
        tx,
        stored.match_id,
        f"{stored.kind} {what}",
        actor=actor,
        entry=id,
        document_version=version,
    )
    return version


async def _insert_version(
    tx: Tx,
    id: DocumentId,
    version: int,
    document: ApplicationDocument,
    what: str,
    actor: str | None,
) -> None:
    await tx.execute(
        """
        INSERT INTO matching.document_version (document_id, version, content, action, saved_by)
        VALUES (%s, %s, %s, %s, %s)
        """,
        [id, version, Jsonb(document.model_dump(mode="json")), what, actor],
    )


async def lock(tx: Tx, id: int, *, owner: Owner = LOCAL) -> StoredDocument:
    """Read the newest version and lock it until commit, through the lock of its match: the same order as
    the code that deletes matches."""
    stored = await get(tx, id, owner=owner)
    await matches.lock(tx, stored.match_id, owner=owner)
    return await get(tx, id, owner=owner)


async def get(
    tx: Tx, id: int, *, version: int | None = None, owner: Owner = LOCAL
) -> StoredDocument:
    """Read a version, by default the newest. NotFound if it does not exist or belongs to another
    person."""
    return await fetch_or_raise(
        tx,
        StoredDocument,
        """
        SELECT document.id, match_id, kind, document_version.version, document.version AS newest,
               content, saved_at
          FROM matching.document JOIN matching.match ON match.id = match_id
          JOIN matching.profile ON profile.id = profile_id
          JOIN matching.document_version ON document_id = document.id
               AND document_version.version = coalesce(%(version)s::int, document.version)
         WHERE document.id = %(id)s AND owner_id IS NOT DISTINCT FROM %(owner)s::bigint
        """,
        {"id": id, "version": version, "owner": owner},
        NotFound("document", id if version is None else f"{id} version {version}"),
    )


async def find_id(tx: Tx, match_id: int, kind: DocumentKind) -> DocumentId | None:
    """Find the document of a match; the caller has checked the owner of the match."""
    sql = "SELECT id FROM matching.document WHERE match_id = %s AND kind = %s"
    return await fetch_value(tx, DocumentId, sql, [match_id, kind])


async def find_ids(tx: Tx, match_id: int) -> dict[DocumentKind, DocumentId | None]:
    """The document of each kind; the caller has checked the owner of the match."""
    return {
        "resume": await find_id(tx, match_id, "resume"),
        "letter": await find_id(tx, match_id, "letter"),
    }


async def find_all(
    tx: Tx,
    *,
    owner: Owner = LOCAL,
    match_id: int | None = None,
    before: int | None = None,
    limit: int = 100,
) -> list[DocumentSummary]:
    """Read the documents of an owner, the newest first; `before` is the id of the last one read."""
    return await fetch_all(
        tx,
        DocumentSummary,
        """
        SELECT document.id, match_id, kind, document.version, listing.title, listing.company, saved_at,
               (SELECT max(sent_at) FROM matching.sent_document
                 WHERE sent_document.document_id = document.id) AS sent_at
          FROM matching.document JOIN matching.match ON match.id = match_id
          JOIN matching.profile ON profile.id = profile_id
          JOIN catalog.listing ON listing.id = listing_id
          JOIN matching.document_version ON document_id = document.id
               AND document_version.version = document.version
         WHERE owner_id IS NOT DISTINCT FROM %(owner)s::bigint
           AND (%(match)s::bigint IS NULL OR match_id = %(match)s)
           AND (%(before)s::bigint IS NULL OR document.id < %(before)s)
         ORDER BY document.id DESC LIMIT %(limit)s
        """,
        {"owner": owner, "match": match_id, "before": before, "limit": limit},
    )


async def find_versions(tx: Tx, id: int) -> list[VersionSummary]:
    """Read the versions, the newest first; the caller has checked the owner."""
    return await fetch_all(
        tx,
        VersionSummary,
        """
        SELECT version, action AS what, saved_at, saved_by FROM matching.document_version
         WHERE document_id = %s ORDER BY version DESC
        """,
        [id],
    )


async def mark_sent(
    tx: Tx,
    id: int,
    version: int,
    format: DocumentFormat,
    data: bytes,
    *,
    owner: Owner = LOCAL,
    actor: str | None = None,
) -> bytes:
    """Freeze the file that the person sent and return its SHA-256. Doing it twice has no effect."""
    stored = await lock(tx, id, owner=owner)
    digest = hashlib.sha256(data).digest()
    inserted = await fetch_value(
        tx,
        int,
        """
        INSERT INTO matching.sent_document (document_id, version, format, data, sha256, sent_by)
        VALUES (%s, %s, %s, %s, %s, %s) ON CONFLICT DO NOTHING RETURNING document_id
        """,
        [id, version, format, data, digest, actor],
    )
    if inserted is not None:
        await matches.record_event(
            tx,
            stored.match_id,
            f"{stored.kind} sent",
            actor=actor,
            entry=id,
            document_version=version,
            sha256=digest.hex(),
        )
    return digest


async def find_sent(tx: Tx, id: int) -> list[SentDocument]:
    """Read what was sent, the newest first; the caller has checked the owner."""
    return await fetch_all(
        tx,
        SentDocument,
        """
        SELECT version, format, length(data) AS size, sha256, sent_at FROM matching.sent_document
         WHERE document_id = %s ORDER BY sent_at DESC, version DESC, format
        """,
        [id],
    )


async def get_sent(tx: Tx, id: int, version: int, format: DocumentFormat) -> bytes:
    """Read a frozen file; the caller has checked the owner."""
    sql = """
        SELECT data FROM matching.sent_document
         WHERE document_id = %s AND version = %s AND format = %s::matching.document_format
    """
    data = await fetch_value(tx, bytes, sql, [id, version, format])
    if data is None:
        raise NotFound("sent document", f"{id} version {version} as {format}")
    return data
