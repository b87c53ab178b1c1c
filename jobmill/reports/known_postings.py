"""The open postings of a company that the catalog knows, for its website report."""

from __future__ import annotations

import datetime as dt
import statistics
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jobmill.catalog import urls
from jobmill.catalog.duplicates import DuplicateKind
from jobmill.catalog.posting import Arrangement, Period, Posting, Salary
from jobmill.db import Tx, fetch_all
from jobmill.errors import Invalid
from jobmill.reports.findings import PostingShares

MAX_LISTINGS = 5_000
"""Listings of a company that are read, the newest first."""
MAX_NAMED = 400


@dataclass(frozen=True, slots=True)
class PostingFields:
    """What a job board, or the structured data of a page, says about a posting."""

    url: str
    title: str
    place: str | None = None
    pay: Salary | None = None
    posted_on: dt.date | None = None


@dataclass(frozen=True, slots=True)
class KnownPosting(PostingFields):
    """A posting as its job board shows it, and what else the catalog knows about it."""

    closes_on: dt.date | None = None
    arrangement: Arrangement | None = None
    days_open: float | None = None
    reposts: int = 0
    other_urls: tuple[str, ...] = ()
    """Other addresses of the posting: where to apply, and its copies."""
    on_site: PostingFields | None = None
    """The same posting on the company's own site, if the catalog has read both."""


@dataclass(frozen=True, slots=True)
class _ListingRow:
    id: int
    vacancy: int
    duplicate_kind: DuplicateKind | None
    url: str
    apply_url: str | None
    title: str
    location: str | None
    arrangement: Arrangement | None
    salary_min: float | None
    salary_max: float | None
    salary_currency: str | None
    salary_period: Period | None
    salary_known: str | None
    posted_at: dt.datetime | None
    valid_through: dt.datetime | None
    seconds_open: float
    is_open: bool
    is_copy: bool
    """Another site republished it."""
    domain: str | None
    """The domain of the company's website."""


async def read_known_postings(tx: Tx, company_id: int) -> list[KnownPosting]:
    """The company's open postings, each once, with its reposts counted."""
    rows = await fetch_all(
        tx,
        _ListingRow,
        """
        SELECT listing.id, url, apply_url, coalesce(title, '') AS title, location, arrangement,
               -- Posts of one vacancy in different places are different postings.
               CASE WHEN duplicate_kind IN ('same', 'repost') THEN duplicate_of
                    ELSE listing.id END AS vacancy,
               duplicate_kind, salary_min::float8, salary_max::float8, salary_currency,
               salary_period, salary_known, posted_at, valid_through,
               extract(epoch FROM now() - coalesce(posted_at, first_seen_at))::float8 AS seconds_open,
               closed_at IS NULL AS is_open, via IS NOT NULL AS is_copy, company.domain
          FROM catalog.listing JOIN catalog.company ON company.id = company_id
         WHERE company_id = %(company)s
         ORDER BY listing.id DESC LIMIT %(limit)s
        """,
        {"company": company_id, "limit": MAX_LISTINGS},
    )
    vacancies: defaultdict[int, list[_ListingRow]] = defaultdict(list)
    for row in rows:
        vacancies[row.vacancy].append(row)
    postings = (_merge(members) for members in vacancies.values())
    return [posting for posting in postings if posting]


def fields_of_posting(posting: Posting) -> PostingFields:
    return PostingFields(
        posting.url,
        posting.title,
        posting.location,
        posting.salary,
        posting.posted_at.date() if posting.posted_at else None,
    )


def _merge(rows: Sequence[_ListingRow]) -> KnownPosting | None:
    """The posting of these listings; None if all are closed."""
    is_open = [row for row in rows if row.is_open]
    if not is_open:
        return None
    # A job board before the company's own site, and both before copies on other sites.
    main = min(is_open, key=lambda row: (row.is_copy, _is_on_site(row), -row.id))
    on_site = [row for row in is_open if row is not main and _is_on_site(row)]
    is_on_board = not main.is_copy and not _is_on_site(main)
    return KnownPosting(
        url=main.url,
        title=main.title,
        place=main.location,
        pay=_salary(main),
        posted_on=_day(main.posted_at),
        closes_on=_day(main.valid_through),
        arrangement=main.arrangement,
        days_open=max(0.0, main.seconds_open / 86_400),
        reposts=sum(row.duplicate_kind == "repost" for row in rows),
        other_urls=_other_urls(main, rows),
        on_site=_fields(on_site[0]) if on_site and is_on_board else None,
    )


def _is_on_site(row: _ListingRow) -> bool:
    try:
        return row.domain is not None and urls.domain(row.url) == row.domain
    except Invalid:
        return False


def _other_urls(main: _ListingRow, rows: Iterable[_ListingRow]) -> tuple[str, ...]:
    addresses = [url for row in rows for url in (row.url, row.apply_url) if url]
    return tuple(url for url in dict.fromkeys(addresses) if url != main.url)


def _fields(row: _ListingRow) -> PostingFields:
    return PostingFields(row.url, row.title, row.location, _salary(row), _day(row.posted_at))


def _salary(row: _ListingRow) -> Salary | None:
    """The stated salary; an estimate of a site is not what the company states."""
    if row.salary_known == "structured" or row.salary_known == "text":
        return Salary(
            row.salary_min, row.salary_max, row.salary_currency, row.salary_period, row.salary_known
        )
    return None


def _day(moment: dt.datetime | None) -> dt.date | None:
    return moment.date() if moment else None


def count_posting_shares(postings: Sequence[KnownPosting]) -> PostingShares:
    """How many of the postings state what candidates ask for."""
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
