"""Asks a language model for an answer of a certain form, inside a budget."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import logging
import os
import random
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Generic

import httpx2
from pydantic import BaseModel, ValidationError

from jobmill.db import CONNECTION_ERRORS, Database, is_connection_lost
from jobmill.outside import anthropic, budget_ledger, model_endpoint, model_prices, openai
from jobmill.outside.budget_ledger import CallOutcome
from jobmill.outside.http_exchange import HttpReply
from jobmill.outside.model_endpoint import Endpoint
from jobmill.outside.model_protocol import (
    ModelReply,
    ProviderError,
    StreamInterrupted,
    UnreadableReply,
)
from jobmill.outside.model_question import (
    ModelAnswer,
    ModelBlocked,
    ModelFailed,
    ModelQuestion,
    ModelRefused,
    ModelResult,
    T,
    Tier,
    cache_key,
)
from jobmill.outside.reply_classification import parse_retry_after
from jobmill.settings import Settings

log = logging.getLogger(__name__)
# It would tell of each call a second time.
logging.getLogger("httpx2").setLevel(logging.WARNING)

SETTLE_TIME = dt.timedelta(seconds=60)
"""After the last moment of a call, until it counts as lost."""


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """What one question may take at most."""

    seconds: float = 120
    """One call, from the first byte out to the last byte in."""
    connect_seconds: float = 10
    bytes: int = 4_000_000
    tries: int = 3
    retry_within: float = 120
    """No further try begins later than that after the first."""
    max_pause: float = 30
    """The longest wait between two tries; whoever is told to wait longer comes back another time."""
    first_pause: float = 1
    """The first wait where nobody says how long; it doubles."""


@asynccontextmanager
async def open_model(
    database: Database,
    settings: Settings,
    environ: Mapping[str, str] | None = None,
    limits: ModelLimits | None = None,
) -> AsyncGenerator[ModelClient]:
    """The models that the operator wants. Their addresses are the operator's own words, not a
    stranger's: they may be private, and no guard stands before them."""
    limits = limits or ModelLimits()
    timeout = httpx2.Timeout(limits.seconds, connect=limits.connect_seconds)
    # Redirects are not followed: the key is for the address that was set.
    async with httpx2.AsyncClient(timeout=timeout, trust_env=False) as client:
        environ = os.environ if environ is None else environ
        tiers: tuple[Tier, ...] = ("cheap", "strong")
        found: dict[Tier, Endpoint | ModelBlocked] = {
            tier: model_endpoint.find_endpoint(tier, settings, environ) for tier in tiers
        }
        yield ModelClient(database, settings, found, client, limits)


@dataclass(frozen=True, slots=True)
class _Heard(Generic[T]):
    """How one call ended, and what it is to the ledger."""

    result: ModelAnswer[T] | ModelBlocked | ModelRefused | ModelFailed
    outcome: CallOutcome
    said: ModelReply | None = None
    free: bool = False
    """Whether it surely was not billed."""


