"""/listings/{listing_id}: one job, its decision, and a what-if form."""

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
from jobmill.catalog import duplicate_links, history, listings, sources
from jobmill.catalog.listings import Listing
from jobmill.catalog.posting import Arrangement
from jobmill.catalog.sources import Source
from jobmill.db import CONNECTION_ERRORS, Database, Tx
from jobmill.errors import Invalid, Unavailable
from jobmill.matching import (
    local_score,
    matches,
    profiles,
    rescore,
    skill_highlights,
    verdicts,
    what_if,
)
from jobmill.matching.matches import MatchId
from jobmill.matching.profile import Profile
from jobmill.matching.profiles import Version
from jobmill.matching.verdict import FilterResult
from jobmill.matching.verdicts import Word
from jobmill.matching.what_if import Difference
from jobmill.web import job_view
from jobmill.web.dependencies import Db, RawDb
from jobmill.web.page_query import ShortText, strip_text
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/listings")

AT_ONCE = 50
REACH = 4_000
"""So many of the newest are looked at for a page; what has rare words is found beyond them, too."""
LINKED = 50
PATIENCE = 20.0
"""Seconds for judging twice; the first time in a process it loads a model."""


@dataclass(frozen=True, slots=True)
class Story:
    """A listing with all that is known of it."""

    listing: Listing
    linked: list[Listing]
    events: list[history.CatalogEvent]
    source: Source | None
    version: Version | None
    word: Word | None
    match_id: MatchId | None
    lineage: UUID | None


Names = Annotated[str, Field(max_length=500), AfterValidator(strip_text)]


class Supposed(BaseModel):
    """By which profile to judge, and what would be other in it."""

    profile: ShortText | None = None
    having: Names = ""
    without: Names = ""
    place: ShortText = ""
    arrangement: Literal["", "any", "remote", "hybrid", "onsite"] = ""

    @property
    def skills(self) -> list[str]:
        return _names(self.having)

    @property
    def is_any(self) -> bool:
        return bool(self.skills or _names(self.without) or self.place or self.arrangement)

    def change(self, profile: Profile, listing: Listing) -> Profile:
        """The profile as it would be; Invalid if these are words that nobody knows."""
        places = [self.place] if self.place else []
        what_if.check(listings.to_posting(listing), having=self.skills, places=places)
        wanted: list[Arrangement] | None = None
        if self.arrangement:
            wanted = [] if self.arrangement == "any" else [self.arrangement]
        return what_if.change(
            profile,
            having=self.skills,
            without=_names(self.without),
            places=places,
            arrangements=wanted,
        )


@router.get("/{listing_id}")
async def show_one(
    listing_id: PathId,
    db: Db,
    page: Page,
    database: RawDb,
    wish: Annotated[Supposed, Query()],
) -> HTMLResponse:
    async with db.transaction() as tx:
        story = await _story(tx, listing_id, wish.profile)
    listing = story.listing
    other, wrong = await _imagine(database, story, wish) if wish.is_any else (None, None)
    result = story.word and story.word.match_result
    bars = job_view.score_bars(asdict(one) for one in result.items) if result else []
    return page(
        "listings/listing.html",
        422 if wrong else 200,
        story=story,
        listing=listing,
        place=job_view.describe_place(listing),
        pay=job_view.describe_salary(listing),
        url=job_view.web_url(listing.url),
        completeness=listings.completeness(listing),
        sifted=_sift(story),
        verdict=_verdict(story),
        result=result,
        bars=bars,
        cut=job_view.describe_total(bars, result.match_score) if result else None,
        takes=job_view.describe_threshold(result),
        facts=_facts(story),
        moments=_moments(listing),
        pieces=skill_highlights.cut(
            listing.description or "", result.matched_skills if result else ()
        ),
        events=[(one.at, job_view.describe_listing_event(one)) for one in story.events],
        wish=wish,
        other=other,
        change=other
        and f"{job_view.describe_standing(other.before)} → {job_view.describe_standing(other.after)}",
        wrong=wrong,
    )


