"""The private Atom feed of a person's notifications."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from xml.etree import ElementTree as xml

from jobmill.notifications.events import NotificationEvent
from jobmill.notifications.messages import describe_event
from jobmill.web.job_feeds import NOT_XML

ATOM = "http://www.w3.org/2005/Atom"


def atom_feed(
    events: Sequence[NotificationEvent], base_url: str, feed_url: str, created_at: dt.datetime
) -> bytes:
    xml.register_namespace("", ATOM)
    root = xml.Element(f"{{{ATOM}}}feed")
    _add(root, "title", "Jobmill notifications")
    # Not the address of the feed, which is secret.
    _add(root, "id", f"{base_url}/account/notifications")
    _add(root, "updated", (events[0].at if events else created_at).isoformat())
    _add(_add(root, "author"), "name", "Jobmill")
    xml.SubElement(root, f"{{{ATOM}}}link", rel="self", href=feed_url)
    for event in events:
        line = describe_event(event.kind, event.data)
        if line is None:
            continue
        entry = _add(root, "entry")
        _add(entry, "id", f"{base_url}/account/notifications#event-{event.id}")
        _add(entry, "title", line.title)
        _add(entry, "updated", event.at.isoformat())
        xml.SubElement(entry, f"{{{ATOM}}}link", rel="alternate", href=base_url + line.path)
        _add(entry, "summary", line.detail)
    return xml.tostring(root, encoding="utf-8", xml_declaration=True)


def _add(parent: xml.Element, name: str, text: str | None = None) -> xml.Element:
    element = xml.SubElement(parent, f"{{{ATOM}}}{name}")
    if text is not None:
        element.text = NOT_XML.sub("", text)
    return element
