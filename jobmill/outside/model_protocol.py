"""Types and parsing that the protocols of model servers share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypeAlias, TypeVar

from pydantic import BaseModel, Field, ValidationError

StopReason: TypeAlias = Literal["end", "truncated", "refused"]
TokenCount: TypeAlias = Annotated[int, Field(ge=0, le=1_000_000_000)] | None
Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class ModelReply:
    text: str = field(repr=False)
    stop: StopReason
    tokens_in: int | None
    tokens_out: int | None


class UnreadableReply(Exception):
    """A response that does not follow the protocol."""


def parse_json(model: type[Model], body: str | bytes) -> Model:
    """Parse a part of a response; raises UnreadableReply."""
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        raise UnreadableReply from error


class StreamInterrupted(Exception):
    """A stream that ended before the answer was complete."""


class ProviderError(BaseModel):
    """An error message; both protocols use the same form."""

    message: str = ""


def read_events(body: bytes) -> Iterator[str]:
    """The data of each server-sent event."""
    text = body.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    for block in text.split("\n\n"):
        lines = [line[5:].removeprefix(" ") for line in block.split("\n") if line[:5] == "data:"]
        if lines:
            yield "\n".join(lines)
