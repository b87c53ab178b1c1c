"""The tier of a company follows the default profile."""

from __future__ import annotations

import asyncio

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import companies, company_analyses
from jobmill.catalog.company_analyses import CompanyFacts, CompanyFindings
from jobmill.db import Database, Tx
from jobmill.matching import company_tiers, profiles
from jobmill.matching.profile import Profile
from jobmill.pipelines import company
from tests.catalog.helpers import somebody_waits


def profile(*skills: str) -> Profile:
    return Profile.model_validate(
        {"skills": [{"name": name, "rank": "primary"} for name in skills]}
    )


FACTS = CompanyFacts(about="Deep Wells makes pumps for towns. " * 5, remote_first=True)
FINDINGS = CompanyFindings(tech_stack=("python", "go"), ai_ml=True)


async def analyzed(tx: Tx) -> int:
    id = await companies.get_or_create(tx, "Deep Wells", "https://deepwells.example")
    await company_analyses.save(
        tx, id=id, status="complete", facts=FACTS, findings=FINDINGS, platforms=PLATFORM_RULES
    )
    return id


async def points(tx: Tx, id: int) -> int | None:
    return (await companies.get(tx, id)).priority_score


async def test_saving_the_default_profile_scores_companies_again(tx: Tx) -> None:
    id = await analyzed(tx)
    await profiles.save(tx, "main", profile("Python", "Go"))
    assert await points(tx, id) == 125
    await profiles.save(tx, "main", profile("COBOL"))
    assert await points(tx, id) == 25
    before = (await companies.get(tx, id)).updated_at
    await profiles.save(tx, "other", profile("Python", "Go"))
    assert await points(tx, id) == 25
    await profiles.set_default(tx, "other")
    again = await companies.get(tx, id)
    assert (again.priority_score, again.tier, again.updated_at) == (125, "A", before)
    assert again.priority_items
    assert sum(item["points"] for item in again.priority_items) == 125


async def test_an_analysis_that_ends_while_the_profile_changes_uses_the_new_one(
    database: Database,
) -> None:
    async with database.transaction() as tx:
        await profiles.save(tx, "main", profile("COBOL"))
        id = await analyzed(tx)

    async def end_analysis() -> None:
        async with database.transaction() as tx:
            await company._save(tx, id=id, status="complete", facts=FACTS, findings=FINDINGS)  # pyright: ignore[reportPrivateUsage]

    async with database.transaction() as tx:
        await profiles.save(tx, "main", profile("Python", "Go"))
        analysis = asyncio.create_task(end_analysis())
        while not analysis.done() and not await somebody_waits(tx):
            await asyncio.sleep(0.001)
        assert not analysis.done()
    await analysis
    async with database.transaction() as tx:
        assert await points(tx, id) == 125


async def test_companies_without_an_analysis_have_no_tier(tx: Tx) -> None:
    id = await companies.get_or_create(tx, "Deep Wells")
    assert await company_tiers.rescore_companies(tx, [profile("Python")]) == 0
    assert (await companies.get(tx, id)).tier is None
