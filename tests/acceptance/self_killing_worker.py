"""A worker that kills itself and otherwise runs like that of the product.

A file lists phases, one per line: when a run of one of them has
returned its move, and before the move is written, the line is removed and the process kills itself
like `kill -9`. The line `model/answer` kills it when its first questions to a model are paid and before
the answers are stored.
"""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import replace
from pathlib import Path

from jobmill import app
from jobmill.db import connect
from jobmill.outside.fetch import open_fetch
from jobmill.outside.model import open_model
from jobmill.outside.model_question import Model, ModelQuestion, ModelResult, T
from jobmill.pipelines import report
from jobmill.queue import Move, Stage, Work, Worker
from jobmill.queue.feed import feed_task
from jobmill.queue.stages import Run
from jobmill.queue.worker import PeriodicTask
from jobmill.settings import load
from jobmill.tools import Tools


def dying(phase: str, stage: Stage, deaths: Path) -> Stage:
    return replace(stage, run=_dying(phase, stage.run, deaths))


def _dying(phase: str, run: Run, deaths: Path) -> Run:
    async def run_and_die(work: Work) -> Move:
        move = await run(work)
        left = deaths.read_text().split()
        if phase in left:
            left.remove(phase)
            deaths.write_text("\n".join(left))
            os.kill(os.getpid(), signal.SIGKILL)
        return move

    return run_and_die


class DyingModel:
    """A model that kills its process after all questions in flight have been settled."""

    def __init__(self, model: Model, deaths: Path) -> None:
        self._model, self._deaths = model, deaths
        self._in_flight = 0

    async def __call__(self, question: ModelQuestion[T]) -> ModelResult[T]:
        self._in_flight += 1
        result = await self._model(question)
        self._in_flight -= 1
        left = self._deaths.read_text().split()
        if "model/answer" not in left:
            return result
        if self._in_flight == 0:
            left.remove("model/answer")
            self._deaths.write_text("\n".join(left))
            os.kill(os.getpid(), signal.SIGKILL)
        await asyncio.Event().wait()
        raise AssertionError


async def main(deaths: Path) -> None:
    settings, _ = load()
    async with (
        connect(settings.database_url, size=6) as database,
        open_fetch(database, settings) as fetch,
        open_model(database, settings) as model,
    ):
        tools = Tools(database, fetch, DyingModel(model, deaths))
        await app.declare_stages(tools, settings)
        table = {
            phase: dying("/".join(phase), stage, deaths)
            for phase, stage in app.build_stages(tools, settings).items()
        }
        periodic_tasks = [
            PeriodicTask(0.2, feed_task(feed), on_feed_notify=True) for feed in app.FEEDS
        ]
        periodic_tasks.append(PeriodicTask(1.0, report.unblock_task(settings, os.environ)))
        worker = Worker(database, table, periodic_tasks=periodic_tasks)
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, worker.stop)
        await worker.run()


def run(deaths: Path, folder: Path, variables: dict[str, str]) -> None:
    """The whole process."""
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    asyncio.run(main(deaths))
