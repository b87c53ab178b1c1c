"""Sites in the format of Lever's API: a plain list, most of the text in `lists`."""

from __future__ import annotations

from html import escape
from typing import Any

from jobmill.demo.companies import at
from jobmill.demo.exchange import MISSING, DemoReply, DemoRequest, as_json, page, tagged
from jobmill.demo.state import DemoListing, DemoMoment
from jobmill.demo.vendors import text

HOSTS = ("api.lever.co", "jobs.lever.co")


def answer(now: DemoMoment, ask: DemoRequest) -> DemoReply:
    sites = {company.slug: company for company in at("lever")}
    match ask.parts:
        case ["v0", "postings", slug] if slug in sites:
            skip, limit = int(ask.query("skip") or 0), int(ask.query("limit") or 1_000)
            postings = [posting(now, company) for company in now.open(sites[slug])]
            return tagged(ask, as_json(postings[skip : skip + limit]))
        case ["v0", "postings", slug, code] if slug in sites:
            postings = [company for company in now.open(sites[slug]) if company.code == code]
            return as_json(posting(now, postings[0])) if postings else MISSING
        case [slug, *_] if slug in sites:
            return page(f"<title>{escape(sites[slug].name)} jobs</title>")
        case _:
            return MISSING


def posting(now: DemoMoment, listing: DemoListing) -> dict[str, Any]:
    slug = listing.company.slug
    kinds = {"remote": "remote", "hybrid": "hybrid", "onsite": "on-site"}
    record: dict[str, Any] = {
        "id": listing.code,
        "text": listing.title,
        "categories": {
            "location": listing.place,
            "allLocations": [listing.place],
            "commitment": "Full-time",
            "department": listing.department,
            "team": listing.department,
        },
        "country": "US",
        "workplaceType": kinds[listing.arrangement],
        "createdAt": int(now.posted_at(listing).timestamp() * 1_000),
        "hostedUrl": f"https://jobs.lever.co/{slug}/{listing.code}",
        "applyUrl": f"https://jobs.lever.co/{slug}/{listing.code}/apply",
        "description": f"<div>{escape(listing.intro)}</div>",
        "descriptionPlain": listing.intro,
        "lists": [
            {"text": head, "content": text.bullets(lines)} for head, lines in text.sections(listing)
        ],
        "additional": text.closing(listing),
    }
    if listing.pay:
        low, high = listing.pay
        record["salaryRange"] = {
            "min": low,
            "max": high,
            "currency": listing.currency,
            "interval": "per-year-salary",
        }
    return record
