"""Fakes for the world outside: a network with canned responses."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from jobmill.outside.request import FetchResult, Ok, PageGone, Request, Validators

Play: TypeAlias = Callable[[Request], FetchResult] | FetchResult


def ok(body: object, url: str = "", **facts: Validators) -> Ok:
    """A complete response; the body is text, bytes or anything that JSON can encode."""
    if not isinstance(body, str | bytes):
        body = json.dumps(body)
    return Ok(url, body.encode() if isinstance(body, str) else body, **facts)


@dataclass
class Net:
    """A network of a few addresses: `net.on(url, response)`; every other address is gone."""

    requests: list[Request] = field(default_factory=list)
    validators: list[Validators | None] = field(default_factory=list)
    plays: dict[str, Play] = field(default_factory=dict)

    def on(self, url: str, play: Play) -> None:
        self.plays[url] = play

    async def __call__(self, request: Request, validators: Validators | None = None) -> FetchResult:
        self.requests.append(request)
        self.validators.append(validators)
        play = self.plays.get(request.url, PageGone(request.url, 404))
        return play(request) if callable(play) else play
