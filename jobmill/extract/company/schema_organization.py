"""What a company states of itself as a schema.org organization."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from jobmill.catalog.company_analyses import CompanyFacts
from jobmill.places import location_text

from ..fields import html_text
from ..page.schema_job_posting import Node

_OFFICES = ("location", "department", "subOrganization", "branchOf", "hasPOS")
_LONGEST = 200


def read(nodes: Iterable[Node]) -> CompanyFacts:
    """The first of each fact; of addresses all."""
    known = list(nodes)
    places_ = [place for node in known for place in _places(node)]
    return CompanyFacts(
        about=_first(_line(node.get("description"), 2_000) for node in known),
        size=_first(_size(node.get("numberOfEmployees")) for node in known),
        headquarters_location=_first(_address(node.get("address")) for node in known),
        industry=_first(_line(node.get("industry")) for node in known),
        founded=_first(_year(node.get("foundingDate")) for node in known),
        offices=tuple(dict.fromkeys(places_)),
    )


def _first(values: Iterable[str | None]) -> str | None:
    return next((value for value in values if value), None)


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return cast(list[Any], value) if isinstance(value, list) else [value]


def _line(value: Any, longest: int = _LONGEST) -> str | None:
    one = next(iter(_list(value)), None)
    if isinstance(one, dict):
        one = cast(Node, one).get("name") or cast(Node, one).get("@value")
    return (html_text.single_line(html_text.single_line(one)) or "")[:longest] or None


def _size(value: Any) -> str | None:
    one = next(iter(_list(value)), None)
    if isinstance(one, dict):
        node = cast(Node, one)
        least, most = node.get("minValue"), node.get("maxValue")
        if least and most:
            return f"{least}-{most} employees"
        one = node.get("value") or least or most
    digits = str(one).strip() if isinstance(one, int | str) and not isinstance(one, bool) else ""
    if not any(map(str.isdigit, digits)):
        return None
    return digits[:50] if any(map(str.isalpha, digits)) else f"{digits[:50]} employees"


def _year(value: Any) -> str | None:
    said = str(_line(value) if not isinstance(value, int) else value)
    return said[:4] if said[:4].isdigit() and 1_500 < int(said[:4]) < 2_100 else None


def _address(value: Any) -> str | None:
    for one in _list(value):
        if not isinstance(one, dict):
            return _line(one) if isinstance(one, str) and len(one) < 60 else None
        node = cast(Node, one)
        parts = (_line(node.get(f"address{part}")) for part in ("Locality", "Region", "Country"))
        if found := location_text.format_address(*parts):
            return found
    return None


def _places(node: Node) -> list[str]:
    """Where it is: its own addresses, and those of its parts."""
    around = [node, *(one for key in _OFFICES for one in _list(node.get(key)))]
    addresses = (
        _address(part)
        for one in around
        if isinstance(one, dict)
        for part in _list(cast(Node, one).get("address"))
    )
    return [place for place in addresses if place]
