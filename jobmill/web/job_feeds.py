"""Openings for search engines and feed readers: schema.org JobPosting and RSS."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Callable, Sequence
from email.utils import format_datetime
from typing import Any
from xml.etree import ElementTree as xml

from markupsafe import Markup

from jobmill.hiring.openings.public_openings import PublicOpening
from jobmill.hiring.timestamps import format_timestamp

NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
JOB = "urn:jobmill:job"
"""The namespace of elements that RSS does not have."""


def json_ld(opening: PublicOpening, url: str) -> Markup:
    """A JobPosting for a script element; escaped so that nothing in it can end that element."""
    node: dict[str, Any] = {
        "@context": "https://schema.org/",
        "@type": "JobPosting",
        "title": opening.title,
        "description": paragraphs(opening.description or opening.title),
        "datePosted": format_timestamp(opening.created_at),
        "hiringOrganization": {"@type": "Organization", "name": opening.employer or "Jobmill"},
        "identifier": {"@type": "PropertyValue", "name": "Jobmill", "value": str(opening.id)},
        "directApply": True,
        "url": url,
    }
    if opening.apply_until:
        node["validThrough"] = format_timestamp(opening.apply_until)
    if opening.location:
        address = {"@type": "PostalAddress", "addressLocality": opening.location}
        node["jobLocation"] = {"@type": "Place", "address": address}
    if opening.remote:
        node["jobLocationType"] = "TELECOMMUTE"
    text = json.dumps(node, ensure_ascii=False)
    # Only these three characters have a meaning inside a script element.
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def rss_feed(openings: Sequence[PublicOpening], home: str, link: Callable[[int], str]) -> bytes:
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
            link=link(opening.id),
            guid=link(opening.id),
            pubDate=format_datetime(opening.created_at),
            description=paragraphs(opening.description or opening.title),
        )
        extra = {
            "company": opening.employer,
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


def paragraphs(text: str) -> str:
    """Plain text as HTML paragraphs."""
    parts = re.split(r"\n\s*\n", text.strip())
    return "".join(f"<p>{html.escape(part).replace(chr(10), '<br>')}</p>" for part in parts)
