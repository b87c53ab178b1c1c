"""How many of a company's postings state what candidates ask for."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from .findings import PostingShares
from .known_postings import KnownPosting

MAX_NAMED = 400


def count_posting_shares(postings: Sequence[KnownPosting]) -> PostingShares:
    unstated = [
        (name, posting.title, posting.url)
        for posting in postings
        for name, value in (
            ("pay", posting.pay),
            ("place", posting.place),
            ("arrangement", posting.arrangement),
            ("closing date", posting.closes_on),
        )
        if not value
    ]
    days_open = [posting.days_open for posting in postings if posting.days_open is not None]
    return PostingShares(
        postings=len(postings),
        with_pay=sum(posting.pay is not None for posting in postings),
        with_place=sum(bool(posting.place) for posting in postings),
        with_arrangement=sum(posting.arrangement is not None for posting in postings),
        with_closing_date=sum(posting.closes_on is not None for posting in postings),
        median_days_open=statistics.median(days_open) if days_open else None,
        reposted=sum(posting.reposts > 0 for posting in postings),
        unstated=tuple(sorted(unstated)[:MAX_NAMED]),
    )
