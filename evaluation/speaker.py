"""A server on loopback that speaks the Messages API: its opinions follow from the question alone, and
its tokens are counted as a provider would."""

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
"""Of an opinion with its quotes, skills and lines, some 2,400 letters."""
SWAY = range(-12, 13)
"""A model sees what rules do not, for better or worse."""
QUOTES, QUOTED = 4, 10


@dataclass
class Speaker:
    url: str = ""
    asked: int = 0
    tokens_in: int = 0
    tokens_out: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request on a connection, and its answer."""
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
        self.asked += 1
        self.tokens_in += tokens_in
        self.tokens_out += tokens_out
        return {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "text", "text": json.dumps(opine(text))}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": tokens_in, "output_tokens": tokens_out},
        }


@asynccontextmanager
async def open_speaker() -> AsyncGenerator[Speaker]:
    speaker = Speaker()
    server = await asyncio.start_server(speaker.serve, "127.0.0.1", 0, limit=1 << 20)
    speaker.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    async with server:
        yield speaker


def opine(text: str) -> dict[str, Any]:
    """A valid opinion: by the share of skills in both texts, swayed by a digest of all of it."""
    candidate, _, listing = text.partition("=== LISTING ===")
    both = _named(candidate, "Skills found in both texts by rules")
    alone = _named(candidate, "Skills found in the listing alone by rules")
    fit = 45 + 50 * len(both) / (len(both) + len(alone) or 1) + _pick(text, "fit", SWAY)
    quotes = [" ".join(line.split()[:QUOTED]) for line in listing.splitlines() if len(line) > 60]
    highlights = _lines(candidate, "Highlights")
    return {
        "fit": max(0, min(100, round(fit))),
        "reasons": [{"quote": one, "speaks_for": True} for one in quotes[:QUOTES]],
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
    """One of some numbers, always the same for the same text."""
    digest = hashlib.sha256(f"{what} {text}".encode()).digest()
    return among[int.from_bytes(digest[:4]) % len(among)]


def _named(candidate: str, label: str) -> list[str]:
    found = re.search(rf"^{label}: (.*)$", candidate, re.MULTILINE)
    return found[1].split("; ") if found else []


def _lines(candidate: str, label: str) -> list[str]:
    found = re.search(rf"^{label}: ((?:\n- .*)+)", candidate, re.MULTILINE)
    return [line.removeprefix("- ") for line in found[1].strip().splitlines()] if found else []


async def _read(reader: asyncio.StreamReader) -> bytes:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    length = re.search(r"(?i)^content-length: *(\d+)", head, re.MULTILINE)
    return await reader.readexactly(int(length[1]) if length else 0)
