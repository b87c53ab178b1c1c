from __future__ import annotations

import asyncio
import datetime as dt
from dataclasses import replace

import pytest

from jobmill.catalog import companies
from jobmill.catalog.companies import Company, CompanyId
from jobmill.db import Database, Tx, fetch_value
from jobmill.errors import Invalid, NotFound
from tests.catalog.helpers import overlap

NOW = dt.datetime(2026, 5, 1, tzinfo=dt.UTC)


def company(**facts: object) -> Company:
    made = Company(
        id=CompanyId(1), name="Acme", website="https://acme.example", domain="acme.example",
        analysis_status="complete", about=None, culture=None, mission=None, size=None,
        company_size_category=None, headquarters_location=None, industry=None, founded=None,
        tech_stack=None, tier=None, priority_score=None, offices=None, remote_first=None, ai_ml=None,
        priority_items=None, extracted_by=None, job_board_url=None, job_board_type=None,
        job_board_confidence=None, job_board_evidence=None, job_board_decision=None,
        analyzed_at=None, created_at=NOW, updated_at=NOW, sources=0, open_listings=0,
    )  # fmt: skip
    return replace(made, **facts)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("about", "culture", "completeness"),
    [
        (None, None, "sparse"),
        ("a" * 50, "c" * 25, "sparse"),
        ("a" * 51, None, "minimal"),
        (None, "c" * 26, "minimal"),
        ("a" * 101, "c" * 50, "minimal"),
        ("a" * 100, "c" * 51, "minimal"),
        ("a" * 101, "c" * 51, "good"),
    ],
)
def test_completeness_depends_on_the_filled_fields(
    about: str | None, culture: str | None, completeness: str
) -> None:
    assert companies.completeness(company(about=about, culture=culture)) == completeness
    assert companies.completeness(company(about=about, culture=culture, website=None)) == "sparse"


def test_a_good_record_is_not_analyzed_again_for_30_days() -> None:
    good = company(about="a" * 101, culture="c" * 51)
    assert companies.is_up_to_date(good, NOW + dt.timedelta(days=29, hours=23))
    assert not companies.is_up_to_date(good, NOW + dt.timedelta(days=30))
    assert not companies.is_up_to_date(company(about="a" * 60), NOW)


async def test_spellings_of_a_name_are_the_same_company(tx: Tx) -> None:
    id = await companies.get_or_create(tx, "Acme GmbH")
    assert await companies.get_or_create(tx, "ACME") == id
    assert (await companies.get_by_name(tx, "acme")).name == "Acme GmbH"


async def test_companies_with_the_same_name_are_told_apart_by_website(tx: Tx) -> None:
    first = await companies.get_or_create(tx, "Apollo", "https://apollo.example/")
    two = await companies.get_or_create(tx, "Apollo", "https://apollo-space.example")
    assert first != two
    assert await companies.get_or_create(tx, "Apollo", "https://www.apollo.example/about") == first


async def test_a_website_is_added_to_a_company_known_by_name(tx: Tx) -> None:
    id = await companies.get_or_create(tx, "Brine")
    assert await companies.get_or_create(tx, "Brine", "https://brine.example") == id
    assert (await companies.get(tx, id)).domain == "brine.example"


async def test_an_invalid_company_name_is_refused(tx: Tx) -> None:
    with pytest.raises(Invalid):
        await companies.get_or_create(tx, "  \t ")
    with pytest.raises(NotFound):
        await companies.get_by_name(tx, "nobody")


async def test_concurrent_transactions_create_a_company_once(database: Database) -> None:
    names = [f"Company {number}" for number in range(20)]

    async def name(order: int) -> list[int]:
        async with database.transaction() as tx:
            ids = await companies.get_or_create_all(tx, names[::order])
        return [ids[company] for company in names]

    answers = await asyncio.gather(*(name(order) for order in (1, -1, 1, -1)))
    assert answers == [answers[0]] * 4


async def test_a_company_found_concurrently_with_and_without_website_is_one(
    database: Database,
) -> None:
    async def find(tx: Tx) -> CompanyId:
        await companies.get_or_create(tx, "Deep Wells")
        return await companies.get_or_create(tx, "Deep Wells", "https://deepwells.example")

    first, second = await overlap(database, find, find)
    assert first == second
    async with database.transaction() as tx:
        assert await fetch_value(tx, int, "SELECT count(*) FROM catalog.company") == 1
