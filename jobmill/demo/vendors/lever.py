"""A site as Lever's API shows it: a bare list, most of the text in `lists`."""

from __future__ import annotations

from html import escape
from typing import Any

from jobmill.demo.companies import at
from jobmill.demo.exchange import MISSING, Ask, Reply, as_json, page, tagged
from jobmill.demo.vendors import text
from jobmill.demo.world import Listing, Now

HOSTS = ("api.lever.co", "jobs.lever.co")


def answer(now: Now, ask: Ask) -> Reply:
    sites = {one.slug: one for one in at("lever")}
    match ask.parts:
        case ["v0", "postings", slug] if slug in sites:
            skip, limit = int(ask.query("skip") or 0), int(ask.query("limit") or 1_000)
            found = [posting(now, one) for one in now.open(sites[slug])]
            return tagged(ask, as_json(found[skip : skip + limit]))
        case ["v0", "postings", slug, code] if slug in sites:
            found = [one for one in now.open(sites[slug]) if one.code == code]
            return as_json(posting(now, found[0])) if found else MISSING
        case [slug, *_] if slug in sites:
            return page(f"<title>{escape(sites[slug].name)} jobs</title>")
        case _:
            return MISSING


def posting(now: Now, one: Listing) -> dict[str, Any]:
    slug = one.company.slug
    kinds = {"remote": "remote", "hybrid": "hybrid", "onsite": "on-site"}
    found: dict[str, Any] = {
        "id": one.code,
        "text": one.title,
        "categories": {
            "location": one.place,
            "allLocations": [one.place],
            "commitment": "Full-time",
            "department": one.department,
            "team": one.department,
        },
        "country": "US",
        "workplaceType": kinds[one.arrangement],
        "createdAt": int(now.posted_at(one).timestamp() * 1_000),
        "hostedUrl": f"https://jobs.lever.co/{slug}/{one.code}",
        "applyUrl": f"https://jobs.lever.co/{slug}/{one.code}/apply",
        "description": f"<div>{escape(one.intro)}</div>",
        "descriptionPlain": one.intro,
        "lists": [
            {"text": head, "content": text.bullets(lines)} for head, lines in text.sections(one)
        ],
        "additional": text.closing(one),
    }
    if one.pay:
        low, high = one.pay
        found["salaryRange"] = {
            "min": low,
            "max": high,
            "currency": one.currency,
            "interval": "per-year-salary",
        }
    return found
