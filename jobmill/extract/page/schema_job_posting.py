"""Convert a schema.org JobPosting to a posting."""

from __future__ import annotations

import html as entities
from typing import Any, cast
from urllib.parse import urlsplit

from jobmill.catalog.posting import Arrangement, Posting, Salary
from jobmill.places import location_text

from ..fields import dates, employment, html_text, salary, work_arrangement
from .text_checks import absolute_url

SchemaNode = dict[str, Any]

_PROFILE_SITES = (
    "linkedin.com", "facebook.com", "twitter.com", "x.com", "instagram.com", "youtube.com",
    "glassdoor.com", "indeed.com", "crunchbase.com", "wikipedia.org", "github.com",
)  # fmt: skip
_SECTIONS = (
    "responsibilities",
    "qualifications",
    "educationRequirements",
    "experienceRequirements",
    "skills",
    "jobBenefits",
    "incentiveCompensation",
)


def posting_from_schema(node: SchemaNode, url: str) -> Posting | None:
    """Convert a JobPosting object; None if it has no title."""
    title = _text(node.get("title")) or _text(node.get("name"))
    if not title:
        return None
    locations = _locations(node.get("jobLocation"))
    return Posting(
        title=title,
        url=_posting_url(node, url),
        company=_first_name(node.get("hiringOrganization")),
        company_url=_company_site(node.get("hiringOrganization")),
        location="; ".join(locations) or None,
        locations=locations,
        arrangement=_arrangement(node),
        remote_from=location_text.unique_locations(
            *_names(node.get("applicantLocationRequirements"))
        ),
        department=_first_name(node.get("employmentUnit")),
        employment_type=employment.parse_employment_type(node.get("employmentType")),
        posted_at=dates.parse_date(_plain(node.get("datePosted"))),
        updated_at=dates.parse_date(_plain(node.get("dateModified"))),
        valid_through=dates.parse_deadline(_plain(node.get("validThrough"))),
        salary=_salary(node),
        description=_description(node),
        requirements=_prose(node.get("qualifications")),
        requisition_id=_identifier(node.get("identifier")),
        language=_text(node.get("inLanguage")),
    )


def is_job_posting(node: object) -> bool:
    """Whether the type of a node is JobPosting."""
    if not isinstance(node, dict):
        return False
    kinds = as_list(cast(SchemaNode, node).get("@type"))
    return any(isinstance(kind, str) and kind.rpartition("/")[2] == "JobPosting" for kind in kinds)


def as_list(value: Any) -> list[Any]:
    """The values of a property, which may have none, one or several."""
    if value is None:
        return []
    return cast(list[Any], value) if isinstance(value, list) else [value]


def _plain(value: Any) -> Any:
    """The plain value, whether it is alone, in a list or in an object with "@value"."""
    value = as_list(value)[0] if as_list(value) else None
    return cast(SchemaNode, value).get("@value") if isinstance(value, dict) else value


def _text(value: Any) -> str | None:
    # Twice, because entities are often escaped by the page and again in its data.
    return html_text.single_line(html_text.single_line(_plain(value)))


def _first_name(value: Any) -> str | None:
    return next(iter(_names(value)), None)


def _names(value: Any) -> list[str]:
    """The names of values that are texts or objects with a name."""
    names = (
        _text(_first_of(cast(SchemaNode, item), "name", "legalName", "@value"))
        if isinstance(item, dict)
        else _text(item)
        for item in as_list(value)
    )
    return [name for name in names if name]


def _first_of(node: SchemaNode, *keys: str) -> Any:
    return next((node[key] for key in keys if node.get(key)), None)


def _posting_url(node: SchemaNode, url: str) -> str:
    link = _plain(node.get("url"))
    return (absolute_url(link, url) if isinstance(link, str) else None) or url


