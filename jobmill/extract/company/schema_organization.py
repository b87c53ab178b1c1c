"""Read facts about a company from its schema.org organization objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from jobmill.catalog.company_analyses import CompanyFacts
from jobmill.places import location_text

from ..fields import html_text
from ..page.schema_job_posting import SchemaNode, as_list

_OFFICES = ("location", "department", "subOrganization", "branchOf", "hasPOS")
_MAX_LENGTH = 200


def read_organizations(nodes: Iterable[SchemaNode]) -> CompanyFacts:
    """The first value of each fact, and all office addresses."""
    organizations = list(nodes)
    offices = [place for node in organizations for place in _office_addresses(node)]
    return CompanyFacts(
        about=_first(_text(node.get("description"), 2_000) for node in organizations),
        size=_first(_size(node.get("numberOfEmployees")) for node in organizations),
        headquarters_location=_first(
            _format_address(node.get("address")) for node in organizations
        ),
        industry=_first(_text(node.get("industry")) for node in organizations),
        founded=_first(_year(node.get("foundingDate")) for node in organizations),
        offices=tuple(dict.fromkeys(offices)),
    )


def _first(values: Iterable[str | None]) -> str | None:
    return next((value for value in values if value), None)


def _text(value: Any, longest: int = _MAX_LENGTH) -> str | None:
    first = next(iter(as_list(value)), None)
    if isinstance(first, dict):
        first = cast(SchemaNode, first).get("name") or cast(SchemaNode, first).get("@value")
    return (html_text.single_line(html_text.single_line(first)) or "")[:longest] or None


def _size(value: Any) -> str | None:
    first = next(iter(as_list(value)), None)
    if isinstance(first, dict):
        node = cast(SchemaNode, first)
        least, most = node.get("minValue"), node.get("maxValue")
        if least and most:
            return f"{least}-{most} employees"
        first = node.get("value") or least or most
    digits = (
        str(first).strip() if isinstance(first, int | str) and not isinstance(first, bool) else ""
    )
    if not any(map(str.isdigit, digits)):
        return None
    return digits[:50] if any(map(str.isalpha, digits)) else f"{digits[:50]} employees"


def _year(value: Any) -> str | None:
    text = str(_text(value) if not isinstance(value, int) else value)
    return text[:4] if text[:4].isdigit() and 1_500 < int(text[:4]) < 2_100 else None


def _format_address(value: Any) -> str | None:
    for address in as_list(value):
        if not isinstance(address, dict):
            return _text(address) if isinstance(address, str) and len(address) < 60 else None
        node = cast(SchemaNode, address)
        parts = (_text(node.get(f"address{part}")) for part in ("Locality", "Region", "Country"))
        if line := location_text.format_address(*parts):
            return line
    return None


def _office_addresses(node: SchemaNode) -> list[str]:
    """Addresses of the organization and of its parts."""
    organizations = [
        node,
        *(organization for key in _OFFICES for organization in as_list(node.get(key))),
    ]
    addresses = (
        _format_address(part)
        for organization in organizations
        if isinstance(organization, dict)
        for part in as_list(cast(SchemaNode, organization).get("address"))
    )
    return [place for place in addresses if place]
