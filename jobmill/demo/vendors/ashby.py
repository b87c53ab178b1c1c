"""A board as Ashby's API shows it."""

from __future__ import annotations

import email.utils
from dataclasses import replace
from html import escape
from typing import Any

from jobmill.demo.companies import Company, at
from jobmill.demo.exchange import MISSING, Ask, Reply, as_json, page
from jobmill.demo.vendors import text
from jobmill.demo.world import Listing, Now

HOSTS = ("api.ashbyhq.com", "jobs.ashbyhq.com")


def answer(now: Now, ask: Ask) -> Reply:
    boards = {one.slug: one for one in at("ashby")}
    match ask.parts:
        case ["posting-api", "job-board", slug] if slug in boards:
            return _dated(now, boards[slug], ask)
        case [slug, *_] if slug in boards:
            return page(f"<title>{escape(boards[slug].name)} Jobs</title>")
        case _:
            return MISSING


def _dated(now: Now, company: Company, ask: Ask) -> Reply:
    """Ashby says when a board has changed last, not what it holds."""
    open = now.open(company)
    reply = as_json({"apiVersion": "1", "jobs": [posting(now, one) for one in open]})
    if not open:
        return reply
    changed = email.utils.format_datetime(now.changed_at(company), usegmt=True)
    if ask.headers.get("if-modified-since") == changed:
        return Reply(status=304)
    return replace(reply, headers=(("Last-Modified", changed),))


def posting(now: Now, one: Listing) -> dict[str, Any]:
    kinds = {"remote": "Remote", "hybrid": "Hybrid", "onsite": "OnSite"}
    url = f"https://jobs.ashbyhq.com/{one.company.slug}/{one.code}"
    return {
        "id": one.code,
        "title": one.title,
        "department": one.department,
        "team": one.department,
        "employmentType": "FullTime",
        "location": one.place,
        "secondaryLocations": [],
        "publishedAt": now.posted_at(one).isoformat(timespec="milliseconds"),
        "isListed": True,
        # As theirs does, this says "remote" of hybrid postings, too.
        "isRemote": one.arrangement != "onsite",
        "workplaceType": kinds[one.arrangement],
        "jobUrl": url,
        "applyUrl": f"{url}/application",
        "descriptionHtml": text.html(one),
        "compensation": _compensation(one),
    }


def _compensation(one: Listing) -> dict[str, Any]:
    if not one.pay:
        return {"compensationTiers": [], "summaryComponents": []}
    low, high = one.pay
    part = {
        "compensationType": "Salary",
        "interval": "1 YEAR",
        "currencyCode": one.currency,
        "minValue": low,
        "maxValue": high,
    }
    return {"compensationTiers": [], "summaryComponents": [part]}
