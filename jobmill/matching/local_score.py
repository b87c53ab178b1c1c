"""Judge one listing for one profile locally, without calling a language model."""

from __future__ import annotations

from dataclasses import dataclass

from jobmill.catalog import listings
from jobmill.catalog.listings import Listing
from jobmill.catalog.platform_rules import PlatformRules
from jobmill.catalog.posting import Posting
from jobmill.db import Database
from jobmill.matching.profile import Profile
from jobmill.matching.verdict import FilterResult, MatchResult
from jobmill.matching.verdicts import Outcome

from . import posting_facts
from .bounded_reading import run_bounded
from .embeddings import vectors
from .posting_facts import PostingFacts
from .rules import filter, scoring
from .rules.company_facts import Employer


@dataclass(frozen=True, slots=True)
class LocalVerdict:
    filter: FilterResult
    match: MatchResult | None
    """None if the filter rejected the listing."""

    @property
    def outcome(self) -> Outcome:
        if self.match is None:
            return "filtered"
        return "matched" if self.match.fits else "skipped"


async def apply_filter(
    profile: Profile, listing: Listing, platforms: PlatformRules
) -> FilterResult:
    """Apply the filter rules, which cost nothing."""
    posting = listings.to_posting(listing)
    return filter.apply_rules(profile, posting, await _read_facts(posting), platforms)


async def score(
    database: Database, profile: Profile, listing: Listing, employer: Employer
) -> MatchResult:
    """Compute the local score. The listing's embedding is computed once and stored."""
    facts = await _read_facts(listings.to_posting(listing))
    return await _score(database, profile, listing, employer, facts)


async def judge(
    database: Database,
    profile: Profile,
    listing: Listing,
    employer: Employer,
    platforms: PlatformRules,
    *,
    score_rejected: bool = False,
) -> LocalVerdict:
    """Apply the filter, then score what passes; `score_rejected` also scores rejected listings."""
    posting = listings.to_posting(listing)
    facts = await _read_facts(posting)
    filter_result = filter.apply_rules(profile, posting, facts, platforms)
    if not filter_result.passed and not score_rejected:
        return LocalVerdict(filter_result, None)
    return LocalVerdict(filter_result, await _score(database, profile, listing, employer, facts))


async def _read_facts(posting: Posting) -> PostingFacts:
    return await run_bounded(posting, posting_facts.read_facts, posting)


async def _score(
    database: Database, profile: Profile, listing: Listing, employer: Employer, facts: PostingFacts
) -> MatchResult:
    similarity = await vectors.similarity_to_profile(database, listing, profile)
    posting = listings.to_posting(listing)
    return await run_bounded(
        posting, scoring.score_posting, profile, posting, facts, employer, similarity
    )