def _company_site(value: Any) -> str | None:
    """The website of the organization, unless it is a profile on another site."""
    node = _first_item(value)
    if not isinstance(node, dict):
        return None
    fields = cast(SchemaNode, node)
    values = [*as_list(fields.get("sameAs")), *as_list(fields.get("url"))]
    links = [link.strip() for link in values if isinstance(link, str)]
    return next((link for link in links if _is_site(link)), None)


def _is_site(link: str) -> bool:
    try:
        parts = urlsplit(link)
        host = parts.hostname or ""
    except ValueError:
        return False
    is_profile = any(host == site or host.endswith(f".{site}") for site in _PROFILE_SITES)
    return parts.scheme in ("http", "https") and bool(host) and not is_profile


def _locations(value: Any) -> tuple[str, ...]:
    places = (_place(item) for item in as_list(value))
    return tuple(
        dict.fromkeys(place for place in places if place and location_text.names_place(place))
    )


def _place(value: Any) -> str | None:
    if not isinstance(value, dict):
        return _text(value)
    node = cast(SchemaNode, value)
    address = _first_item(node.get("address")) or node
    if not isinstance(address, dict):
        return _text(address)
    parts = cast(SchemaNode, address)
    line = location_text.format_address(
        _first_name(parts.get("addressLocality")),
        _first_name(parts.get("addressRegion")),
        _first_name(parts.get("addressCountry")),
    )
    return line or _text(node.get("name")) or _text(parts.get("streetAddress"))


def _first_item(value: Any) -> Any:
    return next(iter(as_list(value)), None)


def _arrangement(node: SchemaNode) -> Arrangement | None:
    arrangements = map(work_arrangement.from_label, as_list(node.get("jobLocationType")))
    return next((arrangement for arrangement in arrangements if arrangement), None)


def _salary(node: SchemaNode) -> Salary | None:
    for key, predicted in (("baseSalary", False), ("estimatedSalary", True)):
        for pay in as_list(node.get(key)):
            if parsed := _parse_salary(pay, node.get("salaryCurrency"), predicted=predicted):
                return parsed
    return None


def _parse_salary(pay: Any, currency: Any, *, predicted: bool) -> Salary | None:
    if isinstance(pay, str):
        return salary.from_fields(pay, None, currency, None) or salary.from_text(_text(pay))
    if not isinstance(pay, dict):
        return salary.from_fields(pay, None, currency, None, predicted=predicted)
    node = cast(SchemaNode, pay)
    value = _first_item(node.get("value"))
    amount = cast(SchemaNode, value) if isinstance(value, dict) else node
    single = _plain(amount.get("value"))
    low, high = _plain(amount.get("minValue")), _plain(amount.get("maxValue"))
    return salary.from_fields(
        low or single,
        high if low or high else single,
        _first_of(node, "currency", "currencyCode") or amount.get("currency") or currency,
        _first_of(amount, "unitText", "unitCode", "duration") or node.get("unitText"),
        predicted=predicted,
    )


def _description(node: SchemaNode) -> str | None:
    description = _prose(node.get("description"))
    for key in _SECTIONS:
        section = _prose(node.get(key))
        if section and section[:80] not in (description or ""):
            description = html_text.join_sections(description, section)
    return description


def _prose(value: Any) -> str | None:
    parts = [part for part in as_list(value) if isinstance(part, str)]
    return html_text.join_sections(*(_to_text(part) for part in parts))


def _to_text(words: str) -> str | None:
    for _ in range(2):
        if "&lt;" in words or "&amp;" in words:
            words = entities.unescape(words)
    return html_text.from_html(words.replace("\n", "<br>") if "<" not in words else words)


def _identifier(value: Any) -> str | None:
    identifier = _first_item(value)
    if isinstance(identifier, dict):
        identifier = _first_of(cast(SchemaNode, identifier), "value", "@value", "propertyID")
    return (
        _text(str(identifier))
        if isinstance(identifier, str | int) and not isinstance(identifier, bool)
        else None
    )
