"""Listings, profiles and verdicts for tests, with defaults for everything a test does not set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jobmill.catalog.listings import ListingId
from jobmill.catalog.posting import Posting
from jobmill.db import Tx
from jobmill.matching import profiles
from jobmill.matching.profile import Profile
from jobmill.matching.profiles import ProfileId
from jobmill.matching.verdict import (
    FilterResult,
    MatchResult,
    Priority,
    Rejection,
    ResumeIntake,
    ScoreItem,
    Strike,
)
from jobmill.matching.verdicts import Verdict
from jobmill.people.persons import LOCAL, Owner
from tests.catalog import helpers

PASSED = FilterResult(True, 0, (), (), "")
STRUCK = FilterResult(
    False,
    5,
    (),
    (
        Strike("seniority", "Seniority mismatch (too senior): director", 3, "Director of Pumps"),
        Strike("location", "asks for Madrid", 2, "Madrid office"),
    ),
    "5 strikes of 5",
)
REJECTED = FilterResult(
    False,
    0,
    (Rejection("arrangement", "on site, and not in your home city", "on site in Madrid"),),
    (),
    "on site, and not in your home city",
)


def result(score: int, *, threshold: int = 80, **more: Any) -> MatchResult:
    """A score made of two items."""
    by_score: Priority = "High" if score >= 85 else "Medium" if score >= 70 else "Low"
    skills = min(score, 40)
    more.setdefault(
        "items",
        (
            ScoreItem("skills", skills, 40, "1 of 2 requested skills", ("Python",)),
            ScoreItem("meaning", score - skills, 60, "Text similarity: 90%"),
        ),
    )
    more.setdefault("matched_skills", ("Python",))
    more.setdefault("skill_gaps", ("Go",))
    more.setdefault("resume_intake", ResumeIntake(professional_summary="Keeps water running."))
    return MatchResult(
        match_score=score,
        application_priority=more.pop("priority", by_score),
        threshold=threshold,
        threshold_why="the minimum score of a match",
        **more,
    )


@dataclass(frozen=True)
class Place:
    profile: ProfileId
    listings: Sequence[ListingId]

    @property
    def listing(self) -> ListingId:
        return self.listings[0]

    def word(
        self, score: int, listing: ListingId | None = None, *, version: int = 1, **more: Any
    ) -> Verdict:
        """A verdict with this score, matched or skipped by its threshold."""
        local = more.pop("local_score", score)
        match = result(score, **more)
        outcome = "matched" if match.fits else "skipped"
        return Verdict(
            self.profile, version, listing or self.listing, outcome, PASSED, match, local
        )

    def filtered(
        self,
        listing: ListingId | None = None,
        *,
        version: int = 1,
        why: FilterResult = STRUCK,
    ) -> Verdict:
        return Verdict(self.profile, version, listing or self.listing, "filtered", why)


async def make(
    tx: Tx,
    *,
    listings: int = 1,
    postings: Sequence[Posting] = (),
    profile: Profile | None = None,
    name: str = "main",
    owner: Owner = LOCAL,
) -> Place:
    """A profile in its first version, and open listings of a source."""
    await profiles.save(tx, name, profile or Profile(titles=("Pump Engineer",)), owner=owner)
    source = await helpers.make_source(tx)
    all_postings = postings or [helpers.posting(number) for number in range(1, listings + 1)]
    await helpers.run(tx, source, 0, all_postings)
    cursor = await tx.execute(
        "SELECT id FROM catalog.listing WHERE source_id = %s ORDER BY vendor_id::int", [source]
    )
    ids = [ListingId(id) for (id,) in await cursor.fetchall()]
    return Place((await profiles.get(tx, name, owner=owner)).profile_id, ids)


async def close(tx: Tx, *ids: ListingId) -> None:
    await tx.execute("UPDATE catalog.listing SET closed_at = now() WHERE id = ANY(%s)", [list(ids)])
