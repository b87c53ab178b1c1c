"""Serves all sites of the demo on one loopback port, selected by the Host header."""

from __future__ import annotations

import asyncio
import datetime as dt
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace

from jobmill.demo.companies import BY_HOST, BY_SLUG, DemoCompany
from jobmill.demo.http_messages import NOT_FOUND, DemoReply, DemoRequest
from jobmill.demo.platforms import ashby, greenhouse, lever, remotive, site, workday
from jobmill.demo.state import DemoMoment, World

DEMO_DOMAINS = (
    "ai", "app", "biz", "co", "com", "de", "dev", "eu", "example", "fr", "hr", "info", "io", "jobs",
    "me", "net", "nl", "org", "se", "team", "tech", "uk", "us", "works",
)  # fmt: skip
"""Hosts with these endings are answered by the demo, so that a guessed board is never requested
from a real platform."""

SHARED = {
    host: platform.answer
    for platform in (greenhouse, lever, ashby, remotive)
    for host in platform.HOSTS
}
SLOW_REPLY_SECONDS = 2.5
LONGEST_BODY = 1_000_000
REQUEST_TIMEOUT = 20.0
ROBOTS = b"User-agent: *\nDisallow: /private/\n"


def host_overrides(port: int) -> dict[str, str]:
    """The value of the setting `host_overrides` that redirects all hosts to this server."""
    return {f"*.{ending}": f"127.0.0.1:{port}" for ending in DEMO_DOMAINS}


def answer(now: DemoMoment, ask: DemoRequest) -> DemoReply:
    """The reply of a demo host at a moment."""
    company = _find_company(ask)
    if ask.path == "/robots.txt":
        exists = ask.host in SHARED or ask.host in BY_HOST
        return DemoReply(ROBOTS, content_type="text/plain") if exists else NOT_FOUND
    reply = _answer_without_failures(now, ask)
    return _apply_failure(now, company, ask, reply) if company else reply


def _answer_without_failures(now: DemoMoment, ask: DemoRequest) -> DemoReply:
    if ask.host in SHARED:
        return SHARED[ask.host](now, ask)
    company = BY_HOST.get(ask.host)
    if company is None:
        return NOT_FOUND
    if ask.host == company.host:
        return site.answer(now, company, ask)
    return workday.answer(now, company, ask) if company.platform == "workday" else NOT_FOUND


def _find_company(ask: DemoRequest) -> DemoCompany | None:
    """The company that a request's host and path belong to."""
    if ask.host in BY_HOST:
        return BY_HOST[ask.host]
    return next((BY_SLUG[part] for part in ask.parts if part in BY_SLUG), None)


def _apply_failure(
    now: DemoMoment, company: DemoCompany, ask: DemoRequest, reply: DemoReply
) -> DemoReply:
    """Apply the current failure, if any, to a reply."""
    on_board = ask.host != company.host
    match now.failure(company):
        case "server_error" if on_board:
            return DemoReply(b"<h1>500</h1>", 500)
        case "rate_limited" if on_board:
            return DemoReply(status=429, headers=(("Retry-After", "8"),))
        case "slow" if on_board and ask.method == "POST":
            return replace(reply, delay=SLOW_REPLY_SECONDS)
        case "wrong_length" if ask.path.endswith(".rss"):
            return replace(reply, claimed_length=len(reply.body) + 4_096)
        case "redirect_loop":
            target = "/welcome" if ask.path != "/welcome" else "/"
            return DemoReply(status=302, headers=(("Location", target),))
        case _:
            return reply


class NotAnHttpRequest(Exception):
    """The client did not send a valid request."""


@dataclass
class DemoServer:
    """Serves the demo by its clock."""

    world: World
    port: int = 0
    _tasks: set[asyncio.Task[None]] = field(default_factory=set[asyncio.Task[None]])

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # Clients that hang up, stall or do not speak HTTP get no answer.
        troubles = (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError)
        try:
            with suppress(*troubles, NotAnHttpRequest, TimeoutError):
                async with asyncio.timeout(REQUEST_TIMEOUT):
                    request = await _read(reader)
                    reply = answer(self.world.at(dt.datetime.now(dt.UTC)), request)
                    await asyncio.sleep(reply.delay)
                    writer.write(_written(reply))
                    await writer.drain()
        finally:
            writer.close()

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)


@asynccontextmanager
async def open_server(world: World) -> AsyncGenerator[DemoServer]:
    """Start the server on a free loopback port."""
    server = DemoServer(world)
    listening = await asyncio.start_server(server.accept, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()
        await server.stop()


async def _read(reader: asyncio.StreamReader) -> DemoRequest:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = head.strip().split("\r\n")
    pairs = (line.partition(":") for line in lines)
    headers = {name.strip().lower(): value.strip() for name, _, value in pairs}
    length, words = headers.get("content-length", "0"), first.split(" ")
    if len(words) != 3 or not length.isdecimal():
        raise NotAnHttpRequest
    body = await reader.readexactly(min(int(length), LONGEST_BODY))
    host = headers.get("host", "").partition(":")[0].lower()
    return DemoRequest(words[0], host, words[1], headers, body)


def _written(reply: DemoReply) -> bytes:
    length = len(reply.body) if reply.claimed_length is None else reply.claimed_length
    lines = [
        f"HTTP/1.1 {reply.status} Demo",
        f"Content-Type: {reply.content_type}",
        f"Content-Length: {length}",
        *(f"{name}: {value}" for name, value in reply.headers),
        "Connection: close",
    ]
    return "\r\n".join([*lines, "", ""]).encode("latin-1") + reply.body
