"""Openings for machines elsewhere: schema.org JobPosting, and RSS."""

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
"""The namespace of what RSS has no element for."""


def json_ld(one: PublicOpening, url: str) -> Markup:
    """A JobPosting, to stand in a script element: nothing in it can end that element."""
    node: dict[str, Any] = {
        "@context": "https://schema.org/",
        "@type": "JobPosting",
        "title": one.title,
        "description": paragraphs(one.description or one.title),
        "datePosted": format_timestamp(one.created_at),
        "hiringOrganization": {"@type": "Organization", "name": one.employer or "Jobmill"},
        "identifier": {"@type": "PropertyValue", "name": "Jobmill", "value": str(one.id)},
        "directApply": True,
        "url": url,
    }
    if one.apply_until:
        node["validThrough"] = format_timestamp(one.apply_until)
    if one.location:
        address = {"@type": "PostalAddress", "addressLocality": one.location}
        node["jobLocation"] = {"@type": "Place", "address": address}
    if one.remote:
        node["jobLocationType"] = "TELECOMMUTE"
    text = json.dumps(node, ensure_ascii=False)
    # In such an element only these three mean anything to a browser.
    for sign in "<>&":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    return Markup(text)


def rss_feed(openings: Sequence[PublicOpening], home: str, link: Callable[[int], str]) -> bytes:
    """RSS 2.0, with elements of our own for company, place and deadline."""
    xml.register_namespace("job", JOB)
    root = xml.Element("rss", version="2.0")
    channel = xml.SubElement(root, "channel")
    _add(channel, title="Openings", link=home, description="What people may apply for now.")
    for one in openings:
        item = xml.SubElement(channel, "item")
        _add(
            item,
            title=one.title,
            link=link(one.id),
            guid=link(one.id),
            pubDate=format_datetime(one.created_at),
            description=paragraphs(one.description or one.title),
        )
        own = {
            "company": one.employer,
            "location": "; ".join(filter(None, (one.location, "Remote" if one.remote else None))),
            "expires_at": format_timestamp(one.apply_until) if one.apply_until else None,
        }
        _add(item, **{f"{{{JOB}}}{name}": text for name, text in own.items()})
    return xml.tostring(root, encoding="utf-8", xml_declaration=True)


def _add(parent: xml.Element, **texts: str | None) -> None:
    for name, text in texts.items():
        if text:
            xml.SubElement(parent, name).text = NOT_XML.sub("", text)


def paragraphs(text: str) -> str:
    """A plain text as HTML."""
    parts = re.split(r"\n\s*\n", text.strip())
    return "".join(f"<p>{html.escape(part).replace(chr(10), '<br>')}</p>" for part in parts)
