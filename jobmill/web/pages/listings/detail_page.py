"""/jobs/{listing_id}: one job, its decision, and a what-if form."""

from __future__ import annotations

import asyncio
import datetime as dt
from dataclasses import asdict, dataclass
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Query
from fastapi.responses import HTMLResponse
from pydantic import AfterValidator, BaseModel, Field

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import duplicate_links, history, listing_pages, listings, sources
from jobmill.catalog.listing_pages import ListingPage
from jobmill.catalog.listings import Listing
from jobmill.catalog.posting import Arrangement
from jobmill.catalog.sources import Source
from jobmill.db import CONNECTION_ERRORS, Database, Tx
from jobmill.errors import Invalid, Unavailable
from jobmill.matching import (
    local_score,
    match_reasons,
    matches,
    profiles,
    rescore,
    skill_highlights,
    verdicts,
    what_if,
)
from jobmill.matching.matches import MatchId
from jobmill.matching.profile import Profile
from jobmill.matching.profiles import ProfileVersion
from jobmill.matching.verdict import FilterResult
from jobmill.matching.verdicts import Verdict
from jobmill.matching.what_if import VerdictDifference
from jobmill.people.persons import Owner
from jobmill.web import job_view
from jobmill.web.auth import Seeker
from jobmill.web.dependencies import Db, RawDb
from jobmill.web.page_query import ShortText, strip_text
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/jobs")

MAX_DUPLICATES = 50
WHAT_IF_SECONDS = 20.0
"""Time to score a job twice; the first time in a process loads a model."""


@dataclass(frozen=True, slots=True)
class ListingDetail:
    listing: Listing
    duplicates: list[Listing]
    events: list[history.CatalogEvent]
    source: Source | None
    version: ProfileVersion | None
    """The profile version that the job was scored for."""
    verdict: Verdict | None
    match_id: MatchId | None
    lineage: UUID | None
    page: ListingPage | None
    """The last read of the job's own page, if its source shows it in part."""


CommaSeparated = Annotated[str, Field(max_length=500), AfterValidator(strip_text)]


class WhatIfQuery(BaseModel):
    """The profile to score the job for, and changes to try."""

    profile: ShortText | None = None
    having: CommaSeparated = ""
    without: CommaSeparated = ""
    place: ShortText = ""
    arrangement: Literal["", "any", "remote", "hybrid", "onsite"] = ""

    @property
    def skills(self) -> list[str]:
        return _split(self.having)

    @property
    def has_changes(self) -> bool:
        return bool(self.skills or _split(self.without) or self.place or self.arrangement)

    def apply(self, profile: Profile, listing: Listing) -> Profile:
        """The changed profile; Invalid if a skill or a place is unknown."""
        places = [self.place] if self.place else []
        what_if.check_changes(listings.to_posting(listing), having=self.skills, places=places)
        arrangements: list[Arrangement] | None = None
        if self.arrangement:
            arrangements = [] if self.arrangement == "any" else [self.arrangement]
        return what_if.apply_changes(
            profile,
            having=self.skills,
            without=_split(self.without),
            places=places,
            arrangements=arrangements,
        )


@router.get("/{listing_id}")
async def show(
    listing_id: PathId,
    visitor: Seeker,
    db: Db,
    page: Page,
    database: RawDb,
    query: Annotated[WhatIfQuery, Query()],
) -> HTMLResponse:
    async with db.transaction() as tx:
        detail = await _read(tx, listing_id, query.profile, visitor.owner)
    listing = detail.listing
    difference, error = (
        await _compare(database, detail, query) if query.has_changes else (None, None)
    )
    filter_result = await _filter_result(detail)
    result = detail.verdict and detail.verdict.match_result
    reasons = result and match_reasons.find_reasons(result.items, result.skill_gaps)
    return page(
        "listings/listing.html",
        422 if error else 200,
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
            for event in detail.events
            # Jobs are shared; keeping one is part of a private job search.
            if event.what != "marked"
        ],
        what_if=query,
        difference=difference,
        change=difference and _describe_change(difference),
        error=error,
    )


async def _read(tx: Tx, id: int, profile: str | None, owner: Owner) -> ListingDetail:
    listing = await listings.get(tx, id)
    version = await job_view.find_profile(tx, profile, owner)
    verdict = await verdicts.get(tx, version.profile_id, id) if version else None
    if version and verdict:
        # The version that the job was scored for, which may be an older one.
        version = await profiles.get_by_id(tx, version.profile_id, version=verdict.profile_version)
    linked = await duplicate_links.find_linked(tx, listing.duplicate_of or id)
    duplicate_ids = [
        duplicate for duplicate in [listing.duplicate_of, *linked] if duplicate and duplicate != id
    ]
    duplicates = await listings.by_ids(tx, duplicate_ids[:MAX_DUPLICATES])
    return ListingDetail(
        listing,
        sorted(duplicates, key=lambda duplicate: duplicate.id),
        await history.find_events(tx, "listing", id),
        await sources.get(tx, listing.source_id) if listing.source_id else None,
        version,
        verdict,
        await matches.find_id_by_listing(tx, version.profile_id, id) if version else None,
        await job_view.find_lineage(tx, verdict),
        await listing_pages.get(tx, listing.id),
    )


async def _filter_result(detail: ListingDetail) -> FilterResult | None:
    """The stored result of the filter, or a fresh one for a job that was never scored."""
    if detail.verdict:
        return detail.verdict.filter_result
    if detail.version is None:
        return None
    return await local_score.apply_filter(detail.version.profile(), detail.listing, PLATFORM_RULES)


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


def _split(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _describe_change(difference: VerdictDifference) -> str:
    before, after = difference.before, difference.after
    return f"{job_view.describe_standing(before)} → {job_view.describe_standing(after)}"


async def _compare(
    database: Database, detail: ListingDetail, query: WhatIfQuery
) -> tuple[VerdictDifference | None, str | None]:
    """How the changes would alter the score, or what is wrong with them."""
    if detail.version is None:
        return None, say("There is no profile yet. Create one first.")
    try:
        profile = detail.version.profile()
        changed_profile = query.apply(profile, detail.listing)
    except Invalid as error:
        return None, str(error)
    try:
        async with asyncio.timeout(WHAT_IF_SECONDS):
            async with database.transaction() as tx:
                employer = await rescore.read_employer(tx, detail.listing)
            before, after = [
                await local_score.judge(
                    database,
                    candidate,
                    detail.listing,
                    employer,
                    PLATFORM_RULES,
                    score_rejected=True,
                )
                for candidate in (profile, changed_profile)
            ]
    except (*CONNECTION_ERRORS, TimeoutError) as error:
        raise Unavailable(say("Scoring took too long. Try again in a moment.")) from error
    return what_if.compare_verdicts(before, after), None
