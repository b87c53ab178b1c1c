"""Boards in the format of Greenhouse's API."""

from __future__ import annotations

from html import escape
from typing import Any

from jobmill.demo.companies import DemoCompany, companies_on
from jobmill.demo.state import DemoListing, DemoMoment

from ..http_messages import NOT_FOUND, DemoReply, DemoRequest, html_reply, json_reply, with_etag
from . import text

HOSTS = ("boards-api.greenhouse.io", "boards.greenhouse.io", "job-boards.greenhouse.io")


def answer(now: DemoMoment, ask: DemoRequest) -> DemoReply:
    boards = {company.slug: company for company in companies_on("greenhouse")}
    match ask.parts:
        case ["v1", "boards", slug, "jobs"] if slug in boards:
            return with_etag(ask, json_reply(board(now, boards[slug])))
        case ["v1", "boards", slug, "jobs", number] if slug in boards and number.isdigit():
            listing = now.find_listing(boards[slug], int(number))
            return json_reply(job(now, listing)) if listing else NOT_FOUND
        case ["v1", "boards", slug] if slug in boards:
            return json_reply({"name": boards[slug].name, "content": ""})
        case [slug, *_] if slug in boards:
            return html_reply(f"<title>Jobs at {escape(boards[slug].name)}</title>")
        case _:
            return NOT_FOUND


def board(now: DemoMoment, company: DemoCompany) -> dict[str, Any]:
    posts = [job(now, listing) for listing in now.open_listings(company)]
    return {"jobs": posts, "meta": {"total": len(posts)}}


def job(now: DemoMoment, listing: DemoListing) -> dict[str, Any]:
    posted = now.posted_at(listing).isoformat(timespec="seconds")
    return {
        "id": listing.number,
        "internal_job_id": listing.number + 1_000_000,
        "requisition_id": f"D{listing.number}",
        "title": listing.title,
        "absolute_url": f"{listing.url}?gh_jid={listing.number}",
        "location": {"name": listing.place},
        "updated_at": posted,
        "first_published": posted,
        "company_name": listing.company.name,
        "language": listing.company.language,
        # The HTML is escaped, as in the real API.
        "content": escape(text.html(listing)),
        "metadata": _metadata(listing),
        "departments": [{"id": 1, "name": listing.department, "child_ids": [], "parent_id": None}],
        "offices": [{"id": 1, "name": listing.company.town, "location": listing.company.town}],
    }


def _metadata(listing: DemoListing) -> list[dict[str, Any]]:
    words = {"remote": "Remote", "hybrid": "Hybrid", "onsite": "On-site"}
    fields: list[dict[str, Any]] = [
        {
            "id": 1,
            "name": "Workplace Type",
            "value": words[listing.arrangement],
            "value_type": "single_select",
        }
    ]
    if listing.pay:
        low, high = map(str, listing.pay)
        value = {"min_value": low, "max_value": high, "unit": listing.currency}
        fields.append(
            {"id": 2, "name": "Salary (yearly)", "value": value, "value_type": "currency_range"}
        )
    return fields
