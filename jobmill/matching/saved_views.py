"""Views: filters of the inbox that somebody gave a name."""

from __future__ import annotations

import dataclasses
import datetime as dt
from dataclasses import dataclass
from typing import NewType, get_args

from psycopg.errors import UniqueViolation

from jobmill.catalog.posting import Arrangement
from jobmill.db import Tx, fetch_all, fetch_one, fetch_value
from jobmill.errors import Conflict, Invalid, NotFound
from jobmill.matching.matches import Status, Wanted
from jobmill.matching.profiles import ProfileId

ViewId = NewType("ViewId", int)

LONGEST = 60
LONGEST_WORDS = 200
MOST = 20
"""So many for a profile: they stand in one line."""
KEPT = dt.timedelta(days=7)
"""For so long a view that was removed can be taken back."""
LISTED: list[Status] = [one for one in get_args(Status) if one != "dismissed"]
"""What is listed where no status is asked for."""


@dataclass(frozen=True, slots=True)
class Filters:
    """What an inbox is narrowed to; None is no wish."""

    status: Status | None = None
    least_score: int | None = None
    arrangement: Arrangement | None = None
    words: str | None = None
    newest: bool = False

    def wanted(self, profile_id: int, *, after: int | None = None, limit: int = 50) -> Wanted:
        return Wanted(
            profile_id=profile_id,
            statuses=[self.status] if self.status else LISTED,
            least_score=self.least_score,
            arrangement=self.arrangement,
            q=self.words,
            order="newest" if self.newest else "best",
            after=after,
            limit=limit,
        )


@dataclass(frozen=True, slots=True)
class View:
    id: ViewId
    profile_id: ProfileId
    name: str
    status: Status | None
    least_score: int | None
    arrangement: Arrangement | None
    words: str | None
    newest: bool
    made_at: dt.datetime
    made_by: str | None
    removed_at: dt.datetime | None

    @property
    def filters(self) -> Filters:
        return Filters(
            self.status, self.least_score, self.arrangement, self.words, newest=self.newest
        )


class TakenName(Conflict):
    """A view of this name stands already."""

    def __init__(self, name: str) -> None:
        super().__init__(
            f"There is a view {name} already: choose another name, or remove that one."
        )


class TooMany(Conflict):
    """The profile has all the views that it may have."""

    def __init__(self) -> None:
        super().__init__(f"There are {MOST} views, and no room for more: remove one first.")


async def save(
    tx: Tx, profile_id: int, name: str, filters: Filters, *, actor: str | None = None
) -> View:
    """Keep filters under a name; Invalid if it is none, Conflict if it is taken or there are too
    many."""
    name = _checked(name)
    if filters.words and len(filters.words) > LONGEST_WORDS:
        raise Invalid(f"A view looks for {LONGEST_WORDS} characters at most.")
    await _make_room(tx, profile_id)
    try:
        async with tx.transaction():
            made = await fetch_value(
                tx,
                ViewId,
                """
                INSERT INTO matching.view
                       (profile_id, name, status, least_score, arrangement, words, newest, made_by)
                VALUES (%(profile)s, %(name)s, %(status)s, %(least_score)s, %(arrangement)s,
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
    except UniqueViolation as error:
        raise TakenName(name) from error
    return await get(tx, profile_id, made or 0)


def _checked(name: str) -> str:
    name = " ".join(name.split())
    if not name or not name.isprintable():
        raise Invalid("A view needs a name.")
    if len(name) > LONGEST:
        raise Invalid(f"A view's name has {LONGEST} characters at most.")
    return name


async def _make_room(tx: Tx, profile_id: int) -> None:
    """Let one at a time add to a profile's views, and none beyond the last."""
    # The profile is the row that owns the room.
    await tx.execute("SELECT FROM matching.profile WHERE id = %s FOR NO KEY UPDATE", [profile_id])
    if len(await find(tx, profile_id)) >= MOST:
        raise TooMany


async def find(tx: Tx, profile_id: int) -> list[View]:
    """The views of a profile, by name."""
    return await fetch_all(
        tx,
        View,
        """
        SELECT id, profile_id, name, status, least_score, arrangement, words, newest, made_at,
               made_by, removed_at
          FROM matching.view WHERE profile_id = %s AND removed_at IS NULL
         ORDER BY lower(name)
        """,
        [profile_id],
    )


async def get(tx: Tx, profile_id: int, id: int) -> View:
    """One view, also one that was removed a moment ago; NotFound if there is none."""
    found = await fetch_one(
        tx,
        View,
        """
        SELECT id, profile_id, name, status, least_score, arrangement, words, newest, made_at,
               made_by, removed_at
          FROM matching.view WHERE profile_id = %s AND id = %s
        """,
        [profile_id, id],
    )
    if found is None:
        raise NotFound("view", id)
    return found


async def named(tx: Tx, profile_id: int, name: str) -> View:
    """The view of this name, however it is cased; NotFound if there is none."""
    wanted = " ".join(name.split()).lower()
    found = [one for one in await find(tx, profile_id) if one.name.lower() == wanted]
    if not found:
        raise NotFound("view", name)
    return found[0]


async def remove(tx: Tx, profile_id: int, id: int, *, actor: str | None = None) -> View:
    """Take a view away; for a while `restore` gives it back. NotFound if there is none."""
    await tx.execute(
        "DELETE FROM matching.view WHERE profile_id = %s AND removed_at < now() - %s",
        [profile_id, KEPT],
    )
    await tx.execute(
        """
        UPDATE matching.view SET removed_at = now(), removed_by = %s
         WHERE profile_id = %s AND id = %s AND removed_at IS NULL
        """,
        [actor, profile_id, id],
    )
    return await get(tx, profile_id, id)


async def restore(tx: Tx, profile_id: int, id: int) -> View:
    """Give a view back that was removed; NotFound if it is gone for good, Conflict if its name is
    taken or there are too many."""
    view = await get(tx, profile_id, id)
    if view.removed_at is None:
        return view
    await _make_room(tx, profile_id)
    try:
        async with tx.transaction():
            await tx.execute(
                "UPDATE matching.view SET removed_at = NULL, removed_by = NULL WHERE id = %s", [id]
            )
    except UniqueViolation as error:
        raise TakenName(view.name) from error
    return await get(tx, profile_id, id)
