"""What is outside our reach, played by a few lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from jobmill.outside.request import FetchResult, Ok, PageGone, Request, Validators

Play: TypeAlias = Callable[[Request], FetchResult] | FetchResult


def ok(body: object, url: str = "", **facts: Validators) -> Ok:
    """A whole answer: text, bytes, or anything JSON can say."""
    if not isinstance(body, str | bytes):
        body = json.dumps(body)
    return Ok(url, body.encode() if isinstance(body, str) else body, **facts)


@dataclass
class Net:
    """A network of a few addresses: `net.on(url, answer)`; all else is gone."""

    asked: list[Request] = field(default_factory=list)
    validators: list[Validators | None] = field(default_factory=list)
    plays: dict[str, Play] = field(default_factory=dict)

    def on(self, url: str, play: Play) -> None:
        self.plays[url] = play

    async def __call__(self, request: Request, validators: Validators | None = None) -> FetchResult:
        self.asked.append(request)
        self.validators.append(validators)
        play = self.plays.get(request.url, PageGone(request.url, 404))
        return play(request) if callable(play) else play
