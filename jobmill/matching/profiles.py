"""Stored profiles, by owner and name, with all their versions. One profile of each owner is the
default. Everything that belongs to a profile (verdicts, matches, views) belongs to its owner."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from typing import Any, LiteralString, NewType

from psycopg.types.json import Jsonb
from pydantic import ValidationError

from jobmill.db import (
    Tx,
    fetch_all,
    fetch_or_raise,
    fetch_single_value,
    fetch_value,
    unique_or_raise,
)
from jobmill.errors import ChangedMeanwhile, Conflict, Invalid, NotFound
from jobmill.matching import company_tiers
from jobmill.matching.profile import Profile
from jobmill.people.persons import LOCAL, Owner

ProfileId = NewType("ProfileId", int)

DEFAULT_NAME = "main"
"""The name of a profile that was saved without one."""
NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,62}")


@dataclass(frozen=True, slots=True)
class SavedProfile:
    """The version that holds the saved content, and whether it is new."""

    profile_id: ProfileId
    name: str
    version: int
    changed: bool


@dataclass(frozen=True, slots=True)
class ProfileSummary:
    """A profile as shown in a list."""

    profile_id: ProfileId
    owner_id: Owner
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
    owner_id: Owner
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
    owner: Owner = LOCAL,
    by: str | None = None,
    note: str | None = None,
    resume: str | None = None,
    based_on: int | None = None,
) -> SavedProfile:
    """Save a new version if it differs from the newest. Conflict if the newest is not the version
    it was `based_on`. `resume`: the name of the resume that it was read from."""
    check_name(name)
    id = await _lock(tx, name, owner)
    newest = await _newest(tx, id)
    if based_on is not None and newest != based_on:
        raise ChangedMeanwhile(
            f"Profile {name} was changed in the meantime: its newest version is {newest}, and your"
            f" changes are based on version {based_on}."
        )
    changed = await _add(tx, id, newest, profile, by=by, note=note, resume=resume)
    await _choose_first(tx, id, owner, by=by)
    if changed and await _is_default(tx, id) and not await _scores_as(tx, id, newest, profile):
        await company_tiers.rescore_companies(tx, await read_defaults(tx))
    return SavedProfile(id, name, newest + changed, bool(changed))


async def _lock(tx: Tx, name: str, owner: Owner) -> ProfileId:
    """Find or create the profile, and lock it until commit."""
    return await fetch_single_value(
        tx,
        ProfileId,
        """
        INSERT INTO matching.profile (owner_id, name) VALUES (%s, %s)
        ON CONFLICT ON CONSTRAINT profile_once DO UPDATE SET name = excluded.name
        RETURNING id
        """,
        [owner, name],
    )


async def _newest(tx: Tx, id: ProfileId) -> int:
    version = await fetch_value(
        tx,
        int,
        "SELECT coalesce(max(version), 0) FROM matching.profile_version WHERE profile_id = %s",
        [id],
    )
    return version or 0


async def _add(
    tx: Tx,
    id: ProfileId,
    newest: int,
    profile: Profile,
    *,
    by: str | None,
    note: str | None,
    resume: str | None,
) -> int:
    """Write the version after `newest` unless the content is the same. Returns how many rows were
    written."""
    cursor = await tx.execute(
        """
        INSERT INTO matching.profile_version (profile_id, version, content, saved_by, note, resume)
        SELECT %(id)s, %(newest)s + 1, %(content)s, %(by)s, %(note)s, %(resume)s
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
            "resume": resume,
        },
    )
    return cursor.rowcount


async def _scores_as(tx: Tx, id: ProfileId, version: int, profile: Profile) -> bool:
    """Whether a version scores as a profile does: only the master resume differs."""
    sql = """
        SELECT coalesce((SELECT content - 'resume' = %s::jsonb - 'resume'
                           FROM matching.profile_version
                          WHERE profile_id = %s AND version = %s), false)
        """
    content = Jsonb(profile.model_dump(mode="json"))
    return bool(await fetch_value(tx, bool, sql, [content, id, version]))


async def _choose_first(tx: Tx, id: ProfileId, owner: Owner, *, by: str | None) -> None:
    """Make the first profile of an owner their default, unless they have one already."""
    await tx.execute(
        """
        INSERT INTO matching.default_profile (profile_id, owner_id, set_by) VALUES (%s, %s, %s)
        ON CONFLICT ON CONSTRAINT default_profile_once DO NOTHING
        """,
        [id, owner, by],
    )


