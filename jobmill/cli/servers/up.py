"""jobmill up: the database, the web pages and a worker in one process."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
from collections.abc import Awaitable, Callable, Generator
from typing import Annotated, TypeAlias

import typer

from jobmill import app
from jobmill.cli.servers import local_server_files, startup, supervisor
from jobmill.cli.servers.listener import is_local, listen, require_admin
from jobmill.cli.servers.supervisor import Service
from jobmill.cli.servers.web import page_url, web_service
from jobmill.cli.servers.worker import worker_service
from jobmill.cli.support import environment
from jobmill.cli.support.open_tools import open_tools
from jobmill.db import Database
from jobmill.demo import setup
from jobmill.queue.worker import STAGE_ANSWER_LIMIT
from jobmill.settings import Settings
from jobmill.tools import Tools
from jobmill.web.local_access import LocalAccess

Prepare: TypeAlias = Callable[[Database], Awaitable[object]]

LOGGERS_OF_DEMO = ("jobmill.outside", "jobmill.queue", "jobmill.catalog")
"""Their warnings are about fictional failures, which the demo shows on its pages."""


def up(
    demo: Annotated[
        bool,
        typer.Option(help="Begin with the demo if the database is new and the pages are local."),
    ] = True,
    host: Annotated[
        str | None, typer.Option(help="Address to serve the pages on, instead of web_host.")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65_535, help="Port, instead of web_port; 0 for any free one."),
    ] = None,
) -> None:
    """Start everything in one process: the database, the web pages and a worker."""
    settings = replace_address(startup.load_quiet_settings(), host, port)
    startup.hide_routine_lines()
    listener = listen(settings)
    run_all(settings, listener, _begin_demo if demo and is_local(listener, settings) else None)


def replace_address(settings: Settings, host: str | None, port: int | None) -> Settings:
    """The settings with the address of the command line, where it names one."""
    address = {"web_host": host, "web_port": port}
    return settings.model_copy(
        update={name: part for name, part in address.items() if part is not None}
    )


async def _begin_demo(database: Database) -> None:
    async with database.transaction() as tx:
        if await setup.is_first_start(tx):
            await setup.start_demo(tx)


def run_all(settings: Settings, listener: socket.socket, prepare: Prepare | None = None) -> None:
    """Call `prepare`, then run everything; when a demo ends, start again without it."""

    with listener, local_server_files.announce(settings, listener) as access:

        async def main(stop: asyncio.Event) -> None:
            # The socket stays open between two servers, so that requests wait instead of failing.
            await _run_services(settings, listener.dup(), access, stop, prepare)
            while not stop.is_set():
                typer.echo("The demo has ended. Jobmill is now empty and ready for your data.")
                await _run_services(settings, listener.dup(), access, stop)

        supervisor.run_until_stopped(main)


async def _run_services(
    settings: Settings,
    listener: socket.socket,
    access: LocalAccess | None,
    stop: asyncio.Event,
    prepare: Prepare | None = None,
) -> None:
    """Run until `stop` is set, or until the demo ends."""
    async with environment.open_database(settings, answer_limit=STAGE_ANSWER_LIMIT) as database:
        await require_admin(database, listener, settings)
        if prepare:
            await app.declare_stages(Tools(database), settings)
            await prepare(database)
        # The pages have their own pool, so that heartbeats never wait behind page requests.
        async with (
            open_tools(settings, database) as (staged, tools),
            environment.open_web_database(settings, database, size=4) as web_database,
        ):
            settings, life = staged.settings, staged.clock
            await app.declare_stages(tools, settings)
            await app.declare_schedules(tools)
            services = [
                web_service(web_database, listener, settings, access),
                worker_service(app.build_worker(tools, settings)),
            ]
            startup.print_startup(
                page=page_url(listener, settings, access),
                database=startup.describe_database(settings, database),
                work=startup.describe_stages(app.build_stages(tools, settings)),
                **({"demo": "all data is fictional; `jobmill demo clear` ends it"} if life else {}),
                stop="Ctrl-C",
            )
            if life is None:
                await supervisor.run_services(services, stop)
                return
            services.append(Service("demo", life.run, life.stop))
            async with supervisor.any_event(stop, life.over) as stop_or_demo_end:
                with _without_warnings(*LOGGERS_OF_DEMO):
                    await supervisor.run_services(services, stop_or_demo_end)


@contextlib.contextmanager
def _without_warnings(*names: str) -> Generator[None]:
    loggers = [logging.getLogger(name) for name in names]
    levels = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.ERROR)
    yield
    for logger, level in zip(loggers, levels, strict=True):
        logger.setLevel(level)
