"""A stand-in for a model: a server on loopback for the Messages API. Its answers depend on the
question alone, and it counts tokens approximately like a provider."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

LETTERS_A_TOKEN = 4
TOKENS_OUT = range(500, 701)
"""The length of an opinion with its quotes, skills and lines: about 2,400 characters."""
SWAY = range(-12, 13)
"""How far the opinion differs from the rules at random."""
QUOTES, QUOTED = 4, 10


@dataclass
class ModelStandIn:
    url: str = ""
    requests: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request per connection."""
        try:
            body = await _read(reader)
            answer = json.dumps(self._answer(body)).encode()
            head = f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {len(answer)}"
            writer.write(f"{head}\r\nConnection: close\r\n\r\n".encode() + answer)
            await writer.drain()
        finally:
            writer.close()

    def _answer(self, body: bytes) -> dict[str, Any]:
        text: str = json.loads(body)["messages"][0]["content"]
        tokens_in, tokens_out = len(body) // LETTERS_A_TOKEN, _pick(text, "tokens", TOKENS_OUT)
        self.requests += 1
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out
        return {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "text", "text": json.dumps(build_opinion(text))}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": tokens_in, "output_tokens": tokens_out},
        }


@asynccontextmanager
async def open_stand_in() -> AsyncGenerator[ModelStandIn]:
    speaker = ModelStandIn()
    server = await asyncio.start_server(speaker.serve, "127.0.0.1", 0, limit=1 << 20)
    speaker.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield speaker


def build_opinion(text: str) -> dict[str, Any]:
    """A valid opinion: the share of skills in both texts, plus a pseudo-random number derived from
    the text."""
    candidate, _, listing = text.partition("=== LISTING ===")
    both = _named(candidate, "Skills found in both texts by rules")
    alone = _named(candidate, "Skills found in the listing alone by rules")
    fit = 45 + 50 * len(both) / (len(both) + len(alone) or 1) + _pick(text, "fit", SWAY)
    quotes = [" ".join(line.split()[:QUOTED]) for line in listing.splitlines() if len(line) > 60]
    highlights = _lines(candidate, "Highlights")
    return {
        "fit": max(0, min(100, round(fit))),
        "reasons": [{"quote": quote, "speaks_for": True} for quote in quotes[:QUOTES]],
        "matched_skills": both,
        "gaps": alone,
        "summary": "".join(re.findall(r"^Summary: (.*)$", candidate, re.MULTILINE)),
        "prioritized_skills": both[:12],
        "highlights": highlights[:5],
        "projects": _lines(candidate, "Projects")[:3],
        "achievement_angles": highlights[:2],
        "ats_keywords": both[:12],
    }


def _pick(text: str, what: str, among: range) -> int:
    """A pseudo-random number of the range, the same for the same text."""
    digest = hashlib.sha256(f"{what} {text}".encode()).digest()
    return among[int.from_bytes(digest[:4]) % len(among)]


def _named(candidate: str, label: str) -> list[str]:
    match = re.search(rf"^{label}: (.*)$", candidate, re.MULTILINE)
    return match[1].split("; ") if match else []


def _lines(candidate: str, label: str) -> list[str]:
    match = re.search(rf"^{label}: ((?:\n- .*)+)", candidate, re.MULTILINE)
    return [line.removeprefix("- ") for line in match[1].strip().splitlines()] if match else []


async def _read(reader: asyncio.StreamReader) -> bytes:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    length = re.search(r"(?i)^content-length: *(\d+)", head, re.MULTILINE)
    return await reader.readexactly(int(length[1]) if length else 0)
