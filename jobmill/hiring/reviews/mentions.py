"""Mentions of members in notes: `@Ada Lovelace` or `@ada`, the part of the address before the @."""

from __future__ import annotations

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from jobmill.db import Tx, fetch_all


@dataclass(frozen=True, slots=True)
class Member:
    """A member of the company that a note can mention."""

    id: int
    name: str
    email: str

    @property
    def handles(self) -> set[str]:
        return {self.name.lower(), self.email.partition("@")[0].lower()}


@dataclass(frozen=True, slots=True)
class UnreadMention:
    note_id: int
    application_id: int
    opening_id: int
    applicant_name: str
    title: str
    author: str | None
    """The name of the author; None for the local user."""
    created_at: dt.datetime


async def list_members(tx: Tx) -> list[Member]:
    """The members that a note can mention: all with a right to change hiring."""
    return await fetch_all(
        tx,
        Member,
        """
        SELECT id, name, email FROM people.person
         WHERE ended_at IS NULL AND role IN ('recruiter', 'admin')
         ORDER BY name, id
        """,
    )


def find_mentioned(body: str, members: Sequence[Member]) -> set[int]:
    """The ids of the members that a note mentions; the longest name that fits at an @ counts."""
    by_handle: dict[str, set[int]] = defaultdict(set)
    for member in members:
        for handle in member.handles:
            by_handle[handle].add(member.id)
    if not by_handle:
        return set()
    longest_first = sorted(by_handle, key=len, reverse=True)
    names = "|".join(re.escape(handle) for handle in longest_first)
    pattern = re.compile(rf"(?<!\w)@({names})(?!\w)", re.IGNORECASE)
    return {id for match in pattern.finditer(body) for id in by_handle[match[1].lower()]}


async def set_mentions(tx: Tx, note_id: int, person_ids: Collection[int]) -> None:
    """Mention exactly these people; a note stays read for people that it mentioned before."""
    await tx.execute(
        "DELETE FROM hiring.mention WHERE note_id = %s AND person_id <> ALL (%s)",
        [note_id, list(person_ids)],
    )
    await tx.execute(
        """
        INSERT INTO hiring.mention (note_id, person_id) SELECT %s, unnest(%s::bigint[])
        ON CONFLICT DO NOTHING
        """,
        [note_id, list(person_ids)],
    )


async def list_unread(tx: Tx, person_id: int, *, limit: int) -> list[UnreadMention]:
    """The notes that mention a person and that they have not read, oldest first."""
    return await fetch_all(
        tx,
        UnreadMention,
        """
        SELECT note_id, application_id, opening_id, applicant.name AS applicant_name, title,
               coalesce(person.name, api_key.name) AS author, review_note.created_at
          FROM hiring.mention
          JOIN hiring.review_note ON review_note.id = note_id
          JOIN hiring.application ON application.id = application_id
          JOIN hiring.opening ON opening.id = opening_id
          JOIN hiring.applicant ON applicant.id = applicant_id
          LEFT JOIN people.person ON author = 'person:' || person.id
          LEFT JOIN people.api_key ON author = 'key:' || api_key.id
         WHERE mention.person_id = %s AND read_at IS NULL
         ORDER BY note_id
         LIMIT %s
        """,
        [person_id, limit],
    )


async def mark_read(tx: Tx, note_id: int, person_id: int) -> None:
    """Record that a person has read a note that mentions them; a second time changes nothing."""
    await tx.execute(
        """
        UPDATE hiring.mention SET read_at = now()
         WHERE note_id = %s AND person_id = %s AND read_at IS NULL
        """,
        [note_id, person_id],
    )
