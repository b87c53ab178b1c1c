"""jobmill worker: run items of the queue."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Annotated

import typer

from jobmill import app
from jobmill.cli.servers import startup, supervisor
from jobmill.cli.servers.supervisor import Service
from jobmill.cli.support import environment, output
from jobmill.cli.support.open_tools import open_tools
from jobmill.db.cancellation import cancel_tasks
from jobmill.errors import Invalid
from jobmill.queue import Stages, Worker
from jobmill.queue.worker import STAGE_ANSWER_LIMIT


def worker(
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="KIND/STAGE", help="Run only this phase; may be repeated."),
    ] = None,
    drain: Annotated[bool, typer.Option("--drain", help="Exit when no item is due.")] = False,
) -> None:
    """Run queued work until stopped. Start as many workers as you like."""
    settings = startup.load_quiet_settings()

    async def main(stop: asyncio.Event) -> None:
        async with (
            environment.open_database(settings, answer_limit=STAGE_ANSWER_LIMIT) as database,
            open_tools(settings, database) as (staged, tools),
        ):
            await app.declare_stages(tools, staged.settings)
            await app.declare_schedules(tools)
            stages = app.build_stages(tools, staged.settings)
            phases = choose_phases(stages, only) if only else None
            worker = app.build_worker(tools, staged.settings, only=phases)
            if drain:
                await _drain(worker, stop)
                return
            startup.print_startup(
                work=startup.describe_stages({phase: stages[phase] for phase in phases or stages}),
                database=startup.describe_database(settings, database),
                stop="Ctrl-C",
            )
            await supervisor.run_services([worker_service(worker)], stop)

    supervisor.run_until_stopped(main)


def worker_service(worker: Worker) -> Service:
    return Service("worker", worker.run, worker.stop)


def choose_phases(stages: Stages, names: Sequence[str]) -> list[tuple[str, str]]:
    """The phases with these names; the name of a kind stands for all its phases."""
    chosen: list[tuple[str, str]] = []
    for name in names:
        phases = [phase for phase in stages if name in (phase[0], "/".join(phase))]
        if not phases:
            all_phases = ", ".join("/".join(phase) for phase in stages)
            raise Invalid(f"--only {name}: there is no such phase; known phases: {all_phases}")
        chosen += phases
    return list(dict.fromkeys(chosen))


async def _drain(worker: Worker, stop: asyncio.Event) -> None:
    draining = asyncio.create_task(worker.drain())
    stop_task = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait([draining, stop_task], return_when=asyncio.FIRST_COMPLETED)
        # The first cancellation lets a draining worker finish its running items.
        draining.cancel()
        await asyncio.wait([draining])
    finally:
        await cancel_tasks([draining, stop_task])
    if draining.cancelled():
        return
    if error := draining.exception():
        raise supervisor.crash_error("worker", error)
    typer.echo(f"{output.format_count(draining.result(), 'run')}; nothing is left that is due")
