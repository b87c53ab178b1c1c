"""The chat completions API of OpenAI, Ollama and compatible servers."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel

from jobmill.outside import model_protocol
from jobmill.outside.model_endpoint import OPENAI_BASE_URL, Endpoint
from jobmill.outside.model_protocol import ModelReply, StopReason, TokenCount
from jobmill.outside.model_question import ModelQuestion, T, answer_schema, fence, system_prompt

PATH = "/chat/completions"
_STOPS: dict[str, StopReason] = {"stop": "end", "length": "truncated", "content_filter": "refused"}


def auth_headers(endpoint: Endpoint) -> dict[str, str]:
    return {"authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}


def build_body(question: ModelQuestion[T], endpoint: Endpoint, *, stream: bool) -> bytes:
    """The request body. OpenAI has renamed `max_tokens`; other servers have not."""
    limit = "max_completion_tokens" if endpoint.base_url == OPENAI_BASE_URL else "max_tokens"
    response_format = {"name": "answer", "schema": answer_schema(question.answer_type)}
    payload: dict[str, Any] = {
        "model": endpoint.model,
        limit: question.max_tokens,
        "messages": [
            {"role": "system", "content": system_prompt(question)},
            {"role": "user", "content": fence(question.text)},
        ],
        "response_format": {"type": "json_schema", "json_schema": response_format},
    }
    if stream:
        payload |= {"stream": True, "stream_options": {"include_usage": True}}
    return json.dumps(payload, ensure_ascii=False).encode()


class _Usage(BaseModel):
    prompt_tokens: TokenCount = None
    completion_tokens: TokenCount = None


class _Words(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Words = _Words()
    delta: _Words = _Words()
    finish_reason: str | None = None


class _Completion(BaseModel):
    choices: list[_Choice] = []
    usage: _Usage | None = None
    error: model_protocol.ProviderError | None = None


def parse_reply(body: bytes) -> ModelReply:
    """Parse a complete response; raises UnreadableReply."""
    completion = model_protocol.parse_json(_Completion, body)
    if not completion.choices:
        raise model_protocol.UnreadableReply
    choice = completion.choices[0]
    return _build_reply(choice.message, choice.finish_reason, completion.usage)


def parse_stream(body: bytes) -> ModelReply:
    """Parse a streamed response; raises StreamInterrupted if it ends early."""
    parts, refusal, stop, usage = list[str](), None, None, None
    for data in model_protocol.read_events(body):
        if data.strip() == "[DONE]":
            return _build_reply(_Words(content="".join(parts), refusal=refusal), stop, usage)
        completion = model_protocol.parse_json(_Completion, data)
        if completion.error:
            raise model_protocol.StreamInterrupted(completion.error.message)
        usage = completion.usage or usage
        for choice in completion.choices[:1]:
            parts.append(choice.delta.content or "")
            refusal = choice.delta.refusal or refusal
            stop = choice.finish_reason or stop
    raise model_protocol.StreamInterrupted("the stream ended early")


def _build_reply(words: _Words, stop: str | None, usage: _Usage | None) -> ModelReply:
    if stop not in _STOPS:
        raise model_protocol.UnreadableReply
    usage = usage or _Usage()
    ended: StopReason = "refused" if words.refusal else _STOPS[stop]
    return ModelReply(words.content or "", ended, usage.prompt_tokens, usage.completion_tokens)
