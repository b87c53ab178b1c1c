"""jobmill up, web, worker: the processes that stay."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import os
import socket
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Sequence
from typing import TYPE_CHECKING, Annotated
from urllib.parse import urlsplit

import typer

from jobmill import app
from jobmill.cli.queue import tables
from jobmill.cli.servers import supervisor
from jobmill.cli.servers.supervisor import Part
from jobmill.cli.support import environment
from jobmill.db import CONNECTION_ERRORS, Database, redact_passwords
from jobmill.demo import session, setup
from jobmill.errors import Invalid, Unavailable
from jobmill.outside.fetch import open_fetch
from jobmill.outside.model import open_model
from jobmill.people import persons
from jobmill.queue import Stages, Worker, alerts
from jobmill.queue.worker import STAGE_ANSWER_LIMIT
from jobmill.settings import Settings, split_list
from jobmill.tools import Tools
from jobmill.web import site
from jobmill.web.server import Server
from jobmill.web.site_settings import SiteSettings

if TYPE_CHECKING:
    Prepare = Callable[[Database], Awaitable[object]]

log = logging.getLogger(__name__)

Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="KIND/STAGE", help="Run only this phase; may be repeated."),
]
Drain = Annotated[bool, typer.Option("--drain", help="End when nothing is left that is due.")]


def up(
    demo: Annotated[
        bool,
        typer.Option(help="Begin with the demo where the database is new and nobody else sees it."),
    ] = True,
) -> None:
    """Start everything in one process: the database, the web pages and a worker."""
    settings = quiet_settings()
    listener = listen(settings)
    run_all(settings, listener, _show_demo if demo and is_local(listener, settings) else None)


async def _show_demo(database: Database) -> None:
    async with database.transaction() as tx:
        if await setup.is_first(tx):
            await setup.begin(tx)


def run_all(settings: Settings, listener: socket.socket, prepare: Prepare | None = None) -> None:
    """The same, after `prepare` was done; when somebody ends a demo, it begins anew without it."""

    async def main(stop: asyncio.Event) -> None:
        # Whoever calls between two servers waits at the socket, which stays open all the time.
        await _run_all(settings, listener.dup(), stop, prepare)
        while not stop.is_set():
            typer.echo("The demo has ended; now it is yours.")
            await _run_all(settings, listener.dup(), stop)

    with listener:
        supervisor.stay(main)


async def _run_all(
    settings: Settings,
    listener: socket.socket,
    stop: asyncio.Event,
    prepare: Prepare | None = None,
) -> None:
    """Until `stop` is set, or the demo is over."""
    async with environment.open_database(settings, answer_limit=STAGE_ANSWER_LIMIT) as database:
        await _check_admin(database, listener, settings)
        if prepare:
            await app.declare_stages(Tools(database), settings)
            await prepare(database)
        # The worker's heartbeat must not queue for a connection behind people who look at pages.
        async with (
            session.staged(settings, database) as staged,
            environment.open_web_database(settings, database, size=4) as web_database,
            open_fetch(database, staged.settings) as fetch,
            open_model(database, staged.settings) as model,
        ):
            settings, life = staged.settings, staged.life
            tools = Tools(database, fetch, model)
            await app.declare_stages(tools, settings)
            await app.declare_schedules(tools)
            both = [
                _web(web_database, listener, settings),
                _worker(app.build_worker(tools, settings)),
            ]
            _say(
                page=address(listener, settings),
                database=_place(settings, database),
                work=_work(app.build_stages(tools, settings)),
                **({"demo": "all of it is fiction; `jobmill demo clear` ends it"} if life else {}),
                stop="Ctrl-C",
            )
            if life is None:
                await supervisor.run(both, stop)
                return
            async with supervisor.either(stop, life.over) as halt:
                with _hushed("jobmill.outside", "jobmill.queue", "jobmill.catalog"):
                    await supervisor.run(
                        [*both, supervisor.Part("demo", life.run, life.stop)], halt
                    )


@contextlib.contextmanager
def _hushed(*names: str) -> Generator[None]:
    """Without their warnings: the troubles of the demo are told by its pages."""
    loggers = [logging.getLogger(name) for name in names]
    before = [one.level for one in loggers]
    for one in loggers:
        one.setLevel(logging.ERROR)
    yield
    for one, level in zip(loggers, before, strict=True):
        one.setLevel(level)


def web() -> None:
    """Serve the web pages; a worker elsewhere does the work."""
    settings = quiet_settings()
    listener = listen(settings)

    async def main(stop: asyncio.Event) -> None:
        async with (
            environment.open_database(settings, answer_limit=environment.ANSWER_LIMIT) as database,
            _web_database(settings, database) as web_database,
        ):
            await _check_admin(database, listener, settings)
            both = [_web(web_database, listener, settings), _watch(database)]
            _say(
                page=address(listener, settings), database=_place(settings, database), stop="Ctrl-C"
            )
            await supervisor.run(both, stop)

    supervisor.stay(main)


def worker(only: Only = None, drain: Drain = False) -> None:
    """Do the work that waits in the queue, until stopped. Start as many as you like."""
    settings = quiet_settings()

    async def main(stop: asyncio.Event) -> None:
        async with (
            environment.open_database(settings, answer_limit=STAGE_ANSWER_LIMIT) as database,
            session.staged(settings, database) as staged,
            open_fetch(database, staged.settings) as fetch,
            open_model(database, staged.settings) as model,
        ):
            tools = Tools(database, fetch, model)
            await app.declare_stages(tools, staged.settings)
            await app.declare_schedules(tools)
            stages = app.build_stages(tools, staged.settings)
            phases = choose(stages, only) if only else None
            worker = app.build_worker(tools, staged.settings, only=phases)
            if drain:
                await _drain(worker, stop)
                return
            chosen = {phase: stages[phase] for phase in phases or stages}
            _say(work=_work(chosen), database=_place(settings, database), stop="Ctrl-C")
            await supervisor.run([_worker(worker)], stop)

    supervisor.stay(main)


def listen(settings: Settings) -> socket.socket:
    """A socket for the pages; refused where nobody could call them by a name."""
    host, port = settings.web_host, settings.web_port
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise Invalid(f"web_host {host} names no address of this machine: {error}") from error
    if ipaddress.ip_address(found[0][4][0]).is_unspecified and not names(settings):
        raise Invalid(
            f"web_host is {host}, which stands for all addresses of this machine: set web_names "
            "(JOBMILL_WEB_NAMES) to the names and addresses that people will call the pages by"
        )
    family, kind, protocol, _, address = found[0]
    listener = socket.socket(family, kind, protocol)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind(address)
    except OSError as error:
        listener.close()
        raise Unavailable(
            f"cannot serve pages on {host}:{port}: {error.strerror}; stop what listens there, or "
            "set web_port (JOBMILL_WEB_PORT) to another port, 0 for any free one"
        ) from error
    return listener


def is_local(listener: socket.socket, settings: Settings) -> bool:
    """Whether nobody but this machine is meant to reach the pages."""
    bound = ipaddress.ip_address(listener.getsockname()[0].partition("%")[0])
    # Names and proxies are for others, who come through a proxy on this machine.
    return bound.is_loopback and not names(settings) and not settings.trusted_proxies


def names(settings: Settings) -> list[str]:
    """What the pages are called by, beside their address."""
    public = urlsplit(settings.public_url).hostname
    own = (settings.web_host, "localhost", "127.0.0.1", "::1")
    return [*split_list(settings.web_names), *([public] if public and public not in own else [])]


async def _check_admin(database: Database, listener: socket.socket, settings: Settings) -> None:
    if is_local(listener, settings):
        return
    async with database.transaction() as tx:
        if not await persons.has_admin(tx):
            raise Unavailable(
                "other machines can reach these pages, and there is nobody yet who may sign in: "
                "first make an admin with `jobmill person add NAME EMAIL --role admin`"
            )


def address(listener: socket.socket, settings: Settings) -> str:
    name = (names(settings) or [settings.web_host])[0]
    host = f"[{name}]" if ":" in name else name
    return f"http://{host}:{listener.getsockname()[1]}/"


def choose(stages: Stages, names: Sequence[str]) -> list[tuple[str, str]]:
    """The phases that were named, each by itself or by its kind; Invalid for one we do not have."""
    chosen: list[tuple[str, str]] = []
    for name in names:
        found = [phase for phase in stages if name in (phase[0], "/".join(phase))]
        if not found:
            known = ", ".join("/".join(phase) for phase in stages)
            raise Invalid(f"--only {name}: nothing here runs that; known phases: {known}")
        chosen += found
    return list(dict.fromkeys(chosen))


def quiet_settings() -> Settings:
    """The settings, for a process that stays."""
    settings = environment.load()
    # They tell of every connection and every start; we say what a person wants to know of that.
    for noisy in ("psycopg.pool", "uvicorn"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    return settings


def _web(database: Database, listener: socket.socket, settings: Settings) -> Part:
    made = site.create_app(
        database,
        hosts=[settings.web_host, *names(settings)],
        local=is_local(listener, settings),
        proxies=split_list(settings.trusted_proxies),
        public_per_minute=settings.public_requests_per_minute,
        site_settings=SiteSettings.from_settings(settings, os.environ),
    )
    server = Server(made, listener)
    return Part("web server", server.run, server.stop)


@contextlib.asynccontextmanager
async def _web_database(settings: Settings, database: Database) -> AsyncGenerator[Database]:
    """Without a connection pooler, a process that only serves pages needs no second pool."""
    if settings.database_pooler == "none":
        yield database
        return
    async with environment.open_web_database(settings, database) as web_database:
        yield web_database


def _worker(worker: Worker) -> Part:
    return Part("worker", worker.run, worker.stop)


def _watch(database: Database) -> Part:
    """The dead man's switch: workers keep watch themselves, so this speaks when all are dead."""
    over = asyncio.Event()

    async def run() -> None:
        while not over.is_set():
            try:
                async with database.transaction() as tx:
                    await alerts.check_rules(tx)
            except CONNECTION_ERRORS as error:
                log.warning("could not keep watch", extra={"error": str(error)})
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), alerts.CHECK_EVERY)

    return Part("watch", run, over.set)


