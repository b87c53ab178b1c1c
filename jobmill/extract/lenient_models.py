"""Parse JSON and XML of other sites leniently, so that one malformed record does not lose a whole
board."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
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

from jobmill.errors import OutsideError

from .fields import html_text as texts
from .page.text_checks import is_malformed

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
        raise ValueError("the line is empty")
    return line


def _as_list(value: object) -> list[object]:
    if isinstance(value, list):
        return cast(list[object], value)
    return [] if value is None else [value]


def parse_link(value: object) -> str | None:
    """An http or https URL; None for anything else, such as `javascript:`, and for malformed ones."""
    url = value.strip() if isinstance(value, str) else ""
    is_web = re.match(r"https?://[^\s/]", url, re.IGNORECASE)
    return url if is_web and not is_malformed(url) else None


Maybe: TypeAlias = Annotated[T | None, WrapValidator(_or_none)]
"""A value of the type, or None for any other value."""
Line: TypeAlias = Annotated[str, AfterValidator(_require_line)]
"""A single line that is not empty."""
Many: TypeAlias = Annotated[tuple[OnErrorOmit[T], ...], BeforeValidator(_as_list)]
"""The valid members of a list; a single value counts as a list of one."""
Link: TypeAlias = Annotated[str | None, BeforeValidator(parse_link)]
"""An http or https URL, or None for any other value."""


class ExternalRecord(BaseModel):
    """A record of another site; unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, coerce_numbers_to_str=True)


def parse_json(body: bytes) -> Any:
    """Parse a JSON body; bytes that are not UTF-8 become replacement characters."""
    text = body.decode("utf-8-sig", "replace")
    value = json.loads(text)
    if _HALF_SURROGATE.search(text):
        # PostgreSQL cannot store half of a surrogate pair, with which a truncated text may end.
        encoded = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        value = json.loads(encoded)
    return value


def parse_record(model: type[Model], value: object) -> Model | None:
    """The record, or None if it lacks a required field."""
    return _or_none(value, model.model_validate)


def parse_records(model: type[Model], values: list[object]) -> tuple[list[Model], int]:
    """The valid records and the number of invalid ones; OutsideError if all are invalid."""
    records = [record for value in values if (record := parse_record(model, value))]
    if values and not records:
        raise OutsideError("none of the records could be read", permanent=True)
    return records, len(values) - len(records)


def unknown_response(platform: str) -> OutsideError:
    """The error for a response that does not have the format of the platform."""
    return OutsideError(f"{platform} sent a response in an unknown format", permanent=True)


def parse_xml(body: bytes) -> Element:
    """The root of an XML document. A document type is refused, because entities could expand
    without end."""
    tree, parser = TreeBuilder(), expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = tree.start
    parser.EndElementHandler = tree.end
    parser.CharacterDataHandler = tree.data
    parser.StartDoctypeDeclHandler = _refuse_doctype
    try:
        parser.Parse(body, True)
    except (expat.ExpatError, LookupError) as error:  # LookupError: unknown encoding.
        raise OutsideError(f"the response is not valid XML: {error}", permanent=True) from error
    return tree.close()


def _refuse_doctype(*_: object) -> NoReturn:
    raise OutsideError("XML with a document type is not accepted", permanent=True)


def parse_json_list(body: bytes) -> list[object]:
    """Parse a JSON body that must be a list."""
    value = parse_json(body)
    if not isinstance(value, list):
        raise OutsideError("the response is not a JSON list", permanent=True)
    return cast(list[object], value)


def decode_page(body: bytes) -> str:
    """Decode a page: as UTF-8, else by the charset it declares, else as Windows-1252."""
    named = re.search(rb"<meta[^>]{0,200}charset=[\"']?([\w-]{1,20})", body[:4096], re.IGNORECASE)
    for charset in ("utf-8-sig", named[1].decode("ascii") if named else ""):
        try:
            if charset:
                return body.decode(charset)
        except (UnicodeDecodeError, LookupError):
            continue
    return body.decode("cp1252", "replace")
