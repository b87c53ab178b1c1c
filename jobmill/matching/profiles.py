"""Stored profiles, by name, with all their versions. One of them is the default."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import Any, NewType

from psycopg.types.json import Jsonb
from pydantic import ValidationError

from jobmill.db import Tx, fetch_all, fetch_one, fetch_value
from jobmill.errors import Conflict, Invalid, NotFound
from jobmill.matching import company_tiers
from jobmill.matching.profile import Profile

ProfileId = NewType("ProfileId", int)

DEFAULT_NAME = "main"
"""The name of a profile that was saved without one."""
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


@dataclass(frozen=True, slots=True)
class SavedProfile:
    """The version that holds the saved content, and whether it is new."""

    name: str
    version: int
    changed: bool


@dataclass(frozen=True, slots=True)
class ProfileSummary:
    """A profile as shown in a list."""

    name: str
    version: int
    """The newest version; versions count from 1."""
    is_default: bool
    saved_at: dt.datetime
    saved_by: str | None
    paused_at: dt.datetime | None


@dataclass(frozen=True, slots=True)
class ProfileVersion:
    """One saved version of a profile."""

    profile_id: ProfileId
    name: str
    version: int
    content: dict[str, Any]
    saved_at: dt.datetime
    saved_by: str | None
    note: str | None

    def profile(self) -> Profile:
        """Parse the saved content. Invalid if this release no longer knows one of its fields."""
        try:
            return Profile.model_validate(self.content)
        except ValidationError as error:
            fields = ", ".join(".".join(map(str, problem["loc"])) for problem in error.errors())
            raise Invalid(
                f"This release cannot read version {self.version} of profile {self.name}. Fields with"
                f" problems: {fields}."
            ) from error


def check_name(name: str) -> None:
    """Invalid if the name is not allowed."""
    if not NAME.fullmatch(name):
        raise Invalid(
            f"{name!r} is not a valid profile name. Use up to 63 characters: a-z, 0-9, - and _, with a"
            " letter or digit first."
        )


async def save(
    tx: Tx,
    name: str,
    profile: Profile,
    *,
    by: str | None = None,
    note: str | None = None,
    based_on: int | None = None,
) -> SavedProfile:
    """Save a new version if it differs from the newest. Conflict if the newest is not the version
    it was `based_on`."""
    check_name(name)
    id = await _lock(tx, name)
    newest = await _newest(tx, id)
    if based_on is not None and newest != based_on:
        raise Conflict(
            f"Profile {name} was changed in the meantime: its newest version is {newest}, and your"
            f" changes are based on version {based_on}."
        )
    changed = await _add(tx, id, newest, profile, by=by, note=note)
    await _choose_first(tx, id, by=by)
    if changed and await _is_default(tx, id):
        await company_tiers.rescore_companies(tx, profile)
    return SavedProfile(name, newest + changed, bool(changed))


async def _lock(tx: Tx, name: str) -> ProfileId:
    """Find or create the profile, and lock it until commit."""
    id = await fetch_value(
        tx,
        ProfileId,
        """
        INSERT INTO matching.profile (name) VALUES (%s)
        ON CONFLICT ON CONSTRAINT profile_once DO UPDATE SET name = excluded.name
        RETURNING id
        """,
        [name],
    )
    assert id is not None
    return id


async def _newest(tx: Tx, id: ProfileId) -> int:
    version = await fetch_value(
        tx,
        int,
        "SELECT coalesce(max(version), 0) FROM matching.profile_version WHERE profile_id = %s",
        [id],
    )
    return version or 0


async def _add(
    tx: Tx, id: ProfileId, newest: int, profile: Profile, *, by: str | None, note: str | None
) -> int:
    """Write the version after `newest` unless the content is the same. Returns how many rows were
    written."""
    cursor = await tx.execute(
        """
        INSERT INTO matching.profile_version (profile_id, version, content, saved_by, note)
        SELECT %(id)s, %(newest)s + 1, %(content)s, %(by)s, %(note)s
         WHERE NOT EXISTS (SELECT FROM matching.profile_version
                            WHERE profile_id = %(id)s AND version = %(newest)s
                              AND content = %(content)s)
        """,
        {
            "id": id,
            "newest": newest,
            "content": Jsonb(profile.model_dump(mode="json")),
            "by": by,
            "note": note,
        },
    )
    return cursor.rowcount


async def _choose_first(tx: Tx, id: ProfileId, *, by: str | None) -> None:
    """Make the first profile the default, unless there is a default already."""
    await tx.execute(
        """
        INSERT INTO matching.default_profile (profile_id, set_by) VALUES (%s, %s)
        ON CONFLICT (single) DO NOTHING
        """,
        [id, by],
    )


async def set_default(tx: Tx, name: str, *, by: str | None = None) -> None:
    """Make a profile the default."""
    changed = await tx.execute(
        """
        INSERT INTO matching.default_profile (profile_id, set_by)
        SELECT id, %(by)s FROM matching.profile WHERE name = %(name)s
        ON CONFLICT (single) DO UPDATE
           SET profile_id = excluded.profile_id, set_by = excluded.set_by, set_at = now()
        """,
        {"name": name, "by": by},
    )
    if not changed.rowcount:
        raise NotFound("profile", name)
    await company_tiers.rescore_companies(tx, await get_default(tx))


async def _is_default(tx: Tx, id: ProfileId) -> bool:
    cursor = await tx.execute("SELECT FROM matching.default_profile WHERE profile_id = %s", [id])
    return await cursor.fetchone() is not None


async def get_default(tx: Tx) -> Profile:
    """The default profile, or an empty one before the first is saved."""
    try:
        return (await get(tx)).profile()
    except NotFound:
        return Profile()


async def pause(tx: Tx, name: str) -> bool:
    """Stop judging listings for a profile. False if it was already paused."""
    changed = await tx.execute(
        "UPDATE matching.profile SET paused_at = now() WHERE name = %s AND paused_at IS NULL",
        [name],
    )
    return await _changed(tx, name, changed.rowcount)


async def resume(tx: Tx, name: str) -> bool:
    """Judge listings for a profile again. False if it was not paused."""
    changed = await tx.execute(
        "UPDATE matching.profile SET paused_at = NULL WHERE name = %s AND paused_at IS NOT NULL",
        [name],
    )
    return await _changed(tx, name, changed.rowcount)


async def _changed(tx: Tx, name: str, count: int) -> bool:
    if not count:
        await get(tx, name)
    return bool(count)


async def is_paused(tx: Tx, id: int) -> bool:
    sql = "SELECT paused_at IS NOT NULL FROM matching.profile WHERE id = %s"
    return bool(await fetch_value(tx, bool, sql, [id]))


async def get(tx: Tx, name: str | None = None, *, version: int | None = None) -> ProfileVersion:
    """Read one version, by default the newest of the default profile. NotFound if it does not
    exist."""
    profile_version = await fetch_one(
        tx,
        ProfileVersion,
        """
        SELECT profile_id, name, version, content, saved_at, saved_by, note
          FROM matching.profile JOIN matching.profile_version ON profile_id = profile.id
         WHERE CASE WHEN %(name)s::text IS NULL
                    THEN profile.id = (SELECT profile_id FROM matching.default_profile)
                    ELSE name = %(name)s END
           AND (%(version)s::int IS NULL OR version = %(version)s)
         ORDER BY version DESC
         LIMIT 1
        """,
        {"name": name, "version": version},
    )
    if profile_version is None:
        which = "" if version is None else f" version {version}"
        raise NotFound("profile", f"{name or '(default)'}{which}")
    return profile_version


async def get_by_id(tx: Tx, id: ProfileId, *, version: int | None = None) -> ProfileVersion:
    """Read one version, by default the newest. NotFound if it does not exist."""
    profile_version = await fetch_one(
        tx,
        ProfileVersion,
        """
        SELECT profile_id, name, version, content, saved_at, saved_by, note
          FROM matching.profile JOIN matching.profile_version ON profile_id = profile.id
         WHERE profile_id = %(id)s AND (%(version)s::int IS NULL OR version = %(version)s)
         ORDER BY version DESC
         LIMIT 1
        """,
        {"id": id, "version": version},
    )
    if profile_version is None:
        raise NotFound("profile", id)
    return profile_version


async def read_versions(tx: Tx, name: str | None = None) -> list[ProfileVersion]:
    """Read all versions of a profile, newest first. NotFound if there is no such profile."""
    newest = await get(tx, name)
    return await fetch_all(
        tx,
        ProfileVersion,
        """
        SELECT profile_id, name, version, content, saved_at, saved_by, note
          FROM matching.profile JOIN matching.profile_version ON profile_id = profile.id
         WHERE profile_id = %s
         ORDER BY version DESC
        """,
        [newest.profile_id],
    )


async def find_all(tx: Tx) -> list[ProfileSummary]:
    """Read all profiles, by name."""
    return await fetch_all(
        tx,
        ProfileSummary,
        """
        SELECT name, version,
               profile.id IS NOT DISTINCT FROM
                   (SELECT profile_id FROM matching.default_profile) AS is_default,
               saved_at, saved_by, paused_at
          FROM matching.profile
          JOIN LATERAL (SELECT version, saved_at, saved_by FROM matching.profile_version
                         WHERE profile_id = profile.id ORDER BY version DESC LIMIT 1) AS newest
            ON true
         ORDER BY name
        """,
    )
