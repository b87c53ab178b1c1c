"""The company pipeline from name to record, with real PostgreSQL, a real worker and a small fake
network."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest
from psycopg.errors import LockNotAvailable

from jobmill import app, queue
from jobmill.catalog import approvals, companies, company_analyses, company_pages
from jobmill.catalog.companies import Company
from jobmill.db import Database
from jobmill.errors import AppError
from jobmill.extract.company import llm_facts
from jobmill.matching import profiles
from jobmill.matching.profile import Profile
from jobmill.outside.model_question import (
    ModelAnswer,
    ModelBlocked,
    ModelFailed,
    ModelQuestion,
    ModelRefused,
    ModelResult,
    T,
    no_model,
)
from jobmill.outside.request import FetchFailure
from jobmill.pipelines import company, discovery
from jobmill.queue import Finish, ItemId, Move, Stage, Work, operator_actions
from jobmill.settings import Settings
from jobmill.tools import Tools
from tests.catalog.helpers import make_source
from tests.extract.company.helpers import ABOUT, CAREERS, html
from tests.fakes import Net, ok
from tests.queue.helpers import claim, claim_twice, drain, fetch, item, lose_leases, make_due

ROOT = "https://brinewell.example"
LEVER = '<p>Come and build pumps with us.</p><a href="https://jobs.lever.co/brinewell">Roles</a>'
PROFILE = Profile.model_validate(
    {"skills": [{"name": "Python", "rank": "primary"}, {"name": "Kubernetes", "rank": "strong"}]}
)


async def nothing(work: Work) -> Move:
    return Finish()


class CompanyPipeline:
    """A site, a database and the stages of the pipeline; spawned items end at once."""

    def __init__(self, database: Database, model: Any = no_model, reader: str = "strong") -> None:
        self.database = database
        self.net = Net()
        settings = Settings(company_model=reader)  # pyright: ignore[reportArgumentType]
        table = app.build_stages(Tools(database, self.net, model), settings)
        self.stages = {phase: item for phase, item in table.items() if phase[0] == company.KIND}
        self.stages[discovery.KIND, "discover"] = Stage(nothing)
        self.id = 0

    def serve(self, **pages: str) -> None:
        for name, body in pages.items():
            path = "" if name == "home" else name
            self.net.on(f"{ROOT}/{path}", ok(html(body), url=f"{ROOT}/{path}"))

    async def submit(self, website: str | None = ROOT, *, force: bool = False) -> ItemId:
        async with self.database.transaction() as tx:
            await queue.declare_stages(tx, self.stages)
            self.id = await company.ensure_company(tx, "Brinewell", website)
            return await queue.submit(tx, company.new_item(self.id, force=force))

    async def run(self, **options: Any) -> Company:
        await drain(self.database, self.stages, **options)
        return await self.look()

    async def look(self) -> Company:
        async with self.database.transaction() as tx:
            return await companies.get(tx, self.id)

    async def items(self) -> list[tuple[str, str, str, int]]:
        return await fetch(
            self.database,
            "SELECT kind, stage, status, spawn_depth FROM queue.items ORDER BY id",
        )

    async def pages(self) -> int:
        async with self.database.transaction() as tx:
            return len(await company_pages.find(tx, self.id))

    async def spawned(self) -> list[dict[str, Any]]:
        return await fetch(
            self.database,
            "SELECT data->'source_discovery_config' FROM queue.items WHERE kind = %s",
            [discovery.KIND],
        )


@pytest.fixture
def bed(database: Database) -> CompanyPipeline:
    return CompanyPipeline(database)


async def test_a_name_and_a_site_become_a_record_and_a_discovery(bed: CompanyPipeline) -> None:
    async with bed.database.transaction() as tx:
        await profiles.save(tx, "main", PROFILE)
    bed.serve(about=ABOUT, careers=CAREERS, home="<p>Fresh water for all.</p>")
    await bed.submit("brinewell.example")
    company_record = await bed.run()

    assert await bed.items() == [
        ("company", "fetch", "SUCCESS", 0),
        ("company", "extract", "SUCCESS", 1),
        ("company", "analyze", "SUCCESS", 2),
        ("company", "save", "SUCCESS", 3),
        ("source_discovery", "discover", "SUCCESS", 4),
    ]
    assert (company_record.analysis_status, company_record.extracted_by) == (
        "complete",
        "heuristics",
    )
    assert companies.completeness(company_record) == "good"
    assert (
        company_record.company_size_category,
        company_record.remote_first,
        company_record.ai_ml,
    ) == ("medium", True, True)
    assert {"python", "kubernetes", "go", "react", "postgresql"} <= set(
        company_record.tech_stack or ()
    )
    assert company_record.tier == "S"
    assert (
        company_record.priority_score
        == sum(item["points"] for item in company_record.priority_items or ())
        == 175
    )
    assert (company_record.job_board_type, company_record.job_board_confidence) == (
        "greenhouse",
        "high",
    )
    assert await bed.spawned() == [
        {
            "url": "https://job-boards.greenhouse.io/brinewell",
            "type_hint": "greenhouse",
            "company_id": bed.id,
            "company_name": "Brinewell",
            "auto_enable": True,
            "validation_required": False,
        }
    ]
    assert await bed.pages() == 0


async def test_without_a_profile_the_defaults_judge(bed: CompanyPipeline) -> None:
    bed.serve(about=ABOUT)
    await bed.submit()
    company_record = await bed.run()
    assert [item["points"] for item in company_record.priority_items or ()] == [50, 0, 0, 0]
    assert company_record.tier == "C"


async def test_an_uncertain_board_waits_for_approval(bed: CompanyPipeline) -> None:
    bed.serve(about=ABOUT, careers=LEVER)
    await bed.submit()
    company_record = await bed.run()
    assert (company_record.job_board_type, company_record.job_board_confidence) == (
        "lever",
        "medium",
    )
    assert await bed.spawned() == []


@pytest.mark.parametrize("decision", ["rejected", "approved"])
async def test_a_board_that_a_person_decided_on_is_left_alone(
    bed: CompanyPipeline, decision: str
) -> None:
    bed.serve(about=ABOUT, careers=CAREERS)
    await bed.submit()
    await bed.run()
    async with bed.database.transaction() as tx:
        board = approvals.parse_ref(f"board:{bed.id}")
        if decision == "approved":
            await approvals.approve(tx, board)
        else:
            await approvals.reject(tx, board, "not theirs")
    await bed.submit(force=True)
    assert (await bed.run()).job_board_decision == decision
    assert len(await bed.spawned()) == 1


async def test_a_board_that_is_a_source_is_not_looked_for_again(bed: CompanyPipeline) -> None:
    async with bed.database.transaction() as tx:
        await make_source(tx, token="Brinewell")
    bed.serve(about=ABOUT, careers=CAREERS)
    await bed.submit()
    await bed.run()
    assert await bed.spawned() == []


async def test_fresh_facts_are_left_alone_unless_forced(bed: CompanyPipeline) -> None:
    bed.serve(about=ABOUT)
    await bed.submit()
    await bed.run()
    calls = len(bed.net.requests)
    again = await item(bed.database, await bed.submit())
    await bed.run()
    assert (await item(bed.database, again.id)).status == "SKIPPED"  # type: ignore[arg-type]
    assert len(bed.net.requests) == calls
    await bed.submit(force=True)
    await bed.run()
    assert len(bed.net.requests) > calls


@pytest.mark.server_clock(dt.timedelta(hours=-2))
async def test_the_server_decides_what_is_fresh(bed: CompanyPipeline) -> None:
    bed.serve(about=ABOUT)
    await bed.submit()
    await bed.run()
    async with bed.database.transaction() as tx:
        await tx.execute(
            "UPDATE catalog.company SET updated_at = now() - %s + interval '1 hour'",
            [companies.REANALYZE_AFTER],
        )
    again = await bed.submit()
    await bed.run()
    assert (await item(bed.database, again)).status == "SKIPPED"


async def test_a_company_without_a_site_is_skipped(bed: CompanyPipeline) -> None:
    id = await bed.submit(None)
    company_record = await bed.run()
    ended = await item(bed.database, id)
    assert (ended.status, company_record.analysis_status) == ("SKIPPED", "sparse")
    assert "website is unknown" in (ended.message or "")


async def test_sparse_facts_are_skipped_and_kept(bed: CompanyPipeline) -> None:
    links = '<a href="https://boards.greenhouse.io/brinewell">Careers</a>'
    bed.serve(home=f"<p>Founded in 2012.</p>{links}")
    await bed.submit()
    company_record = await bed.run()
    assert (await bed.items())[2] == ("company", "analyze", "SKIPPED", 2)
    assert (company_record.analysis_status, company_record.founded, company_record.about) == (
        "sparse",
        "2012",
        None,
    )
    assert await bed.pages() == 0
    assert len(await bed.spawned()) == 1


async def test_a_site_that_never_answers_fails_after_its_retries(bed: CompanyPipeline) -> None:
    for path in ("about", "about-us", "company", "careers", ""):
        bed.net.on(f"{ROOT}/{path}", FetchFailure(ROOT, "timeout", "brinewell.example timed out"))
    id = await bed.submit()
    seen_ids: list[str] = []
    for _ in range(4):
        seen_ids.append((await bed.run()).analysis_status)
        await make_due(bed.database)
    ended = await item(bed.database, id)
    assert (ended.status, ended.retry_count) == ("FAILED", 3)
    assert seen_ids == ["analyzing", "analyzing", "analyzing", "failed"]


async def test_a_site_that_is_refused_fails_at_once(bed: CompanyPipeline) -> None:
    bed.net.on(f"{ROOT}/about", FetchFailure(ROOT, "refused", "not a public address"))
    id = await bed.submit()
    assert (await bed.run()).analysis_status == "failed"
    assert (await item(bed.database, id)).retry_count == 0


async def test_an_attempt_that_lost_its_item_does_not_fail_the_company(
    bed: CompanyPipeline,
) -> None:
    bed.net.on(f"{ROOT}/about", FetchFailure(ROOT, "refused", "not a public address"))
    await bed.submit()
    stale, _ = await claim_twice(bed.database, "company", "fetch")
    with pytest.raises(AppError):
        await bed.stages["company", "fetch"].run(stale)
    company_record = await bed.look()
    assert (company_record.analysis_status, company_record.analyzed_at) == ("pending", None)


async def test_an_analysis_that_fails_leaves_what_was_known(bed: CompanyPipeline) -> None:
    bed.serve(about=ABOUT)
    await bed.submit()
    before = await bed.run()
    bed.net.plays.clear()
    await bed.submit(force=True)
    after = await bed.run()
    assert (after.analysis_status, after.about) == ("complete", before.about)
    assert after.updated_at == before.updated_at


async def test_a_stage_that_dies_before_its_move_is_simply_run_again(bed: CompanyPipeline) -> None:
    bed.serve(about=ABOUT, careers=CAREERS)
    await bed.submit()
    for name in ("fetch", "extract", "analyze", "save"):
        lost = await bed.stages[company.KIND, name].run(
            await claim(bed.database, company.KIND, name)
        )
        assert (await bed.look()).analysis_status == "analyzing"
        await lose_leases(bed.database)
        await drain(bed.database, bed.stages, only=[(company.KIND, name)])
    done = await bed.look()
    assert done.analysis_status == "complete"
    # A retried stage may repeat its writes.
    assert lost.save
    async with bed.database.transaction() as tx:
        await lost.save(tx)
    again = await bed.look()
    assert (again.about, again.priority_items) == (done.about, done.priority_items)
    await bed.run()
    assert len(await bed.spawned()) == 1


class Spoken:
    """A model that gives prepared answers and counts the calls."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.asked: list[ModelQuestion[Any]] = []

    async def __call__(self, ask: ModelQuestion[T]) -> ModelResult[T]:
        self.asked.append(ask)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, dict):
            return ModelAnswer(ask.answer_type.model_validate(answer), "some:model", None)
        return answer


