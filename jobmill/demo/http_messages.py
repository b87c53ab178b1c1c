"""Requests to the demo's server and its replies."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import SplitResult, parse_qs, urlsplit


@dataclass(frozen=True, slots=True)
class DemoRequest:
    method: str
    host: str
    target: str
    """Path and query."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """By lower-case name."""
    body: bytes = b""

    @property
    def parts(self) -> list[str]:
        """The segments of the path."""
        return [part for part in self._split.path.split("/") if part]

    @property
    def path(self) -> str:
        return self._split.path

    def query(self, name: str) -> str:
        return parse_qs(self._split.query).get(name, [""])[0]

    @property
    def _split(self) -> SplitResult:
        return urlsplit(self.target)


@dataclass(frozen=True, slots=True)
class DemoReply:
    body: bytes = b""
    status: int = 200
    content_type: str = "text/html; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()
    claimed_length: int | None = None
    """A false Content-Length, to simulate a broken server."""
    delay: float = 0.0
    """Delay in seconds."""


NOT_FOUND = DemoReply(b"<title>404 Not Found</title>", 404)


def html_reply(html: str) -> DemoReply:
    return DemoReply(html.encode())


def json_reply(value: object) -> DemoReply:
    return DemoReply(
        json.dumps(value, ensure_ascii=False).encode(), content_type="application/json"
    )


def with_etag(ask: DemoRequest, reply: DemoReply) -> DemoReply:
    """Add a validator, or answer 304 if the client has it already."""
    tag = f'W/"{hashlib.sha256(reply.body).hexdigest()[:24]}"'
    if ask.headers.get("if-none-match") == tag:
        return DemoReply(status=304, headers=(("ETag", tag),))
    return replace(reply, headers=(*reply.headers, ("ETag", tag)))
