"""/live: server-sent events that tell open pages which topics changed.

A process has one PostgreSQL listener while at least one page is open. A page that receives its topic
loads that part again, so a lost event only delays the update, and events in a burst are sent once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Iterable, Mapping
from typing import Annotated, Literal, cast, get_args

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse

from jobmill.db import CONNECTION_ERRORS, listen
from jobmill.db.live_channel import LIVE_CHANNEL
from jobmill.people.persons import LOCAL, Owner
from jobmill.web.access_rights import Workspace
from jobmill.web.auth import SignedIn

log = logging.getLogger(__name__)

Topic = Literal[
    "hiring", "queue", "matches", "sources", "companies", "rotation", "budget", "reports"
]
TOPICS: frozenset[str] = frozenset(get_args(Topic))
TOPIC_WORKSPACES: Mapping[Topic, tuple[Workspace, ...]] = {
    "hiring": ("hiring",),
    "matches": ("search",),
    "queue": ("search", "system"),
    "sources": ("search", "system"),
    "companies": ("search",),
    "rotation": ("system",),
    "budget": ("system",),
    "reports": ("search", "system"),
}
"""The workspaces with pages about a topic: others are not told about it."""
BATCH_SECONDS = 0.3
"""Events within this time are sent together, so that bursts cause one reload."""
KEEP_ALIVE_SECONDS = 15.0
RECONNECT_SECONDS = 2.0


class LiveConnection:
    """One open page: its topics, and the topics it has not been told about yet."""

    def __init__(
        self, topics: Iterable[str], owner: str | None = None, searcher: Owner = LOCAL
    ) -> None:
        self.topics = frozenset(topics)
        self.owner = owner
        self._own_matches = f"matches:{'' if searcher is None else searcher}"
        self.pending: set[str] = set()
        self.woken = asyncio.Event()

    def add(self, topics: Iterable[str]) -> None:
        """Matches are announced with their owner, and only to them."""
        names = {"matches" if topic == self._own_matches else topic for topic in topics}
        changed = self.topics.intersection(names)
        if changed:
            self.pending |= changed
            self.woken.set()


class LiveUpdates:
    def __init__(self, direct_url: str) -> None:
        # A connection pooler in transaction mode would lose the LISTEN after its first statement.
        self._url = direct_url
        self._connections: set[LiveConnection] = set()
        self._listening: asyncio.Task[None] | None = None
        self._last_event_id = 0
        self._stopped = False

    def count_open(self, owner: str) -> int:
        """How many pages this owner has open."""
        return sum(connection.owner == owner for connection in self._connections)

    async def stream(
        self,
        topics: Iterable[str],
        *,
        missed: bool,
        owner: str | None = None,
        searcher: Owner = LOCAL,
        batch_seconds: float = BATCH_SECONDS,
    ) -> AsyncGenerator[str]:
        """Server-sent events named for their topics; `missed`: start with all topics, since the
        page lost its connection. `searcher`: the owner of the matches on the page."""
        connection = LiveConnection(topics, owner, searcher)
        self._join(connection)
        try:
            if missed:
                connection.add(TOPICS)
            # Send an id at once: browsers return it when they reconnect.
            yield f"retry: 2000\nid: {self._last_event_id}\n\n"
            while not self._stopped:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(KEEP_ALIVE_SECONDS):
                        await connection.woken.wait()
                yield await self._next_events(connection, batch_seconds)
        finally:
            self._leave(connection)

    async def _next_events(self, connection: LiveConnection, batch_seconds: float) -> str:
        if not connection.pending:
            return ": keep-alive\n\n"
        await asyncio.sleep(0 if self._stopped else batch_seconds)
        topics, connection.pending = sorted(connection.pending), set()
        connection.woken.clear()
        self._last_event_id += 1
        return "".join(f"event: {topic}\nid: {self._last_event_id}\ndata: \n\n" for topic in topics)

    def stop(self) -> None:
        """End all streams, so that the server can shut down."""
        self._stopped = True
        for connection in self._connections:
            connection.woken.set()

    def _join(self, connection: LiveConnection) -> None:
        self._connections.add(connection)
        if self._listening is None:
            self._listening = asyncio.create_task(self._listen())

    def _leave(self, connection: LiveConnection) -> None:
        self._connections.discard(connection)
        if not self._connections and self._listening:
            self._listening.cancel()
            self._listening = None

    async def _listen(self) -> None:
        while True:
            try:
                async for topic in listen(self._url, LIVE_CHANNEL):
                    # An empty topic follows LISTEN: changes before it may have been missed.
                    self._publish([topic] if topic else TOPICS)
            except CONNECTION_ERRORS as error:
                log.warning("live updates lost their connection", extra={"error": str(error)})
            await asyncio.sleep(RECONNECT_SECONDS)

    def _publish(self, topics: Iterable[str]) -> None:
        for connection in self._connections:
            connection.add(topics)


router = APIRouter()


@router.get("/live")
async def stream(
    request: Request, visitor: SignedIn, topic: Annotated[list[Topic], Query()]
) -> StreamingResponse:
    allowed = [name for name in topic if any(map(visitor.may_open, TOPIC_WORKSPACES[name]))]
    events = get_live_updates(request).stream(
        allowed, missed=has_missed_events(request), searcher=visitor.person_id
    )
    return event_stream_response(events)


def get_live_updates(request: Request) -> LiveUpdates:
    return cast(LiveUpdates, request.app.state.live_updates)


def has_missed_events(request: Request) -> bool:
    return "last-event-id" in request.headers


def event_stream_response(events: AsyncGenerator[str]) -> StreamingResponse:
    headers = {"x-accel-buffering": "no"}
    return StreamingResponse(events, media_type="text/event-stream", headers=headers)
