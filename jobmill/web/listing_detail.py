"""Read one job with its decision and history, and score it for a changed profile."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import duplicate_links, history, listing_pages, listings, sources
from jobmill.catalog.listing_pages import ListingPage
from jobmill.catalog.listings import Listing
from jobmill.catalog.sources import Source
from jobmill.db import CONNECTION_ERRORS, Database, Tx
from jobmill.errors import NotFound, Unavailable
from jobmill.matching import local_verdict, matches, profiles, rescore, verdicts, what_if
from jobmill.matching.local_verdict import LocalVerdict
from jobmill.matching.matches import MatchId
from jobmill.matching.profile import Profile
from jobmill.matching.profiles import ProfileVersion
from jobmill.matching.verdict import FilterResult
from jobmill.matching.verdicts import Verdict
from jobmill.matching.what_if import VerdictDifference
from jobmill.people.persons import Owner
from jobmill.web import job_view
from jobmill.web.translations import say

MAX_DUPLICATES = 50
WHAT_IF_SECONDS = 20.0
"""Time to score a job a few times; the first time in a process loads a model."""
MAX_SKILL_GAINS = 3
"""How many missing skills are tried."""


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


async def read_listing_detail(tx: Tx, id: int, profile: str | None, owner: Owner) -> ListingDetail:
    """NotFound also for a job that another person added for themselves."""
    listing = await listings.get(tx, id)
    if listing.private and not await matches.has_match(tx, id, owner=owner):
        raise NotFound("listing", id)
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


async def read_filter_result(detail: ListingDetail) -> FilterResult | None:
    """The stored result of the filter, or a fresh one for a job that was never scored."""
    if detail.verdict:
        return detail.verdict.filter_result
    if detail.version is None:
        return None
    return await local_verdict.apply_filter(
        detail.version.profile(), detail.listing, PLATFORM_RULES
    )


async def compare_profiles(
    database: Database, version: ProfileVersion, changed: Profile, listing: Listing
) -> VerdictDifference:
    """How a changed profile would alter the decision about a job, by local rules."""
    before, after = await _judge(database, listing, [version.profile(), changed])
    return what_if.compare_verdicts(before, after)


@dataclass(frozen=True, slots=True)
class SkillGain:
    """A missing skill, and the points that it would add."""

    skill: str
    points: int


async def find_skill_gains(
    database: Database, version: ProfileVersion, listing: Listing, missing_skills: Sequence[str]
) -> list[SkillGain]:
    """What each of the most important missing skills would add on its own, the most first."""
    skills, profile = missing_skills[:MAX_SKILL_GAINS], version.profile()
    changed = [what_if.apply_changes(profile, having=[skill]) for skill in skills]
    before, *after = await _judge(database, listing, [profile, *changed])
    gains = [
        SkillGain(skill, _score(verdict) - _score(before))
        for skill, verdict in zip(skills, after, strict=True)
    ]
    return sorted((gain for gain in gains if gain.points > 0), key=lambda gain: -gain.points)


def _score(verdict: LocalVerdict) -> int:
    return verdict.match.match_score if verdict.match else 0


async def _judge(
    database: Database, listing: Listing, profiles: Sequence[Profile]
) -> list[LocalVerdict]:
    """Judge a job for each profile by local rules, even if the filter rejects it."""
    try:
        async with asyncio.timeout(WHAT_IF_SECONDS):
            async with database.transaction() as tx:
                employer = await rescore.read_employer(tx, listing)
            return [
                await local_verdict.judge(
                    profile, listing, employer, PLATFORM_RULES, score_rejected=True
                )
                for profile in profiles
            ]
    except (*CONNECTION_ERRORS, TimeoutError) as error:
        raise Unavailable(say("Scoring took too long. Try again in a moment.")) from error
