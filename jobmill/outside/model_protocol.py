"""What the protocols of model servers have in common: what was said, and streams of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias

from pydantic import BaseModel, Field

StopReason: TypeAlias = Literal["end", "truncated", "refused"]
TokenCount: TypeAlias = Annotated[int, Field(ge=0, le=1_000_000_000)] | None


@dataclass(frozen=True, slots=True)
class ModelReply:
    text: str = field(repr=False)
    stop: StopReason
    tokens_in: int | None
    tokens_out: int | None


class UnreadableReply(Exception):
    """An answer that the protocol does not know."""


class StreamInterrupted(Exception):
    """A stream that ended before the answer did."""


class ProviderError(BaseModel):
    """An error as both protocols tell it."""

    message: str = ""


def read_events(body: bytes) -> Iterator[str]:
    """The data of each event of a stream."""
    text = body.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    for block in text.split("\n\n"):
        lines = [line[5:].removeprefix(" ") for line in block.split("\n") if line[:5] == "data:"]
        if lines:
            yield "\n".join(lines)
