"""A proxy between any process and PostgreSQL that injects network faults.

It reads the wire protocol far enough to know where a request ends and where its answer does, so a test
can cut a connection before a statement reaches the server, or after the server executed it and before
the client learns of it.
"""

from __future__ import annotations

import asyncio
import struct
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Literal

from psycopg.conninfo import conninfo_to_dict, make_conninfo

Direction = Literal["requests", "answers"]
Action = Literal["forward", "cut before", "cut after", "lose answer"]
"""`lose answer`: the server executes the request; the connection stays open and silent."""

FRONTEND_ENDS = b"QS"
"""Query and Sync end a request; the server answers each with one ReadyForQuery."""


@dataclass(frozen=True)
class Request:
    """What a client sent up to the point where it waits for an answer."""

    sql: str
    connection: int

    @property
    def is_commit(self) -> bool:
        return self.sql.startswith("COMMIT")


@dataclass(eq=False)
class Link:
    """One proxied connection."""

    number: int
    client: asyncio.StreamWriter
    server: asyncio.StreamWriter
    lost: set[Direction] = field(default_factory=set[Direction])
    cut_after_answer: bool = False
    lose_from_answer: bool = False

    def cut(self) -> None:
        """Reset the connection."""
        self.client.transport.abort()
        self.server.transport.abort()

    def black_hole(self) -> None:
        """Drop everything, without a reset."""
        self.lost |= {"requests", "answers"}

    def lose_requests(self) -> None:
        self.lost.add("requests")

    def lose_answers(self) -> None:
        self.lost.add("answers")

    def half_open(self) -> None:
        """Close the server's side without telling the client."""
        self.black_hole()
        self.server.transport.abort()


class FaultProxy:
    def __init__(self, url: str) -> None:
        self._target = conninfo_to_dict(url)
        self.direct_url = url
        self.url = ""
        self.links: set[Link] = set()
        self.delay = 0.0
        self.refusing = False
        """Close new connections at once, as a host without a server does."""
        self.decide: Callable[[Request], Action] = lambda request: "forward"
        self.port = 0
        self._count = 0

    def each(self, fault: Callable[[Link], None]) -> None:
        """The fault on all existing connections; new ones work."""
        for link in list(self.links):
            fault(link)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[FaultProxy]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        # Encrypted traffic cannot be read, and a Unix socket has no network to lose.
        self.url = make_conninfo(
            self.direct_url,
            host="127.0.0.1",
            port=self.port,
            sslmode="disable",
            gssencmode="disable",
        )
        try:
            yield self
        finally:
            server.close()
            while self.links:
                for link in list(self.links):
                    link.cut()
                await asyncio.sleep(0.01)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.refusing:
            writer.transport.abort()
            return
        try:
            server_reader, server_writer = await self._open()
        except OSError:
            writer.transport.abort()
            return
        self._count += 1
        link = Link(self._count, writer, server_writer)
        self.links.add(link)
        try:
            await self._relay(link, reader, server_reader)
        finally:
            self.links.discard(link)
            link.cut()

    async def _relay(
        self, link: Link, reader: asyncio.StreamReader, server_reader: asyncio.StreamReader
    ) -> None:
        requests = asyncio.create_task(self._carry_requests(link, reader))
        answers = asyncio.create_task(self._carry_answers(link, server_reader))
        await asyncio.wait([requests, answers], return_when=asyncio.FIRST_COMPLETED)
        if link.lost:
            # The client must not learn that the server is gone: wait until the client hangs up.
            await asyncio.wait([requests])
        for task in (requests, answers):
            task.cancel()
        await asyncio.gather(requests, answers, return_exceptions=True)

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host, port = str(self._target["host"]), self._target.get("port", 5432)
        if host.startswith("/"):
            return await asyncio.open_unix_connection(f"{host}/.s.PGSQL.{port}")
        return await asyncio.open_connection(host, int(port))

    async def _carry_requests(self, link: Link, reader: asyncio.StreamReader) -> None:
        # The startup message (or a cancel request) has no type byte.
        header = await reader.readexactly(4)
        body = await reader.readexactly(_length(header) - 4)
        await self._send(link, link.server, header + body, "requests")
        prepared: dict[bytes, str] = {}
        sql = ""
        while True:
            kind, header, body = await _message(reader)
            sql = _statement(kind, body, prepared) or sql
            if kind in FRONTEND_ENDS and "requests" not in link.lost:
                action = self.decide(Request(sql, link.number))
                sql = ""
                if action == "cut before":
                    link.cut()
                    return
                link.cut_after_answer = action == "cut after"
                link.lose_from_answer = action == "lose answer"
            await self._send(link, link.server, kind + header + body, "requests")
            if kind == b"X":
                return

    async def _carry_answers(self, link: Link, reader: asyncio.StreamReader) -> None:
        while True:
            kind, header, body = await _message(reader)
            if link.lose_from_answer:
                link.lost.add("answers")
            if not link.cut_after_answer:
                await self._send(link, link.client, kind + header + body, "answers")
            elif kind == b"Z":
                link.cut()
                return

    async def _send(
        self, link: Link, writer: asyncio.StreamWriter, data: bytes, direction: Direction
    ) -> None:
        if self.delay:
            await asyncio.sleep(self.delay)
        if direction not in link.lost:
            writer.write(data)
            await writer.drain()


async def _message(reader: asyncio.StreamReader) -> tuple[bytes, bytes, bytes]:
    kind = await reader.readexactly(1)
    header = await reader.readexactly(4)
    return kind, header, await reader.readexactly(_length(header) - 4)


def _length(header: bytes) -> int:
    return struct.unpack("!I", header)[0]


def _statement(kind: bytes, body: bytes, prepared: dict[bytes, str]) -> str:
    """The SQL that a frontend message names, if it names any."""
    if kind == b"Q":
        return body.rstrip(b"\x00").decode()
    if kind == b"P":
        name, sql, _ = body.split(b"\x00", 2)
        prepared[name] = sql.decode()
        return prepared[name]
    if kind == b"B":
        _, name, _ = body.split(b"\x00", 2)
        return prepared.get(name, "")
    return ""


@asynccontextmanager
async def proxied(url: str) -> AsyncIterator[FaultProxy]:
    async with FaultProxy(url).running() as proxy:
        yield proxy
