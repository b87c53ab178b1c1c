from __future__ import annotations

from dataclasses import replace

import pytest

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import approvals, companies, company_analyses, company_pages, history
from jobmill.catalog.company_analyses import CompanyBoard, CompanyFacts, CompanyFindings
from jobmill.catalog.company_pages import CompanyPage
from jobmill.db import Tx
from tests.catalog.test_companies import company

LEVER = CompanyBoard("https://jobs.lever.co/brinewell", "lever", "medium", "linked", "brinewell")
GREENHOUSE = CompanyBoard(
    "https://boards.greenhouse.io/brinewell", "greenhouse", "high", "linked", "brinewell"
)
FACTS = CompanyFacts(
    about="a" * 120, culture="c" * 60, mission="water", size="240 employees",
    headquarters_location="Portland, OR", industry="water", founded="2012",
    offices=("Portland, OR", "Lisbon"), remote_first=True, extracted_by="some:model",
)  # fmt: skip
FINDINGS = CompanyFindings(
    tech_stack=("python", "react"),
    ai_ml=True,
    tier="A",
    priority_score=105,
    priority_items=({"name": "AI/ML", "points": 10, "most": 10, "why": "it is", "words": []},),
    board=LEVER,
)


async def save(
    tx: Tx, id: int, facts: CompanyFacts = FACTS, findings: CompanyFindings = FINDINGS
) -> companies.Company:
    await company_analyses.save(
        tx, id=id, status="complete", facts=facts, findings=findings, platforms=PLATFORM_RULES
    )
    return await companies.get(tx, id)


async def make(tx: Tx) -> int:
    return await companies.get_or_create(tx, "Brinewell", "https://brinewell.example")


async def test_an_analysis_is_stored_completely(tx: Tx) -> None:
    id = await make(tx)
    saved = await save(tx, id)
    assert saved.analysis_status == "complete"
    assert (saved.about, saved.culture, saved.mission) == (FACTS.about, FACTS.culture, "water")
    assert (saved.size, saved.company_size_category) == ("240 employees", "medium")
    assert (saved.headquarters_location, saved.founded) == ("Portland, OR", "2012")
    assert (saved.industry, saved.offices) == ("water", ["Portland, OR", "Lisbon"])
    assert (saved.tech_stack, saved.ai_ml, saved.remote_first) == (["python", "react"], True, True)
    assert (saved.tier, saved.priority_score, saved.extracted_by) == ("A", 105, "some:model")
    assert saved.priority_items == list(FINDINGS.priority_items)
    assert (saved.job_board_url, saved.job_board_type) == (LEVER.url, "lever")
    assert (saved.job_board_confidence, saved.job_board_decision) == ("medium", None)
    assert saved.analyzed_at is not None
    assert [event.what for event in await history.find_events(tx, "company", id)] == [
        "created",
        "analyzed",
    ]


async def test_a_stored_text_is_not_replaced_by_a_shorter_one(tx: Tx) -> None:
    id = await make(tx)
    await save(tx, id)
    again = await save(
        tx, id, CompanyFacts(about="a" * 60, mission="more water"), CompanyFindings()
    )
    assert (again.about, again.culture) == (FACTS.about, FACTS.culture)
    assert (again.size, again.offices, again.remote_first) == (
        FACTS.size,
        list(FACTS.offices),
        True,
    )
    assert again.mission == "more water"
    assert again.tech_stack == ["python", "react"]
    assert again.job_board_url == LEVER.url


def test_a_good_text_replaces_a_longer_one() -> None:
    stored = company(about="a" * 500, culture="c" * 40)
    assert (
        company_analyses.apply_facts(stored, CompanyFacts(about="b" * 101, culture="d" * 30)).about
        == "b" * 101
    )
    assert company_analyses.apply_facts(stored, CompanyFacts(about="b" * 100)).about == "a" * 500
    assert company_analyses.apply_facts(stored, CompanyFacts(culture="d" * 45)).culture == "d" * 45


@pytest.mark.parametrize(
    ("decision", "found_board", "expected_board", "still"),
    [
        (None, GREENHOUSE, GREENHOUSE, None),
        ("rejected", LEVER, LEVER, "rejected"),
        ("rejected", GREENHOUSE, GREENHOUSE, None),
        ("approved", LEVER, LEVER, "approved"),
        ("approved", GREENHOUSE, LEVER, "approved"),
        ("rejected", None, LEVER, "rejected"),
    ],
)
def test_a_decided_board_does_not_need_approval_again(
    decision: str | None,
    found_board: CompanyBoard | None,
    expected_board: CompanyBoard,
    still: str | None,
) -> None:
    stored = company(job_board_url=LEVER.url + "/", job_board_decision=decision)
    after = company_analyses.apply_findings(
        stored, replace(FINDINGS, board=found_board), PLATFORM_RULES
    )
    assert (after.job_board_url or "").rstrip("/") == expected_board.url
    assert after.job_board_decision == still


async def test_uncertain_boards_need_approval(tx: Tx) -> None:
    id = await make(tx)
    await save(tx, id)
    sure = await companies.get_or_create(tx, "Fernleaf", "https://fernleaf.example")
    await save(tx, sure, findings=replace(FINDINGS, board=GREENHOUSE, tier="S"))
    waiting = await companies.find(tx, needs_approval=True)
    assert [company_.id for company_ in waiting] == [id]
    assert list(map(companies.board_needs_approval, await companies.find(tx))) == [True, False]
    assert [company_.id for company_ in await companies.find(tx, tier="S")] == [sure]
    decided = await approvals.approve(tx, approvals.parse_ref(f"board:{id}"), actor="dana")
    assert decided.state == "approved"
    assert await companies.find(tx, needs_approval=True) == []


async def test_a_failed_analysis_keeps_a_complete_record(tx: Tx) -> None:
    id = await make(tx)
    await company_analyses.mark_analyzing(tx, id)
    assert (await companies.get(tx, id)).analysis_status == "analyzing"
    await company_analyses.mark_unsuccessful(tx, id=id, status="failed", why="nobody answers")
    failed = await companies.get(tx, id)
    assert (failed.analysis_status, failed.analyzed_at is None) == ("failed", False)
    await save(tx, id)
    await company_analyses.mark_analyzing(tx, id)
    await company_analyses.mark_unsuccessful(tx, id=id, status="failed", why="nobody answers")
    assert (await companies.get(tx, id)).analysis_status == "complete"


async def test_pages_are_replaced_and_deleted(tx: Tx) -> None:
    id = await make(tx)
    await company_pages.replace_all(tx, id=id, pages=[CompanyPage("https://b.example/1", "one")])
    pages = [CompanyPage("https://b.example/2", "two"), CompanyPage("https://b.example/1", "one")]
    await company_pages.replace_all(tx, id=id, pages=pages)
    assert await company_pages.find(tx, id) == pages
    await company_pages.delete_all(tx, id=id)
    assert await company_pages.find(tx, id) == []
