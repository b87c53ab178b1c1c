"""A web server on loopback with handlers set by the test; it records all requests.

async with open_site() as site:
    site.on("/jobs", reply(b"[]", content_type="application/json"))
    site.on("/odd", raw(b"HTTP/1.1 200 OK\\r\\nContent-Length: 9\\r\\n\\r\\nshort"))
    ... site.url("/jobs"), site.requests_to("/jobs"), site.max_concurrent
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class ReceivedRequest:
    """One request as the server received it."""

    method: str
    path: str
    """Including the query."""
    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes
    at: float
    """By the clock of the event loop."""


@dataclass(slots=True)
class ResponseWriter:
    """The connection to the client."""

    writer: asyncio.StreamWriter

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    def reset(self) -> None:
        """Abort the connection."""
        self.writer.transport.abort()


Handler: TypeAlias = Callable[[ReceivedRequest, ResponseWriter], Awaitable[None]]


def reply(
    body: bytes = b"", status: int = 200, content_type: str = "text/html", **headers: str
) -> Handler:
    """A plain response; header names are written with underscores."""
    lines = [f"{name.replace('_', '-')}: {text}" for name, text in headers.items()]
    head = [f"HTTP/1.1 {status} X", f"Content-Type: {content_type}", *lines]
    text = "\r\n".join([*head, f"Content-Length: {len(body)}", "", ""]).encode("latin-1")
    return raw(text + body)


def redirect(to: str, status: int = 302) -> Handler:
    return reply(b"", status, location=to)


def raw(data: bytes) -> Handler:
    """Send exactly these bytes and close."""

    async def handle(request: ReceivedRequest, out: ResponseWriter) -> None:
        await out.send(data)

    return handle


def in_turn(*handlers: Handler) -> Handler:
    """Use one handler per request; the last one is repeated."""
    left = list(handlers)

    async def handle(request: ReceivedRequest, out: ResponseWriter) -> None:
        await (left.pop(0) if len(left) > 1 else left[0])(request, out)

    return handle


@dataclass
class LoopbackSite:
    port: int = 0
    requests: list[ReceivedRequest] = field(default_factory=list)
    max_concurrent: int = 0
    _now: int = 0
    _handlers: dict[str, Handler] = field(default_factory=dict)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    @property
    def place(self) -> str:
        """host:port, the format of the setting private_hosts."""
        return f"127.0.0.1:{self.port}"

    def url(self, path: str = "/") -> str:
        return f"http://{self.place}{path}"

    def on(self, path: str, handler: Handler) -> None:
        """Set the handler of a path, for any query; other paths return 404."""
        self._handlers[path] = handler

    def requests_to(self, path: str) -> list[ReceivedRequest]:
        return [request for request in self.requests if request.path.partition("?")[0] == path]

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError, ssl.SSLError):
                request = await _read(reader)
                self.requests.append(request)
                await self._handle(request, ResponseWriter(writer))
        finally:
            writer.close()

    async def _handle(self, request: ReceivedRequest, out: ResponseWriter) -> None:
        self._now += 1
        self.max_concurrent = max(self.max_concurrent, self._now)
        try:
            await self._handlers.get(request.path.partition("?")[0], reply(status=404))(
                request, out
            )
        finally:
            self._now -= 1

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def open_site(tls: ssl.SSLContext | None = None) -> AsyncIterator[LoopbackSite]:
    site = LoopbackSite()
    server = await asyncio.start_server(site.accept, "127.0.0.1", 0, ssl=tls)
    site.port = server.sockets[0].getsockname()[1]
    try:
        yield site
    finally:
        server.close()
        await site.stop()


async def _read(reader: asyncio.StreamReader) -> ReceivedRequest:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    method, path, _ = first.split(" ")
    headers = {name.lower(): text.strip() for name, _, text in (li.partition(":") for li in lines)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return ReceivedRequest(method, path, headers, body, asyncio.get_running_loop().time())
