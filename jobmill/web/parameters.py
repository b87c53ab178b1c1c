"""Types of path, query and body parameters: ids, times, plain text."""

from __future__ import annotations

import datetime as dt
import re
from typing import Annotated

from fastapi import Path
from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, WithJsonSchema
from pydantic_core import PydanticCustomError

from jobmill.errors import Invalid
from jobmill.hiring.timestamps import format_time_of_day, format_timestamp, parse_time_of_day
from jobmill.time_zones import load_time_zone

MAX_ID = 10**12 - 1
DIGITS = re.compile(r"[0-9]{1,13}")
SAMPLE = dt.datetime(2026, 11, 15, 9, 30, tzinfo=dt.UTC)
EARLIEST, LATEST = dt.datetime(1970, 1, 1, tzinfo=dt.UTC), dt.datetime(9000, 1, 1, tzinfo=dt.UTC)


def _require_digits(text: object) -> object:
    if isinstance(text, str) and not DIGITS.fullmatch(text):
        raise PydanticCustomError("whole", "should be a positive integer")
    return text


def _parse_time(value: object) -> object:
    """Parse an ISO 8601 time; without a zone it is UTC."""
    if value is None or isinstance(value, dt.datetime):
        return value
    try:
        time = dt.datetime.fromisoformat(value) if isinstance(value, str) else None
        time = time and (time if time.tzinfo else time.replace(tzinfo=dt.UTC))
        if time and EARLIEST <= time <= LATEST:
            return time.astimezone(dt.UTC)
    except (ValueError, OverflowError):
        pass
    raise PydanticCustomError("time", "should be a time such as 2026-11-15T09:30:00.000Z")


def _parse_time_of_day(value: object) -> object:
    if value is None or isinstance(value, dt.time):
        return value
    try:
        return parse_time_of_day(str(value))
    except Invalid as error:
        raise PydanticCustomError("time", "should be a time of day such as 21:00") from error


def _check_time_zone(name: str) -> str:
    try:
        load_time_zone(name)
    except Invalid as error:
        raise PydanticCustomError(
            "zone", "should be an IANA time zone such as America/New_York"
        ) from error
    return name


def _reject_unstorable(text: str) -> str:
    # PostgreSQL stores neither null characters nor lone surrogates.
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise PydanticCustomError("text", "should be a text without null characters")
    return text


DIGITS_ONLY = BeforeValidator(_require_digits)
"""Of whole numbers in a path or a query: no sign, spaces or underscores."""
PathId = Annotated[int, Path(ge=1, le=MAX_ID), DIGITS_ONLY]
JobPathId = Annotated[int, Path(alias="jobId", ge=1, le=MAX_ID, examples=[1]), DIGITS_ONLY]
ApplicantPathId = Annotated[
    int, Path(alias="applicantId", ge=1, le=MAX_ID, examples=[1]), DIGITS_ONLY
]
ApplicationPathId = Annotated[
    int, Path(alias="applicationId", ge=1, le=MAX_ID, examples=[1]), DIGITS_ONLY
]
BodyId = Annotated[int, Field(strict=True, ge=1, le=MAX_ID, examples=[1])]
WholeNumber = Annotated[int, Field(strict=True)]
PLAIN_TEXT = AfterValidator(_reject_unstorable)
"""Put it last, so that an error about the length names a text."""
TIME_SCHEMA = WithJsonSchema(
    {"type": "string", "format": "date-time", "examples": [format_timestamp(SAMPLE)]}
)
InputTime = Annotated[dt.datetime, BeforeValidator(_parse_time), TIME_SCHEMA]
"""A time in a request."""
TimeOfDay = Annotated[
    dt.time,
    BeforeValidator(_parse_time_of_day),
    PlainSerializer(format_time_of_day, return_type=str, when_used="json"),
    WithJsonSchema({"type": "string", "pattern": "^[0-9]{2}:[0-9]{2}$", "examples": ["21:00"]}),
]
"""A time of day to the minute, in a request or a response."""
TimeZoneName = Annotated[
    str, Field(max_length=60, examples=["Europe/Berlin"]), AfterValidator(_check_time_zone)
]
OutputTime = Annotated[
    dt.datetime,
    PlainSerializer(format_timestamp, return_type=str, when_used="json"),
    TIME_SCHEMA,
]
"""A time in a response."""
