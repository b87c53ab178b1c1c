"""The world's sites, all on one port of loopback: who is meant stands in the Host header."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

from jobmill.demo.companies import BY_HOST, BY_SLUG, Company
from jobmill.demo.exchange import MISSING, Ask, Reply
from jobmill.demo.vendors import ashby, greenhouse, lever, remotive, site, workday
from jobmill.demo.world import Now, World

ENDINGS = (
    "ai", "app", "biz", "co", "com", "de", "dev", "eu", "example", "fr", "hr", "info", "io", "jobs",
    "me", "net", "nl", "org", "se", "team", "tech", "uk", "us", "works",
)  # fmt: skip
"""Names with these endings are answered by the world, so that nothing that is done in it leaves this
machine: a board that is guessed does not exist, rather than be asked for at a real vendor."""

SHARED = {
    host: vendor.answer for vendor in (greenhouse, lever, ashby, remotive) for host in vendor.HOSTS
}
SLOW = 2.5
LONGEST_BODY = 1_000_000
PATIENCE = 20.0
ROBOTS = b"User-agent: *\nDisallow: /private/\n"


def stand_ins(port: int) -> dict[str, str]:
    """The setting `stand_ins` that leads everybody here."""
    return {f"*.{ending}": f"127.0.0.1:{port}" for ending in ENDINGS}


def answer(now: Now, ask: Ask) -> Reply:
    """What a host of the world answers at a moment."""
    company = _whose(ask)
    if ask.path == "/robots.txt":
        return Reply(ROBOTS, content_type="text/plain") if _exists(ask) else MISSING
    reply = _plain(now, ask)
    return _spoilt(now, company, ask, reply) if company else reply


def _exists(ask: Ask) -> bool:
    return ask.host in SHARED or ask.host in BY_HOST


def _plain(now: Now, ask: Ask) -> Reply:
    if ask.host in SHARED:
        return SHARED[ask.host](now, ask)
    company = BY_HOST.get(ask.host)
    if company is None:
        return MISSING
    if ask.host == company.host:
        return site.answer(now, company, ask)
    return workday.answer(now, company, ask) if company.vendor == "workday" else MISSING


def _whose(ask: Ask) -> Company | None:
    """Whose site or board is asked."""
    if ask.host in BY_HOST:
        return BY_HOST[ask.host]
    return next((BY_SLUG[part] for part in ask.parts if part in BY_SLUG), None)


def _spoilt(now: Now, company: Company, ask: Ask, reply: Reply) -> Reply:
    """The answer, as what is wrong with it lets it be."""
    on_board = ask.host != company.host
    match now.trouble(company):
        case "broken" if on_board:
            return Reply(b"<h1>500</h1>", 500)
        case "limited" if on_board:
            return Reply(status=429, headers=(("Retry-After", "8"),))
        case "slow" if on_board and ask.method == "POST":
            return replace(reply, after=SLOW)
        case "lying" if ask.path.endswith(".rss"):
            return replace(reply, claims=len(reply.body) + 4_096)
        case "circling":
            return Reply(status=302, headers=(("Location", _round(ask)),))
        case _:
            return reply


def _round(ask: Ask) -> str:
    return "/welcome" if ask.path != "/welcome" else "/"


class NotHttp(Exception):
    """Something else than a request."""


@dataclass
class Server:
    """Answers for the world, by the clock."""

    world: World
    port: int = 0
    _tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Who hangs up, dawdles or does not speak HTTP is not answered.
        troubles = (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError)
        try:
            with suppress(*troubles, NotHttp, TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    reply = self._answer(await _read(reader))
                    await asyncio.sleep(reply.after)
                    writer.write(_written(reply))
                    await writer.drain()
        finally:
            writer.close()

    def _answer(self, ask: Ask) -> Reply:
        return answer(self.world.at(dt.datetime.now(dt.UTC)), ask)

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def open_server(world: World) -> AsyncGenerator[Server]:
    """The server on a free port of loopback."""
    one = Server(world)
    listening = await asyncio.start_server(one.accept, "127.0.0.1", 0)
    one.port = listening.sockets[0].getsockname()[1]
    try:
        yield one
    finally:
        listening.close()
        await one.stop()


async def _read(reader: asyncio.StreamReader) -> Ask:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    pairs = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    length, words = headers.get("content-length", "0"), first.split(" ")
    if len(words) != 3 or not length.isdecimal():
        raise NotHttp
    body = await reader.readexactly(min(int(length), LONGEST_BODY))
    host = headers.get("host", "").partition(":")[0].lower()
    return Ask(words[0], host, words[1], headers, body)


def _written(reply: Reply) -> bytes:
    length = len(reply.body) if reply.claims is None else reply.claims
    lines = [
        f"HTTP/1.1 {reply.status} Demo",
        f"Content-Type: {reply.content_type}",
        f"Content-Length: {length}",
        *(f"{name}: {value}" for name, value in reply.headers),
        "Connection: close",
    ]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + reply.body
