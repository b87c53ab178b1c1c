"""A process that stays is made of parts: they run side by side and stop together."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, cast

import typer

from jobmill.db import CONNECTION_ERRORS
from jobmill.errors import AppError, Unavailable

log = logging.getLogger(__name__)

AT_ONCE = 130
"""The exit code of a process that was not given the time to stop."""


class Crashed(AppError):
    """A part of a process ended though nobody asked it to."""


@dataclass(frozen=True, slots=True)
class Part:
    name: str
    run: Callable[[], Awaitable[object]]
    stop: Callable[[], object]


def stay(main: Callable[[asyncio.Event], Coroutine[Any, Any, None]]) -> None:
    """Run `main`, whose event the first Ctrl-C or SIGTERM sets; the second one cancels it."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        try:
            runner.run(_until_told(main))
        except asyncio.CancelledError:
            typer.echo("Stopped at once; what ran goes back to the queue in a while.", err=True)
            raise typer.Exit(AT_ONCE) from None
        except CONNECTION_ERRORS as error:
            raise Unavailable(f"the database went away: {error}") from error


async def run(parts: Sequence[Part], stop: asyncio.Event) -> None:
    """Run all parts until `stop` is set; Crashed where one ends before that."""
    tasks = [asyncio.create_task(_run(part)) for part in parts]
    asked = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait([*tasks, asked], return_when=asyncio.FIRST_COMPLETED)
        early = None if stop.is_set() else next(task for task in tasks if task.done())
        for part, task in zip(parts, tasks, strict=True):
            if not task.done():
                part.stop()
        await asyncio.wait(tasks)
    finally:
        await cancel([*tasks, asked])
    for part, task in zip(parts, tasks, strict=True):
        if error := task.exception():
            raise crash(part.name, error)
        if task is early:
            raise Crashed(f"the {part.name} ended by itself; everything was stopped")


@contextlib.asynccontextmanager
async def either(*events: asyncio.Event) -> AsyncGenerator[asyncio.Event]:
    """An event that is set as soon as one of these is."""
    any_of = asyncio.Event()

    async def wait(one: asyncio.Event) -> None:
        await one.wait()
        any_of.set()

    tasks = [asyncio.create_task(wait(one)) for one in events]
    try:
        yield any_of
    finally:
        await cancel(tasks)


async def cancel(tasks: Sequence[asyncio.Task[Any]]) -> None:
    """End what has not ended yet, and wait for it."""
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


def crash(name: str, error: BaseException) -> Crashed:
    return Crashed(f"the {name} crashed: {_cause(error)}; everything was stopped")


async def _run(part: Part) -> None:
    try:
        await part.run()
    except BaseException as error:
        if not isinstance(error, asyncio.CancelledError):
            log.error("crashed", extra={"part": part.name}, exc_info=error)
        raise


def _cause(error: BaseException) -> str:
    """The innermost error of a group: what a person wants to read first."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return f"{type(error).__qualname__}: {error}"


async def _until_told(main: Callable[[asyncio.Event], Coroutine[Any, Any, None]]) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task

    def told() -> None:
        if not stop.is_set():
            typer.echo("Stopping; Ctrl-C again stops at once.", err=True)
            stop.set()
            return
        # A third one is not ours any more: it ends the process, whatever hangs.
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)
        task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, told)
    await main(stop)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
