"""The bundled companies, and how set-up lines are interpreted."""

from __future__ import annotations

import pytest

from jobmill.db import Database
from jobmill.errors import Invalid, Unavailable
from jobmill.pipelines import first_boards
from jobmill.queue import Stage, declare_stages
from jobmill.rotation import bundled_companies
from tests.queue.helpers import never


def test_every_bundled_line_is_a_board_that_we_can_read_and_stands_once() -> None:
    companies = bundled_companies.all_companies()
    assert len(companies) > 200
    assert len({company.key.casefold() for company in companies}) == len(companies)
    assert [company.name.casefold() for company in companies] == sorted(
        company.name.casefold() for company in companies
    )
    for company in companies:
        new = bundled_companies.source_for_key(company.key)
        assert (new.source_type, new.company_name) == (company.platform, company.name)
        assert company.about.startswith(f"{company.field}: ")


def test_companies_are_found_by_all_words_of_name_platform_and_description() -> None:
    assert bundled_companies.search_companies("STRIPE payments greenhouse")[0].name == "Stripe"
    assert bundled_companies.search_companies("stripe zebra") == []
    assert {company.field for company in bundled_companies.search_companies("", "Games")} == {
        "Games"
    }
    assert bundled_companies.search_companies() == list(bundled_companies.all_companies())


def test_lines_are_boards_or_pages_or_told_to_be_neither() -> None:
    result = first_boards.parse_lines(
        [
            "greenhouse/stripe",
            " https://boards.greenhouse.io/stripe ",
            "jobs.lever.co/acme/1",
            "acme.example/careers",
            "",
            "not a board",
            "javascript:alert(1)",
            "nowhere/acme",
        ]
    )
    assert [(company.source_type, company.token) for company in result.boards] == [
        ("greenhouse", "stripe"),
        ("lever", "acme"),
    ]
    assert [company.url for company in result.pages] == ["https://acme.example/careers"]
    assert [line for line, _ in result.invalid] == [
        "not a board",
        "javascript:alert(1)",
        "nowhere/acme",
    ]


def test_too_many_lines_at_once_are_refused() -> None:
    with pytest.raises(Invalid, match="at most 1,000 lines"):
        first_boards.parse_lines(f"greenhouse/x{n}" for n in range(first_boards.MAX_LINES + 1))


async def test_boards_are_kept_once_and_only_new_ones_are_fetched(database: Database) -> None:
    wishes = first_boards.parse_lines(["greenhouse/stripe", "ashby/linear"])
    async with database.transaction() as tx:
        await declare_stages(tx, {("source", "scrape"): Stage(never)})
        first = await first_boards.add_boards(tx, wishes, by="dana")
        again = await first_boards.add_boards(tx, wishes, by="dana")
    assert (first.boards, first.new, first.queued) == (2, 2, 2)
    assert (again.boards, again.new, again.queued) == (2, 0, 0)


async def test_without_any_worker_ever_nothing_is_added_and_it_is_said(database: Database) -> None:
    with pytest.raises(Unavailable, match="no worker has run yet"):
        async with database.transaction() as tx:
            await first_boards.add_boards(
                tx, first_boards.parse_lines(["greenhouse/stripe"]), by="dana"
            )
