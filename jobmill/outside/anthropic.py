"""The parts of Anthropic's Messages API that Jobmill uses."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel

from jobmill.outside import model_protocol
from jobmill.outside.model_endpoint import Endpoint
from jobmill.outside.model_protocol import ModelReply, StopReason, TokenCount
from jobmill.outside.model_question import ModelQuestion, T, answer_schema, fence, system_prompt

PATH = "/v1/messages"
_STOPS: dict[str, StopReason] = {
    "end_turn": "end",
    "stop_sequence": "end",
    "max_tokens": "truncated",
    "model_context_window_exceeded": "truncated",
    "refusal": "refused",
}


def auth_headers(endpoint: Endpoint) -> dict[str, str]:
    return {"x-api-key": endpoint.key, "anthropic-version": "2023-06-01"}


def build_body(question: ModelQuestion[T], endpoint: Endpoint, *, stream: bool) -> bytes:
    """The request body. The newest models accept neither a forced tool nor a temperature, so the
    answer is requested as structured output."""
    payload: dict[str, Any] = {
        "model": endpoint.model,
        "max_tokens": question.max_tokens,
        "system": system_prompt(question),
        "messages": [{"role": "user", "content": fence(question.text)}],
        "output_config": {
            "format": {"type": "json_schema", "schema": answer_schema(question.answer_type)}
        },
    }
    return json.dumps(payload | ({"stream": True} if stream else {}), ensure_ascii=False).encode()


class _Usage(BaseModel):
    input_tokens: TokenCount = None
    cache_creation_input_tokens: TokenCount = None
    cache_read_input_tokens: TokenCount = None
    output_tokens: TokenCount = None

    @property
    def all_in(self) -> int | None:
        if self.input_tokens is None:
            return None
        cached = (self.cache_creation_input_tokens or 0) + (self.cache_read_input_tokens or 0)
        return self.input_tokens + cached


class _Block(BaseModel):
    type: str
    text: str = ""


class _Message(BaseModel):
    content: list[_Block] = []
    stop_reason: str | None = None
    usage: _Usage = _Usage()


class _Event(BaseModel):
    type: str
    message: _Message | None = None
    delta: dict[str, Any] = {}
    content_block: _Block | None = None
    usage: _Usage | None = None
    error: model_protocol.ProviderError | None = None


def parse_reply(body: bytes) -> ModelReply:
    """Parse a complete response; raises UnreadableReply."""
    message = model_protocol.parse_json(_Message, body)
    text = "".join(block.text for block in message.content if block.type == "text")
    return _build_reply(
        text, message.stop_reason, message.usage.all_in, message.usage.output_tokens
    )


def parse_stream(body: bytes) -> ModelReply:
    """Parse a streamed response; raises StreamInterrupted if it ends early."""
    parts, stop, tokens_in, tokens_out = list[str](), None, None, None
    for data in model_protocol.read_events(body):
        event = model_protocol.parse_json(_Event, data)
        match event.type:
            case "message_start" if event.message:
                tokens_in = event.message.usage.all_in
            case "content_block_start" if (
                event.content_block and event.content_block.type == "text"
            ):
                parts.append(event.content_block.text)
            case "content_block_delta" if event.delta.get("type") == "text_delta":
                parts.append(str(event.delta.get("text", "")))
            case "message_delta":
                stop = event.delta.get("stop_reason") or stop
                if event.usage:
                    # Running totals, not increments.
                    tokens_in = event.usage.all_in or tokens_in
                    tokens_out = event.usage.output_tokens
            case "error":
                raise model_protocol.StreamInterrupted(event.error.message if event.error else "")
            case "message_stop":
                return _build_reply("".join(parts), stop, tokens_in, tokens_out)
            case _:
                pass
    raise model_protocol.StreamInterrupted("the stream ended early")


def _build_reply(
    text: str, stop: object, tokens_in: int | None, tokens_out: int | None
) -> ModelReply:
    if stop not in _STOPS:
        raise model_protocol.UnreadableReply
    return ModelReply(text, _STOPS[str(stop)], tokens_in, tokens_out)
