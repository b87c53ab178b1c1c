"""Sites in the format of Lever's API: a plain list, most of the text in `lists`."""

from __future__ import annotations

from html import escape
from typing import Any

from jobmill.demo.companies import companies_on
from jobmill.demo.state import DemoListing, DemoMoment

from ..http_messages import NOT_FOUND, DemoReply, DemoRequest, html_reply, json_reply, with_etag
from . import text

HOSTS = ("api.lever.co", "jobs.lever.co")


def answer(now: DemoMoment, ask: DemoRequest) -> DemoReply:
    sites = {company.slug: company for company in companies_on("lever")}
    match ask.parts:
        case ["v0", "postings", slug] if slug in sites:
            skip, limit = int(ask.query("skip") or 0), int(ask.query("limit") or 1_000)
            postings = [posting(now, company) for company in now.open_listings(sites[slug])]
            return with_etag(ask, json_reply(postings[skip : skip + limit]))
        case ["v0", "postings", slug, code] if slug in sites:
            postings = [
                company for company in now.open_listings(sites[slug]) if company.code == code
            ]
            return json_reply(posting(now, postings[0])) if postings else NOT_FOUND
        case [slug, *_] if slug in sites:
            return html_reply(f"<title>{escape(sites[slug].name)} jobs</title>")
        case _:
            return NOT_FOUND


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
