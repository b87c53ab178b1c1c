"""What a profile would say of all that is open, beside what was said before."""

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
from jobmill.matching.local_score import Judgement
from jobmill.matching.matches import Status
from jobmill.matching.profile import Profile
from jobmill.matching.rules import company_facts
from jobmill.matching.rules.company_facts import Employer
from jobmill.matching.verdicts import Brief, Outcome

PAGE = 200
Kind: TypeAlias = Literal["in", "out", "moved", "other", "same"]


@dataclass(frozen=True, slots=True)
class Standing:
    """What a listing comes to; without an outcome it was never judged."""

    outcome: Outcome | None = None
    score: int | None = None


@dataclass(frozen=True, slots=True)
class Change:
    listing_id: ListingId
    url: str
    title: str | None
    company: str | None
    kind: Kind
    before: Standing
    after: Standing
    status: Status | None
    """What a person said of it, which stays."""


def stand(kept: Brief | None) -> Standing:
    """What was said."""
    return Standing(kept.outcome, kept.score) if kept else Standing()


def predict(kept: Brief | None, found: Judgement) -> Standing:
    """What judging it anew will come to: a model's score moves as the local one does."""
    match = found.match
    if match is None:
        return Standing("filtered")
    score = match.match_score
    if kept and kept.score is not None and kept.local_score is not None:
        score = max(0, min(100, kept.score + score - kept.local_score))
    return Standing("matched" if score >= match.threshold else "skipped", score)


def name_change(before: Standing, after: Standing) -> Kind:
    """What became of it, as far as a person cares."""
    if before == after:
        return "same"
    was, now = before.outcome == "matched", after.outcome == "matched"
    if was and now:
        return "moved"
    if was or now:
        return "in" if now else "out"
    return "other"


async def compare(
    database: Database, profile_id: int, profile: Profile, platforms: PlatformRules
) -> AsyncGenerator[Change]:
    """Every open listing as the profile judges it now, locally, beside its kept verdict; it is
    read page by page, and nothing is kept."""
    async with database.transaction() as tx:
        said = await matches.touched(tx, profile_id)
    employers: dict[int, Employer] = {}
    after = None
    while True:
        async with database.transaction() as tx:
            page = await listing_search.find(
                tx, ListingQuery(duplicates=True), after=after, limit=PAGE
            )
            found = await listings.by_ids(tx, [hit.id for hit in page.hits])
            kept = await verdicts.briefs(tx, profile_id, [one.id for one in found])
            for listing in found:
                if listing.company_id is not None and listing.company_id not in employers:
                    employers[listing.company_id] = await employer_of(tx, listing)
        for one in found:
            if is_judged(one, kept.get(one.id)):
                employer = employers.get(one.company_id or 0, Employer())
                judgement = await local_score.judge(database, profile, one, employer, platforms)
                yield _change(one, kept.get(one.id), judgement, said.get(one.id))
        after = page.next
        if after is None:
            return


def is_judged(listing: Listing, kept: Brief | None) -> bool:
    """Not what a person wanted whatever the rules say, and not what another listing stands for."""
    repeats = listing.duplicate_of is not None and listing.duplicate_kind != "multi_location"
    return not repeats and not (kept and kept.forced)


def _change(
    listing: Listing, kept: Brief | None, judgement: Judgement, status: Status | None
) -> Change:
    before, after = stand(kept), predict(kept, judgement)
    return Change(
        listing.id,
        listing.url,
        listing.title,
        listing.company,
        name_change(before, after),
        before,
        after,
        status,
    )


async def employer_of(tx: Tx, listing: Listing) -> Employer:
    """What is known of who offers a listing."""
    if listing.company_id is None:
        return Employer()
    return company_facts.read(await companies.get(tx, listing.company_id))