class ModelClient:
    """A `Model`."""

    def __init__(
        self,
        database: Database,
        settings: Settings,
        found: Mapping[Tier, Endpoint | ModelBlocked],
        client: httpx2.AsyncClient,
        limits: ModelLimits,
    ) -> None:
        self._db = database
        self._streaming = settings.model_streaming
        self._found = found
        self._client = client
        self._limits = limits
        self._caps = budget_ledger.read_caps(settings)

    async def __call__(self, ask: ModelQuestion[T]) -> ModelResult[T]:
        at = self._found[ask.tier]
        if isinstance(at, ModelBlocked):
            return at
        key = cache_key(ask, at.name)
        return await self._recall(ask, at, key) or await self._try(ask, at, key)

    async def _recall(
        self, ask: ModelQuestion[T], at: Endpoint, key: bytes
    ) -> ModelAnswer[T] | None:
        async with self._db.transaction() as tx:
            kept = await budget_ledger.find_answer(tx, key)
            if kept is None:
                return None
            try:
                answer = ask.answer_type.model_validate_json(kept)
            except ValidationError:
                # What the form's own code checks may have changed; the schema does not tell.
                return None
            await budget_ledger.record_cache_hit(tx, ask, at.name)
        return ModelAnswer(answer, at.name, Decimal(0), cached=True)

    async def _try(self, ask: ModelQuestion[T], at: Endpoint, key: bytes) -> ModelResult[T]:
        """Ask, and ask again where that may help."""
        begun, tried, malformed = time.monotonic(), 0, 0
        while True:
            result = await self._call(ask, at, key)
            tried += 1
            if not isinstance(result, ModelFailed):
                return result
            malformed += result.cause == "malformed"
            wait = self._wait(result, tried, malformed)
            late = time.monotonic() - begun + (wait or 0) > self._limits.retry_within
            if wait is None or late:
                return result
            await asyncio.sleep(wait)

    def _wait(self, failed: ModelFailed, tried: int, malformed: int) -> float | None:
        """Seconds until the next try; None if there is none."""
        if failed.cause == "malformed":
            return 0 if malformed == 1 else None
        if failed.permanent or tried >= self._limits.tries:
            return None
        told = failed.retry_after.total_seconds() if failed.retry_after else 0
        wait = max(told, self._limits.first_pause * 2 ** (tried - 1) * random.uniform(0.5, 1))
        return wait if wait <= self._limits.max_pause else None

    async def _call(self, ask: ModelQuestion[T], at: Endpoint, key: bytes) -> ModelResult[T]:
        """One call: reserved before it begins, settled when it has ended. If we do not live to
        settle it, what was reserved stays counted."""
        began = time.monotonic()
        wire = anthropic if at.provider == "anthropic" else openai
        body = wire.body(ask, at, stream=self._streaming)
        need = model_prices.max_cost(at.price, body, ask.max_tokens)
        lasts = dt.timedelta(seconds=self._limits.seconds) + SETTLE_TIME
        async with self._db.transaction() as tx:
            id = await budget_ledger.reserve(tx, ask, at.name, need, self._caps, lasts)
        if isinstance(id, ModelBlocked):
            return id
        heard = await self._hear(ask, at, body)
        cost = _cost(heard, at)
        await self._settle(id, heard, at, key, cost)
        _log(ask, at, heard, cost, time.monotonic() - began)
        return heard.result

    async def _settle(
        self, id: int, heard: _Heard[T], at: Endpoint, key: bytes, cost: Decimal | None
    ) -> None:
        """Settle the call, again where the database is away or did not confirm it: an answer that is
        thrown away is paid for twice, and a call that is settled stays as it is. A worker that loses its
        lease meanwhile cancels this, and then the answer is lost."""
        until = time.monotonic() + SETTLE_TIME.total_seconds()
        pause = self._limits.first_pause
        while True:
            try:
                return await self._write(id, heard, at, key, cost)
            except CONNECTION_ERRORS as error:
                if not is_connection_lost(error) or time.monotonic() + pause > until:
                    raise
            await asyncio.sleep(pause)
            pause *= 2

    async def _write(
        self, id: int, heard: _Heard[T], at: Endpoint, key: bytes, cost: Decimal | None
    ) -> None:
        said, result = heard.said, heard.result
        async with self._db.transaction() as tx:
            await budget_ledger.settle(
                tx,
                id,
                heard.outcome,
                tokens_in=said.tokens_in if said else None,
                tokens_out=said.tokens_out if said else None,
                cost=cost,
            )
            if isinstance(result, ModelAnswer):
                text = json.dumps(result.answer.model_dump(mode="json"))
                await budget_ledger.save_answer(tx, key, at.name, text)

    async def _hear(self, ask: ModelQuestion[T], at: Endpoint, body: bytes) -> _Heard[T]:
        try:
            async with asyncio.timeout(self._limits.seconds):
                reply = await self._send(at, body)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            failed = ModelFailed("network", f"no {at.provider} answers: {_words(error)}", False)
            return _Heard(failed, "failed", free=True)
        except (TimeoutError, httpx2.TimeoutException):
            return _Heard(ModelFailed("timeout", f"{at.name} took too long", False), "failed")
        except httpx2.RequestError as error:
            return _Heard(ModelFailed("network", f"{at.name}: {_words(error)}", False), "failed")
        if reply.status != 200:
            return _judge_error(reply, at)
        return _judge(ask, at, reply)

    async def _send(self, at: Endpoint, body: bytes) -> HttpReply:
        wire = anthropic if at.provider == "anthropic" else openai
        headers = {"content-type": "application/json", "accept-encoding": "identity"}
        async with self._client.stream(
            "POST", at.base_url + wire.PATH, content=body, headers=headers | wire.headers(at)
        ) as response:
            parts, size = list[bytes](), 0
            async for part in response.aiter_bytes():
                parts.append(part)
                size += len(part)
                if size > self._limits.bytes:
                    return HttpReply(response.status_code, response.headers, cut_at=size)
            return HttpReply(response.status_code, response.headers, b"".join(parts))


