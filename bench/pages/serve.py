"""Serves the site on an open socket, like `jobmill web` on this machine, but without rate limits."""

from __future__ import annotations

import asyncio
import socket
import sys

from jobmill.db import connect
from jobmill.web import site
from jobmill.web.local_access import LocalAccess
from jobmill.web.server import Server

UNLIMITED = 1_000_000


async def main(url: str, listener: socket.socket, cookie_key: bytes) -> None:
    async with connect(url) as database:
        guard = site.create_app(
            database,
            local=True,
            local_access=LocalAccess(cookie_key),
            public_per_minute=UNLIMITED,
        )
        await Server(guard, listener).run()


if __name__ == "__main__":
    asyncio.run(
        main(sys.argv[1], socket.socket(fileno=int(sys.argv[2])), bytes.fromhex(sys.argv[3]))
    )
