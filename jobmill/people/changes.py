"""The log of administrative changes; the trigger function `people.record_change` writes it."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from jobmill.db import Tx, fetch_all

What = Literal["added", "changed", "removed"]


@dataclass(frozen=True, slots=True)
class AdminChange:
    id: int
    at: dt.datetime
    noun: str
    subject: str
    what: What
    was: Mapping[str, object]
    became: Mapping[str, object]
    actor: str
    by: str | None
    """The name of the person or key; None for a change on this machine."""

    @property
    def details(self) -> list[str]:
        """`role: viewer → admin` for each changed value."""
        names = [*self.was, *(name for name in self.became if name not in self.was)]
        return [self._detail(name) for name in names]

    def _detail(self, name: str) -> str:
        sides = [_plain(name, side[name]) for side in (self.was, self.became) if name in side]
        return f"{name.replace('_', ' ')}: {' → '.join(sides)}"


def _plain(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        texts = [str(part) for part in cast("list[object]", value) if part != ""]
        return ", ".join(texts) or "any"
    if value is None:
        return "none"
    # A time, to the minute.
    return str(value)[:16].replace("T", " ") if name.endswith("_at") else str(value)


async def find_recent(tx: Tx, *, before: int | None = None, limit: int = 50) -> list[AdminChange]:
    """The newest changes first; `before`: the id of the last change on the previous page."""
    return await fetch_all(
        tx,
        AdminChange,
        """
        SELECT change.id, at, subject_type AS noun, subject, action AS what, before AS was,
               after AS became, actor,
               coalesce(person.name, api_key.name) AS by
          FROM people.change
          LEFT JOIN people.person ON actor = 'person:' || person.id
          LEFT JOIN people.api_key ON actor = 'key:' || api_key.id
         WHERE %(before)s::bigint IS NULL OR change.id < %(before)s
         ORDER BY change.id DESC
         LIMIT %(limit)s
        """,
        {"before": before, "limit": limit},
    )
