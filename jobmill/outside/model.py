"""Asks a language model for a structured answer, within the budget."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import logging
import os
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Generic, TypeAlias

import httpx2
from pydantic import BaseModel, ValidationError

from jobmill.db import CONNECTION_ERRORS, Database, Tx, is_connection_lost
from jobmill.outside import anthropic, budget_ledger, model_endpoint, model_prices, openai
from jobmill.outside.budget_ledger import CallOutcome
from jobmill.outside.http_exchange import HttpReply, load_root_certificates
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
    cache_key,
)
from jobmill.outside.reply_classification import parse_retry_after
from jobmill.sandbox import ReaderStopped, read_untrusted
from jobmill.settings import Settings

log = logging.getLogger(__name__)
# It would log each call a second time.
logging.getLogger("httpx2").setLevel(logging.WARNING)

SETTLE_TIME = dt.timedelta(seconds=60)
"""Time after the timeout of a call until it counts as lost."""
MAX_LENGTH_IN_PLACE = 20_000
"""Bytes of a response that are parsed on the event loop."""


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """Limits for one question."""

    seconds: float = 120
    """One call, from the first byte sent to the last byte received."""
    connect_seconds: float = 10
    bytes: int = 4_000_000
    tries: int = 3
    retry_within: float = 120
    """No retry starts later than this after the first attempt."""
    max_pause: float = 30
    """The longest wait between two attempts; if the provider asks for more, the question fails for
    now."""
    first_pause: float = 1
    """The first wait if the provider does not say how long; doubles with each attempt."""


@dataclass(frozen=True, slots=True)
class ModelConfiguration:
    settings: Settings
    environ: Mapping[str, str] = field(repr=False)
    """Holds the API keys."""


ReadConfiguration: TypeAlias = Callable[[Tx], Awaitable[ModelConfiguration]]
CONFIGURATION_SECONDS = 5.0
"""How soon a running process uses a model, a budget or a key that an admin saved."""


@asynccontextmanager
async def open_model(
    database: Database,
    settings: Settings,
    environ: Mapping[str, str] | None = None,
    limits: ModelLimits | None = None,
    read_configuration: ReadConfiguration | None = None,
) -> AsyncGenerator[ModelClient]:
    """The configured models. Their URLs come from the operator, so private addresses are allowed
    and there is no address guard.

    `read_configuration`: reads models, budgets and keys again while the process runs.
    """
    limits = limits or ModelLimits()
    timeout = httpx2.Timeout(limits.seconds, connect=limits.connect_seconds)
    configuration = ModelConfiguration(settings, os.environ if environ is None else environ)
    tls = load_root_certificates()
    # Redirects are not followed: the key is only for the configured URL.
    async with httpx2.AsyncClient(timeout=timeout, trust_env=False, verify=tls) as client:
        yield ModelClient(database, configuration, read_configuration, client, limits)


@dataclass(frozen=True, slots=True)
class _CallResult(Generic[T]):
    """The result of one call, and what the ledger records."""

    result: ModelAnswer[T] | ModelBlocked | ModelRefused | ModelFailed
    outcome: CallOutcome
    reply: ModelReply | None = None
    free: bool = False
    """Whether the provider certainly did not bill it."""


class ModelClient:
    """A `Model`."""

    def __init__(
        self,
        database: Database,
        configuration: ModelConfiguration,
        read_configuration: ReadConfiguration | None,
        client: httpx2.AsyncClient,
        limits: ModelLimits,
    ) -> None:
        self._db = database
        self._configuration = configuration
        self._read_configuration = read_configuration
        self._configured_at: float | None = None
        self._streaming = configuration.settings.model_streaming
        self._client = client
        self._limits = limits

    async def __call__(self, question: ModelQuestion[T]) -> ModelResult[T]:
        await self._refresh_configuration()
        endpoint = self._find_endpoint(question)
        if isinstance(endpoint, ModelBlocked):
            return endpoint
        key = cache_key(question, endpoint.name)
        return await self._find_cached(question, endpoint, key) or await self._ask_with_retries(
            question, endpoint, key
        )

    async def _refresh_configuration(self) -> None:
        now = time.monotonic()
        is_fresh = (
            self._configured_at is not None and now < self._configured_at + CONFIGURATION_SECONDS
        )
        if self._read_configuration is None or is_fresh:
            return
        async with self._db.transaction() as tx:
            self._configuration = await self._read_configuration(tx)
        self._configured_at = now

    def _find_endpoint(self, question: ModelQuestion[T]) -> Endpoint | ModelBlocked:
        settings, environ = self._configuration.settings, self._configuration.environ
        if question.model is None:
            return model_endpoint.find_endpoint(question.tier, settings, environ)
        return model_endpoint.find_named_endpoint(question.model, settings, environ)

    async def _find_cached(
        self, question: ModelQuestion[T], endpoint: Endpoint, key: bytes
    ) -> ModelAnswer[T] | None:
        async with self._db.transaction() as tx:
            cached = await budget_ledger.find_answer(tx, key)
            if cached is None:
                return None
            try:
                answer = question.answer_type.model_validate_json(cached)
            except ValidationError:
                # Validators in the answer type may have changed without a change of its schema.
                return None
            await budget_ledger.record_cache_hit(tx, question, endpoint.name)
        return ModelAnswer(answer, endpoint.name, Decimal(0), cached=True)

    async def _ask_with_retries(
        self, question: ModelQuestion[T], endpoint: Endpoint, key: bytes
    ) -> ModelResult[T]:
        """Ask, with retries where they can help."""
        started, attempts, malformed = time.monotonic(), 0, 0
        while True:
            result = await self._ask_once(question, endpoint, key)
            attempts += 1
            if not isinstance(result, ModelFailed):
                return result
            malformed += result.cause == "malformed"
            wait = self._retry_delay(result, attempts, malformed)
            late = time.monotonic() - started + (wait or 0) > self._limits.retry_within
            if wait is None or late:
                return result
            await asyncio.sleep(wait)

    def _retry_delay(self, failure: ModelFailed, attempts: int, malformed: int) -> float | None:
        """Seconds until the next attempt; None if there is none."""
        if failure.cause == "malformed":
            return 0 if malformed == 1 else None
        if failure.permanent or attempts >= self._limits.tries:
            return None
        retry_after = failure.retry_after.total_seconds() if failure.retry_after else 0
        wait = max(
            retry_after, self._limits.first_pause * 2 ** (attempts - 1) * random.uniform(0.5, 1)
        )
        return wait if wait <= self._limits.max_pause else None

    async def _ask_once(
        self, question: ModelQuestion[T], endpoint: Endpoint, key: bytes
    ) -> ModelResult[T]:
        """Make one call: reserve its maximum cost, then settle it. If the worker dies in between,
        the reservation stays counted."""
        began = time.monotonic()
        protocol = anthropic if endpoint.provider == "anthropic" else openai
        body = protocol.build_body(question, endpoint, stream=self._streaming)
        need = model_prices.max_cost(endpoint.price, body, question.max_tokens)
        lasts = dt.timedelta(seconds=self._limits.seconds) + SETTLE_TIME
        caps = budget_ledger.read_caps(self._configuration.settings)
        async with self._db.transaction() as tx:
            id = await budget_ledger.reserve(tx, question, endpoint.name, need, caps, lasts)
        if isinstance(id, ModelBlocked):
            return id
        call = await self._send_and_parse(question, endpoint, body)
        cost = _cost(call, endpoint)
        await self._settle(id, call, endpoint, key, cost)
        _log(question, endpoint, call, cost, time.monotonic() - began)
        return call.result

    async def _settle(
        self, id: int, call: _CallResult[T], endpoint: Endpoint, key: bytes, cost: Decimal | None
    ) -> None:
        """Settle the call, and retry while the database is unreachable or did not confirm: a lost
        answer would be paid for again. Settling twice has no effect. A worker that loses its lease
        cancels this, and the answer is lost."""
        until = time.monotonic() + SETTLE_TIME.total_seconds()
        pause = self._limits.first_pause
        while True:
            try:
                return await self._write(id, call, endpoint, key, cost)
            except CONNECTION_ERRORS as error:
                if not is_connection_lost(error) or time.monotonic() + pause > until:
                    raise
            await asyncio.sleep(pause)
            pause *= 2

    async def _write(
        self, id: int, call: _CallResult[T], endpoint: Endpoint, key: bytes, cost: Decimal | None
    ) -> None:
        reply, result = call.reply, call.result
        async with self._db.transaction() as tx:
            await budget_ledger.settle(
                tx,
                id,
                call.outcome,
                tokens_in=reply.tokens_in if reply else None,
                tokens_out=reply.tokens_out if reply else None,
                cost=cost,
            )
            if isinstance(result, ModelAnswer):
                text = json.dumps(result.answer.model_dump(mode="json"))
                await budget_ledger.save_answer(tx, key, endpoint.name, text)

    async def _send_and_parse(
        self, question: ModelQuestion[T], endpoint: Endpoint, body: bytes
    ) -> _CallResult[T]:
        try:
            async with asyncio.timeout(self._limits.seconds):
                reply = await self._send(endpoint, body)
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            failed = ModelFailed(
                "network", f"cannot connect to {endpoint.provider}: {_describe(error)}", False
            )
            return _CallResult(failed, "failed", free=True)
        except (TimeoutError, httpx2.TimeoutException):
            return _CallResult(
                ModelFailed("timeout", f"{endpoint.name} timed out", False), "failed"
            )
        except httpx2.RequestError as error:
            return _CallResult(
                ModelFailed("network", f"{endpoint.name}: {_describe(error)}", False), "failed"
            )
        if reply.status != 200:
            return _classify_error(reply, endpoint)
        return await _parse_reply(question, endpoint, reply)

    async def _send(self, endpoint: Endpoint, body: bytes) -> HttpReply:
        protocol = anthropic if endpoint.provider == "anthropic" else openai
        headers = {"content-type": "application/json", "accept-encoding": "identity"}
        async with self._client.stream(
            "POST",
            endpoint.base_url + protocol.PATH,
            content=body,
            headers=headers | protocol.auth_headers(endpoint),
        ) as response:
            parts, size = list[bytes](), 0
            async for part in response.aiter_bytes():
                parts.append(part)
                size += len(part)
                if size > self._limits.bytes:
                    return HttpReply(response.status_code, response.headers, truncated_at=size)
            return HttpReply(response.status_code, response.headers, b"".join(parts))


async def _parse_reply(
    question: ModelQuestion[T], endpoint: Endpoint, reply: HttpReply
) -> _CallResult[T]:
    """Parse a response with status 200; a long one in a child process, which never sees the key."""
    streamed = "event-stream" in reply.headers.get("content-type", "")
    if len(reply.body) <= MAX_LENGTH_IN_PLACE:
        return _parse_body(question, endpoint, streamed, reply.body)
    try:
        call = await read_untrusted(
            _parse_body, question, replace(endpoint, key=""), streamed, reply.body
        )
    except ReaderStopped as error:
        return _CallResult(
            ModelFailed("malformed", f"the response of {endpoint.name}: {error}", True), "malformed"
        )
    if isinstance(call.result, ModelFailed):
        detail = _single_line(call.result.detail, endpoint)
        return replace(call, result=replace(call.result, detail=detail))
    return call


def _parse_body(
    question: ModelQuestion[T], endpoint: Endpoint, streamed: bool, body: bytes
) -> _CallResult[T]:
    protocol = anthropic if endpoint.provider == "anthropic" else openai
    try:
        answer = protocol.parse_stream(body) if streamed else protocol.parse_reply(body)
    except StreamInterrupted as error:
        detail = _single_line(f"{endpoint.name} interrupted the answer: {error}", endpoint)
        return _CallResult(ModelFailed("network", detail, False), "failed")
    except UnreadableReply:
        detail = f"{endpoint.name} sent a response that cannot be parsed"
        return _CallResult(ModelFailed("malformed", detail, True), "malformed")
    if answer.stop == "refused":
        return _CallResult(ModelRefused(f"{endpoint.name} refused to answer"), "refused", answer)
    if answer.stop == "truncated":
        detail = f"the answer of {endpoint.name} was cut at {question.max_tokens} tokens"
        return _CallResult(ModelFailed("truncated", detail, True), "truncated", answer)
    return _parse_answer(question, endpoint, answer)


def _parse_answer(
    question: ModelQuestion[T], endpoint: Endpoint, reply: ModelReply
) -> _CallResult[T]:
    try:
        answer = question.answer_type.model_validate_json(_strip_code_fence(reply.text))
    except ValidationError as error:
        where = {".".join(map(str, problem["loc"])) or "answer" for problem in error.errors()}
        wrong = ", ".join(sorted(where))[:200]
        detail = f"the answer of {endpoint.name} is not a {question.answer_type.__name__}: {wrong}"
        return _CallResult(ModelFailed("malformed", detail, True), "malformed", reply)
    cost = _usage_cost(reply, endpoint)
    return _CallResult(ModelAnswer(answer, endpoint.name, cost), "answered", reply)


def _strip_code_fence(text: str) -> str:
    """Remove the ``` that some models put around JSON."""
    text = text.strip()
    if text.startswith("```") and text.endswith("```"):
        return text.removeprefix("```json").removeprefix("```").removesuffix("```")
    return text


