"""/feeds/{token}.atom: the private Atom feed of a person's notifications, which works without a sign-in."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from xml.etree import ElementTree as xml

from fastapi import APIRouter, Request, Response

from jobmill.notifications import channels, events
from jobmill.notifications.events import NotificationEvent
from jobmill.notifications.kinds import kinds_of_role
from jobmill.notifications.messages import describe_event
from jobmill.people import persons
from jobmill.web.dependencies import NO_STORE, Db
from jobmill.web.job_feeds import NOT_XML
from jobmill.web.site_settings import get_site_settings

ATOM = "http://www.w3.org/2005/Atom"

router = APIRouter()


@router.get("/feeds/{token}.atom")
async def feed(token: str, request: Request, db: Db) -> Response:
    async with db.transaction() as tx:
        channel = await channels.find_feed(tx, token)
        role = (
            "admin"
            if channel.person_id is None
            else (await persons.get(tx, channel.person_id)).role
        )
        recent = await events.find_recent(tx, channel.person_id, kinds_of_role(role))
    settings = get_site_settings(request)
    body = _render_feed(
        recent,
        settings.link(request, ""),
        settings.link(request, request.url.path),
        channel.created_at,
    )
    return Response(body, media_type="application/atom+xml", headers=NO_STORE)


def _render_feed(
    recent: Sequence[NotificationEvent], base_url: str, feed_url: str, created_at: dt.datetime
) -> bytes:
    xml.register_namespace("", ATOM)
    root = xml.Element(f"{{{ATOM}}}feed")
    _add(root, "title", "Jobmill notifications")
    # Not the address of the feed, which is secret.
    _add(root, "id", f"{base_url}/account/notifications")
    _add(root, "updated", (recent[0].at if recent else created_at).isoformat())
    _add(_add(root, "author"), "name", "Jobmill")
    xml.SubElement(root, f"{{{ATOM}}}link", rel="self", href=feed_url)
    for event in recent:
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
