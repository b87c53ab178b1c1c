"""Serve the site on a socket until stopped."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Generator
from typing import Protocol, runtime_checkable

import uvicorn
from starlette.types import ASGIApp

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
            )
        )

    async def run(self) -> None:
        await self._server.serve([self._listener])

    def stop(self) -> None:
        """Accept no more requests, finish open ones, and return from `run`."""
        self._server.should_exit = True
        if isinstance(self._app, Stoppable):
            self._app.stop()


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Leave signals to the caller: a worker may run in the same process."""
        yield