def _judge(ask: ModelQuestion[T], at: Endpoint, reply: HttpReply) -> _Heard[T]:
    """What an answer with status 200 is worth."""
    wire = anthropic if at.provider == "anthropic" else openai
    streamed = "event-stream" in reply.headers.get("content-type", "")
    try:
        said = wire.read_stream(reply.body) if streamed else wire.read(reply.body)
    except StreamInterrupted as error:
        detail = _clean(f"{at.name} broke off: {error}", at)
        return _Heard(ModelFailed("network", detail, False), "failed")
    except UnreadableReply:
        detail = f"{at.name} answered in a way that we do not know"
        return _Heard(ModelFailed("malformed", detail, True), "malformed")
    if said.stop == "refused":
        return _Heard(ModelRefused(f"{at.name} does not want to answer"), "refused", said)
    if said.stop == "truncated":
        detail = f"{at.name} had more to say than {ask.max_tokens} tokens"
        return _Heard(ModelFailed("truncated", detail, True), "truncated", said)
    return _judge_text(ask, at, said)


def _judge_text(ask: ModelQuestion[T], at: Endpoint, said: ModelReply) -> _Heard[T]:
    try:
        answer = ask.answer_type.model_validate_json(_unwrapped(said.text))
    except ValidationError as error:
        where = {".".join(map(str, one["loc"])) or "all of it" for one in error.errors()}
        detail = f"{at.name} gave no {ask.answer_type.__name__}: {', '.join(sorted(where))[:200]}"
        return _Heard(ModelFailed("malformed", detail, True), "malformed", said)
    cost = _usage_cost(said, at)
    return _Heard(ModelAnswer(answer, at.name, cost), "answered", said)


def _unwrapped(text: str) -> str:
    """The JSON without the ``` that some models put around it."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```"):
        return text.removeprefix("```json").removeprefix("```").removesuffix("```")
    return text


def _judge_error(reply: HttpReply, at: Endpoint) -> _Heard[T]:
    told = _trouble(reply.body)
    detail = _clean(f"{at.name} answered {reply.status}: {told.message if told else ''}", at)
    retry_after = parse_retry_after(reply)
    status = reply.status
    if status in (401, 402, 403):
        return _Heard(ModelBlocked("no_key", detail), "failed", free=True)
    if status == 404:
        return _Heard(ModelBlocked("no_model", detail), "failed", free=True)
    if status in (429, 503, 529):
        return _Heard(ModelFailed("limited", detail, False, retry_after), "failed", free=True)
    if status in (408, 409) or status >= 500:
        # A provider that says itself that it failed does not bill; a proxy on the way knows nothing.
        failed = ModelFailed("server", detail, False, retry_after)
        return _Heard(failed, "failed", free=status < 500 or told is not None)
    return _Heard(ModelFailed("rejected", detail, True), "failed", free=400 <= status < 500)


class _Envelope(BaseModel):
    error: ProviderError


def _trouble(body: bytes) -> ProviderError | None:
    try:
        return _Envelope.model_validate_json(body).error
    except ValidationError:
        return None


def _cost(heard: _Heard[T], at: Endpoint) -> Decimal | None:
    """In dollars; None if nobody knows."""
    if heard.free:
        return Decimal(0)
    return _usage_cost(heard.said, at) if heard.said else None


def _usage_cost(said: ModelReply, at: Endpoint) -> Decimal | None:
    if not at.priced or said.tokens_in is None or said.tokens_out is None:
        return None
    return at.price.cost(said.tokens_in, said.tokens_out)


def _clean(text: str, at: Endpoint) -> str:
    """On one line, short, and without our key, should a server repeat it."""
    text = " ".join(text.split())
    return (text.replace(at.key, "…") if at.key else text)[:300]


def _words(error: Exception) -> str:
    """What went wrong; a LocalProtocolError would quote what we sent, keys included."""
    if isinstance(error, httpx2.LocalProtocolError):
        return "we cannot ask in this way"
    return (str(error) or type(error).__name__)[:200]


def _log(
    ask: ModelQuestion[T], at: Endpoint, heard: _Heard[T], cost: Decimal | None, seconds: float
) -> None:
    fields: dict[str, object] = {
        "model": at.name,
        "purpose": ask.purpose,
        "item": ask.item,
        "outcome": heard.outcome,
        "cost": None if cost is None else float(cost),
        "ms": round(seconds * 1000),
    }
    if isinstance(heard.result, ModelFailed | ModelBlocked):
        fields["detail"] = heard.result.detail
    level = logging.DEBUG if heard.outcome == "answered" else logging.INFO
    log.log(level, "asked a model", extra=fields)
