"""/live: tells pages that something they show has changed, and nothing more.

A process has one listener, however many pages are open, and none while there is no page. A page that
hears its topic asks for its part again; so a word that is lost costs a moment of being out of date,
and words that come in a burst are told once.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncGenerator, Iterable
from typing import Annotated, Literal, cast, get_args

from fastapi import APIRouter, Query, Request
from fastapi.responses import StreamingResponse

from jobmill.db import CONNECTION_ERRORS, listen

log = logging.getLogger(__name__)

Topic = Literal["hiring", "queue", "matches", "sources", "companies", "rotation", "budget"]
TOPICS: frozenset[str] = frozenset(get_args(Topic))
CHANNEL = "jobmill_live"
TOGETHER = 0.3
"""Seconds for which what comes is gathered, so that a busy minute is not a storm of requests."""
ALIVE = 15.0
"""Seconds after which a silent stream shows that it still stands."""
AGAIN = 2.0


class Reader:
    """One open page: what it wants to hear of, and what it has not heard yet."""

    def __init__(self, topics: Iterable[str], owner: str | None = None) -> None:
        self.topics = frozenset(topics)
        self.owner = owner
        self.news: set[str] = set()
        self.woken = asyncio.Event()

    def hear(self, topics: Iterable[str]) -> None:
        news = self.topics.intersection(topics)
        if news:
            self.news |= news
            self.woken.set()


class Live:
    def __init__(self, direct_url: str) -> None:
        # A connection pooler in transaction mode would lose the LISTEN after its first statement.
        self._url = direct_url
        self._readers: set[Reader] = set()
        self._listening: asyncio.Task[None] | None = None
        self._number = 0
        self._stopped = False

    def open_of(self, owner: str) -> int:
        """How many pages of theirs are open."""
        return sum(reader.owner == owner for reader in self._readers)

    async def stream(
        self,
        topics: Iterable[str],
        *,
        missed: bool,
        owner: str | None = None,
        together: float = TOGETHER,
    ) -> AsyncGenerator[str]:
        """Server-sent events, each named for its topic; `missed`: begin with all of them, since the
        page was away."""
        reader = Reader(topics, owner)
        self._join(reader)
        try:
            if missed:
                reader.hear(TOPICS)
            # A page that comes back before it heard anything must still be known to have been away.
            yield f"retry: 2000\nid: {self._number}\n\n"
            while not self._stopped:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(ALIVE):
                        await reader.woken.wait()
                yield await self._words(reader, together)
        finally:
            self._leave(reader)

    async def _words(self, reader: Reader, together: float) -> str:
        if not reader.news:
            return ": still here\n\n"
        await asyncio.sleep(0 if self._stopped else together)
        news, reader.news = sorted(reader.news), set()
        reader.woken.clear()
        self._number += 1
        return "".join(f"event: {topic}\nid: {self._number}\ndata: \n\n" for topic in news)

    def stop(self) -> None:
        """End all streams: the server wants to stop, and they would go on for ever."""
        self._stopped = True
        for reader in self._readers:
            reader.woken.set()

    def _join(self, reader: Reader) -> None:
        self._readers.add(reader)
        if self._listening is None:
            self._listening = asyncio.create_task(self._listen())

    def _leave(self, reader: Reader) -> None:
        self._readers.discard(reader)
        if not self._readers and self._listening:
            self._listening.cancel()
            self._listening = None

    async def _listen(self) -> None:
        while True:
            try:
                async for topic in listen(self._url, CHANNEL):
                    # Whatever happened before we listened was heard by nobody.
                    self._tell([topic] if topic else TOPICS)
            except CONNECTION_ERRORS as error:
                log.warning("not listening", extra={"error": str(error)})
            await asyncio.sleep(AGAIN)

    def _tell(self, topics: Iterable[str]) -> None:
        for reader in self._readers:
            reader.hear(topics)


router = APIRouter()


@router.get("/live")
async def stream(request: Request, topic: Annotated[list[Topic], Query()]) -> StreamingResponse:
    return answer(the_live(request).stream(topic, missed=was_away(request)))


def the_live(request: Request) -> Live:
    return cast(Live, request.app.state.live)


def was_away(request: Request) -> bool:
    return "last-event-id" in request.headers


def answer(news: AsyncGenerator[str]) -> StreamingResponse:
    headers = {"x-accel-buffering": "no"}
    return StreamingResponse(news, media_type="text/event-stream", headers=headers)
