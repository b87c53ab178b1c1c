"""A forward proxy on loopback that sends all traffic of a browser through the address guard."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

import httpcore2

from jobmill.outside.guarded_transport import AddressGuard
from jobmill.outside.public_addresses import AddressRefused, parse_url

BUFFER_BYTES = 65_536
CONNECT_SECONDS = 10
_CONNECT = re.compile(r"CONNECT \[?([0-9a-z._:-]+?)\]?:(\d{1,5}) HTTP/1\.1", re.IGNORECASE)
_PLAIN = re.compile(r"([A-Z]{3,10}) (http://\S+) HTTP/1\.1")
# Headers for the proxy rather than the site; each connection serves one request.
_HOP_HEADERS = re.compile(r"(proxy-[a-z-]+|connection|keep-alive|host):", re.IGNORECASE)


class _TrafficExceeded(Exception):
    """The page has loaded more than its limit."""


class Proxy:
    """Forwards at most `budget` bytes in total."""

    def __init__(self, guard: AddressGuard, budget: int) -> None:
        self._guard = guard
        self._left = budget
        self._tasks: set[asyncio.Task[None]] = set()

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Our own task: asyncio would log an error when it cancels the one it creates.
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._forward(reader, writer)
        except (OSError, httpcore2.NetworkError, httpcore2.TimeoutException, _TrafficExceeded):
            pass  # The browser or the site closed the connection, or the limit was reached.
        finally:
            writer.close()

    async def _forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            host, port, first = self._read_head(head)
            site = await self._guard.connect_tcp(host, port, CONNECT_SECONDS)
        except (AddressRefused, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            writer.write(
                b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
            return
        except (httpcore2.NetworkError, httpcore2.TimeoutException):
            writer.write(
                b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
            )
            return
        try:
            if first:
                await site.write(first)
            else:
                writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
            await self._relay(reader, writer, site)
        finally:
            await site.aclose()

    def _read_head(self, head: str) -> tuple[str, int, bytes]:
        """The host, the port and the first bytes to send; raises AddressRefused."""
        line, _, rest = head.partition("\r\n")
        if tunnel := _CONNECT.fullmatch(line):
            return tunnel[1].lower(), int(tunnel[2]), b""
        plain = _PLAIN.fullmatch(line)
        if not plain:
            raise AddressRefused("not a request for a proxy")
        target = parse_url(plain[2], self._guard.private)
        headers = [
            header for header in rest.split("\r\n") if header and not _HOP_HEADERS.match(header)
        ]
        first = f"{plain[1]} {target.path} HTTP/1.1"
        lines = [first, f"Host: {target.authority}", "Connection: close", *headers, "", ""]
        return target.host, target.port, "\r\n".join(lines).encode("latin-1")

    async def _relay(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        site: httpcore2.AsyncNetworkStream,
    ) -> None:
        async def answer(chunk: bytes) -> None:
            writer.write(chunk)
            await writer.drain()

        up = asyncio.create_task(self._copy(lambda: reader.read(BUFFER_BYTES), site.write))
        try:
            await self._copy(lambda: site.read(BUFFER_BYTES), answer)
        finally:
            up.cancel()
            with suppress(
                asyncio.CancelledError, OSError, httpcore2.NetworkError, _TrafficExceeded
            ):
                await up

    async def _copy(
        self, read: Callable[[], Awaitable[bytes]], write: Callable[[bytes], Awaitable[None]]
    ) -> None:
        while chunk := await read():
            self._left -= len(chunk)
            if self._left < 0:
                raise _TrafficExceeded
            await write(chunk)


@asynccontextmanager
async def open_proxy(guard: AddressGuard, budget: int) -> AsyncGenerator[str]:
    """Run a proxy for the duration of the block; yields its address."""
    proxy = Proxy(guard, budget)
    server = await asyncio.start_server(proxy.accept, "127.0.0.1", 0, limit=BUFFER_BYTES)
    try:
        host, port = server.sockets[0].getsockname()[:2]
        yield f"{host}:{port}"
    finally:
        server.close()
        await proxy.stop()
