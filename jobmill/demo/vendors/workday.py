"""A tenant's site as Workday shows it: a list without texts, page by page, and the details."""

from __future__ import annotations

import json
from html import escape
from typing import Any

from jobmill.demo.companies import Company
from jobmill.demo.exchange import MISSING, Ask, Reply, as_json, page
from jobmill.demo.vendors import text
from jobmill.demo.world import Listing, Now

SITE = "Careers"
STEP = 20


def answer(now: Now, company: Company, ask: Ask) -> Reply:
    tenant = company.slug
    match ask.parts:
        case ["wday", "cxs", given, site, "jobs"] if (given, site) == (tenant, SITE):
            return _listed(now, company, ask)
        case ["wday", "cxs", given, site, "job", *rest] if (given, site) == (tenant, SITE) and rest:
            found = _find(now, company, rest[-1])
            return as_json(detail(now, found)) if found else MISSING
        case [site, *_] if site == SITE:
            return page(f"<title>{escape(company.name)} Careers</title>")
        case _:
            return MISSING


def _listed(now: Now, company: Company, ask: Ask) -> Reply:
    try:
        asked: dict[str, Any] = json.loads(ask.body or b"{}")
    except ValueError:
        return Reply(status=400)
    if {"appliedFacets", "limit", "offset", "searchText"} - asked.keys():
        return Reply(status=422)
    if asked["limit"] > STEP:
        return Reply(status=400)
    found = now.open(company)
    offset: int = asked["offset"]
    shown = [item(now, one) for one in found[offset : offset + asked["limit"]]]
    # As theirs does, it forgets the total after the first page.
    total = len(found) if not offset else 0
    return as_json({"total": total, "jobPostings": shown, "facets": []})


def item(now: Now, one: Listing) -> dict[str, Any]:
    return {
        "title": one.title,
        "externalPath": _path(one),
        "locationsText": one.place,
        "postedOn": _since(now, one),
        "timeType": "Full time",
        "remoteType": _remote(one),
        "bulletFields": [f"R-{one.number}"],
    }


def detail(now: Now, one: Listing) -> dict[str, Any]:
    return {
        "jobPostingInfo": {
            "id": one.code,
            "title": one.title,
            "jobDescription": text.html(one),
            "location": one.place,
            "additionalLocations": [],
            "postedOn": _since(now, one),
            "startDate": now.posted_at(one).date().isoformat(),
            "timeType": "Full time",
            "jobReqId": f"R-{one.number}",
            "jobPostingId": _path(one).rpartition("/")[2],
            "jobPostingSiteId": SITE,
            "remoteType": _remote(one),
            "externalUrl": f"https://{one.company.tenant}/{SITE}{_path(one)}",
        },
        "hiringOrganization": {"name": one.company.name, "url": ""},
    }


def _path(one: Listing) -> str:
    town = "-".join("".join(c if c.isalnum() else " " for c in one.company.town).split())
    title = "-".join("".join(c if c.isalnum() else " " for c in one.title).split())
    return f"/job/{town}/{title}_R-{one.number}"


def _find(now: Now, company: Company, end: str) -> Listing | None:
    number = end.rpartition("_R-")[2]
    return now.find(company, int(number)) if number.isdigit() else None


def _since(now: Now, one: Listing) -> str:
    days = (now.at - now.posted_at(one)).days
    match days:
        case 0:
            return "Posted Today"
        case 1:
            return "Posted Yesterday"
        case _:
            return f"Posted {days} Days Ago"


def _remote(one: Listing) -> str:
    return {"remote": "Remote", "hybrid": "Hybrid", "onsite": "On-site"}[one.arrangement]
