"""Saved views: named filters of the inbox."""

from __future__ import annotations

import dataclasses
import datetime as dt
from dataclasses import dataclass
from typing import LiteralString, NewType

from jobmill.catalog.posting import Arrangement
from jobmill.db import Tx, fetch_all, fetch_or_raise, fetch_value, unique_or_raise
from jobmill.errors import Conflict, Invalid, NotFound
from jobmill.matching.matches import MatchQuery, Status
from jobmill.matching.profiles import ProfileId

ViewId = NewType("ViewId", int)

MAX_NAME_LENGTH = 60
MAX_WORDS_LENGTH = 200
MAX_VIEWS = 20
"""Views per profile; the page shows them in one row."""
RESTORABLE_FOR = dt.timedelta(days=7)
"""How long a removed view can be restored."""


@dataclass(frozen=True, slots=True)
class InboxFilters:
    """Filters of the inbox. None does not restrict, except that no status means new."""

    status: Status | None = None
    min_score: int | None = None
    arrangement: Arrangement | None = None
    words: str | None = None
    newest: bool = False

    def to_query(self, profile_id: int, *, after: int | None = None, limit: int = 50) -> MatchQuery:
        return MatchQuery(
            profile_id=profile_id,
            statuses=[self.status or "new"],
            min_score=self.min_score,
            arrangement=self.arrangement,
            q=self.words,
            order="newest" if self.newest else "best",
            after=after,
            limit=limit,
        )


@dataclass(frozen=True, slots=True)
class SavedView:
    id: ViewId
    profile_id: ProfileId
    name: str
    status: Status | None
    min_score: int | None
    arrangement: Arrangement | None
    words: str | None
    newest: bool
    created_at: dt.datetime
    created_by: str | None
    removed_at: dt.datetime | None

    @property
    def filters(self) -> InboxFilters:
        return InboxFilters(
            self.status, self.min_score, self.arrangement, self.words, newest=self.newest
        )


class ViewNameTaken(Conflict):
    def __init__(self, name: str) -> None:
        super().__init__(
            f"A view named {name} already exists. Choose another name, or remove that view."
        )


class TooManyViews(Conflict):
    def __init__(self) -> None:
        super().__init__(f"A profile can have at most {MAX_VIEWS} views. Remove one first.")


async def save(
    tx: Tx, profile_id: int, name: str, filters: InboxFilters, *, actor: str | None = None
) -> SavedView:
    """Save filters under a name. Invalid if the name is not allowed, Conflict if it is taken or
    there are too many views."""
    name = _clean_name(name)
    if filters.words and len(filters.words) > MAX_WORDS_LENGTH:
        raise Invalid(f"A view can search for at most {MAX_WORDS_LENGTH} characters.")
    await _lock_and_check_limit(tx, profile_id)
    async with unique_or_raise(tx, ViewNameTaken(name)):
        id = await fetch_value(
            tx,
            ViewId,
            """
            INSERT INTO matching.view
                   (profile_id, name, status, min_score, arrangement, words, newest, created_by)
            VALUES (%(profile)s, %(name)s, %(status)s, %(min_score)s, %(arrangement)s,
                    %(words)s, %(newest)s, %(actor)s)
            RETURNING id
            """,
            {
                "profile": profile_id,
                "name": name,
                "actor": actor,
                **dataclasses.asdict(filters),
            },
        )
    return await get(tx, profile_id, id or 0)


def _clean_name(name: str) -> str:
    name = " ".join(name.split())
    if not name or not name.isprintable():
        raise Invalid("Enter a name for the view.")
    if len(name) > MAX_NAME_LENGTH:
        raise Invalid(f"The name of a view can have at most {MAX_NAME_LENGTH} characters.")
    return name


async def _lock_and_check_limit(tx: Tx, profile_id: int) -> None:
    """Serialise changes to a profile's views, and check the limit."""
    # The profile row is the lock.
    await tx.execute("SELECT FROM matching.profile WHERE id = %s FOR NO KEY UPDATE", [profile_id])
    if len(await find_all(tx, profile_id)) >= MAX_VIEWS:
        raise TooManyViews


_SELECT: LiteralString = """
    SELECT id, profile_id, name, status, min_score, arrangement, words, newest, created_at, created_by,
           removed_at
      FROM matching.view
"""


async def find_all(tx: Tx, profile_id: int) -> list[SavedView]:
    """Read the views of a profile, by name."""
    return await fetch_all(
        tx,
        SavedView,
        f"{_SELECT} WHERE profile_id = %s AND removed_at IS NULL ORDER BY lower(name)",
        [profile_id],
    )


async def get(tx: Tx, profile_id: int, id: int) -> SavedView:
    """Read a view, including recently removed ones. NotFound if it does not exist."""
    return await fetch_or_raise(
        tx,
        SavedView,
        f"{_SELECT} WHERE profile_id = %s AND id = %s",
        [profile_id, id],
        NotFound("view", id),
    )


async def find_by_name(tx: Tx, profile_id: int, name: str) -> SavedView:
    """Find a view by name, ignoring case. NotFound if it does not exist."""
    key = " ".join(name.split()).lower()
    views = [view for view in await find_all(tx, profile_id) if view.name.lower() == key]
    if not views:
        raise NotFound("view", name)
    return views[0]


async def remove(tx: Tx, profile_id: int, id: int, *, actor: str | None = None) -> SavedView:
    """Remove a view; `restore` brings it back for a while. NotFound if it does not exist."""
    await tx.execute(
        "DELETE FROM matching.view WHERE profile_id = %s AND removed_at < now() - %s",
        [profile_id, RESTORABLE_FOR],
    )
    await tx.execute(
        """
        UPDATE matching.view SET removed_at = now(), removed_by = %s
         WHERE profile_id = %s AND id = %s AND removed_at IS NULL
        """,
        [actor, profile_id, id],
    )
    return await get(tx, profile_id, id)


async def restore(tx: Tx, profile_id: int, id: int) -> SavedView:
    """Restore a removed view. NotFound if it was deleted, Conflict if its name is taken or there
    are too many views."""
    view = await get(tx, profile_id, id)
    if view.removed_at is None:
        return view
    await _lock_and_check_limit(tx, profile_id)
    async with unique_or_raise(tx, ViewNameTaken(view.name)):
        await tx.execute(
            "UPDATE matching.view SET removed_at = NULL, removed_by = NULL WHERE id = %s", [id]
        )
    return await get(tx, profile_id, id)