def _classify_error(reply: HttpReply, endpoint: Endpoint) -> _CallResult[T]:
    provider_error = _read_provider_error(reply.body)
    message = provider_error.message if provider_error else ""
    detail = _single_line(f"{endpoint.name} answered {reply.status}: {message}", endpoint)
    retry_after = parse_retry_after(reply)
    status = reply.status
    if status in (401, 402, 403):
        return _CallResult(ModelBlocked("no_key", detail), "failed", free=True)
    if status == 404:
        return _CallResult(ModelBlocked("no_model", detail), "failed", free=True)
    if status in (429, 503, 529):
        return _CallResult(ModelFailed("limited", detail, False, retry_after), "failed", free=True)
    if status in (408, 409) or status >= 500:
        # A provider that reports an error does not bill; a gateway in between does not know.
        failed = ModelFailed("server", detail, False, retry_after)
        return _CallResult(failed, "failed", free=status < 500 or provider_error is not None)
    return _CallResult(ModelFailed("rejected", detail, True), "failed", free=400 <= status < 500)


class _Envelope(BaseModel):
    error: ProviderError


def _read_provider_error(body: bytes) -> ProviderError | None:
    if len(body) > MAX_LENGTH_IN_PLACE:
        return None
    try:
        return _Envelope.model_validate_json(body).error
    except ValidationError:
        return None


