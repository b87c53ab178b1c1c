"""Default quotas of platforms that meter their API keys: the one table, with sources and dates.

`jobmill rotate limit` replaces the quota of a platform. A quota without a date was not checked
against the site: it is our own cautious default, enough for some searches twice a day.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass

_DAY = dt.timedelta(days=1)
_OUR_DEFAULT = "our own cautious default; the site's limit was not checked"


@dataclass(frozen=True, slots=True)
class Quota:
    """Requests that one key allows, each page of a search counted."""

    requests: tuple[tuple[dt.timedelta, int], ...]
    """Time spans with the requests allowed in each."""
    source: str
    """Where the numbers come from."""
    checked_on: dt.date | None = None
    """When the source was read; None: the numbers are our own."""

    @property
    def per_day(self) -> int:
        """The requests of a day that no span forbids in the long run."""
        return min(max(1, int(count * _DAY / max(span, _DAY))) for span, count in self.requests)


QUOTAS: Mapping[str, Quota] = {
    "adzuna": Quota(
        ((_DAY, 250), (7 * _DAY, 1_000), (30 * _DAY, 2_500)),
        "https://developer.adzuna.com/docs/terms_of_service",
        dt.date(2026, 11, 16),
    ),
    "jooble": Quota(
        ((_DAY, 50), (60 * _DAY, 500)),
        "no published number; users report that a free key allows about 500 requests in all",
        dt.date(2026, 11, 16),
    ),
    "reed": Quota(((_DAY, 500),), _OUR_DEFAULT),
    "usajobs": Quota(((_DAY, 500),), _OUR_DEFAULT),
}