KEPT = (
    "Today more than 240 employees look after plants in 31 countries. Brinewell was named one of the "
    "ten firms to watch by Coastal Weekly last spring."
)
SAID = {
    "about": f"{KEPT} We own the moon.",
    "founded": "1901",
    "culture": "Whoever builds a thing also looks after it in the field.",
}


async def test_a_models_facts_count_only_if_the_pages_confirm_them(database: Database) -> None:
    model = Spoken(SAID)
    bed = CompanyPipeline(database, model)
    bed.serve(about=ABOUT)
    await bed.submit()
    company_record = await bed.run()
    assert company_record.about == KEPT
    assert company_record.culture == SAID["culture"]
    assert company_record.founded == "2012"
    assert company_record.extracted_by == "some:model"
    [ask] = model.asked
    assert (ask.tier, ask.prompt_version) == ("strong", llm_facts.PROMPT_VERSION)


@pytest.mark.parametrize(
    "answer",
    [
        ModelBlocked("no_key", "no key"),
        ModelRefused("no"),
        ModelFailed("rejected", "bad", permanent=True),
    ],
)
async def test_rules_read_the_pages_without_a_model_answer(database: Database, answer: Any) -> None:
    bed = CompanyPipeline(database, Spoken(answer))
    bed.serve(about=ABOUT)
    await bed.submit()
    company_record = await bed.run()
    assert (company_record.analysis_status, company_record.extracted_by) == (
        "complete",
        "heuristics",
    )


