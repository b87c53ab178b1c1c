"""An aggregator, as Remotive's API shows it: what companies have already, told again."""

from __future__ import annotations

from typing import Any

from jobmill.demo.companies import COMPANIES
from jobmill.demo.exchange import MISSING, Ask, Reply, as_json
from jobmill.demo.vendors import text
from jobmill.demo.world import Listing, Now

HOSTS = ("remotive.com",)


def answer(now: Now, ask: Ask) -> Reply:
    if ask.path != "/api/remote-jobs":
        return MISSING
    words = ask.query("search").lower()
    found = [one for one in repeated(now) if words in text.html(one).lower()]
    return as_json({"job-count": len(found), "jobs": [_item(now, one) for one in found]})


def repeated(now: Now) -> list[Listing]:
    """What can be done from anywhere, of half the companies."""
    some = [one for one in COMPANIES if len(one.slug) % 2]
    return [one for company in some for one in now.open(company) if one.arrangement == "remote"]


def _item(now: Now, one: Listing) -> dict[str, Any]:
    sign = {"USD": "$", "EUR": "€"}[one.currency]
    pay = f"{sign}{one.pay[0]:,} - {sign}{one.pay[1]:,}" if one.pay else ""
    return {
        "id": one.number,
        "url": f"https://remotive.com/remote-jobs/demo/{one.path.rpartition('/')[2]}",
        "title": one.title,
        "company_name": one.company.name,
        "category": one.department,
        "tags": [skill.lower() for skill in one.required[1:]],
        "job_type": "full_time",
        "publication_date": now.posted_at(one).strftime("%Y-%m-%dT%H:%M:%S"),
        "candidate_required_location": "USA" if one.company.language == "en" else "Europe",
        "salary": pay,
        "description": text.html(one),
    }
