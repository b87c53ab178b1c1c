"""Postings as plain records: what the commands print, and read again."""

from __future__ import annotations

import dataclasses
from typing import Any

from pydantic import TypeAdapter, ValidationError

from jobmill.catalog.posting import Posting
from jobmill.errors import Invalid

_POSTING = TypeAdapter(Posting)


def write(posting: Posting) -> dict[str, Any]:
    """Every field by its name; dates as ISO 8601, what is not known as null."""
    record = {field.name: getattr(posting, field.name) for field in dataclasses.fields(posting)}
    for name in ("posted_at", "updated_at", "valid_through"):
        record[name] = record[name] and record[name].isoformat()
    record["work_arrangement"] = record.pop("arrangement")
    record["salary"] = posting.salary and dataclasses.asdict(posting.salary)
    return record


def read(record: object) -> Posting:
    """The posting of a record; fields that a posting does not have are passed over."""
    if not isinstance(record, dict):
        raise Invalid("a posting is written as an object: {…}")
    given: dict[str, Any] = {name: one for name, one in record.items() if one is not None}  # pyright: ignore[reportUnknownVariableType]
    if "work_arrangement" in given:
        given["arrangement"] = given.pop("work_arrangement")
    given.setdefault("title", "")
    try:
        return _POSTING.validate_python(given)
    except ValidationError as error:
        wrong = error.errors()[0]
        place = ".".join(map(str, wrong["loc"]))
        raise Invalid(f"{place}: {wrong['msg']}") from None
