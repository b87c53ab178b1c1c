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
from jobmill.matching import local_score, matches, verdicts
from jobmill.matching.local_score import LocalVerdict
from jobmill.matching.matches import Status
from jobmill.matching.profile import Profile
from jobmill.matching.rules import company_facts
from jobmill.matching.rules.company_facts import Employer
from jobmill.matching.verdicts import Outcome, VerdictSummary

PAGE = 200
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


def stored_outcome(kept: VerdictSummary | None) -> ScoredOutcome:
    return ScoredOutcome(kept.outcome, kept.score) if kept else ScoredOutcome()


def predict_outcome(kept: VerdictSummary | None, found: LocalVerdict) -> ScoredOutcome:
    """Predict the outcome of judging again. A score from a model moves by as much as the local
    score."""
    match = found.match
    if match is None:
        return ScoredOutcome("filtered")
    score = match.match_score
    if kept and kept.score is not None and kept.local_score is not None:
        score = max(0, min(100, kept.score + score - kept.local_score))
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
        said = await matches.read_statuses(tx, profile_id)
    employers: dict[int, Employer] = {}
    after = None
    while True:
        async with database.transaction() as tx:
            page = await listing_search.find(
                tx, ListingQuery(duplicates=True), after=after, limit=PAGE
            )
            found = await listings.by_ids(tx, [hit.id for hit in page.hits])
            kept = await verdicts.read_summaries(tx, profile_id, [one.id for one in found])
            for listing in found:
                if listing.company_id is not None and listing.company_id not in employers:
                    employers[listing.company_id] = await read_employer(tx, listing)
        for one in found:
            if is_compared(one, kept.get(one.id)):
                employer = employers.get(one.company_id or 0, Employer())
                judgement = await local_score.judge(database, profile, one, employer, platforms)
                yield _change(one, kept.get(one.id), judgement, said.get(one.id))
        after = page.next
        if after is None:
            return


def is_compared(listing: Listing, kept: VerdictSummary | None) -> bool:
    """Skip listings that a person asked for regardless of the rules, and duplicates that another
    listing represents."""
    repeats = listing.duplicate_of is not None and listing.duplicate_kind != "multi_location"
    return not repeats and not (kept and kept.forced)


def _change(
    listing: Listing, kept: VerdictSummary | None, judgement: LocalVerdict, status: Status | None
) -> VerdictChange:
    before, after = stored_outcome(kept), predict_outcome(kept, judgement)
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
