"""An aggregator in the format of Remotive's API, which repeats the companies' own listings."""

from __future__ import annotations

from typing import Any

from jobmill.demo.companies import COMPANIES
from jobmill.demo.state import DemoListing, DemoMoment

from ..http_messages import NOT_FOUND, DemoReply, DemoRequest, json_reply
from . import text

HOSTS = ("remotive.com",)


def answer(now: DemoMoment, ask: DemoRequest) -> DemoReply:
    if ask.path != "/api/remote-jobs":
        return NOT_FOUND
    words = ask.query("search").lower()
    listings = [
        listing for listing in aggregated_listings(now) if words in text.html(listing).lower()
    ]
    return json_reply(
        {"job-count": len(listings), "jobs": [_item(now, listing) for listing in listings]}
    )


def aggregated_listings(now: DemoMoment) -> list[DemoListing]:
    """The remote listings of half the companies."""
    some = [employer for employer in COMPANIES if len(employer.slug) % 2]
    return [
        listing
        for company in some
        for listing in now.open_listings(company)
        if listing.arrangement == "remote"
    ]


def _item(now: DemoMoment, listing: DemoListing) -> dict[str, Any]:
    sign = {"USD": "$", "EUR": "€"}[listing.currency]
    pay = f"{sign}{listing.pay[0]:,} - {sign}{listing.pay[1]:,}" if listing.pay else ""
    return {
        "id": listing.number,
        "url": f"https://remotive.com/remote-jobs/demo/{listing.path.rpartition('/')[2]}",
        "title": listing.title,
        "company_name": listing.company.name,
        "category": listing.department,
        "tags": [skill.lower() for skill in listing.required[1:]],
        "job_type": "full_time",
        "publication_date": now.posted_at(listing).strftime("%Y-%m-%dT%H:%M:%S"),
        "candidate_required_location": "USA" if listing.company.language == "en" else "Europe",
        "salary": pay,
        "description": text.html(listing),
    }
