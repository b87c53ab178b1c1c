"""A company's own RSS feed."""

from __future__ import annotations

import email.utils
from html import escape

from jobmill.demo.companies import DemoCompany
from jobmill.demo.state import DemoListing, DemoMoment

from ..http_messages import DemoReply
from . import text

PATH = "/jobs.rss"


def rss(now: DemoMoment, company: DemoCompany) -> DemoReply:
    items = "".join(_item(now, listing) for listing in now.open_listings(company))
    name = escape(company.name)
    body = (
        '<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel>'
        f"<title>Jobs at {name}</title><link>{company.website}/careers</link>"
        f"<description>Open positions</description>{items}</channel></rss>"
    )
    return DemoReply(body.encode(), content_type="application/rss+xml; charset=utf-8")


def _item(now: DemoMoment, listing: DemoListing) -> str:
    parts = {
        "title": listing.title,
        "link": listing.url,
        "guid": listing.url,
        "pubDate": email.utils.format_datetime(now.posted_at(listing)),
        "company": listing.company.name,
        "location": listing.place,
        "department": listing.department,
        "description": text.html(listing),
    }
    inner = "".join(f"<{name}>{escape(value)}</{name}>" for name, value in parts.items())
    return f"<item>{inner}</item>"
