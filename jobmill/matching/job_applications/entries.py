"""Notes, contacts and files of an application. What is removed can be restored for a day."""

from __future__ import annotations

import datetime as dt
import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal, LiteralString, TypeAlias

from jobmill.db import Tx, fetch_all, fetch_one, fetch_value, unique_or_raise
from jobmill.errors import ChangedMeanwhile, Conflict, Invalid, NotFound
from jobmill.matching import matches
from jobmill.matching.matches import MatchId
from jobmill.people.persons import LOCAL, Owner

EntryKind: TypeAlias = Literal["note", "contact", "file"]

TABLES: Mapping[EntryKind, LiteralString] = {
    "note": "matching.application_note",
    "contact": "matching.application_contact",
    "file": "matching.application_file",
}
RESTORABLE_FOR = dt.timedelta(days=1)
MAX_ENTRIES = 100
"""Of each kind, for one application."""
MAX_NOTE_LENGTH = 10_000


@dataclass(frozen=True, slots=True)
class ApplicationNote:
    id: int
    body: str
    version: int
    created_at: dt.datetime
    edited_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class ContactFields:
    name: str
    role: str = ""
    email: str = ""
    phone: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class ApplicationContact(ContactFields):
    id: int = 0

    @property
    def seen(self) -> str:
        """Identifies the contents, so that an edit cannot overwrite another one."""
        return hashlib.sha256(repr(asdict(self)).encode()).hexdigest()[:16]


async def find_notes(tx: Tx, match_id: int) -> list[ApplicationNote]:
    """Read the notes of a match, the newest first; the caller has checked the owner of the match."""
    return await fetch_all(
        tx,
        ApplicationNote,
        """
        SELECT id, body, version, created_at, edited_at FROM matching.application_note
         WHERE match_id = %s AND removed_at IS NULL ORDER BY created_at DESC, id DESC
        """,
        [match_id],
    )


async def add_note(
    tx: Tx, match_id: int, body: str, *, owner: Owner = LOCAL, actor: str | None = None
) -> int:
    """Add a note and return its id. The same text again is the same note."""
    body = _clean_note(body)
    match = await matches.lock(tx, match_id, owner=owner)
    id = await fetch_value(
        tx,
        int,
        """
        INSERT INTO matching.application_note (match_id, body) VALUES (%s, %s)
        ON CONFLICT DO NOTHING RETURNING id
        """,
        [match_id, body],
    )
    if id is not None:
        await check_limit(tx, "note", match_id)
        await matches.record_event(tx, match.id, "note added", actor=actor, entry=id)
        return id
    notes = await find_notes(tx, match_id)
    return next(note.id for note in notes if note.body == body)


def _clean_note(body: str) -> str:
    body = body.replace("\r\n", "\n").strip()
    if not body:
        raise Invalid("Enter the text of the note.")
    if len(body) > MAX_NOTE_LENGTH:
        raise Invalid(f"A note can have at most {MAX_NOTE_LENGTH:,} characters.")
    return body


async def edit_note(
    tx: Tx,
    match_id: int,
    id: int,
    body: str,
    *,
    based_on: int,
    owner: Owner = LOCAL,
    actor: str | None = None,
) -> None:
    """Replace the text of a note. NotFound if it does not exist, Conflict if it is not the version
    that the change is based on."""
    body = _clean_note(body)
    match = await matches.lock(tx, match_id, owner=owner)
    note = next((note for note in await find_notes(tx, match_id) if note.id == id), None)
    if note is None:
        raise NotFound("note", id)
    if note.body == body:
        return
    if note.version != based_on:
        raise ChangedMeanwhile(
            "This note was changed in the meantime. Copy your text, reload the page and try again."
        )
    async with unique_or_raise(tx, Conflict("There is already a note with this text.")):
        await tx.execute(
            """
            UPDATE matching.application_note
               SET body = %s, edited_at = now(), version = version + 1 WHERE id = %s
            """,
            [body, id],
        )
    await matches.record_event(tx, match.id, "note edited", actor=actor, entry=id)


async def find_contacts(tx: Tx, match_id: int) -> list[ApplicationContact]:
    """Read the contacts of a match; the caller has checked the owner of the match."""
    return await fetch_all(
        tx,
        ApplicationContact,
        """
        SELECT id, name, role, email, phone, link FROM matching.application_contact
         WHERE match_id = %s AND removed_at IS NULL ORDER BY id
        """,
        [match_id],
    )


async def save_contact(
    tx: Tx,
    match_id: int,
    contact: ContactFields,
    *,
    owner: Owner = LOCAL,
    actor: str | None = None,
) -> None:
    """Add a contact, or update the one with the same name and address."""
    _check_contact(contact)
    match = await matches.lock(tx, match_id, owner=owner)
    await tx.execute(
        """
        INSERT INTO matching.application_contact (match_id, name, role, email, phone, link)
        VALUES (%(match)s, %(name)s, %(role)s, %(email)s, %(phone)s, %(link)s)
        ON CONFLICT (match_id, lower(name), lower(email)) WHERE removed_at IS NULL DO UPDATE
           SET name = excluded.name, role = excluded.role, email = excluded.email,
               phone = excluded.phone, link = excluded.link
        """,
        {"match": match.id, **asdict(contact)},
    )
    await check_limit(tx, "contact", match_id)
    await matches.record_event(tx, match.id, "contact saved", actor=actor)


