"""Answers of others: JSON and XML read so that one odd record does not cost a whole board."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Annotated, Any, NoReturn, TypeAlias, TypeVar, cast
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    OnErrorOmit,
    ValidationError,
    WrapValidator,
)

from jobmill.catalog.posting import Posting
from jobmill.errors import OutsideError

from .fields import html_text as texts

T = TypeVar("T")
Model = TypeVar("Model", bound=BaseModel)
_HALF_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


def _or_none(value: object, validate: Callable[[object], T]) -> T | None:
    try:
        return validate(value)
    except ValidationError:
        return None


def _require_line(value: str) -> str:
    line = texts.single_line(value)
    if not line:
        raise ValueError("nothing is said")
    return line


def _as_list(value: object) -> list[object]:
    if isinstance(value, list):
        return cast(list[object], value)
    return [] if value is None else [value]


def parse_link(value: object) -> str | None:
    """A web address; None for anything else, `javascript:` among it."""
    url = value.strip() if isinstance(value, str) else ""
    return url if re.match(r"https?://[^\s/]", url, re.IGNORECASE) else None


Maybe: TypeAlias = Annotated[T | None, WrapValidator(_or_none)]
"""What it should be, or None where it is anything else."""
Line: TypeAlias = Annotated[str, AfterValidator(_require_line)]
"""One line that says something."""
Many: TypeAlias = Annotated[tuple[OnErrorOmit[T], ...], BeforeValidator(_as_list)]
"""Those of a list that are what they should be; a single value may stand for a list."""
Link: TypeAlias = Annotated[str | None, BeforeValidator(parse_link)]
"""A web address, or None where it is anything else."""


class ExternalRecord(BaseModel):
    """A record of somebody else's: what we do not know of is passed over."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)


def parse_json(body: bytes) -> Any:
    """The JSON of an answer; bytes that are no text become signs of replacement."""
    text = body.decode("utf-8-sig", "replace")
    value = json.loads(text)
    if _HALF_SURROGATE.search(text):
        # Half of a surrogate pair, as a cut text ends with, fits into no database.
        encoded = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        value = json.loads(encoded)
    return value


def parse_record(model: type[Model], value: object) -> Model | None:
    """The record, or None where it lacks what every record has."""
    return _or_none(value, model.model_validate)


def parse_records(model: type[Model], values: list[object]) -> tuple[list[Model], int]:
    """The records that can be read, and how many cannot; OutsideError if there are only such."""
    records = [record for value in values if (record := parse_record(model, value))]
    if values and not records:
        raise OutsideError("none of its records can be read", permanent=True)
    return records, len(values) - len(records)


def merge_details(posting: Posting, details: Posting) -> Posting:
    """The posting, with all that a fuller answer says of it; it stays the same one."""
    identity = {"title", "url", "platform", "board", "vendor_id", "via", "partial"}
    identity = {name for name in identity if getattr(posting, name)}
    updates = {
        field.name: getattr(details, field.name)
        for field in fields(details)
        if field.name not in identity
    }
    merged = replace(posting, **{name: value for name, value in updates.items() if value})
    return replace(merged, partial=details.partial or not merged.description)


def unknown_response(platform: str) -> OutsideError:
    """The error for an answer that is not the platform's."""
    return OutsideError(f"{platform} answered in a way we do not know", permanent=True)


def parse_xml(body: bytes) -> Element:
    """The root of a document that declares nothing: entities could make it endless."""
    tree, parser = TreeBuilder(), expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = tree.start
    parser.EndElementHandler = tree.end
    parser.CharacterDataHandler = tree.data
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        parser.Parse(body, True)
    except (expat.ExpatError, LookupError) as error:  # LookupError: an encoding nobody knows.
        raise OutsideError(f"not XML: {error}", permanent=True) from error
    return tree.close()


def _refuse_doctype(*_: object) -> NoReturn:
    raise OutsideError("a document type is not read", permanent=True)


def parse_json_list(body: bytes) -> list[object]:
    """The JSON of an answer that must be a list."""
    value = parse_json(body)
    if not isinstance(value, list):
        raise OutsideError("no list of records", permanent=True)
    return cast(list[object], value)


def decode_page(body: bytes) -> str:
    """A page as text: UTF-8, else by the charset it names, else what old pages use."""
    named = re.search(rb"<meta[^>]{0,200}charset=[\"']?([\w-]{1,20})", body[:4096], re.IGNORECASE)
    for charset in ("utf-8-sig", named[1].decode("ascii") if named else ""):
        try:
            if charset:
                return body.decode(charset)
        except (UnicodeDecodeError, LookupError):
            continue
    return body.decode("cp1252", "replace")
