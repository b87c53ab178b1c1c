"""Files of an application, such as the resume and the letter that were sent."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath

from jobmill.db import Tx, fetch_all, fetch_or_raise, fetch_value
from jobmill.errors import Invalid, NotFound
from jobmill.matching import matches
from jobmill.matching.job_applications import entries
from jobmill.people.persons import LOCAL, Owner
from jobmill.plain_text import clean_file_name

MAX_BYTES = 5_000_000
MAX_FILES = 20


def _starts(*prefixes: bytes) -> Callable[[bytes], bool]:
    return lambda data: data.startswith(prefixes)


def _is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode("utf-8")
    except UnicodeDecodeError:
        return False


TYPES: Mapping[str, tuple[str, Callable[[bytes], bool]]] = {
    ".pdf": ("application/pdf", _starts(b"%PDF-")),
    ".docx": (
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        _starts(b"PK\x03\x04"),
    ),
    ".odt": ("application/vnd.oasis.opendocument.text", _starts(b"PK\x03\x04")),
    ".rtf": ("application/rtf", _starts(b"{\\rtf")),
    ".png": ("image/png", _starts(b"\x89PNG\r\n\x1a\n")),
    ".jpg": ("image/jpeg", _starts(b"\xff\xd8\xff")),
    ".jpeg": ("image/jpeg", _starts(b"\xff\xd8\xff")),
    ".txt": ("text/plain", _is_text),
    ".md": ("text/plain", _is_text),
}
"""What may be stored: by extension, the type it is served as, and whether the content fits it."""


@dataclass(frozen=True, slots=True)
class ApplicationFile:
    id: int
    name: str
    media_type: str
    size: int
    created_at: dt.datetime


@dataclass(frozen=True, slots=True)
class FileContent:
    name: str
    media_type: str
    data: bytes


async def find_all(tx: Tx, match_id: int) -> list[ApplicationFile]:
    """Read the files of a match without their content; the caller has checked the owner of the match."""
    return await fetch_all(
        tx,
        ApplicationFile,
        """
        SELECT id, name, media_type, size, created_at FROM matching.application_file
         WHERE match_id = %s AND removed_at IS NULL ORDER BY id
        """,
        [match_id],
    )


async def add(
    tx: Tx,
    match_id: int,
    name: str,
    data: bytes,
    *,
    owner: Owner = LOCAL,
    actor: str | None = None,
) -> None:
    """Store a file. The same file again is the same file. Invalid if it is too large or its content
    does not fit its name."""
    name = clean_file_name(name)
    media_type = _check_type(name, data)
    match = await matches.lock(tx, match_id, owner=owner)
    id = await fetch_value(
        tx,
        int,
        """
        INSERT INTO matching.application_file (match_id, name, media_type, size, data)
        VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING RETURNING id
        """,
        [match_id, name, media_type, len(data), data],
    )
    if id is not None:
        await entries.check_limit(tx, "file", match_id, MAX_FILES)
        await matches.record_event(tx, match.id, "file added", actor=actor, entry=id)


def _check_type(name: str, data: bytes) -> str:
    if not data:
        raise Invalid("Choose a file that is not empty.")
    if len(data) > MAX_BYTES:
        raise Invalid("The file is larger than 5 MB. Choose a smaller file.")
    suffix = PurePosixPath(name).suffix.lower()
    if suffix not in TYPES:
        raise Invalid(f"Choose a file of one of these types: {', '.join(TYPES)}.")
    media_type, fits = TYPES[suffix]
    if not fits(data):
        raise Invalid(f"The content of {name} is not a {suffix} file.")
    return media_type


async def get(tx: Tx, match_id: int, id: int, *, owner: Owner = LOCAL) -> FileContent:
    """Read a file. NotFound if it does not exist or belongs to another person."""
    match = await matches.get(tx, match_id, owner=owner)
    return await fetch_or_raise(
        tx,
        FileContent,
        """
        SELECT name, media_type, data FROM matching.application_file
         WHERE match_id = %s AND id = %s AND removed_at IS NULL
        """,
        [match.id, id],
        NotFound("file", id),
    )
