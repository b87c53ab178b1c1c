"""Helpers for tests of notices: a letter to send and a sender with settings."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Any

from jobmill import app
from jobmill.db import Database, Tx
from jobmill.hiring.messages.notices import Channel, NoticeState, OutgoingLetter
from jobmill.pipelines import notices as pipeline
from jobmill.queue import ItemId, Stages, Work, declare_stages
from jobmill.queue.feed import feed_batch
from jobmill.settings import Settings
from jobmill.tools import Tools
from tests.queue.helpers import drain, fetch

NOW = dt.datetime(2030, 1, 1, 12, tzinfo=dt.UTC)
HOUR = dt.timedelta(hours=1)
OFFER_LETTER = OutgoingLetter(
    1, "promoted", {}, "queued", NOW, "Baker", 2, "PENDING_ACKNOWLEDGMENT", NOW + HOUR, 3,
    "Ada", "ada@example.org", 1, erased=False, superseded=False, at=NOW,
)  # fmt: skip
"""The letter of an offer that was just made."""


@dataclass
class Sender:
    """Everything that sends notices, with its own settings."""

    database: Database
    settings: Settings

    @property
    def tools(self) -> Tools:
        return Tools(self.database)

    @property
    def stages(self) -> Stages:
        return app.build_stages(self.tools, self.settings)

    async def feed(self) -> int:
        """Move all due notices into the queue; returns how many."""
        async with self.database.transaction() as tx:
            await declare_stages(tx, self.stages)
        taken = 0
        for feed in pipeline.queue_feeds(self.settings):
            more = 1
            while more:
                async with self.database.transaction() as tx:
                    more = await feed_batch(tx, feed)
                taken += more
        return taken

    async def send(self) -> int:
        """Send all due notices once."""
        await self.feed()
        return await drain(self.database, self.stages)


def item(notice: int, way: Channel, *, retry_count: int = 0, max_retries: int = 8) -> Work:
    """The claimed item of a notice."""
    data = {"notice": notice}
    return Work(
        ItemId(1), "notice", way, f"notice {notice}", data, 1, retry_count, max_retries, 0, 0,
        "lineage", None, None,
    )  # fmt: skip


async def states(
    source: Database | Tx, kind: str | None = None
) -> list[tuple[str, NoticeState, Any]]:
    """Kind, state and detail of all notices, or of one kind, in order."""
    return await fetch(
        source,
        """
        SELECT kind, state, detail FROM hiring.notice
         WHERE %s::text IS NULL OR kind = %s ORDER BY id
        """,
        [kind, kind],
    )


async def ids(source: Database | Tx, kind: str) -> list[int]:
    return await fetch(source, "SELECT id FROM hiring.notice WHERE kind = %s ORDER BY id", [kind])
