"""Converts postings to and from JSON records, as commands print and read them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from jobmill.catalog.posting import Posting
from jobmill.errors import Invalid

_POSTING = TypeAdapter(Posting)
_LISTS = ("locations", "remote_from", "tags")


def to_record(posting: Posting) -> dict[str, Any]:
    """All fields by name; dates in ISO 8601, unknown values as null."""
    record = {field.name: getattr(posting, field.name) for field in dataclasses.fields(posting)}
    for name in ("posted_at", "updated_at", "valid_through"):
        record[name] = record[name] and record[name].isoformat()
    record["url"] = posting.url or None
    record["work_arrangement"] = record.pop("arrangement")
    record["salary"] = posting.salary and dataclasses.asdict(posting.salary)
    return record


def from_record(record: Mapping[str, Any]) -> Posting:
    """The posting of a record. Unknown fields and fields with invalid values are ignored; only an
    invalid title is an error."""
    fields = {name: _plain(name, value) for name, value in record.items() if value is not None}
    if "work_arrangement" in fields:
        fields["arrangement"] = fields.pop("work_arrangement")
    fields.setdefault("title", "")
    try:
        return _POSTING.validate_python(fields)
    except ValidationError as error:
        invalid = {str(value["loc"][0]) for value in error.errors()}
    if "title" in invalid:
        raise Invalid("title must be a string")
    return _POSTING.validate_python(
        {name: value for name, value in fields.items() if name not in invalid}
    )


def _plain(name: str, value: Any) -> Any:
    """Convert numeric ids to text, and a single location to a list."""
    if name in _LISTS and isinstance(value, str):
        return [value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_number else value
