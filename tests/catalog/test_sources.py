from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from jobmill.catalog import companies, sources
from jobmill.catalog.sources import NewSource
from jobmill.db import Database, Tx
from jobmill.errors import Conflict, NotFound

from .helpers import make_source

ACME = NewSource(
    name="Acme Greenhouse",
    source_type="greenhouse",
    token="acme",
    config={"board_token": "acme"},
    url="https://job-boards.greenhouse.io/acme",
    discovery_confidence="high",
)


async def test_a_board_is_stored_once_and_its_company_is_filled_in(tx: Tx) -> None:
    id, new = await sources.add(tx, ACME, enabled=True)
    company = await companies.get_or_create(tx, "Acme")
    again = await sources.add(
        tx, replace(ACME, company_id=company, company_name="Acme"), enabled=False
    )
    assert (new, again) == (True, (id, False))
    source = await sources.get(tx, id)
    assert (source.status, source.company_id) == ("active", company)


async def test_concurrent_transactions_add_a_board_once(database: Database) -> None:
    async def add() -> tuple[int, bool]:
        async with database.transaction() as tx:
            return await sources.add(tx, ACME, enabled=True)

    added = await asyncio.gather(*(add() for _ in range(6)))
    assert len({id for id, _ in added}) == 1
    assert [new for _, new in added].count(True) == 1


async def test_completeness_depends_on_the_filled_fields(tx: Tx) -> None:
    id, _ = await sources.add(tx, ACME, enabled=True)
    source = await sources.get(tx, id)
    assert sources.completeness(source) == "valid"
    await sources.mark_tested(tx, id)
    assert sources.completeness(await sources.get(tx, id)) == "complete"
    assert sources.completeness(replace(source, config={})) == "invalid"
    assert not sources.is_complete(replace(source, discovery_confidence="medium"))


@pytest.mark.parametrize(
    ("confidence", "needs"), [("high", False), ("medium", True), ("low", True), (None, False)]
)
async def test_an_uncertain_source_needs_validation(tx: Tx, confidence: str, needs: bool) -> None:
    id = await make_source(tx, discovery_confidence=confidence)
    assert sources.needs_validation(await sources.get(tx, id)) == needs


async def test_repeating_a_decision_is_refused_with_a_reason(tx: Tx) -> None:
    id, _ = await sources.add(tx, ACME, enabled=True)
    with pytest.raises(Conflict, match="already enabled"):
        await sources.enable(tx, id)
    with pytest.raises(NotFound):
        await sources.disable(tx, 999_999, "x")


async def test_a_url_belongs_to_the_source_of_its_board(tx: Tx) -> None:
    id, _ = await sources.add(tx, ACME, enabled=True)
    await sources.add(tx, replace(ACME, token="other", name="Other"), enabled=True)
    url = "https://boards.greenhouse.io/acme/jobs/1"
    source = await sources.find_by_url(tx, url, board=("greenhouse", "acme"))
    assert source
    assert source.id == id
    assert await sources.find_by_url(tx, url, board=("greenhouse", "nobody")) is None


async def test_a_url_belongs_to_the_only_source_of_its_domain(tx: Tx) -> None:
    new = replace(ACME, source_type="html", token="x", url="https://www.wells.example/careers")
    id, _ = await sources.add(tx, new, enabled=True)
    source = await sources.find_by_url(tx, "https://wells.example/careers/pump-engineer")
    assert source
    assert source.id == id
    assert await sources.find_by_url(tx, "https://brine.example/careers/1") is None
    await sources.reject(tx, id, "no")
    assert await sources.find_by_url(tx, "https://wells.example/careers/pump-engineer") is None


async def test_a_board_is_found_in_any_case(tx: Tx) -> None:
    id, _ = await sources.add(tx, ACME, enabled=True)
    source = await sources.find_by_url(tx, "https://x.example", board=("greenhouse", "ACME"))
    assert source
    assert source.id == id
