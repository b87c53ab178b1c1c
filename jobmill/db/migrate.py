"""Applies the migrations in migrations/*.sql to a database."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import LiteralString, cast

from jobmill.db import Tx
from jobmill.errors import Conflict


@cache
def list_migrations() -> Mapping[str, bytes]:
    """The text of every migration by name, in the order of application.

    Read once: pages ask often, and an upgrade replaces the files under a running process.
    """
    folder = resources.files("jobmill.db") / "migrations"
    files = [file for file in folder.iterdir() if file.name.endswith(".sql")]
    ordered = sorted(files, key=lambda file: file.name)
    return MappingProxyType({file.name: file.read_bytes() for file in ordered})


async def migrate(
    tx: Tx,
    files: Mapping[str, bytes] | None = None,
    *,
    back_up: Callable[[str], Awaitable[object]] | None = None,
) -> list[str]:
    """Apply the pending migrations in the order of their names; returns the names applied.

    `back_up` is called with the first pending name before a database with data changes. Conflict if a newer Jobmill has migrated the database, or if an applied migration was edited.
    """
    # One process migrates at a time, however many start together.
    await tx.execute("SELECT pg_advisory_xact_lock(hashtext('jobmill.migrate'))")
    await tx.execute(
        """
        CREATE TABLE IF NOT EXISTS public.jobmill_migration (
            name text PRIMARY KEY,
            sha256 text NOT NULL,
            applied_at timestamptz NOT NULL DEFAULT now()
        )
        """
    )
    files = list_migrations() if files is None else files
    applied = await list_applied(tx)
    _check(files, applied)
    todo = [name for name in files if name not in applied]
    if back_up and applied and todo:
        await back_up(todo[0])
    for name in todo:
        # These files are shipped with the package, so they are as trustworthy as literals.
        await tx.execute(cast(LiteralString, files[name].decode()))
        await tx.execute(
            "INSERT INTO public.jobmill_migration (name, sha256) VALUES (%s, %s)",
            [name, _digest(files[name])],
        )
    return todo


async def list_applied(tx: Tx) -> dict[str, str]:
    """Name and digest of the applied migrations; empty for a new database."""
    cursor = await tx.execute("SELECT to_regclass('public.jobmill_migration')")
    if (await cursor.fetchone()) == (None,):
        return {}
    cursor = await tx.execute("SELECT name, sha256 FROM public.jobmill_migration ORDER BY name")
    return dict(await cursor.fetchall())


def _check(files: Mapping[str, bytes], done: dict[str, str]) -> None:
    unknown = sorted(set(done) - set(files))
    if unknown:
        raise Conflict(
            f"a newer Jobmill migrated this database ({unknown[-1]} is unknown to this version): "
            "upgrade Jobmill, or restore an older backup"
        )
    edited = find_edited(files, done)
    if edited:
        raise Conflict(
            f"migration {edited[0]} differs from the one applied to this database: the file was edited, or "
            "an unreleased Jobmill created the database. Run that version, or start with an empty database "
            "(`jobmill config show` shows which one is used)"
        )


def find_edited(files: Mapping[str, bytes], done: Mapping[str, str]) -> list[str]:
    """The applied migrations with a file that has changed since."""
    return [
        name for name, digest in done.items() if name in files and digest != _digest(files[name])
    ]


def _digest(text: bytes) -> str:
    return hashlib.sha256(text).hexdigest()
