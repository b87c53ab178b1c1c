"""Files that applicants upload, in chunks in tables of their own.

A file is unused at first. The transaction that stores an application, or a request to apply, takes it over.
Unused files are deleted after two hours, and all of them together have a limit.
"""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import IO, LiteralString
from uuid import UUID, uuid4

from jobmill.db import Tx, fetch_all, fetch_or_raise, fetch_value
from jobmill.errors import Invalid, NotFound, RateLimited

MAX_FILE_BYTES = 10_000_000
CHUNK_BYTES = 256 * 1024
BATCH_SIZE = 100
"""Unused files that are deleted at once."""
UNUSED_LIFETIME = dt.timedelta(hours=2)
MAX_UNUSED_BYTES = 2_000_000_000
MAX_UNUSED_BYTES_OF_NETWORK = 200_000_000
"""Limits on files that no application uses, so that strangers cannot fill the disk."""

SELECT: LiteralString = "SELECT id, field_key, name, media_type, size FROM hiring.uploaded_file"

OpenTransaction = Callable[[], AbstractAsyncContextManager[Tx]]


@dataclass(frozen=True, slots=True)
class UploadedFile:
    id: UUID
    field_key: str
    name: str
    media_type: str
    size: int


@dataclass(frozen=True, slots=True)
class CheckedFile:
    """A file with checked content, before it is stored."""

    field_key: str
    name: str
    media_type: str
    size: int
    network: str | None = None
    """Of an applicant; None: from the company, which has no limit."""


class UploadSpaceFull(RateLimited):
    def __init__(self) -> None:
        super().__init__(int(UNUSED_LIFETIME.total_seconds()))
        self.args = (
            "Too many files were uploaded without an application. Try again in two hours.",
        )


class UploadExpired(Invalid):
    def __init__(self) -> None:
        super().__init__("An uploaded file has expired. Choose the file again.")


async def store(tx: Tx, opening_id: int, checked: CheckedFile, content: IO[bytes]) -> UploadedFile:
    """Store an unused file, with one chunk in memory at a time; raises UploadSpaceFull."""
    # Random, so that an id cannot be guessed.
    id = uuid4()
    content.seek(0)
    digest = hashlib.sha256()
    for chunk in _iter_chunks(content):
        digest.update(chunk)
    await tx.execute(
        """
        INSERT INTO hiring.uploaded_file
               (id, opening_id, field_key, name, media_type, size, sha256, network)
        VALUES (%s, %s, %s, %s, %s, %s, %s, %s)
        """,
        [
            id,
            opening_id,
            checked.field_key,
            checked.name,
            checked.media_type,
            checked.size,
            digest.digest(),
            checked.network,
        ],
    )
    content.seek(0)
    for number, chunk in enumerate(_iter_chunks(content)):
        await tx.execute("INSERT INTO hiring.file_chunk VALUES (%s, %s, %b)", [id, number, chunk])
    if checked.network is not None:
        # Last, so that uploads wait for each other only from here to the COMMIT.
        await tx.execute("SELECT pg_advisory_xact_lock(hashtext('jobmill.uploads'))")
        await check_space(tx, checked.network)
    return UploadedFile(id, checked.field_key, checked.name, checked.media_type, checked.size)


async def check_space(tx: Tx, network: str) -> None:
    """Raise UploadSpaceFull if there are too many unused files, in total or from a network."""
    cursor = await tx.execute(
        """
        SELECT coalesce(sum(size), 0), coalesce(sum(size) FILTER (WHERE network = %s), 0)
          FROM hiring.uploaded_file
         WHERE application_id IS NULL AND apply_request_id IS NULL
        """,
        [network],
    )
    [[total, of_network]] = await cursor.fetchall()
    if total > MAX_UNUSED_BYTES or of_network > MAX_UNUSED_BYTES_OF_NETWORK:
        raise UploadSpaceFull


def _iter_chunks(content: IO[bytes]) -> Iterator[bytes]:
    while chunk := content.read(CHUNK_BYTES):
        yield chunk


async def find_unused(
    tx: Tx,
    opening_id: int,
    ids: Collection[str],
    *,
    lock: bool = False,
    apply_request_id: int | None = None,
) -> list[UploadedFile]:
    """Those of these files that are unused, or belong to this request to apply.

    A locked file stays so until the transaction ends.
    """
    wanted = [id for text in ids if (id := _parse_id(text))]
    if not wanted:
        return []
    locking = "FOR UPDATE" if lock else ""
    return await fetch_all(
        tx,
        UploadedFile,
        f"""
        {SELECT}
         WHERE id = ANY (%s) AND opening_id = %s AND application_id IS NULL
           AND (apply_request_id IS NULL OR apply_request_id = %s)
         ORDER BY id {locking}
        """,
        [wanted, opening_id, apply_request_id],
    )


