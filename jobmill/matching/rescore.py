"""Compare the stored verdicts on all open listings with what a profile would say now."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from dataclasses import dataclass
from typing import Literal, TypeAlias

from jobmill.catalog import companies, listing_search, listings
from jobmill.catalog.listing_search import ListingQuery
from jobmill.catalog.listings import Listing, ListingId
from jobmill.catalog.platform_rules import PlatformRules
from jobmill.db import Database, Tx
from jobmill.matching import local_verdict, matches, verdicts
from jobmill.matching.local_verdict import LocalVerdict
from jobmill.matching.matches import Status
from jobmill.matching.profile import Profile
from jobmill.matching.rules import company_facts
from jobmill.matching.rules.company_facts import Employer
from jobmill.matching.verdicts import Outcome, VerdictSummary

PAGE_SIZE = 200
Kind: TypeAlias = Literal["in", "out", "moved", "other", "same"]


@dataclass(frozen=True, slots=True)
class ScoredOutcome:
    """Outcome and score of a listing. No outcome means that it was never judged."""

    outcome: Outcome | None = None
    score: int | None = None


@dataclass(frozen=True, slots=True)
class VerdictChange:
    listing_id: ListingId
    url: str
    title: str | None
    company: str | None
    kind: Kind
    before: ScoredOutcome
    after: ScoredOutcome
    status: Status | None
    """The status that a person gave it. Rescoring does not change it."""


def stored_outcome(stored: VerdictSummary | None) -> ScoredOutcome:
    return ScoredOutcome(stored.outcome, stored.score) if stored else ScoredOutcome()


def predict_outcome(stored: VerdictSummary | None, local: LocalVerdict) -> ScoredOutcome:
    """Predict the outcome of judging again. A score from a model moves by as much as the local
    score."""
    match = local.match
    if match is None:
        return ScoredOutcome("filtered")
    score = match.match_score
    if stored and stored.score is not None and stored.local_score is not None:
        score = max(0, min(100, stored.score + score - stored.local_score))
    return ScoredOutcome("matched" if score >= match.threshold else "skipped", score)


def classify_change(before: ScoredOutcome, after: ScoredOutcome) -> Kind:
    """Classify a change by its effect on the list of matches."""
    if before == after:
        return "same"
    was, now = before.outcome == "matched", after.outcome == "matched"
    if was and now:
        return "moved"
    if was or now:
        return "in" if now else "out"
    return "other"


async def compare_open_listings(
    database: Database, profile_id: int, profile: Profile, platforms: PlatformRules
) -> AsyncGenerator[VerdictChange]:
    """Judge every open listing locally and compare the result with its stored verdict. Listings are
    read page by page; nothing is stored."""
    async with database.transaction() as tx:
        statuses = await matches.read_statuses(tx, profile_id)
    employers: dict[int, Employer] = {}
    after = None
    while True:
        async with database.transaction() as tx:
            page = await listing_search.find(
                tx, ListingQuery(duplicates=True), after=after, limit=PAGE_SIZE
            )
            page_listings = await listings.by_ids(tx, [hit.id for hit in page.hits])
            stored = await verdicts.read_summaries(
                tx, profile_id, [listing.id for listing in page_listings]
            )
            for listing in page_listings:
                if listing.company_id is not None and listing.company_id not in employers:
                    employers[listing.company_id] = await read_employer(tx, listing)
        for listing in page_listings:
            if is_compared(listing, stored.get(listing.id)):
                employer = employers.get(listing.company_id or 0, Employer())
                local = await local_verdict.judge(profile, listing, employer, platforms)
                yield _change(listing, stored.get(listing.id), local, statuses.get(listing.id))
        after = page.next
        if after is None:
            return


def is_compared(listing: Listing, stored: VerdictSummary | None) -> bool:
    """Skip listings that a person asked for regardless of the rules, and duplicates that another
    listing represents."""
    return not listings.is_duplicate(listing) and not (stored and stored.forced)


def _change(
    listing: Listing, stored: VerdictSummary | None, local: LocalVerdict, status: Status | None
) -> VerdictChange:
    before, after = stored_outcome(stored), predict_outcome(stored, local)
    return VerdictChange(
        listing.id,
        listing.url,
        listing.title,
        listing.company,
        classify_change(before, after),
        before,
        after,
        status,
    )


async def read_employer(tx: Tx, listing: Listing) -> Employer:
    """Read what the catalog knows about the company of a listing."""
    if listing.company_id is None:
        return Employer()
    return company_facts.to_employer(await companies.get(tx, listing.company_id))
