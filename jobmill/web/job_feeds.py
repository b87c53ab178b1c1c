"""Openings for search engines, feed readers and other sites: schema.org JobPosting, RSS and JSON Feed."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping, Sequence
from email.utils import format_datetime
from typing import Any
from xml.etree import ElementTree as xml

from markupsafe import Markup

from jobmill.hiring.company_identity import CompanyIdentity
from jobmill.hiring.openings.posting_details import NO_DETAILS, PostingDetails, format_pay
from jobmill.hiring.openings.public_openings import PublicOpening
from jobmill.hiring.timestamps import format_timestamp

NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
JOB = "urn:jobmill:job"
"""The namespace of elements that RSS does not have."""
JSON_FEED = "https://jsonfeed.org/version/1.1"


def json_ld(
    opening: PublicOpening,
    url: str,
    company: CompanyIdentity,
    details: PostingDetails = NO_DETAILS,
    logo_url: str | None = None,
) -> Markup:
    """A JobPosting for a script element; escaped so that nothing in it can end that element."""
    node: dict[str, Any] = {
        "@context": "https://schema.org/",
        "@type": "JobPosting",
        "title": opening.title,
        "description": paragraphs(opening.description or opening.title),
        "datePosted": format_timestamp(opening.created_at),
        "directApply": True,
        "url": url,
        **_organization(opening, company, logo_url),
        **_place(opening, details),
        **_terms(opening, details),
    }
    text = json.dumps(node, ensure_ascii=False)
    # Only these three characters have a meaning inside a script element.
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def _organization(
    opening: PublicOpening, company: CompanyIdentity, logo_url: str | None
) -> dict[str, Any]:
    """The employer; left out if no name is known, because Jobmill is not the employer."""
    name = opening.employer or company.name
    identifier = {"@type": "PropertyValue", "value": str(opening.id)}
    if not name:
        return {"identifier": identifier}
    organization = {"@type": "Organization", "name": name}
    if name == company.name:
        organization |= {"sameAs": company.website} if company.website else {}
        organization |= {"logo": logo_url} if logo_url else {}
    return {"hiringOrganization": organization, "identifier": identifier | {"name": name}}


def _place(opening: PublicOpening, details: PostingDetails) -> dict[str, Any]:
    place: dict[str, Any] = {}
    if opening.location:
        address = {"@type": "PostalAddress", "addressLocality": opening.location}
        place["jobLocation"] = {"@type": "Place", "address": address}
    if opening.remote:
        place["jobLocationType"] = "TELECOMMUTE"
    if opening.remote and details.countries:
        place["applicantLocationRequirements"] = [
            {"@type": "Country", "name": name} for name in details.countries
        ]
    return place


def _terms(opening: PublicOpening, details: PostingDetails) -> dict[str, Any]:
    terms: dict[str, Any] = {}
    if opening.apply_until:
        terms["validThrough"] = format_timestamp(opening.apply_until)
    if details.employment_type:
        terms["employmentType"] = details.employment_type
    if details.pay_min is not None and details.pay_max is not None:
        amounts = (
            {"value": float(details.pay_min)}
            if details.pay_min == details.pay_max
            else {"minValue": float(details.pay_min), "maxValue": float(details.pay_max)}
        )
        value = {"@type": "QuantitativeValue", **amounts, "unitText": details.pay_period}
        currency = details.pay_currency
        terms["baseSalary"] = {"@type": "MonetaryAmount", "currency": currency, "value": value}
    return terms


def rss_feed(openings: Sequence[PublicOpening], company: CompanyIdentity, home: str) -> bytes:
    """RSS 2.0, with additional elements for company, location and deadline."""
    xml.register_namespace("job", JOB)
    root = xml.Element("rss", version="2.0")
    channel = xml.SubElement(root, "channel")
    _add(channel, title="Openings", link=home, description="Openings that take applications now.")
    for opening in openings:
        item = xml.SubElement(channel, "item")
        _add(
            item,
            title=opening.title,
            link=f"{home}/{opening.id}",
            guid=f"{home}/{opening.id}",
            pubDate=format_datetime(opening.created_at),
            description=paragraphs(opening.description or opening.title),
        )
        extra = {
            "company": opening.employer or company.name,
            "location": "; ".join(
                filter(None, (opening.location, "Remote" if opening.remote else None))
            ),
            "expires_at": format_timestamp(opening.apply_until) if opening.apply_until else None,
        }
        _add(item, **{f"{{{JOB}}}{name}": text for name, text in extra.items()})
    return xml.tostring(root, encoding="utf-8", xml_declaration=True)


def _add(parent: xml.Element, **texts: str | None) -> None:
    for name, text in texts.items():
        if text:
            xml.SubElement(parent, name).text = NOT_XML.sub("", text)


def json_feed(
    openings: Sequence[PublicOpening],
    details: Mapping[int, PostingDetails],
    company: CompanyIdentity,
    home: str,
) -> dict[str, Any]:
    """JSON Feed 1.1, with the fields of a job in `_job`."""
    return {
        "version": JSON_FEED,
        "title": f"Openings at {company.name}" if company.name else "Openings",
        "home_page_url": home,
        "feed_url": f"{home}/feed.json",
        "items": [
            {
                "id": str(opening.id),
                "url": f"{home}/{opening.id}",
                "title": opening.title,
                "content_html": paragraphs(opening.description or opening.title),
                "date_published": format_timestamp(opening.created_at),
                "_job": _job_fields(opening, details.get(opening.id, NO_DETAILS), company),
            }
            for opening in openings
        ],
    }


def _job_fields(
    opening: PublicOpening, details: PostingDetails, company: CompanyIdentity
) -> dict[str, Any]:
    fields = {
        "company": opening.employer or company.name,
        "location": opening.location,
        "remote": opening.remote,
        "employment_type": details.employment_type,
        "pay": format_pay(details),
        "apply_until": format_timestamp(opening.apply_until) if opening.apply_until else None,
    }
    return {name: value for name, value in fields.items() if value is not None}


def paragraphs(text: str) -> str:
    """Plain text as HTML paragraphs."""
    parts = re.split(r"\n\s*\n", text.strip())
    return "".join(f"<p>{html.escape(part).replace(chr(10), '<br>')}</p>" for part in parts)
