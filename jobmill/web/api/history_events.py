"""Events of listings, matches and sources in the API."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Annotated, Any, cast

from pydantic import BeforeValidator, Field
from pydantic.alias_generators import to_camel

from jobmill.web.api.schemas import Schema
from jobmill.web.parameters import OutputTime


def to_json_names(value: Any) -> Any:
    """The same data with the names of its fields in camelCase, and times as texts."""
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value)
        return {to_camel(name): to_json_names(part) for name, part in pairs.items()}
    if isinstance(value, list | tuple):
        return [to_json_names(part) for part in cast("Sequence[Any]", value)]
    return value.isoformat() if isinstance(value, dt.datetime | dt.date) else value


JsonObject = Annotated[dict[str, Any], BeforeValidator(to_json_names)]
"""Its fields depend on what it is about."""


class HistoryEvent(Schema):
    id: Annotated[int, Field(examples=[1])]
    at: OutputTime
    what: Annotated[str, Field(examples=["changed"])]
    data: JsonObject
    actor: str | None
    """The name of the person, or of the part of Jobmill."""