async def set_default(tx: Tx, name: str, *, owner: Owner = LOCAL, by: str | None = None) -> None:
    """Make a profile the default of its owner."""
    changed = await tx.execute(
        """
        INSERT INTO matching.default_profile (profile_id, owner_id, set_by)
        SELECT id, owner_id, %(by)s FROM matching.profile
         WHERE name = %(name)s AND owner_id IS NOT DISTINCT FROM %(owner)s::bigint
        ON CONFLICT ON CONSTRAINT default_profile_once DO UPDATE
           SET profile_id = excluded.profile_id, set_by = excluded.set_by, set_at = now()
        """,
        {"name": name, "owner": owner, "by": by},
    )
    if not changed.rowcount:
        raise NotFound("profile", name)
    await company_tiers.rescore_companies(tx, await read_defaults(tx))


async def _is_default(tx: Tx, id: ProfileId) -> bool:
    cursor = await tx.execute("SELECT FROM matching.default_profile WHERE profile_id = %s", [id])
    return await cursor.fetchone() is not None


async def read_defaults(tx: Tx) -> list[Profile]:
    """The default profiles of all owners that jobs are scored for: they decide which companies matter.
    If none is active, paused ones do; an empty profile before the first is saved."""
    versions = await fetch_all(
        tx,
        ProfileVersion,
        """
        SELECT newest.profile_id, profile.owner_id, name, version, content, saved_at, saved_by, note
          FROM matching.default_profile
          JOIN matching.profile ON profile.id = default_profile.profile_id
          JOIN LATERAL (SELECT * FROM matching.profile_version
                         WHERE profile_id = profile.id ORDER BY version DESC LIMIT 1) AS newest
            ON true
         WHERE profile.id IN (SELECT id FROM matching.active_profile)
            OR NOT EXISTS (SELECT FROM matching.default_profile AS other
                             JOIN matching.active_profile ON active_profile.id = other.profile_id)
         ORDER BY profile.id
        """,
    )
    return [version.profile() for version in versions] or [Profile()]


async def pause(tx: Tx, name: str, *, owner: Owner = LOCAL) -> bool:
    """Stop judging listings for a profile. False if it was already paused."""
    return await _set_paused(tx, name, owner, paused=True)


async def resume(tx: Tx, name: str, *, owner: Owner = LOCAL) -> bool:
    """Judge listings for a profile again. False if it was not paused."""
    return await _set_paused(tx, name, owner, paused=False)


async def _set_paused(tx: Tx, name: str, owner: Owner, *, paused: bool) -> bool:
    changed = await tx.execute(
        """
        UPDATE matching.profile SET paused_at = CASE WHEN %(paused)s THEN now() END
         WHERE name = %(name)s AND owner_id IS NOT DISTINCT FROM %(owner)s::bigint
           AND (paused_at IS NULL) = %(paused)s
        """,
        {"name": name, "owner": owner, "paused": paused},
    )
    if not changed.rowcount:
        await get(tx, name, owner=owner)
    return changed.rowcount > 0


async def was_read_from_resume(tx: Tx, id: ProfileId) -> bool:
    """Whether a resume was read into any version of the profile."""
    sql = """
        SELECT EXISTS (SELECT FROM matching.profile_version
                        WHERE profile_id = %s AND resume IS NOT NULL)
        """
    return bool(await fetch_value(tx, bool, sql, [id]))


async def is_paused(tx: Tx, id: int) -> bool:
    sql = "SELECT paused_at IS NOT NULL FROM matching.profile WHERE id = %s"
    return bool(await fetch_value(tx, bool, sql, [id]))


_SELECT_VERSION: LiteralString = """
    SELECT profile_id, owner_id, name, version, content, saved_at, saved_by, note
      FROM matching.profile JOIN matching.profile_version ON profile_id = profile.id
"""


async def get(
    tx: Tx, name: str | None = None, *, owner: Owner = LOCAL, version: int | None = None
) -> ProfileVersion:
    """Read one version, by default the newest of the owner's default profile. NotFound if it does not
    exist or belongs to another person."""
    which = "" if version is None else f" version {version}"
    return await fetch_or_raise(
        tx,
        ProfileVersion,
        f"""
        {_SELECT_VERSION}
         WHERE owner_id IS NOT DISTINCT FROM %(owner)s::bigint
           AND CASE WHEN %(name)s::text IS NULL
                    THEN profile.id = (SELECT profile_id FROM matching.default_profile
                                        WHERE owner_id IS NOT DISTINCT FROM %(owner)s::bigint)
                    ELSE name = %(name)s END
           AND (%(version)s::int IS NULL OR version = %(version)s)
         ORDER BY version DESC
         LIMIT 1
        """,
        {"name": name, "owner": owner, "version": version},
        NotFound("profile", f"{name or '(default)'}{which}"),
    )


