"""Boards in the format of Ashby's API."""

from __future__ import annotations

import email.utils
from dataclasses import replace
from html import escape
from typing import Any

from jobmill.demo.companies import DemoCompany, companies_on
from jobmill.demo.state import DemoListing, DemoMoment

from ..http_messages import NOT_FOUND, DemoReply, DemoRequest, html_reply, json_reply
from . import text

HOSTS = ("api.ashbyhq.com", "jobs.ashbyhq.com")


def answer(now: DemoMoment, ask: DemoRequest) -> DemoReply:
    boards = {company.slug: company for company in companies_on("ashby")}
    match ask.parts:
        case ["posting-api", "job-board", slug] if slug in boards:
            return _dated(now, boards[slug], ask)
        case [slug, *_] if slug in boards:
            return html_reply(f"<title>{escape(boards[slug].name)} Jobs</title>")
        case _:
            return NOT_FOUND


def _dated(now: DemoMoment, company: DemoCompany, ask: DemoRequest) -> DemoReply:
    """Ashby sends Last-Modified, not an ETag."""
    open = now.open_listings(company)
    reply = json_reply({"apiVersion": "1", "jobs": [posting(now, listing) for listing in open]})
    if not open:
        return reply
    changed = email.utils.format_datetime(now.changed_at(company), usegmt=True)
    if ask.headers.get("if-modified-since") == changed:
        return DemoReply(status=304)
    return replace(reply, headers=(("Last-Modified", changed),))


def posting(now: DemoMoment, listing: DemoListing) -> dict[str, Any]:
    kinds = {"remote": "Remote", "hybrid": "Hybrid", "onsite": "OnSite"}
    url = f"https://jobs.ashbyhq.com/{listing.company.slug}/{listing.code}"
    return {
        "id": listing.code,
        "title": listing.title,
        "department": listing.department,
        "team": listing.department,
        "employmentType": "FullTime",
        "location": listing.place,
        "secondaryLocations": [],
        "publishedAt": now.posted_at(listing).isoformat(timespec="milliseconds"),
        "isListed": True,
        # Like the real API, it marks hybrid postings as remote too.
        "isRemote": listing.arrangement != "onsite",
        "workplaceType": kinds[listing.arrangement],
        "jobUrl": url,
        "applyUrl": f"{url}/application",
        "descriptionHtml": text.html(listing),
        "compensation": _compensation(listing),
    }


def _compensation(listing: DemoListing) -> dict[str, Any]:
    if not listing.pay:
        return {"compensationTiers": [], "summaryComponents": []}
    low, high = listing.pay
    part = {
        "compensationType": "Salary",
        "interval": "1 YEAR",
        "currencyCode": listing.currency,
        "minValue": low,
        "maxValue": high,
    }
    return {"compensationTiers": [], "summaryComponents": [part]}