async def test_a_failing_model_is_retried_and_then_skipped(
    database: Database,
) -> None:
    model = Spoken(ModelFailed("server", "it is busy", permanent=False))
    bed = CompanyPipeline(database, model)
    bed.serve(about=ABOUT)
    await bed.submit()
    for _ in range(4):
        company_record = await bed.run()
        await make_due(database)
    assert len(model.asked) == 4
    assert (company_record.analysis_status, company_record.extracted_by) == (
        "complete",
        "heuristics",
    )


async def test_a_spent_budget_blocks_the_item_until_there_is_more(database: Database) -> None:
    model = Spoken(ModelBlocked("spent_out", "the day is spent", use_local=False), SAID)
    bed = CompanyPipeline(database, model)
    bed.serve(about=ABOUT)
    await bed.submit()
    assert (await bed.run()).analysis_status == "analyzing"
    assert (await bed.items())[1] == ("company", "extract", "BLOCKED", 1)
    async with database.transaction() as tx:
        await operator_actions.unblock_items(tx, "budget")
    assert (await bed.run()).extracted_by == "some:model"


async def test_no_model_is_asked_if_none_is_configured(database: Database) -> None:
    model = Spoken(SAID)
    bed = CompanyPipeline(database, model, reader="none")
    bed.serve(about=ABOUT)
    await bed.submit()
    await bed.run()
    assert model.asked == []


