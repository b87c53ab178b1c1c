"""The columns of the board: the statuses of every match, and those that a person added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NewType

from jobmill.db import Tx, fetch_all, fetch_single_value, fetch_value, unique_or_raise
from jobmill.errors import Conflict, Invalid, NotFound
from jobmill.matching import matches
from jobmill.matching.matches import Status
from jobmill.matching.profiles import ProfileId

CustomStatusId = NewType("CustomStatusId", int)

APPLICATION_STATUSES: tuple[Status, ...] = (
    "saved",
    "applied",
    "interviewing",
    "offer",
    "rejected",
)
MAX_CUSTOM_STATUSES = 10
MAX_NAME_LENGTH = 40


@dataclass(frozen=True, slots=True)
class CustomStatus:
    id: CustomStatusId
    name: str
    status: Status
    """It counts as this one."""
    shown_after: Status


@dataclass(frozen=True, slots=True)
class StatusColumn:
    """A column of the board."""

    status: Status
    name: str
    custom_status_id: CustomStatusId | None = None

    @property
    def key(self) -> str:
        """Names the column in forms and commands."""
        return f"custom-{self.custom_status_id}" if self.custom_status_id else self.status


async def find_all(tx: Tx, profile_id: int) -> list[CustomStatus]:
    """Read the custom statuses of a profile, in the order in which they were added."""
    return await fetch_all(
        tx,
        CustomStatus,
        """
        SELECT id, name, status, shown_after FROM matching.custom_status
         WHERE profile_id = %s ORDER BY id
        """,
        [profile_id],
    )


async def read_columns(tx: Tx, profile_id: int) -> list[StatusColumn]:
    """Read the columns of the board, from left to right."""
    custom_statuses = await find_all(tx, profile_id)
    columns: list[StatusColumn] = []
    for status in APPLICATION_STATUSES:
        columns.append(StatusColumn(status, status.capitalize()))
        columns += [
            StatusColumn(custom.status, custom.name, custom.id)
            for custom in custom_statuses
            if custom.shown_after == status
        ]
    return columns


async def find_column(tx: Tx, profile_id: int, key: str) -> StatusColumn:
    """Find the column with this key or name; also `dismissed`, which is not on the board. Invalid if
    there is none."""
    columns = [
        *await read_columns(tx, profile_id),
        StatusColumn("dismissed", "Dismissed"),
    ]
    for column in columns:
        if key == column.key or key.casefold() == column.name.casefold():
            return column
    names = ", ".join(column.name for column in columns)
    raise Invalid(f"There is no status {key[:60]}. Choose one of: {names}.")


async def find_key(tx: Tx, match_id: int) -> str | None:
    """The key of the column that a match is in; None if it is not on the board."""
    select = """
        SELECT coalesce('custom-' || custom_status_id, status::text) FROM matching.match
         WHERE id = %s AND status NOT IN ('new', 'dismissed')
    """
    return await fetch_value(tx, str, select, [match_id])


async def add(
    tx: Tx,
    profile_id: int,
    name: str,
    *,
    status: Status,
    shown_after: Status,
    actor: str | None = None,
) -> CustomStatusId:
    """Add a status to the board. Invalid if the name is not allowed, Conflict if it is taken or there
    are too many."""
    name = _clean_name(name)
    # The profile row serialises changes, so that the limit holds.
    await tx.execute("SELECT FROM matching.profile WHERE id = %s FOR NO KEY UPDATE", [profile_id])
    if len(await find_all(tx, profile_id)) >= MAX_CUSTOM_STATUSES:
        raise Conflict(f"You can add at most {MAX_CUSTOM_STATUSES} statuses. Remove one first.")
    async with unique_or_raise(
        tx, Conflict(f"There is already a status {name}. Choose another name.")
    ):
        return await fetch_single_value(
            tx,
            CustomStatusId,
            """
            INSERT INTO matching.custom_status (profile_id, name, status, shown_after, created_by)
            VALUES (%(profile)s, %(name)s, %(status)s, %(after)s, %(actor)s) RETURNING id
            """,
            {
                "profile": profile_id,
                "name": name,
                "status": status,
                "after": shown_after,
                "actor": actor,
            },
        )


def _clean_name(name: str) -> str:
    name = " ".join(name.split())
    if not name or not name.isprintable():
        raise Invalid("Enter a name for the status.")
    if len(name) > MAX_NAME_LENGTH:
        raise Invalid(f"The name of a status can have at most {MAX_NAME_LENGTH} characters.")
    if name.casefold() in ("new", "dismissed", *APPLICATION_STATUSES):
        raise Conflict(f"There is already a status {name}. Choose another name.")
    return name


async def remove(tx: Tx, profile_id: ProfileId, id: int, *, actor: str | None = None) -> None:
    """Remove a custom status. Its applications keep the status that it counted as. NotFound if it
    does not exist."""
    await tx.execute("SELECT FROM matching.profile WHERE id = %s FOR NO KEY UPDATE", [profile_id])
    removed = [custom for custom in await find_all(tx, profile_id) if custom.id == id]
    if not removed:
        raise NotFound("status", id)
    left = await tx.execute(
        """
        UPDATE matching.match SET custom_status_id = NULL, updated_at = now()
         WHERE custom_status_id = %s RETURNING id
        """,
        [id],
    )
    for (match_id,) in await left.fetchall():
        await matches.record_event(
            tx, match_id, "custom status removed", actor=actor, name=removed[0].name
        )
    await tx.execute(
        "DELETE FROM matching.custom_status WHERE profile_id = %s AND id = %s", [profile_id, id]
    )
