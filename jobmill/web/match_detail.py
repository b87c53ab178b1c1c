"""Read one match with everything that its page and the panel beside the list show."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from jobmill.catalog import listings, sources
from jobmill.catalog.listings import Listing
from jobmill.catalog.sources import Source
from jobmill.db import Tx
from jobmill.db.clock import server_time
from jobmill.matching import (
    duplicate_matches,
    matches,
    posting_checks,
    profiles,
    skill_highlights,
    verdicts,
)
from jobmill.matching.matches import DismissReason, Match, MatchEvent
from jobmill.matching.posting_checks import PostingCheck
from jobmill.matching.verdicts import Verdict
from jobmill.people.persons import Owner
from jobmill.web import job_view
from jobmill.web.job_view import MatchRow
from jobmill.web.translations import say


def dismiss_reason_names() -> dict[DismissReason, str]:
    """The reasons to choose from, in the order of their keys."""
    return {
        "pay": say("Pay"),
        "location": say("Location"),
        "arrangement": say("Work arrangement"),
        "seniority": say("Seniority"),
        "skills": say("Skills"),
        "company": say("Company"),
        "work": say("Type of work"),
    }


@dataclass(frozen=True, slots=True)
class MatchDetail:
    row: MatchRow
    listing: Listing
    events: list[MatchEvent]
    verdict: Verdict | None
    strike_limit: int
    source: Source | None
    lineage: UUID | None
    checks: list[PostingCheck]

    @property
    def match(self) -> Match:
        return self.row.match

    def values(self) -> dict[str, object]:
        """The values that `matches/_panel.html` needs."""
        match, reasons = self.match, self.row.reasons
        return {
            "detail": self,
            "match": match,
            "row": self.row,
            "url": job_view.web_url(match.apply_url) or job_view.web_url(match.url),
            "reasons": reasons,
            "bars": job_view.score_bars(match.items),
            "losses": job_view.describe_losses(reasons),
            "threshold": job_view.describe_threshold(self.verdict and self.verdict.match_result),
            "pieces": skill_highlights.split_at_skills(
                match.description or "", match.matched_skills
            ),
        }


async def read_detail(tx: Tx, id: int, owner: Owner) -> MatchDetail:
    match = await matches.get(tx, id, owner=owner)
    listing = await listings.get(tx, match.listing_id)
    version = await profiles.get(tx, match.profile, owner=owner, version=match.profile_version)
    verdict = await verdicts.get(tx, version.profile_id, match.listing_id)
    reposts = await posting_checks.count_reposts(tx, listing)
    return MatchDetail(
        await read_row(tx, match),
        listing,
        await matches.read_events(tx, id),
        verdict,
        version.profile().rules.strikes.threshold,
        await sources.get(tx, listing.source_id) if listing.source_id else None,
        await job_view.find_lineage(tx, verdict),
        posting_checks.check_posting(listing, reposts, await server_time(tx)),
    )


async def read_row(tx: Tx, match: Match) -> MatchRow:
    duplicates = await duplicate_matches.find_duplicates(tx, [match.id])
    return MatchRow.of(match, duplicates.get(match.id, ()))
