"""A worker that only plans and sends notifications: `python -m tests.notifications.worker_process URL SETTINGS`."""

from __future__ import annotations

import asyncio
import sys

from jobmill import app
from jobmill.db import connect
from jobmill.pipelines import notifications
from jobmill.queue import Worker
from jobmill.queue.feed import feed_task
from jobmill.queue.worker import PeriodicTask
from jobmill.settings import Settings
from jobmill.tools import Tools
from tests.queue.helpers import SOON


async def main(url: str, settings: Settings) -> None:
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


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Settings.model_validate_json(sys.argv[2])))