async def test_pages_that_are_gone_fail_the_item_and_not_the_company_for_ever(
    bed: CompanyPipeline,
) -> None:
    bed.serve(about=ABOUT)
    await bed.submit()
    await bed.run(only=[(company.KIND, "fetch")])
    async with bed.database.transaction() as tx:
        await company_pages.delete_all(tx, id=bed.id)
    assert (await bed.run()).analysis_status == "failed"
    assert (await bed.items())[1][2] == "FAILED"


def test_one_item_at_a_time_for_a_company() -> None:
    assert company.new_item(7).key == company.new_item(7, force=True).key == "company:7"
    assert company.new_item(7).delay == dt.timedelta()


@pytest.mark.parametrize("link", ["http://a b/", "https://b.example:99999999/", "https://[/"])
async def test_an_invalid_link_does_not_fail_a_company(bed: CompanyPipeline, link: str) -> None:
    bed.serve(about=ABOUT + f'<a href="{link}careers">Careers</a>')
    for _ in range(2):
        await bed.submit(force=True)
        assert (await bed.run()).analysis_status == "complete"


async def test_an_accepted_analysis_finishes_at_any_depth(bed: CompanyPipeline) -> None:
    bed.serve(about=ABOUT)
    async with bed.database.transaction() as tx:
        await queue.declare_stages(tx, bed.stages)
        bed.id = await company.ensure_company(tx, "Brinewell", ROOT)
        await queue.submit(tx, replace(company.new_item(bed.id), max_spawn_depth=1))
    assert (await bed.run()).analysis_status == "complete"


async def test_a_company_with_a_cancelled_item_is_not_under_analysis_forever(
    bed: CompanyPipeline,
) -> None:
    bed.serve(about=ABOUT)
    await bed.submit()
    await bed.run(only=[("company", "fetch")])
    async with bed.database.transaction() as tx:
        await company.fail_abandoned(tx)
    assert (await bed.look()).analysis_status == "analyzing"
    [id] = await fetch(bed.database, "SELECT id FROM queue.live")
    async with bed.database.transaction() as tx:
        await operator_actions.cancel_item(tx, id, "not now")
        await company.fail_abandoned(tx)
    company_record = await bed.look()
    assert company_record.analysis_status == "failed"
    assert company_record.analyzed_at


async def test_an_analysis_cannot_end_during_the_check_for_abandoned_ones(
    bed: CompanyPipeline,
) -> None:
    await bed.submit()
    async with bed.database.transaction() as tx:
        await company_analyses.mark_analyzing(tx, bed.id)
    async with bed.database.transaction() as tx:
        assert await company_analyses.lock_analyzing(tx) == [bed.id]
        with pytest.raises(LockNotAvailable):
            async with bed.database.transaction() as other:
                await other.execute("SET LOCAL lock_timeout = '100ms'")
                await company_analyses.mark_unsuccessful(
                    other, id=bed.id, status="sparse", why="too little"
                )
