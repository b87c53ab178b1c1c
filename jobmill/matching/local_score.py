"""Judges one listing for one profile with nothing but what is in the house."""

from __future__ import annotations

from dataclasses import dataclass

from jobmill.catalog import listings
from jobmill.catalog.listings import Listing
from jobmill.catalog.platform_rules import PlatformRules
from jobmill.db import Database
from jobmill.matching.profile import Profile
from jobmill.matching.verdict import FilterResult, MatchResult
from jobmill.matching.verdicts import Outcome

from . import posting_facts
from .embeddings import vectors
from .posting_facts import Facts
from .rules import filter, scoring
from .rules.company_facts import Employer


@dataclass(frozen=True, slots=True)
class Judgement:
    filter: FilterResult
    match: MatchResult | None
    """None where the filter was enough."""

    @property
    def outcome(self) -> Outcome:
        if self.match is None:
            return "filtered"
        return "matched" if self.match.fits else "skipped"


def sift(profile: Profile, listing: Listing, platforms: PlatformRules) -> FilterResult:
    """What the rules that cost nothing say."""
    posting = listings.to_posting(listing)
    return filter.judge(profile, posting, posting_facts.read(posting), platforms)


async def weigh(
    database: Database, profile: Profile, listing: Listing, employer: Employer
) -> MatchResult:
    """The local score; what the listing means is computed once and kept."""
    return await _weigh(
        database, profile, listing, employer, posting_facts.read(listings.to_posting(listing))
    )


async def judge(
    database: Database,
    profile: Profile,
    listing: Listing,
    employer: Employer,
    platforms: PlatformRules,
    *,
    anyway: bool = False,
) -> Judgement:
    """Both; `anyway` scores also what is filtered out."""
    posting = listings.to_posting(listing)
    told = posting_facts.read(posting)
    sifted = filter.judge(profile, posting, told, platforms)
    if not sifted.passed and not anyway:
        return Judgement(sifted, None)
    return Judgement(sifted, await _weigh(database, profile, listing, employer, told))


async def _weigh(
    database: Database, profile: Profile, listing: Listing, employer: Employer, told: Facts
) -> MatchResult:
    likeness = await vectors.likeness_of(database, listing, profile)
    return scoring.judge(profile, listings.to_posting(listing), told, employer, likeness)
