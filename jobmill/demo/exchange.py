"""What the demo's server is asked, and what it answers."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import SplitResult, parse_qs, urlsplit


@dataclass(frozen=True, slots=True)
class Ask:
    method: str
    host: str
    target: str
    """Path and query."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    """By lower-case name."""
    body: bytes = b""

    @property
    def parts(self) -> list[str]:
        """The path between its slashes."""
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
class Reply:
    body: bytes = b""
    status: int = 200
    content_type: str = "text/html; charset=utf-8"
    headers: tuple[tuple[str, str], ...] = ()
    claims: int | None = None
    """The length that it claims to have, where that is a lie."""
    after: float = 0.0
    """Seconds that it takes."""


MISSING = Reply(b"<title>404 Not Found</title>", 404)


def page(html: str) -> Reply:
    return Reply(html.encode())


def as_json(value: object) -> Reply:
    return Reply(json.dumps(value, ensure_ascii=False).encode(), content_type="application/json")


def tagged(ask: Ask, reply: Reply) -> Reply:
    """With a validator, for vendors that give one; unchanged where the asker holds it already."""
    tag = f'W/"{hashlib.sha256(reply.body).hexdigest()[:24]}"'
    if ask.headers.get("if-none-match") == tag:
        return Reply(status=304, headers=(("ETag", tag),))
    return replace(reply, headers=(*reply.headers, ("ETag", tag)))
