"""jobmill web: serve the web pages."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import socket
from collections.abc import AsyncGenerator
from functools import partial

from jobmill import settings as all_settings
from jobmill.cli.servers import local_server_files, startup, supervisor
from jobmill.cli.servers.listener import listen, page_address, public_names, require_admin
from jobmill.cli.servers.supervisor import Service
from jobmill.cli.support import environment
from jobmill.db import CONNECTION_ERRORS, Database
from jobmill.queue import alerts
from jobmill.settings import Settings, split_list
from jobmill.web import local_access, site
from jobmill.web.local_access import LocalAccess
from jobmill.web.server import Server
from jobmill.web.site_settings import SiteSettings

log = logging.getLogger(__name__)


def web() -> None:
    """Serve the web pages only; start `jobmill worker` elsewhere to run the queue."""
    settings = startup.load_quiet_settings()
    listener = listen(settings)
    with local_server_files.announce(settings, listener) as access:
        supervisor.run_until_stopped(partial(_serve, settings, listener, access))


async def _serve(
    settings: Settings,
    listener: socket.socket,
    access: LocalAccess | None,
    stop: asyncio.Event,
) -> None:
    async with (
        environment.open_database(settings, answer_limit=environment.ANSWER_LIMIT) as database,
        _open_pool(settings, database) as web_database,
    ):
        await require_admin(database, listener, settings)
        settings = await environment.apply_stored_settings(settings, database)
        services = [
            web_service(web_database, listener, settings, access),
            _alert_service(database),
        ]
        startup.print_startup(
            page=page_url(listener, settings, access),
            database=startup.describe_database(settings, database),
            stop="Ctrl-C",
        )
        await supervisor.run_services(services, stop)


def web_service(
    database: Database, listener: socket.socket, settings: Settings, access: LocalAccess | None
) -> Service:
    application = site.create_app(
        database,
        hosts=[settings.web_host, *public_names(settings)],
        local=access is not None,
        local_access=access,
        proxies=split_list(settings.trusted_proxies),
        public_per_minute=settings.public_requests_per_minute,
        site_settings=SiteSettings.from_settings(
            settings, os.environ, at_start=all_settings.load()[0]
        ),
    )
    server = Server(application, listener)
    return Service("web server", server.run, server.stop)


def page_url(listener: socket.socket, settings: Settings, access: LocalAccess | None) -> str:
    """The address to open; on a local server the link that admits its user, once."""
    address = page_address(listener, settings)
    return local_access.create_link(address.rstrip("/"), access.link_key) if access else address


@contextlib.asynccontextmanager
async def _open_pool(settings: Settings, database: Database) -> AsyncGenerator[Database]:
    """The pool of the process itself, or a second one through the connection pooler."""
    if settings.database_pooler == "none":
        yield database
        return
    async with environment.open_web_database(settings, database) as web_database:
        yield web_database


def _alert_service(database: Database) -> Service:
    """Check the alert rules here, too: workers do so themselves unless all are dead."""
    stopped = asyncio.Event()

    async def run() -> None:
        while not stopped.is_set():
            try:
                async with database.transaction() as tx:
                    await alerts.check_rules(tx)
            except CONNECTION_ERRORS as error:
                log.warning("cannot check the alert rules", extra={"error": str(error)})
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(stopped.wait(), alerts.CHECK_EVERY)

    return Service("alert check", run, stopped.set)
