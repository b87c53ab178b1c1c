"""Serves the site on a socket until told to stop."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Generator
from typing import Protocol, runtime_checkable

import uvicorn
from starlette.types import ASGIApp

GRACE = 5
"""Seconds that a request may go on for after the server was told to stop."""


@runtime_checkable
class Stoppable(Protocol):
    def stop(self) -> None: ...


class Server:
    def __init__(self, app: ASGIApp, listener: socket.socket) -> None:
        # The head and the body of an answer are two writes: the second must not wait for a word of
        # the reader, which many of them give 40 ms later. Connections have it from their listener.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        # Whoever comes from now on waits for the moment that the server needs to begin.
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
                timeout_graceful_shutdown=GRACE,
            )
        )

    async def run(self) -> None:
        await self._server.serve([self._listener])

    def stop(self) -> None:
        """Take no more requests, finish those there are, and return from `run`."""
        self._server.should_exit = True
        if isinstance(self._app, Stoppable):
            self._app.stop()


class _Server(uvicorn.Server):
    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        """Signals are for whoever started us: there may be a worker in this process too."""
        yield