def _cost(call: _CallResult[T], endpoint: Endpoint) -> Decimal | None:
    """In dollars; None if unknown."""
    if call.free:
        return Decimal(0)
    return _usage_cost(call.reply, endpoint) if call.reply else None


def _usage_cost(reply: ModelReply, endpoint: Endpoint) -> Decimal | None:
    if not endpoint.priced or reply.tokens_in is None or reply.tokens_out is None:
        return None
    return endpoint.price.cost(reply.tokens_in, reply.tokens_out)


def _single_line(text: str, endpoint: Endpoint) -> str:
    """One short line without our key, in case the server repeats it."""
    text = " ".join(text.split())
    return (text.replace(endpoint.key, "…") if endpoint.key else text)[:300]


def _describe(error: Exception) -> str:
    """A short error message; a LocalProtocolError would quote the request with its keys."""
    if isinstance(error, httpx2.LocalProtocolError):
        return "the request is invalid"
    return (str(error) or type(error).__name__)[:200]


def _log(
    question: ModelQuestion[T],
    endpoint: Endpoint,
    call: _CallResult[T],
    cost: Decimal | None,
    seconds: float,
) -> None:
    fields: dict[str, object] = {
        "model": endpoint.name,
        "purpose": question.purpose,
        "item": question.item,
        "outcome": call.outcome,
        "cost": None if cost is None else float(cost),
        "ms": round(seconds * 1000),
    }
    if isinstance(call.result, ModelFailed | ModelBlocked):
        fields["detail"] = call.result.detail
    level = logging.DEBUG if call.outcome == "answered" else logging.INFO
    log.log(level, "called a model", extra=fields)
