"""Saved responses of fictional companies, and helpers to read them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jobmill.boards.adapters import BY_NAME
from jobmill.boards.platform import BoardPage
from jobmill.outside.request import Request

ANSWERS = Path(__file__).parents[1] / "answers"
NOWHERE = {"board_token": ""}


def answer(name: str) -> bytes:
    """The saved response `answers/NAME`."""
    return (ANSWERS / name).read_bytes()


def read(
    platform: str, body: bytes, config: dict[str, Any] = NOWHERE, request: Request | None = None
) -> BoardPage:
    """The result of reading a response; by default, the board is unknown."""
    chosen = BY_NAME[platform]
    return chosen.read_response(body, request or Request(""), chosen.parse_config(config))


def first_request(platform: str, **config: Any) -> Request:
    """The first request for a source with this config."""
    chosen = BY_NAME[platform]
    assert chosen.first_request
    return chosen.first_request(chosen.parse_config(config))


def lines(text: str | None) -> list[str]:
    """The lines of a text that are not empty."""
    return [line for line in (text or "").splitlines() if line]
