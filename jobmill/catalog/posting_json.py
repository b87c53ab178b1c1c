"""Postings as plain records: what the commands print, and read again."""

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
    """Every field by its name; dates as ISO 8601, what is not known as null."""
    record = {field.name: getattr(posting, field.name) for field in dataclasses.fields(posting)}
    for name in ("posted_at", "updated_at", "valid_through"):
        record[name] = record[name] and record[name].isoformat()
    record["url"] = posting.url or None
    record["work_arrangement"] = record.pop("arrangement")
    record["salary"] = posting.salary and dataclasses.asdict(posting.salary)
    return record


def from_record(record: Mapping[str, Any]) -> Posting:
    """The posting of a record. What a posting does not have, or what says nothing in our words, is
    passed over: somebody else's field costs that field, not the posting."""
    given = {name: _plain(name, one) for name, one in record.items() if one is not None}
    if "work_arrangement" in given:
        given["arrangement"] = given.pop("work_arrangement")
    given.setdefault("title", "")
    try:
        return _POSTING.validate_python(given)
    except ValidationError as error:
        wrong = {str(one["loc"][0]) for one in error.errors()}
    if "title" in wrong:
        raise Invalid("title: not a text")
    return _POSTING.validate_python({name: one for name, one in given.items() if name not in wrong})


def _plain(name: str, value: Any) -> Any:
    """Numbers as the texts that ids are, one place as a list of one."""
    if name in _LISTS and isinstance(value, str):
        return [value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return str(value) if is_number else value
