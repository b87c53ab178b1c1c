from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import companies, listings
from jobmill.catalog.posting import Salary
from jobmill.db import Tx
from jobmill.reports.findings import PostingShares
from jobmill.reports.known_postings import (
    KnownPosting,
    count_posting_shares,
    read_known_postings,
)

from ..catalog import helpers

PAY = Salary(60_000, 75_000, "EUR", "year", "structured")


async def _add_listing(tx: Tx, company: int, number: int, /, **facts: Any) -> int:
    """Insert a listing; `columns` override what the posting says."""
    columns = facts.pop("columns", {})
    posting = helpers.posting(number, **facts)
    now = dt.datetime.now(dt.UTC)
    row = listings.to_columns(posting, PLATFORM_RULES) | {
        "source_id": None,
        "listed_hash": listings.listed_hash(posting),
        "company_id": company,
        "identity": f"test {number}",
        "first_seen_at": now - dt.timedelta(days=10),
        "last_seen_at": now,
        "changed_at": now,
    }
    [id] = (await listings.insert_all(tx, [row])).values()
    names = ("closed_at", "duplicate_of", "duplicate_kind", "duplicate_why", "via")
    await tx.execute(
        """
        UPDATE catalog.listing
           SET closed_at = %s, duplicate_of = %s, duplicate_kind = %s, duplicate_why = %s, via = %s
         WHERE id = %s
        """,
        [*(columns.get(name) for name in names), id],
    )
    return id


async def _company(tx: Tx) -> int:
    return await companies.get_or_create(tx, "Wells & Co", "https://wells.example")


async def test_a_posting_is_read_with_its_fields(tx: Tx) -> None:
    company = await _company(tx)
    await _add_listing(
        tx, company, 1, location="Porto", salary=PAY, arrangement="hybrid",
        posted_at=dt.datetime.now(dt.UTC) - dt.timedelta(days=4),
        valid_through=dt.datetime(2030, 1, 2, tzinfo=dt.UTC),
    )  # fmt: skip
    [posting] = await read_known_postings(tx, company)
    assert (posting.title, posting.place, posting.pay) == ("Pump Engineer", "Porto", PAY)
    assert (posting.arrangement, posting.closes_on) == ("hybrid", dt.date(2030, 1, 2))
    assert posting.days_open == pytest.approx(4, abs=0.1)
    assert posting.reposts == 0


async def test_closed_postings_and_other_companies_are_left_out(tx: Tx) -> None:
    company = await _company(tx)
    other = await companies.get_or_create(tx, "Other", "https://other.example")
    await _add_listing(tx, company, 1, columns={"closed_at": dt.datetime.now(dt.UTC)})
    await _add_listing(tx, other, 2)
    assert await read_known_postings(tx, company) == []


async def test_a_repost_is_one_posting(tx: Tx) -> None:
    company = await _company(tx)
    first = await _add_listing(tx, company, 1, columns={"closed_at": dt.datetime.now(dt.UTC)})
    link = {"duplicate_of": first, "duplicate_kind": "repost", "duplicate_why": "test"}
    await _add_listing(tx, company, 2, columns=link)
    [posting] = await read_known_postings(tx, company)
    assert posting.reposts == 1
    assert posting.url.endswith("/2")


async def test_one_vacancy_in_two_places_is_two_postings(tx: Tx) -> None:
    company = await _company(tx)
    first = await _add_listing(tx, company, 1, location="Porto")
    link = {"duplicate_of": first, "duplicate_kind": "multi_location", "duplicate_why": "test"}
    await _add_listing(tx, company, 2, location="Lisbon", columns=link)
    assert {posting.place for posting in await read_known_postings(tx, company)} == {
        "Porto", "Lisbon",
    }  # fmt: skip


async def test_the_board_and_the_site_are_kept_apart(tx: Tx) -> None:
    company = await _company(tx)
    site = "https://www.wells.example/careers/pump-engineer"
    first = await _add_listing(tx, company, 1, url=site, location="Lisbon")
    link = {"duplicate_of": first, "duplicate_kind": "same", "duplicate_why": "test"}
    await _add_listing(tx, company, 2, location="Porto", salary=PAY, columns=link)
    copy = {**link, "via": "Aggregator"}
    await _add_listing(tx, company, 3, location="Faro", url="https://x.example/3", columns=copy)
    [posting] = await read_known_postings(tx, company)
    assert posting.url == "https://boards.example/wells/postings/2"
    assert (posting.title, posting.place, posting.pay) == ("Pump Engineer", "Porto", PAY)
    assert posting.on_site is not None
    assert (posting.on_site.url, posting.on_site.place) == (site, "Lisbon")
    assert "https://x.example/3" in posting.other_urls


def test_shares_count_what_postings_state() -> None:
    stated = KnownPosting(
        "u", "t", "Porto", PAY, closes_on=dt.date(2030, 1, 1), arrangement="remote", days_open=10,
        reposts=2,
    )  # fmt: skip
    silent = KnownPosting("v", "t", days_open=20)
    fields = ("arrangement", "closing date", "pay", "place")
    assert count_posting_shares([stated, silent]) == PostingShares(
        2, 1, 1, 1, 1, 15, 1, tuple((field, "t", "v") for field in fields)
    )
    assert count_posting_shares([]) == PostingShares()
