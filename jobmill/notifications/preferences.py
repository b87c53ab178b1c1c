"""When a person wants notifications: the hour of digests, quiet hours, and how often per kind."""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal

from jobmill.db import Tx, fetch_value
from jobmill.errors import Invalid
from jobmill.notifications.kinds import FREQUENCIES, KINDS, Frequency, Kind
from jobmill.people.persons import Owner
from jobmill.time_zones import UTC, list_time_zones, load_time_zone

DAY = dt.timedelta(days=1)


@dataclass(frozen=True, slots=True)
class DigestSchedule:
    time_zone: str = UTC
    daily_at: dt.time = dt.time(8)
    weekly_on: int = 1
    """1 is Monday."""
    quiet_from: dt.time | None = None
    quiet_until: dt.time | None = None

    def next_digest(
        self, frequency: Literal["daily", "weekly"], after: dt.datetime
    ) -> tuple[str, dt.datetime]:
        """The key and the time of the first digest after this moment."""
        zone = load_time_zone(self.time_zone)
        day = after.astimezone(zone).date()
        while True:
            if frequency == "daily" or day.isoweekday() == self.weekly_on:
                due_at = dt.datetime.combine(day, self.daily_at, zone).astimezone(dt.UTC)
                if due_at > after:
                    return f"{frequency} {day}", due_at
            day += DAY

    def end_of_quiet_hours(self, at: dt.datetime) -> dt.datetime | None:
        """When the quiet hours around this moment end; None outside of them."""
        if self.quiet_from is None or self.quiet_until is None:
            return None
        zone = load_time_zone(self.time_zone)
        today = at.astimezone(zone).date()
        for day in (today - DAY, today):
            begins = dt.datetime.combine(day, self.quiet_from, zone)
            last = day if self.quiet_from < self.quiet_until else day + DAY
            ends = dt.datetime.combine(last, self.quiet_until, zone)
            # Times of one zone are compared by their wall clock, which may jump: compare moments.
            if begins.astimezone(dt.UTC) <= at < ends.astimezone(dt.UTC):
                return ends.astimezone(dt.UTC)
        return None


async def read_schedule(tx: Tx, owner: Owner) -> DigestSchedule:
    return (await read_schedules(tx, [owner]))[owner]


async def read_schedules(tx: Tx, owners: Collection[Owner]) -> dict[Owner, DigestSchedule]:
    """The schedule of each; the default where none is saved."""
    cursor = await tx.execute(
        """
        SELECT person_id, time_zone, daily_at, weekly_on, quiet_from, quiet_until
          FROM notification.schedule
         WHERE person_id = ANY (%(ids)s) OR (person_id IS NULL AND %(local)s)
        """,
        {"ids": [id for id in owners if id is not None], "local": None in owners},
    )
    # A zone that this system does not know was saved by another one.
    saved = {
        owner: DigestSchedule(zone if zone in list_time_zones() else UTC, *times)
        for owner, zone, *times in await cursor.fetchall()
    }
    return {owner: saved.get(owner, DigestSchedule()) for owner in owners}


async def has_schedule(tx: Tx, owner: Owner) -> bool:
    saved = await fetch_value(
        tx,
        bool,
        """
        SELECT EXISTS (SELECT FROM notification.schedule
                        WHERE person_id IS NOT DISTINCT FROM %s::bigint)
        """,
        [owner],
    )
    return bool(saved)


async def save_schedule(tx: Tx, owner: Owner, schedule: DigestSchedule) -> None:
    """Save when digests come and when nothing does. Invalid if the time zone does not exist."""
    load_time_zone(schedule.time_zone)
    if not await fetch_value(
        tx,
        bool,
        "SELECT EXISTS (SELECT FROM pg_timezone_names WHERE name = %s)",
        [schedule.time_zone],
    ):
        raise Invalid(
            f"Unknown time zone {schedule.time_zone}. Enter an IANA name such as America/New_York."
        )
    if (schedule.quiet_from is None) != (schedule.quiet_until is None):
        raise Invalid("Quiet hours need a start and an end. Fill in both, or neither.")
    if schedule.quiet_from is not None and schedule.quiet_from == schedule.quiet_until:
        raise Invalid("Quiet hours must start and end at different times.")
    await tx.execute(
        """
        INSERT INTO notification.schedule
               (person_id, time_zone, daily_at, weekly_on, quiet_from, quiet_until)
        VALUES (%s, %s, %s, %s, %s, %s)
        ON CONFLICT ON CONSTRAINT schedule_once DO UPDATE
           SET time_zone = excluded.time_zone, daily_at = excluded.daily_at,
               weekly_on = excluded.weekly_on, quiet_from = excluded.quiet_from,
               quiet_until = excluded.quiet_until
        """,
        [
            owner,
            schedule.time_zone,
            schedule.daily_at,
            schedule.weekly_on,
            schedule.quiet_from,
            schedule.quiet_until,
        ],
    )


async def read_frequencies(
    tx: Tx, owners: Collection[Owner]
) -> Mapping[Owner, Mapping[Kind, Frequency]]:
    """How often each wants each kind, with the defaults of kinds that they did not choose."""
    cursor = await tx.execute(
        """
        SELECT person_id, kind, frequency FROM notification.preference
         WHERE person_id = ANY (%(ids)s) OR (person_id IS NULL AND %(local)s)
        """,
        {"ids": [id for id in owners if id is not None], "local": None in owners},
    )
    frequencies: dict[Owner, dict[Kind, Frequency]] = {
        owner: {kind: rule.default for kind, rule in KINDS.items()} for owner in owners
    }
    for owner, kind, frequency in await cursor.fetchall():
        frequencies[owner][kind] = frequency
    return frequencies


async def save_frequencies(tx: Tx, owner: Owner, frequencies: Mapping[Kind, str]) -> None:
    """Save how often a person wants these kinds; it counts for what happens from now on."""
    for kind, frequency in frequencies.items():
        if frequency not in FREQUENCIES:
            raise Invalid(f"Choose one of {', '.join(FREQUENCIES)} (got {frequency[:40]!r}).")
        await tx.execute(
            """
            INSERT INTO notification.preference (person_id, kind, frequency) VALUES (%s, %s, %s)
            ON CONFLICT ON CONSTRAINT preference_once DO UPDATE SET frequency = excluded.frequency
            """,
            [owner, kind, frequency],
        )
