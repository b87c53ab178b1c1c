"""What a company states of itself as a schema.org organization."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from jobmill.catalog.company_analyses import CompanyFacts
from jobmill.places import location_text

from ..fields import html_text
from ..page.schema_job_posting import SchemaNode

_OFFICES = ("location", "department", "subOrganization", "branchOf", "hasPOS")
_MAX_LENGTH = 200


def read_organizations(nodes: Iterable[SchemaNode]) -> CompanyFacts:
    """The first of each fact; of addresses all."""
    known = list(nodes)
    places_ = [place for node in known for place in _office_addresses(node)]
    return CompanyFacts(
        about=_first(_text(node.get("description"), 2_000) for node in known),
        size=_first(_size(node.get("numberOfEmployees")) for node in known),
        headquarters_location=_first(_format_address(node.get("address")) for node in known),
        industry=_first(_text(node.get("industry")) for node in known),
        founded=_first(_year(node.get("foundingDate")) for node in known),
        offices=tuple(dict.fromkeys(places_)),
    )


def _first(values: Iterable[str | None]) -> str | None:
    return next((value for value in values if value), None)


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return cast(list[Any], value) if isinstance(value, list) else [value]


def _text(value: Any, longest: int = _MAX_LENGTH) -> str | None:
    one = next(iter(_list(value)), None)
    if isinstance(one, dict):
        one = cast(SchemaNode, one).get("name") or cast(SchemaNode, one).get("@value")
    return (html_text.single_line(html_text.single_line(one)) or "")[:longest] or None


def _size(value: Any) -> str | None:
    one = next(iter(_list(value)), None)
    if isinstance(one, dict):
        node = cast(SchemaNode, one)
        least, most = node.get("minValue"), node.get("maxValue")
        if least and most:
            return f"{least}-{most} employees"
        one = node.get("value") or least or most
    digits = str(one).strip() if isinstance(one, int | str) and not isinstance(one, bool) else ""
    if not any(map(str.isdigit, digits)):
        return None
    return digits[:50] if any(map(str.isalpha, digits)) else f"{digits[:50]} employees"


def _year(value: Any) -> str | None:
    said = str(_text(value) if not isinstance(value, int) else value)
    return said[:4] if said[:4].isdigit() and 1_500 < int(said[:4]) < 2_100 else None


def _format_address(value: Any) -> str | None:
    for one in _list(value):
        if not isinstance(one, dict):
            return _text(one) if isinstance(one, str) and len(one) < 60 else None
        node = cast(SchemaNode, one)
        parts = (_text(node.get(f"address{part}")) for part in ("Locality", "Region", "Country"))
        if found := location_text.format_address(*parts):
            return found
    return None


def _office_addresses(node: SchemaNode) -> list[str]:
    """Where it is: its own addresses, and those of its parts."""
    around = [node, *(one for key in _OFFICES for one in _list(node.get(key)))]
    addresses = (
        _format_address(part)
        for one in around
        if isinstance(one, dict)
        for part in _list(cast(SchemaNode, one).get("address"))
    )
    return [place for place in addresses if place]
