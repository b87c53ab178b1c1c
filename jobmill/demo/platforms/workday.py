"""Sites in the format of Workday: a paginated list without texts, and detail pages."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from jobmill.demo.companies import DemoCompany
from jobmill.demo.state import DemoListing, DemoMoment

from ..http_messages import NOT_FOUND, DemoReply, DemoRequest, html_reply, json_reply
from . import text

SITE = "Careers"
STEP = 20


def answer(now: DemoMoment, company: DemoCompany, ask: DemoRequest) -> DemoReply:
    tenant = company.slug
    match ask.parts:
        case ["wday", "cxs", given, site, "jobs"] if (given, site) == (tenant, SITE):
            return _listed(now, company, ask)
        case ["wday", "cxs", given, site, "job", *rest] if (given, site) == (tenant, SITE) and rest:
            listing = _find(now, company, rest[-1])
            return json_reply(detail(now, listing)) if listing else NOT_FOUND
        case [site, *_] if site == SITE:
            return html_reply(f"<title>{escape(company.name)} Careers</title>")
        case _:
            return NOT_FOUND


def _listed(now: DemoMoment, company: DemoCompany, ask: DemoRequest) -> DemoReply:
    try:
        query: dict[str, Any] = json.loads(ask.body or b"{}")
    except ValueError:
        return DemoReply(status=400)
    if {"appliedFacets", "limit", "offset", "searchText"} - query.keys():
        return DemoReply(status=422)
    if query["limit"] > STEP:
        return DemoReply(status=400)
    listings = now.open_listings(company)
    offset: int = query["offset"]
    shown = [item(now, listing) for listing in listings[offset : offset + query["limit"]]]
    # Like the real API, it reports the total on the first page only.
    total = len(listings) if not offset else 0
    return json_reply({"total": total, "jobPostings": shown, "facets": []})


def item(now: DemoMoment, listing: DemoListing) -> dict[str, Any]:
    return {
        "title": listing.title,
        "externalPath": _path(listing),
        "locationsText": listing.place,
        "postedOn": _since(now, listing),
        "timeType": "Full time",
        "remoteType": _remote(listing),
        "bulletFields": [f"R-{listing.number}"],
    }


def detail(now: DemoMoment, listing: DemoListing) -> dict[str, Any]:
    return {
        "jobPostingInfo": {
            "id": listing.code,
            "title": listing.title,
            "jobDescription": text.html(listing),
            "location": listing.place,
            "additionalLocations": [],
            "postedOn": _since(now, listing),
            "startDate": now.posted_at(listing).date().isoformat(),
            "timeType": "Full time",
            "jobReqId": f"R-{listing.number}",
            "jobPostingId": _path(listing).rpartition("/")[2],
            "jobPostingSiteId": SITE,
            "remoteType": _remote(listing),
            "externalUrl": f"https://{listing.company.workday_host}/{SITE}{_path(listing)}",
        },
        "hiringOrganization": {"name": listing.company.name, "url": ""},
    }


def _path(listing: DemoListing) -> str:
    town = "-".join("".join(c if c.isalnum() else " " for c in listing.company.town).split())
    title = "-".join("".join(c if c.isalnum() else " " for c in listing.title).split())
    return f"/job/{town}/{title}_R-{listing.number}"


def _find(now: DemoMoment, company: DemoCompany, end: str) -> DemoListing | None:
    number = end.rpartition("_R-")[2]
    return now.find_listing(company, int(number)) if number.isdigit() else None


def _since(now: DemoMoment, listing: DemoListing) -> str:
    days = (now.at - now.posted_at(listing)).days
    match days:
        case 0:
            return "Posted Today"
        case 1:
            return "Posted Yesterday"
        case _:
            return f"Posted {days} Days Ago"


def _remote(listing: DemoListing) -> str:
    return {"remote": "Remote", "hybrid": "Hybrid", "onsite": "On-site"}[listing.arrangement]
