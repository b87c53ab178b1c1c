"""Run the services of a process side by side, and stop them together."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import signal
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, cast

import typer

from jobmill.db import CONNECTION_ERRORS
from jobmill.db.cancellation import cancel_tasks
from jobmill.errors import AppError, Unavailable

log = logging.getLogger(__name__)

STOPPED_AT_ONCE = 130
"""The exit code after a second Ctrl-C."""

STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class ServiceCrashed(AppError):
    """A service ended without being stopped."""


@dataclass(frozen=True, slots=True)
class Service:
    name: str
    run: Callable[[], Awaitable[object]]
    stop: Callable[[], object]


def run_until_stopped(main: Callable[[asyncio.Event], Coroutine[Any, Any, None]]) -> None:
    """Run `main`. The first Ctrl-C or SIGTERM sets its event, the second one cancels it."""
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        try:
            runner.run(_handle_signals(main))
        except asyncio.CancelledError:
            typer.echo("Stopped at once; running items return to the queue in a while.", err=True)
            raise typer.Exit(STOPPED_AT_ONCE) from None
        except CONNECTION_ERRORS as error:
            raise Unavailable(f"the connection to the database was lost: {error}") from error


async def run_services(services: Sequence[Service], stop: asyncio.Event) -> None:
    """Run all services until `stop` is set, or until one of them ends: ServiceCrashed."""
    # Routes stay as modules do: a collection that searches them holds up all requests for 0.2 s.
    gc.freeze()
    tasks = [asyncio.create_task(_run_and_log(service)) for service in services]
    stop_task = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait([*tasks, stop_task], return_when=asyncio.FIRST_COMPLETED)
        ended_early = None if stop.is_set() else next(task for task in tasks if task.done())
        for service, task in zip(services, tasks, strict=True):
            if not task.done():
                service.stop()
        await asyncio.wait(tasks)
    finally:
        await cancel_tasks([*tasks, stop_task])
    for service, task in zip(services, tasks, strict=True):
        if error := task.exception():
            raise crash_error(service.name, error)
        if task is ended_early:
            raise ServiceCrashed(f"the {service.name} ended by itself; everything was stopped")


@contextlib.asynccontextmanager
async def any_event(*events: asyncio.Event) -> AsyncGenerator[asyncio.Event]:
    """An event that is set as soon as one of these is."""
    any_set = asyncio.Event()

    async def forward(event: asyncio.Event) -> None:
        await event.wait()
        any_set.set()

    tasks = [asyncio.create_task(forward(event)) for event in events]
    try:
        yield any_set
    finally:
        await cancel_tasks(tasks)


def crash_error(name: str, error: BaseException) -> ServiceCrashed:
    return ServiceCrashed(f"the {name} crashed: {_innermost(error)}; everything was stopped")


async def _run_and_log(service: Service) -> None:
    try:
        await service.run()
    except BaseException as error:
        if not isinstance(error, asyncio.CancelledError):
            log.error("crashed", extra={"part": service.name}, exc_info=error)
        raise


def _innermost(error: BaseException) -> str:
    """The first error inside nested exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    return f"{type(error).__qualname__}: {error}"


async def _handle_signals(main: Callable[[asyncio.Event], Coroutine[Any, Any, None]]) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    task = asyncio.current_task()
    assert task

    def on_signal() -> None:
        if not stop.is_set():
            typer.echo("Stopping; Ctrl-C again stops at once.", err=True)
            stop.set()
            return
        # Leave a third signal to the operating system, which ends a process that hangs.
        for number in STOP_SIGNALS:
            loop.remove_signal_handler(number)
            signal.signal(number, signal.SIG_DFL)
        task.cancel()

    for number in STOP_SIGNALS:
        loop.add_signal_handler(number, on_signal)
    await main(stop)


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop
