"""A board as Greenhouse's API shows it."""

from __future__ import annotations

from html import escape
from typing import Any

from jobmill.demo.companies import Company, at
from jobmill.demo.exchange import MISSING, Ask, Reply, as_json, page, tagged
from jobmill.demo.vendors import text
from jobmill.demo.world import Listing, Now

HOSTS = ("boards-api.greenhouse.io", "boards.greenhouse.io", "job-boards.greenhouse.io")


def answer(now: Now, ask: Ask) -> Reply:
    boards = {one.slug: one for one in at("greenhouse")}
    match ask.parts:
        case ["v1", "boards", slug, "jobs"] if slug in boards:
            return tagged(ask, as_json(board(now, boards[slug])))
        case ["v1", "boards", slug, "jobs", number] if slug in boards and number.isdigit():
            found = now.find(boards[slug], int(number))
            return as_json(post(now, found)) if found else MISSING
        case ["v1", "boards", slug] if slug in boards:
            return as_json({"name": boards[slug].name, "content": ""})
        case [slug, *_] if slug in boards:
            return page(f"<title>Jobs at {escape(boards[slug].name)}</title>")
        case _:
            return MISSING


def board(now: Now, company: Company) -> dict[str, Any]:
    posts = [post(now, one) for one in now.open(company)]
    return {"jobs": posts, "meta": {"total": len(posts)}}


def post(now: Now, one: Listing) -> dict[str, Any]:
    posted = now.posted_at(one).isoformat(timespec="seconds")
    return {
        "id": one.number,
        "internal_job_id": one.number + 1_000_000,
        "requisition_id": f"D{one.number}",
        "title": one.title,
        "absolute_url": f"{one.url}?gh_jid={one.number}",
        "location": {"name": one.place},
        "updated_at": posted,
        "first_published": posted,
        "company_name": one.company.name,
        "language": one.company.language,
        # Its tags come as entities.
        "content": escape(text.html(one)),
        "metadata": _metadata(one),
        "departments": [{"id": 1, "name": one.department, "child_ids": [], "parent_id": None}],
        "offices": [{"id": 1, "name": one.company.town, "location": one.company.town}],
    }


def _metadata(one: Listing) -> list[dict[str, Any]]:
    words = {"remote": "Remote", "hybrid": "Hybrid", "onsite": "On-site"}
    found: list[dict[str, Any]] = [
        {
            "id": 1,
            "name": "Workplace Type",
            "value": words[one.arrangement],
            "value_type": "single_select",
        }
    ]
    if one.pay:
        low, high = map(str, one.pay)
        value = {"min_value": low, "max_value": high, "unit": one.currency}
        found.append(
            {"id": 2, "name": "Salary (yearly)", "value": value, "value_type": "currency_range"}
        )
    return found
