"""A server on loopback that speaks the protocols of model providers and sums up what it bills.

server.says(answer({"title": "Cook"}))           # the Messages API, whole or streamed as asked
server.says(in_turn(trouble(429), answer({})))   # one after the other
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from jobmill.outside import model_prices

from .site import Handler, LoopbackSite, ReceivedRequest, ResponseWriter, open_site

MESSAGES = "/v1/messages"
COMPLETIONS = "/chat/completions"


@dataclass
class ModelServer:
    site: LoopbackSite
    billed: Decimal = Decimal(0)
    requests: list[dict[str, Any]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return self.site.url("")

    def says(self, handler: Handler) -> None:
        async def handle(request: ReceivedRequest, out: ResponseWriter) -> None:
            self.requests.append(json.loads(request.body))
            await handler(request, out)

        for path in (MESSAGES, COMPLETIONS):
            self.site.on(path, handle)

    def bill(self, model: str, tokens_in: int, tokens_out: int) -> None:
        self.billed += model_prices.PRICES[f"anthropic:{model}"].cost(tokens_in, tokens_out)


@asynccontextmanager
async def open_server() -> AsyncIterator[ModelServer]:
    async with open_site() as site:
        yield ModelServer(site)


def answer(
    content: object,
    *,
    stop: str = "end_turn",
    usage: Mapping[str, int] | None = None,
    status: int = 200,
) -> Handler:
    """An answer of the Messages API, complete or streamed as requested; text is sent unchanged."""
    text = content if isinstance(content, str) else json.dumps(content)
    tokens = dict(usage or {"input_tokens": 100, "output_tokens": 20})

    async def handle(request: ReceivedRequest, out: ResponseWriter) -> None:
        if json.loads(request.body).get("stream"):
            await send_stream(out, [event(data) for data in message_events(text, stop, tokens)])
        else:
            await send(out, json.dumps(message(text, stop, tokens)).encode(), status)

    return handle


def message(text: str, stop: str, usage: Mapping[str, int]) -> dict[str, Any]:
    thought = {"type": "thinking", "thinking": "", "signature": "x"}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [thought, {"type": "text", "text": text}],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": {"cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, **usage},
    }


def message_events(text: str, stop: str, usage: Mapping[str, int]) -> list[dict[str, Any]]:
    begun = {**message("", "", {**usage, "output_tokens": 1}), "content": [], "stop_reason": None}
    half = len(text) // 2
    return [
        {"type": "message_start", "message": begun},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "ping"},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text[:half]}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text[half:]}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": usage["output_tokens"]}},
        {"type": "message_stop"},
    ]  # fmt: skip


def event(data: Mapping[str, Any]) -> bytes:
    return f"event: {data['type']}\ndata: {json.dumps(data)}\n\n".encode()


def completion(content: object, *, finish: str = "stop", refusal: str | None = None) -> Handler:
    """An answer of the chat completions API, complete or streamed as requested."""
    text = content if isinstance(content, str) else json.dumps(content)
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}

    async def handle(request: ReceivedRequest, out: ResponseWriter) -> None:
        words = {"role": "assistant", "content": text, "refusal": refusal}
        if not json.loads(request.body).get("stream"):
            choice = {"index": 0, "message": words, "finish_reason": finish}
            await send(out, json.dumps({"choices": [choice], "usage": usage}).encode())
            return
        chunks: list[dict[str, Any]] = [
            {"choices": [{"index": 0, "delta": words, "finish_reason": None}], "usage": None},
            {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}], "usage": None},
            {"choices": [], "usage": usage},
        ]
        parts = [f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks]
        await send_stream(out, [*parts, b"data: [DONE]\n\n"])

    return handle


def trouble(status: int, message: str = "no", **headers: str) -> Handler:
    """An error response of a provider."""
    body = json.dumps({"type": "error", "error": {"type": "some_error", "message": message}})

    async def handle(request: ReceivedRequest, out: ResponseWriter) -> None:
        await send(out, body.encode(), status, **headers)

    return handle


async def send(out: ResponseWriter, body: bytes, status: int = 200, **headers: str) -> None:
    lines = [f"{name.replace('_', '-')}: {text}" for name, text in headers.items()]
    head = [f"HTTP/1.1 {status} X", "Content-Type: application/json", *lines]
    text = "\r\n".join([*head, f"Content-Length: {len(body)}", "Connection: close", "", ""])
    await out.send(text.encode() + body)


async def send_stream(out: ResponseWriter, parts: list[bytes]) -> None:
    head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n"
    await out.send((head + "Connection: close\r\n\r\n").encode())
    for part in parts:
        await out.send(f"{len(part):x}\r\n".encode() + part + b"\r\n")
    await out.send(b"0\r\n\r\n")
