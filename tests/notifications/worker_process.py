"""A process with a worker that only plans and sends notifications."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from jobmill import app
from jobmill.db import connect
from jobmill.pipelines import notifications
from jobmill.queue import Worker
from jobmill.queue.feed import feed_task
from jobmill.queue.worker import PeriodicTask
from jobmill.settings import Settings
from jobmill.tools import Tools
from tests.queue.helpers import SOON


async def _work(url: str, settings: Settings) -> None:
    async with connect(url, size=12) as database:
        stages = app.build_stages(Tools(database), settings)
        tasks = [
            PeriodicTask(0.1, notifications.plan),
            *(
                PeriodicTask(1.0, feed_task(feed), on_feed_notify=True)
                for feed in notifications.queue_feeds()
            ),
        ]
        phases = [phase for phase in stages if phase[0] == notifications.KIND]
        await Worker(database, stages, only=phases, lease=SOON, periodic_tasks=tasks).run()


def run(url: str, settings: dict[str, Any]) -> None:
    # Half of the messages fail.
    logging.disable()
    asyncio.run(_work(url, Settings.model_validate(settings)))