async def _drain(worker: Worker, stop: asyncio.Event) -> None:
    draining = asyncio.create_task(worker.drain())
    asked = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait([draining, asked], return_when=asyncio.FIRST_COMPLETED)
        # To a worker that drains, being cancelled once means to stop in peace.
        draining.cancel()
        await asyncio.wait([draining])
    finally:
        await supervisor.cancel([draining, asked])
    if draining.cancelled():
        return
    if error := draining.exception():
        raise supervisor.crash("worker", error)
    typer.echo(f"{tables.count(draining.result(), 'run')}; nothing is left that is due")


def _place(settings: Settings, database: Database) -> str:
    if settings.database_pooler == "transaction":
        return f"{redact_passwords(database.url)}; web pages through {redact_passwords(settings.database_url)}"
    if settings.database_url:
        return redact_passwords(database.url)
    return f"the PostgreSQL that we bring, in {settings.data_dir / 'postgres'}"


def _work(stages: Stages) -> str:
    processors = sum(stage.processors for stage in stages.values())
    few = len(stages) <= 3
    names = dict.fromkeys("/".join(phase) if few else phase[0] for phase in stages)
    phases = tables.count(len(stages), "phase")
    return f"{', '.join(names)}: {phases}, {tables.count(processors, 'processor')}"


def _say(**lines: str) -> None:
    typer.echo("Jobmill is running.")
    for name, text in lines.items():
        typer.echo(f"  {name:<10}{text}")
