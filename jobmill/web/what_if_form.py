"""The what-if form of jobs and matches, and its answer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, Field

from jobmill.catalog import listings
from jobmill.catalog.listings import Listing
from jobmill.catalog.posting import Arrangement
from jobmill.db import Database
from jobmill.errors import Invalid
from jobmill.matching import what_if
from jobmill.matching.profile import Profile
from jobmill.matching.profiles import ProfileVersion
from jobmill.matching.what_if import VerdictDifference
from jobmill.web import job_view
from jobmill.web.listing_detail import compare_profiles
from jobmill.web.page_query import ShortText, strip_text
from jobmill.web.translations import say

CommaSeparated = Annotated[str, Field(max_length=500), AfterValidator(strip_text)]


class WhatIfQuery(BaseModel):
    """The profile to score the job for, and changes to try."""

    profile: ShortText | None = None
    having: CommaSeparated = ""
    without: CommaSeparated = ""
    place: ShortText = ""
    arrangement: Literal["", "any", "remote", "hybrid", "onsite"] = ""

    @property
    def skills(self) -> list[str]:
        return _split(self.having)

    @property
    def has_changes(self) -> bool:
        return bool(self.skills or _split(self.without) or self.place or self.arrangement)

    def apply(self, profile: Profile, listing: Listing) -> Profile:
        """The changed profile; Invalid if a skill or a place is unknown."""
        places = [self.place] if self.place else []
        what_if.check_changes(listings.to_posting(listing), having=self.skills, places=places)
        arrangements: list[Arrangement] | None = None
        if self.arrangement:
            arrangements = [] if self.arrangement == "any" else [self.arrangement]
        return what_if.apply_changes(
            profile,
            having=self.skills,
            without=_split(self.without),
            places=places,
            arrangements=arrangements,
        )


def _split(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


@dataclass(frozen=True, slots=True)
class WhatIfPreview:
    """How the changes would alter the score, or what is wrong with them."""

    difference: VerdictDifference | None = None
    error: str | None = None

    @property
    def status(self) -> int:
        return 422 if self.error else 200

    @property
    def change(self) -> str:
        """`matched 83 → matched 91`."""
        assert self.difference is not None
        before, after = self.difference.before, self.difference.after
        return f"{job_view.describe_outcome(before)} → {job_view.describe_outcome(after)}"


async def answer_what_if(
    database: Database, version: ProfileVersion, listing: Listing, query: WhatIfQuery
) -> WhatIfPreview:
    try:
        if not query.has_changes:
            raise Invalid(say("Enter at least one skill."))
        changed = query.apply(version.profile(), listing)
    except Invalid as error:
        return WhatIfPreview(error=str(error))
    return WhatIfPreview(await compare_profiles(database, version, changed, listing))
