"""The query parameters of the inbox."""

from __future__ import annotations

from typing import Annotated, get_args
from urllib.parse import urlencode

from pydantic import Field

from jobmill.catalog.posting import Arrangement
from jobmill.matching.matches import MatchQuery, Order, Status
from jobmill.matching.saved_views import InboxFilters
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.parameters import MAX_ID

STATUSES: tuple[Status, ...] = get_args(Status)


class InboxQuery(PageQuery):
    profile: ShortText | None = None
    status: Status | None = None
    least: Annotated[int, Field(ge=0, le=100)] | None = None
    arrangement: Arrangement | None = None
    q: ShortText | None = None
    order: Order = "best"
    after: Annotated[int, Field(ge=1, le=MAX_ID)] | None = None
    match: Annotated[int, Field(ge=1, le=MAX_ID)] | None = None
    """The match to show beside the list."""

    @classmethod
    def from_filters(cls, filters: InboxFilters, profile: str | None) -> InboxQuery:
        """The query of a saved view."""
        return cls(
            profile=profile,
            status=filters.status,
            least=filters.min_score,
            arrangement=filters.arrangement,
            q=filters.words,
            order="newest" if filters.newest else "best",
        )

    def panel_url(self, match_id: int) -> str:
        back = urlencode({"back": self.without("match").url("/matches")})
        return f"/matches/{match_id}/panel?{back}"

    @property
    def filters(self) -> InboxFilters:
        newest = self.order == "newest"
        return InboxFilters(self.status, self.least, self.arrangement, self.q, newest=newest)

    @property
    def is_filtered(self) -> bool:
        return bool(self.status or self.least or self.arrangement or self.q)

    @property
    def can_be_saved(self) -> bool:
        """Whether there is a filter or an order that a view could save."""
        return self.filters != InboxFilters()

    def to_filter(self, profile_id: int, limit: int) -> MatchQuery:
        return self.filters.to_query(profile_id, after=self.after, limit=limit)