async def get_by_id(tx: Tx, id: ProfileId, *, version: int | None = None) -> ProfileVersion:
    """Read one version, by default the newest. NotFound if it does not exist."""
    return await fetch_or_raise(
        tx,
        ProfileVersion,
        f"""
        {_SELECT_VERSION}
         WHERE profile_id = %(id)s AND (%(version)s::int IS NULL OR version = %(version)s)
         ORDER BY version DESC
         LIMIT 1
        """,
        {"id": id, "version": version},
        NotFound("profile", id),
    )


async def read_versions(
    tx: Tx, name: str | None = None, *, owner: Owner = LOCAL
) -> list[ProfileVersion]:
    """Read all versions of a profile, newest first. NotFound if there is no such profile."""
    newest = await get(tx, name, owner=owner)
    return await fetch_all(
        tx,
        ProfileVersion,
        f"{_SELECT_VERSION} WHERE profile_id = %s ORDER BY version DESC",
        [newest.profile_id],
    )


async def find_all(tx: Tx, *, owner: Owner = LOCAL) -> list[ProfileSummary]:
    """Read the profiles of an owner, by name."""
    return [summary for summary in await find_of_everyone(tx) if summary.owner_id == owner]


async def find_of_everyone(tx: Tx) -> list[ProfileSummary]:
    """Read the profiles of all owners, by owner and name, for the operator of the machine."""
    return await fetch_all(
        tx,
        ProfileSummary,
        """
        SELECT profile.id AS profile_id, owner_id, name, version,
               EXISTS (SELECT FROM matching.default_profile
                        WHERE profile_id = profile.id) AS is_default,
               saved_at, saved_by, paused_at
          FROM matching.profile
          JOIN LATERAL (SELECT version, saved_at, saved_by FROM matching.profile_version
                         WHERE profile_id = profile.id ORDER BY version DESC LIMIT 1) AS newest
            ON true
         ORDER BY owner_id NULLS FIRST, name
        """,
    )


async def read_active(tx: Tx, *, owner: Owner) -> list[Profile]:
    """The profiles of an owner that jobs are scored for."""
    return [
        (await get_by_id(tx, summary.profile_id)).profile()
        for summary in await find_all(tx, owner=owner)
        if summary.paused_at is None
    ]


async def read_active_of_everyone(tx: Tx) -> list[Profile]:
    """The profiles that jobs are scored for."""
    cursor = await tx.execute("SELECT id FROM matching.active_profile ORDER BY id")
    return [(await get_by_id(tx, id)).profile() for (id,) in await cursor.fetchall()]


async def give(tx: Tx, name: str, *, owner: Owner, to: Owner, by: str | None = None) -> ProfileId:
    """Hand a profile with its matches to another owner. Conflict if they have one of this name."""
    id = (await get(tx, name, owner=owner)).profile_id
    if owner == to:
        return id
    async with unique_or_raise(
        tx, Conflict(f"They already have a profile named {name}: give it under another name.")
    ):
        await tx.execute("UPDATE matching.profile SET owner_id = %s WHERE id = %s", [to, id])
    await tx.execute("DELETE FROM matching.default_profile WHERE profile_id = %s", [id])
    await _choose_first(tx, id, to, by=by)
    await _choose_oldest(tx, owner, by=by)
    await tx.execute(
        """
        UPDATE catalog.submission SET owner_id = %(to)s
         WHERE profile_id = %(id)s
           -- The new owner may have added the same job: theirs stays.
           AND NOT EXISTS (SELECT FROM catalog.submission AS theirs
                            WHERE theirs.key_hash = submission.key_hash
                              AND theirs.owner_id IS NOT DISTINCT FROM %(to)s::bigint)
        """,
        {"id": id, "to": to},
    )
    await company_tiers.rescore_companies(tx, await read_defaults(tx))
    return id


async def _choose_oldest(tx: Tx, owner: Owner, *, by: str | None) -> None:
    """Make the oldest profile the default of an owner with profiles and without a default."""
    await tx.execute(
        """
        INSERT INTO matching.default_profile (profile_id, owner_id, set_by)
        SELECT id, owner_id, %(by)s FROM matching.profile
         WHERE owner_id IS NOT DISTINCT FROM %(owner)s::bigint ORDER BY id LIMIT 1
        ON CONFLICT ON CONSTRAINT default_profile_once DO NOTHING
        """,
        {"owner": owner, "by": by},
    )
