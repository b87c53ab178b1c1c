"""Judge one listing for one profile locally, without calling a language model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from jobmill.catalog import listings
from jobmill.catalog.listings import Listing
from jobmill.catalog.platform_rules import PlatformRules
from jobmill.catalog.posting import Posting
from jobmill.matching.profile import Profile
from jobmill.matching.verdict import FilterResult, MatchResult
from jobmill.matching.verdicts import Outcome
from jobmill.sandbox import read_untrusted

from . import embeddings, posting_facts
from .embeddings import neutral_text
from .posting_facts import PostingFacts
from .rules import filter, local_score
from .rules.company_facts import Employer

T = TypeVar("T")

MAX_LENGTH_IN_PLACE = 10_000
"""Characters of a posting's text that are read in place. Of 966 real postings 34 are longer."""


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


async def score(profile: Profile, listing: Listing, employer: Employer) -> MatchResult:
    """Compute the local score."""
    posting = listings.to_posting(listing)
    return await _score(profile, posting, employer, await _read_facts(posting))


async def judge(
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
    return LocalVerdict(filter_result, await _score(profile, posting, employer, facts))


async def _read_facts(posting: Posting) -> PostingFacts:
    return await run_bounded(posting, posting_facts.read_facts, posting)


async def _score(
    profile: Profile, posting: Posting, employer: Employer, facts: PostingFacts
) -> MatchResult:
    similarity = await _compare_texts(profile, posting)
    return await run_bounded(
        posting, local_score.score_posting, profile, posting, facts, employer, similarity
    )


async def _compare_texts(profile: Profile, posting: Posting) -> float | None:
    """The similarity of the texts; None if the profile has none."""
    profile_text = neutral_text.profile_text(profile)
    if not profile_text:
        return None
    posting_text = await run_bounded(posting, neutral_text.posting_text, posting)
    return embeddings.compare_texts(posting_text, profile_text)


async def run_bounded(posting: Posting, function: Callable[..., T], *arguments: object) -> T:
    """Run a function over the texts of a posting: in a child process if they are long, because their
    author may have made them expensive to read."""
    if len(posting.description or "") + len(posting.requirements or "") <= MAX_LENGTH_IN_PLACE:
        return function(*arguments)
    return await read_untrusted(function, *arguments)
