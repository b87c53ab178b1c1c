"""Notes about an application; authors edit and delete their own."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import LiteralString

from jobmill.db import Tx, fetch_all, fetch_or_raise, fetch_single_value
from jobmill.errors import Forbidden, Invalid, NotFound
from jobmill.hiring.actor import Actor
from jobmill.hiring.reviews import mentions
from jobmill.hiring.reviews.reviewed_applications import lock_for_review

MAX_NOTE_LENGTH = 10_000

SELECT: LiteralString = """
        SELECT review_note.id, application_id, author,
               coalesce(person.name, api_key.name) AS author_name, body, review_note.created_at,
               edited_at,
               ARRAY(SELECT person_id FROM hiring.mention
                      WHERE note_id = review_note.id ORDER BY 1) AS mentioned,
               ARRAY(SELECT person_id FROM hiring.mention
                      WHERE note_id = review_note.id AND read_at IS NULL ORDER BY 1) AS unread_by
          FROM hiring.review_note
          LEFT JOIN people.person ON author = 'person:' || person.id
          LEFT JOIN people.api_key ON author = 'key:' || api_key.id"""


class NoteNotFound(NotFound):
    def __init__(self, id: object) -> None:
        Exception.__init__(self, f"Note {id} not found")


@dataclass(frozen=True, slots=True)
class ReviewNote:
    id: int
    application_id: int
    author: str
    author_name: str | None
    """None for the local user."""
    body: str
    created_at: dt.datetime
    edited_at: dt.datetime | None
    mentioned: Sequence[int]
    unread_by: Sequence[int]
    """The mentioned people that have not read it."""


async def add_note(tx: Tx, application_id: int, body: str, by: Actor) -> ReviewNote:
    """Add a note and tell the members that it mentions; the same note again is the first one."""
    body = _check_body(body)
    await lock_for_review(tx, application_id)
    id = await fetch_single_value(
        tx,
        int,
        """
        INSERT INTO hiring.review_note (application_id, author, body) VALUES (%s, %s, %s)
        ON CONFLICT (application_id, author, md5(body)) WHERE edited_at IS NULL
        DO UPDATE SET body = excluded.body
        RETURNING id
        """,
        [application_id, by.name, body],
    )
    await _mention(tx, id, body, by)
    return await get_note(tx, id)


async def edit_note(tx: Tx, id: int, body: str, by: Actor) -> ReviewNote:
    """Change one's own note; raises Forbidden for a note of another author."""
    body = _check_body(body)
    note = await _lock_own(tx, id, by)
    if body != note.body:
        await tx.execute(
            "UPDATE hiring.review_note SET body = %s, edited_at = now() WHERE id = %s", [body, id]
        )
        await _mention(tx, id, body, by)
    return await get_note(tx, id)


async def delete_note(tx: Tx, id: int, by: Actor) -> None:
    """Delete one's own note; the change history keeps that it existed, without its text."""
    await _lock_own(tx, id, by)
    await tx.execute("DELETE FROM hiring.review_note WHERE id = %s", [id])


async def get_note(tx: Tx, id: int) -> ReviewNote:
    """One note; raises NoteNotFound."""
    return await fetch_or_raise(
        tx,
        ReviewNote,
        f"{SELECT} WHERE review_note.id = %s",
        [id],
        NoteNotFound(id),
    )


async def list_notes(tx: Tx, application_id: int) -> list[ReviewNote]:
    """The notes of an application, oldest first."""
    sql: LiteralString = f"{SELECT} WHERE application_id = %s ORDER BY review_note.id"
    return await fetch_all(tx, ReviewNote, sql, [application_id])


def _check_body(body: str) -> str:
    body = body.replace("\r\n", "\n").strip()
    if not 0 < len(body) <= MAX_NOTE_LENGTH:
        raise Invalid(f"Enter a note of at most {MAX_NOTE_LENGTH:,} characters.")
    return body


async def _lock_own(tx: Tx, id: int, by: Actor) -> ReviewNote:
    await tx.execute("SELECT FROM hiring.review_note WHERE id = %s FOR UPDATE", [id])
    note = await get_note(tx, id)
    if note.author != by.name:
        raise Forbidden("Only the author of a note may change it.")
    return note


async def _mention(tx: Tx, id: int, body: str, by: Actor) -> None:
    members = await mentions.list_members(tx)
    others = [member for member in members if by.name != f"person:{member.id}"]
    await mentions.set_mentions(tx, id, mentions.find_mentioned(body, others))
