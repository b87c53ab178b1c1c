"""Serves the site on an open socket, like `jobmill web` on this machine, but without rate limits."""

from __future__ import annotations

import asyncio
import socket
import sys
from functools import partial

from jobmill.cli.servers import supervisor
from jobmill.cli.servers.supervisor import Service
from jobmill.db import connect
from jobmill.web import site
from jobmill.web.local_access import LocalAccess
from jobmill.web.server import Server

UNLIMITED = 1_000_000


async def main(url: str, listener: socket.socket, cookie_key: bytes, stop: asyncio.Event) -> None:
    async with connect(url) as database:
        guard = site.create_app(
            database,
            local=True,
            local_access=LocalAccess(cookie_key),
            public_per_minute=UNLIMITED,
        )
        server = Server(guard, listener)
        services = [Service("web server", server.run, server.stop)]
        await supervisor.run_services(services, stop)


if __name__ == "__main__":
    listener = socket.socket(fileno=int(sys.argv[2]))
    supervisor.run_until_stopped(partial(main, sys.argv[1], listener, bytes.fromhex(sys.argv[3])))
