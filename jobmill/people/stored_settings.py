"""Settings that an admin saved on the Settings page. The environment and the settings file override
them."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from jobmill import settings as all_settings
from jobmill.db import Tx, fetch_value
from jobmill.errors import Conflict, Invalid
from jobmill.settings import Settings

log = logging.getLogger(__name__)

EDITABLE = (
    "model_cheap",
    "model_strong",
    "company_model",
    "budget_call",
    "budget_run",
    "budget_day",
    "budget_month",
    "budget_spent_out",
    "contact",
    "rotation_calls_per_day",
    "processors",
    "keep_finished_days",
    "keep_closed_days",
    "session_idle_hours",
    "public_url",
    "mail_from",
)
"""None of them is needed before the database is open, and none names a program or a private host."""
ACCESS_SETTINGS = frozenset({"public_url", "session_idle_hours"})
"""They decide where links with access lead and how long a session lasts."""
LIVE_PREFIXES = ("model_", "budget_")
"""Workers read these before each model call; the others when a process starts."""


async def read_all(tx: Tx) -> dict[str, str]:
    cursor = await tx.execute("SELECT name, value FROM people.setting ORDER BY name")
    return dict(await cursor.fetchall())


async def apply(tx: Tx, settings: Settings) -> Settings:
    """The settings with the stored values, where neither the environment nor the file sets one."""
    return merge(settings, await read_all(tx))


def merge(settings: Settings, stored: Mapping[str, str]) -> Settings:
    values: dict[str, object] = {}
    for name, text in stored.items():
        if name in EDITABLE and name not in settings.model_fields_set:
            try:
                values[name] = all_settings.parse_value(name, text)
            except Invalid as error:
                # Written by another version: the default is better than a process that does not start.
                log.warning("stored setting ignored", extra={"setting": name, "error": str(error)})
    merged = settings.model_copy(update=values)
    # Only the environment and the file count as set: a later stored value must still apply.
    merged.model_fields_set.difference_update(values)
    return merged


async def save(tx: Tx, changes: Mapping[str, tuple[str, str]]) -> None:
    """Store values by name, each given as the value that the editor saw and the new one; an empty value
    restores the default. Conflict if another editor changed one of them meanwhile."""
    # One editor at a time: a row lock does not protect a setting that has no row yet.
    await tx.execute("SELECT pg_advisory_xact_lock(hashtext('jobmill.settings'))")
    for name, (seen, value) in sorted(changes.items()):
        await _save(tx, name, seen.strip(), value.strip())


async def _save(tx: Tx, name: str, seen: str, value: str) -> None:
    if name not in EDITABLE:
        raise Invalid(f"{name} cannot be changed here. Set it in the environment or the file.")
    if value:
        all_settings.parse_value(name, value)
    stored = await fetch_value(tx, str, "SELECT value FROM people.setting WHERE name = %s", [name])
    if (stored or "") not in (seen, value):
        raise Conflict(
            f"{name} was changed to {stored or 'its default'} in the meantime. "
            "Check the value and save again."
        )
    if not value:
        await tx.execute("DELETE FROM people.setting WHERE name = %s", [name])
        return
    await tx.execute(
        """
        INSERT INTO people.setting (name, value) VALUES (%s, %s)
        ON CONFLICT (name) DO UPDATE SET value = excluded.value, changed_at = now()
        """,
        [name, value],
    )