async def edit_contact(
    tx: Tx,
    match_id: int,
    id: int,
    contact: ContactFields,
    *,
    seen: str,
    owner: Owner = LOCAL,
    actor: str | None = None,
) -> None:
    """Replace a contact. NotFound if it does not exist, Conflict if it is not the one that was `seen`."""
    _check_contact(contact)
    match = await matches.lock(tx, match_id, owner=owner)
    contacts = await find_contacts(tx, match_id)
    before = next((contact for contact in contacts if contact.id == id), None)
    if before is None:
        raise NotFound("contact", id)
    if asdict(before) == asdict(contact) | {"id": id}:
        return
    if before.seen != seen:
        raise ChangedMeanwhile(
            "This contact was changed in the meantime. Copy your text, reload the page and try again."
        )
    async with unique_or_raise(
        tx, Conflict("There is already a contact with this name and email address.")
    ):
        await tx.execute(
            """
            UPDATE matching.application_contact
               SET name = %(name)s, role = %(role)s, email = %(email)s, phone = %(phone)s,
                   link = %(link)s
             WHERE id = %(id)s
            """,
            {"id": id, **asdict(contact)},
        )
    await matches.record_event(tx, match.id, "contact edited", actor=actor, entry=id)


def _check_contact(contact: ContactFields) -> None:
    if not contact.name:
        raise Invalid("Enter the name of the contact.")
    limits = {"name": 200, "role": 200, "email": 254, "phone": 50, "link": 2000}
    for field, value in asdict(contact).items():
        if len(value) > limits[field] or not value.isprintable():
            raise Invalid(f"The {field} can have at most {limits[field]} printable characters.")
    if contact.link and not contact.link.lower().startswith(("https://", "http://")):
        raise Invalid("The link must begin with https:// or http://.")


async def check_limit(tx: Tx, kind: EntryKind, match_id: int, limit: int = MAX_ENTRIES) -> None:
    """Conflict if an entry was added that is one too many; needs the lock of the match. Comes after the
    entry was saved: only then it is known that it is no repetition of another."""
    count: LiteralString = (
        f"SELECT count(*) FROM {TABLES[kind]} WHERE match_id = %s AND removed_at IS NULL"
    )
    if (await fetch_value(tx, int, count, [match_id]) or 0) > limit:
        raise Conflict(f"An application can have at most {limit} {kind}s. Remove one first.")


async def remove(
    tx: Tx, match_id: int, kind: EntryKind, id: int, *, owner: Owner, actor: str | None
) -> None:
    """Remove an entry, and delete for good what was removed long ago. NotFound if it does not exist."""
    match = await matches.lock(tx, match_id, owner=owner)
    purge: LiteralString = (
        f"DELETE FROM {TABLES[kind]} WHERE match_id = %s AND removed_at < now() - %s"
    )
    await tx.execute(purge, [match_id, RESTORABLE_FOR])
    await _mark(tx, match.id, kind, id, removed=True, actor=actor)


async def _mark(
    tx: Tx, match_id: MatchId, kind: EntryKind, id: int, *, removed: bool, actor: str | None
) -> None:
    """Nothing happens if the entry is marked so already. NotFound if it does not exist."""
    change: LiteralString = f"""
        UPDATE {TABLES[kind]} SET removed_at = CASE WHEN %(removed)s THEN now() END
         WHERE match_id = %(match)s AND id = %(id)s AND (removed_at IS NULL) = %(removed)s
        RETURNING id
    """
    exists: LiteralString = (
        f"SELECT id FROM {TABLES[kind]} WHERE match_id = %(match)s AND id = %(id)s"
    )
    values = {"match": match_id, "id": id, "removed": removed}
    if await fetch_value(tx, int, change, values) is not None:
        what = f"{kind} {'removed' if removed else 'restored'}"
        await matches.record_event(tx, match_id, what, actor=actor, entry=id)
    elif await fetch_value(tx, int, exists, values) is None:
        raise NotFound(kind, id)


@dataclass(frozen=True, slots=True)
class RemovedEntry:
    id: int
    removed_at: dt.datetime


async def find_removed(tx: Tx, match_id: int, kind: EntryKind, id: int) -> RemovedEntry | None:
    """Find an entry that can be restored."""
    select: LiteralString = f"""
        SELECT id, removed_at FROM {TABLES[kind]}
         WHERE match_id = %s AND id = %s AND removed_at IS NOT NULL
    """
    return await fetch_one(tx, RemovedEntry, select, [match_id, id])


async def restore(
    tx: Tx, match_id: int, kind: EntryKind, id: int, *, owner: Owner, actor: str | None
) -> None:
    """Restore a removed entry. Nothing happens if it is there. NotFound if it was deleted for good,
    Conflict if the same was added again."""
    match = await matches.lock(tx, match_id, owner=owner)
    async with unique_or_raise(tx, Conflict(f"This {kind} was added again in the meantime.")):
        await _mark(tx, match.id, kind, id, removed=False, actor=actor)