async def _story(tx: Tx, id: int, profile: str | None) -> Story:
    listing = await listings.get(tx, id)
    version = await job_view.find_profile(tx, profile)
    word = await verdicts.get(tx, version.profile_id, id) if version else None
    if version and word:
        # The rules that it was judged by, which may have changed since.
        version = await profiles.by_id(tx, version.profile_id, version=word.profile_version)
    linked = await duplicate_links.find_linked(tx, listing.duplicate_of or id)
    around = [one for one in [listing.duplicate_of, *linked] if one and one != id][:LINKED]
    return Story(
        listing,
        sorted(await listings.by_ids(tx, around), key=lambda one: one.id),
        await history.find_events(tx, "listing", id),
        await sources.get(tx, listing.source_id) if listing.source_id else None,
        version,
        word,
        await matches.of_listing(tx, version.profile_id, id) if version else None,
        await job_view.find_lineage(tx, word),
    )


def _sift(story: Story) -> FilterResult | None:
    """What the filter said; of what was never judged, what it says now."""
    if story.word:
        return story.word.filter_result
    if story.version is None:
        return None
    return local_score.sift(story.version.profile(), story.listing, PLATFORM_RULES)


def _verdict(story: Story) -> str:
    """What it came to, in a sentence."""
    found = _sift(story)
    if found is None or story.version is None:
        return ""
    how = job_view.describe_filter(found, story.version.profile().rules.strikes.threshold)
    word, result = story.word, story.word and story.word.match_result
    if word is None and found.passed:
        return say("The filter would let it pass: %(how)s.", how=how)
    if word is None:
        return say("The filter would turn it down: %(how)s.", how=how)
    if result is None:
        return say("Filtered out: %(how)s.", how=how)
    if word.outcome == "matched":
        return say("A match with %(n)s; %(how)s.", n=word.score, how=how)
    least = result.threshold
    return say(
        "Scored %(n)s, and a match takes %(least)s; %(how)s.", n=word.score, least=least, how=how
    )


def _facts(story: Story) -> list[tuple[str, str]]:
    """What is known besides, by name."""
    listing = story.listing
    kind = listing.employment_type and listing.employment_type.replace("_", " ")
    named = [
        (say("Department"), listing.department),
        (say("Kind"), kind),
        (say("Level"), listing.seniority),
        (say("Places"), "; ".join(listing.locations)),
        (say("Remote from"), "; ".join(listing.remote_from)),
        (say("Pay"), job_view.describe_salary(listing)),
        (say("Platform"), listing.platform),
        (say("Via"), listing.via),
    ]
    return [(name, fact) for name, fact in named if fact]


def _moments(listing: Listing) -> list[tuple[str, dt.datetime]]:
    named = [
        (say("Posted"), listing.posted_at),
        (say("First seen"), listing.first_seen_at),
        (say("Last seen"), listing.last_seen_at),
        (say("Changed"), listing.changed_at),
        (say("Closed"), listing.closed_at),
    ]
    return [(name, at) for name, at in named if at]


def _names(given: str) -> list[str]:
    return [one.strip() for one in given.split(",") if one.strip()]


async def _imagine(
    database: Database, story: Story, wish: Supposed
) -> tuple[Difference | None, str | None]:
    """What would be other than it is, or what is wrong with the wish."""
    if story.version is None:
        return None, say("There is no profile yet that could be another.")
    try:
        profile = story.version.profile()
        other = wish.change(profile, story.listing)
    except Invalid as error:
        return None, str(error)
    try:
        async with asyncio.timeout(PATIENCE):
            async with database.transaction() as tx:
                known = await rescore.employer_of(tx, story.listing)
            before, after = [
                await local_score.judge(
                    database, judged_by, story.listing, known, PLATFORM_RULES, anyway=True
                )
                for judged_by in (profile, other)
            ]
    except (*CONNECTION_ERRORS, TimeoutError) as error:
        raise Unavailable(say("Judging takes too long here. Try again in a moment.")) from error
    return what_if.compare(before, after), None