async def find_by_ids(tx: Tx, opening_id: int, ids: Collection[str]) -> list[UploadedFile]:
    """These files of the opening, also used ones: a repeated request names the files that it has attached."""
    return await fetch_all(
        tx,
        UploadedFile,
        f"{SELECT} WHERE id = ANY (%s) AND opening_id = %s",
        [[id for text in ids if (id := _parse_id(text))], opening_id],
    )


def _parse_id(text: str) -> UUID | None:
    try:
        return UUID(text)
    except ValueError:
        return None


async def attach_to_applications(tx: Tx, applications: Mapping[str, int]) -> None:
    """Take over files that the transaction has locked with `find_unused`, each by its application."""
    await tx.execute(
        """
        UPDATE hiring.uploaded_file SET application_id = claimed.application_id, network = NULL
          FROM unnest(%s::uuid[], %s::bigint[]) AS claimed (file_id, application_id)
         WHERE id = file_id
        """,
        [list(applications), list(applications.values())],
    )


async def attach_to_request(tx: Tx, apply_request_id: int, ids: Sequence[str]) -> None:
    """Let a request to apply have these files, and no other: the latest answers count."""
    await tx.execute(
        """
        DELETE FROM hiring.uploaded_file
         WHERE apply_request_id = %s AND id <> ALL (%s::uuid[])
        """,
        [apply_request_id, list(ids)],
    )
    await tx.execute(
        """
        UPDATE hiring.uploaded_file SET apply_request_id = %s, network = NULL
         WHERE id = ANY (%s::uuid[])
        """,
        [apply_request_id, list(ids)],
    )


async def move_to_application(tx: Tx, apply_request_id: int, application_id: int) -> None:
    """Move the files of a confirmed request to its application."""
    await tx.execute(
        """
        UPDATE hiring.uploaded_file SET application_id = %s, apply_request_id = NULL
         WHERE apply_request_id = %s
        """,
        [application_id, apply_request_id],
    )


async def list_by_application(
    tx: Tx, application_ids: Collection[int]
) -> dict[int, list[UploadedFile]]:
    """The files of each application, in the order of upload."""
    cursor = await tx.execute(
        """
        SELECT application_id, id, field_key, name, media_type, size FROM hiring.uploaded_file
         WHERE application_id = ANY (%s) ORDER BY uploaded_at, id
        """,
        [list(application_ids)],
    )
    files: dict[int, list[UploadedFile]] = {}
    for application_id, *columns in await cursor.fetchall():
        files.setdefault(application_id, []).append(UploadedFile(*columns))
    return files


async def list_by_request(tx: Tx, apply_request_id: int) -> list[UploadedFile]:
    return await fetch_all(
        tx,
        UploadedFile,
        f"{SELECT} WHERE apply_request_id = %s ORDER BY uploaded_at, id",
        [apply_request_id],
    )


async def get_for_application(tx: Tx, application_id: int, id: UUID) -> UploadedFile:
    """A file of this application; raises NotFound if it belongs to another."""
    return await fetch_or_raise(
        tx,
        UploadedFile,
        f"{SELECT} WHERE id = %s AND application_id = %s",
        [id, application_id],
        NotFound("file", id),
    )


async def iter_content(open_transaction: OpenTransaction, id: UUID) -> AsyncIterator[bytes]:
    """The chunks of a file, each read in a transaction of its own: a slow client holds none open."""
    number = 0
    while True:
        async with open_transaction() as tx:
            chunk = await fetch_value(
                tx,
                bytes,
                "SELECT data FROM hiring.file_chunk WHERE file_id = %s AND number = %s",
                [id, number],
            )
        if chunk is None:
            return
        yield chunk
        number += 1


async def delete_unattached(tx: Tx, ids: Collection[str]) -> None:
    """Delete uploads at once that no application will use."""
    await tx.execute(
        """
        DELETE FROM hiring.uploaded_file
         WHERE id = ANY (%s::uuid[]) AND application_id IS NULL AND apply_request_id IS NULL
        """,
        [list(ids)],
    )


async def delete_unused(tx: Tx) -> int:
    """Delete a batch of files that no application has taken over in time; returns how many."""
    deleted = await tx.execute(
        """
        DELETE FROM hiring.uploaded_file
         WHERE id = ANY (ARRAY(SELECT id FROM hiring.uploaded_file
                                WHERE application_id IS NULL AND apply_request_id IS NULL
                                  AND uploaded_at < now() - %s
                                LIMIT %s FOR UPDATE SKIP LOCKED))
        """,
        [UNUSED_LIFETIME, BATCH_SIZE],
    )
    return deleted.rowcount
