"""Channels, events and a sender for tests of notifications."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from psycopg.types.json import Jsonb

from jobmill import app
from jobmill.db import Database, Tx
from jobmill.notifications import channels
from jobmill.notifications.channels import ChannelKind, NotificationChannel
from jobmill.outside.webhook import allowed_private_hosts
from jobmill.people.persons import LOCAL, Owner
from jobmill.pipelines import notifications as pipeline
from jobmill.queue import Stages, declare_stages
from jobmill.queue.feed import feed_batch
from jobmill.settings import Settings
from jobmill.tools import Tools
from tests.queue.helpers import drain, fetch


async def add_channel(
    tx: Tx,
    kind: ChannelKind = "email",
    owner: Owner = LOCAL,
    settings: Settings | None = None,
    **form: str,
) -> NotificationChannel:
    form = form or {"address": "ada@example.org"}
    private = allowed_private_hosts(settings or Settings())
    return await channels.add(tx, owner, channels.read_form(kind, form, private))


async def add_event(
    tx: Tx, kind: str = "alert", cause: str = "a cause", owner: Owner = LOCAL, **data: Any
) -> None:
    await tx.execute(
        "INSERT INTO notification.event (person_id, kind, cause, data) VALUES (%s, %s, %s, %s)",
        [owner, kind, cause, Jsonb({"rule": "deep", "detail": "12 items", **data})],
    )


async def recorded(tx: Database | Tx) -> list[tuple[str, dict[str, Any]]]:
    """Kind and data of all events, in order."""
    return await fetch(tx, "SELECT kind, data FROM notification.event ORDER BY id")


async def states(source: Database | Tx) -> list[tuple[str, str, Any]]:
    """Key, state and detail of all deliveries, in order."""
    return await fetch(source, "SELECT key, state, detail FROM notification.delivery ORDER BY id")


@dataclass
class Notifier:
    """Everything that plans and sends notifications, with its own settings."""

    database: Database
    settings: Settings

    @property
    def stages(self) -> Stages:
        return app.build_stages(Tools(self.database), self.settings)

    async def plan(self) -> None:
        more = True
        while more:
            async with self.database.transaction() as tx:
                more = await pipeline.plan(tx)

    async def feed(self) -> None:
        """Move all due deliveries into the queue."""
        async with self.database.transaction() as tx:
            await declare_stages(tx, self.stages)
        for feed in pipeline.queue_feeds():
            taken = 1
            while taken:
                async with self.database.transaction() as tx:
                    taken = await feed_batch(tx, feed)

    async def send(self) -> None:
        """Plan all events, and send everything that is due once."""
        await self.plan()
        await self.feed()
        await drain(self.database, self.stages)

    async def make_due(self) -> None:
        """Let the hour of all digests come."""
        async with self.database.transaction() as tx:
            await tx.execute(
                "UPDATE notification.delivery SET due_at = now() WHERE state = 'waiting'"
            )
