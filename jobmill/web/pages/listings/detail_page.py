"""/jobs/{listing_id}: one job, its decision, and a what-if form."""

from __future__ import annotations

import datetime as dt
from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse

from jobmill.catalog import listings
from jobmill.catalog.listing_pages import ListingPage
from jobmill.catalog.listings import Listing
from jobmill.matching import match_reasons, skill_highlights
from jobmill.matching.verdict import FilterResult
from jobmill.web import actor_labels, job_view
from jobmill.web.auth import Seeker
from jobmill.web.dependencies import RawDb
from jobmill.web.listing_detail import (
    ListingDetail,
    read_filter_result,
    read_listing_detail,
)
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page
from jobmill.web.translations import say
from jobmill.web.what_if_form import WhatIfQuery, answer_what_if

router = APIRouter(prefix="/jobs")


@router.get("/{listing_id}")
async def show(
    listing_id: PathId,
    visitor: Seeker,
    page: Page,
    database: RawDb,
    query: Annotated[WhatIfQuery, Query()],
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        detail = await read_listing_detail(tx, listing_id, query.profile, visitor.owner)
        events = await actor_labels.name_actors(tx, detail.events, visitor)
    listing = detail.listing
    answer = None
    if detail.version and query.has_changes:
        answer = await answer_what_if(database, detail.version, listing, query)
    filter_result = await read_filter_result(detail)
    result = detail.verdict and detail.verdict.match_result
    reasons = result and match_reasons.find_reasons(result.items, result.skill_gaps)
    return page(
        "listings/listing.html",
        answer.status if answer else 200,
        detail=detail,
        listing=listing,
        place=job_view.describe_place(listing),
        salary=job_view.describe_salary(listing),
        url=job_view.web_url(listing.url),
        completeness=listings.completeness(listing),
        filter_result=filter_result,
        decision=_describe_decision(detail, filter_result),
        result=result,
        reasons=reasons,
        bars=job_view.score_bars(asdict(item) for item in result.items) if result else [],
        losses=reasons and job_view.describe_losses(reasons),
        threshold=job_view.describe_threshold(result),
        facts=[*_facts(listing), *_describe_page(detail.page)],
        dates=_dates(listing),
        pieces=skill_highlights.split_at_skills(
            listing.description or "", result.matched_skills if result else ()
        ),
        events=[
            (event.at, job_view.describe_listing_event(event))
            for event in events
            # Jobs are shared; keeping one is part of a private job search.
            if event.what != "marked"
        ],
        what_if=query,
        answer=answer,
    )


def _describe_decision(detail: ListingDetail, filter_result: FilterResult | None) -> str:
    if filter_result is None or detail.version is None:
        return ""
    strike_limit = detail.version.profile().rules.strikes.threshold
    why = job_view.describe_filter(filter_result, strike_limit)
    verdict, result = detail.verdict, detail.verdict and detail.verdict.match_result
    if verdict is None and filter_result.passed:
        return say("Would pass the filter: %(why)s", why=why)
    if verdict is None:
        return say("Would be filtered out: %(why)s", why=why)
    if result is None:
        return say("Filtered out: %(why)s", why=why)
    values = {"score": verdict.score, "min": result.threshold, "why": why}
    if verdict.outcome == "matched":
        return say("Match: score %(score)s (needs %(min)s), %(why)s", **values)
    return say("Not a match: score %(score)s (needs %(min)s), %(why)s", **values)


def _facts(listing: Listing) -> list[tuple[str, str]]:
    employment_type = listing.employment_type and listing.employment_type.replace("_", " ")
    facts = [
        (say("Department"), listing.department),
        (say("Employment type"), employment_type),
        (say("Seniority"), listing.seniority),
        (say("Locations"), "; ".join(listing.locations)),
        (say("Remote from"), "; ".join(listing.remote_from)),
        (say("Salary"), job_view.describe_salary(listing)),
        (say("Platform"), listing.platform),
        (say("Via"), listing.via),
    ]
    return [(name, fact) for name, fact in facts if fact]


def _describe_page(page: ListingPage | None) -> list[tuple[str, str]]:
    """Which fields came from the job's own page; the others came from its source."""
    if page is None:
        return []
    if page.fields:
        return [(say("From the job's own page"), ", ".join(page.fields).replace("_", " "))]
    if page.outcome == "postponed":
        return [(say("The job's own page"), say("not read yet"))]
    return [(say("The job's own page"), say("could not be read"))]


def _dates(listing: Listing) -> list[tuple[str, dt.datetime]]:
    dates = [
        (say("Posted"), listing.posted_at),
        (say("First seen"), listing.first_seen_at),
        (say("Last seen"), listing.last_seen_at),
        (say("Changed"), listing.changed_at),
        (say("Closed"), listing.closed_at),
    ]
    return [(name, at) for name, at in dates if at]
