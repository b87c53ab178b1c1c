"""Serve the site on a socket until stopped."""

from __future__ import annotations

import contextlib
import resource
import socket
from collections.abc import Generator
from typing import Any, Protocol, cast, runtime_checkable

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle

HEADER_SECONDS = 10.0
"""A connection without a complete request is closed after this time, and at the latest after twice as long."""
MAX_CONNECTIONS = 2_000
"""Further clients get status 503 at once."""
WANTED_FILES = 8_192
SHUTDOWN_SECONDS = 5
"""Time for open requests to finish after `stop`."""


@runtime_checkable
class Stoppable(Protocol):
    def stop(self) -> None: ...


class Server:
    def __init__(self, app: ASGIApp, listener: socket.socket) -> None:
        # Headers and body are two writes: without TCP_NODELAY the second waits for a delayed ACK
        # (40 ms). Connections inherit the option from the listener.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Clients that connect from now on wait until the server has started.
        listener.listen()
        _raise_file_limit()
        self._listener = listener
        self._app = app
        self._server = _Server(
            uvicorn.Config(
                app,
                lifespan="off",
                ws="none",
                log_config=None,
                log_level="warning",
                access_log=False,
                server_header=False,
                proxy_headers=False,
                timeout_graceful_shutdown=SHUTDOWN_SECONDS,
                limit_concurrency=MAX_CONNECTIONS,
                http=_HttpProtocol,
            )
        )

    async def run(self) -> None:
        await self._server.serve([self._listener])

    def stop(self) -> None:
        """Accept no more requests, finish open ones, and return from `run`."""
        self._server.should_exit = True
        if isinstance(self._app, Stoppable):
            self._app.stop()


def _raise_file_limit() -> None:
    """Each connection is an open file; many systems allow only 1,024 at first."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = WANTED_FILES if hard == resource.RLIM_INFINITY else min(WANTED_FILES, hard)
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class _HttpProtocol(HttpToolsProtocol):
    """Closes connections that do not send a complete header in time."""

    _last_cycle: object = None
    _waited = False

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self.loop.call_later(HEADER_SECONDS, self._check)

    def _check(self) -> None:
        if self.transport.is_closing():
            return
        cycle = cast(RequestResponseCycle | None, self.cycle)
        waits = cycle is None or cycle.response_complete
        if waits and self._waited and self._last_cycle is self.cycle:
            self.transport.close()
            return
        self._waited, self._last_cycle = waits, self.cycle
        self.loop.call_later(HEADER_SECONDS, self._check)


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave signals to the caller: a worker may run in the same process."""
        yield
