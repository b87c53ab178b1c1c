"""A company's own RSS feed."""

from __future__ import annotations

import email.utils
from html import escape

from jobmill.demo.companies import Company
from jobmill.demo.exchange import Reply
from jobmill.demo.vendors import text
from jobmill.demo.world import Listing, Now

PATH = "/jobs.rss"


def rss(now: Now, company: Company) -> Reply:
    items = "".join(_item(now, one) for one in now.open(company))
    name = escape(company.name)
    body = (
        '<?xml version="1.0" encoding="UTF-8"?><rss version="2.0"><channel>'
        f"<title>Jobs at {name}</title><link>{company.site}/careers</link>"
        f"<description>Open positions</description>{items}</channel></rss>"
    )
    return Reply(body.encode(), content_type="application/rss+xml; charset=utf-8")


def _item(now: Now, one: Listing) -> str:
    parts = {
        "title": one.title,
        "link": one.url,
        "guid": one.url,
        "pubDate": email.utils.format_datetime(now.posted_at(one)),
        "company": one.company.name,
        "location": one.place,
        "department": one.department,
        "description": text.html(one),
    }
    inner = "".join(f"<{name}>{escape(value)}</{name}>" for name, value in parts.items())
    return f"<item>{inner}</item>"
