"""The phases of a report, with real PostgreSQL, a real worker, a fake network and a fake assistant."""

from __future__ import annotations

import asyncio
import datetime as dt
from decimal import Decimal

import pytest

from jobmill.db import Database
from jobmill.errors import Conflict, Invalid, Unavailable
from jobmill.outside.model_question import (
    ModelBlocked,
    ModelFailed,
    ModelQuestion,
    ModelRefused,
    ModelResult,
    T,
    no_model,
)
from jobmill.outside.request import FetchFailure
from jobmill.pipelines import report
from jobmill.pipelines.report_answers import BLOCKED_ON_KEY, PARALLEL
from jobmill.queue import ItemId, operator_actions
from jobmill.reports import contents, recurring, results, store
from jobmill.reports.claim_review import ClaimOpinion, ClaimReviewAnswer
from jobmill.settings import Settings
from tests.queue.helpers import claim_twice, fetch, make_due
from tests.reports.helpers import MODELS, SITE, Assistant, ReportBed, make_site


@pytest.fixture
def bed(database: Database) -> ReportBed:
    return ReportBed(database)


async def test_creating_a_report_only_stores_the_row(bed: ReportBed) -> None:
    id = await bed.create()
    stored = await bed.get(id)
    assert (stored.status, stored.in_progress, stored.company) == (
        "not-started", False, "Tidewater",
    )  # fmt: skip
    assert await fetch(bed.database, "SELECT count(*) FROM queue.item") == [0]


async def test_a_report_passes_its_phases_in_order(bed: ReportBed) -> None:
    id = await bed.create()
    statuses: list[tuple[str, bool]] = []
    while await bed.scan():
        statuses.append(((await bed.get(id)).status, (await bed.get(id)).in_progress))
        await bed.drain()
    assert statuses == [
        ("not-started", True), ("prompt-forming", True), ("model-analysis", True),
    ]  # fmt: skip
    stored = await bed.read(id)
    assert (stored.report.status, stored.report.in_progress) == ("completed", False)
    assert stored.findings is not None
    assert stored.findings.company == "Tidewater"
    assert len(stored.prompts) == 3
    assert len(stored.answers) == 3 * 2 * 2
    assert stored.scores
    assert any("API" in limit for limit in stored.report.limits)
    assert await bed.events(id) == [
        "created", "queued", "phase ended", "queued", "phase ended", "queued", "phase ended",
    ]  # fmt: skip


async def test_each_prompt_is_asked_of_each_model_in_each_run_once(bed: ReportBed) -> None:
    await bed.create(runs=3)
    await bed.run()
    asked = bed.assistant.asked
    assert len(asked) == 3 * 3 * 2
    assert set(asked.values()) == {1}
    assert {model for _, model, _ in asked} == set(MODELS)


async def test_a_later_report_asks_anew(bed: ReportBed) -> None:
    for _ in range(2):
        await bed.create()
        await bed.run()
    assert set(bed.assistant.asked.values()) == {1}
    assert len(bed.assistant.questions) == 24


async def test_results_are_reproduced_from_the_stored_answers(bed: ReportBed) -> None:
    id = await bed.create()
    await bed.run()
    stored = await bed.read(id)
    recomputed = await results.recompute(stored)
    assert recomputed is not None
    assert recomputed.scores == stored.scores
    assert recomputed.recommendations == stored.recommendations
    assert list(recomputed.analyses) == [answer.analysis for answer in stored.answers]


async def test_a_model_reviews_claims_that_the_rules_leave_open(database: Database) -> None:
    quote = "Tidewater builds software that keeps drinking water safe."
    assistant = Assistant(
        text="Tidewater makes programs for clean water. It was founded in 2009.",
        opinions=[ClaimOpinion(number=1, verdict="true", site_quote=quote)],
    )
    bed = ReportBed(database, assistant=assistant)
    id = await bed.create(runs=1, prompt_count=1)
    await bed.run()
    assert len(assistant.reviews) == 1
    assert "1. Tidewater makes programs for clean water" in assistant.reviews[0]
    stored = await bed.read(id)
    verdicts = {
        (claim.verdict, claim.reason)
        for answer in stored.answers
        if answer.analysis
        for claim in answer.analysis.claims
        if "clean water" in claim.claim
    }
    assert verdicts == {("true", "A model judged it by this sentence of the site.")}
    recomputed = await results.recompute(stored)
    assert recomputed is not None
    assert list(recomputed.analyses) == [answer.analysis for answer in stored.answers]


async def test_a_report_without_a_review_says_so(database: Database) -> None:
    class NoReview(Assistant):
        async def __call__(self, question: ModelQuestion[T]) -> ModelResult[T]:
            if question.answer_type is ClaimReviewAnswer:
                return ModelBlocked("no_model", "model_cheap is none")
            return await super().__call__(question)

    bed = ReportBed(database, assistant=NoReview(text="Tidewater makes programs for clean water."))
    id = await bed.create(runs=1, prompt_count=1)
    await bed.run()
    limits = (await bed.get(id)).limits
    assert "Claims that the rules leave open were not reviewed: model_cheap is none." in limits


async def test_without_a_key_the_third_phase_waits_and_then_continues(database: Database) -> None:
    bed = ReportBed(database, assistant=no_model)
    id = await bed.create()
    await bed.run()
    stored = await bed.read(id)
    assert (stored.report.status, stored.report.in_progress) == ("model-analysis", True)
    assert stored.report.note is not None
    assert "Waits for a language model" in stored.report.note
    assert stored.findings is not None
    assert len(stored.prompts) == 3
    assert await fetch(database, "SELECT status::text, blocked_on FROM queue.live") == [
        ("BLOCKED", BLOCKED_ON_KEY)
    ]
    await bed.settle()
    assert (await bed.get(id)).status == "model-analysis"

    async with database.transaction() as tx:
        await report.unblock_task(Settings(), {})(tx)
    assert await fetch(database, "SELECT status::text FROM queue.live") == ["BLOCKED"]
    with_key = ReportBed(database)
    async with database.transaction() as tx:
        await report.unblock_task(Settings(), {"ANTHROPIC_API_KEY": "sk-1"})(tx)
    await with_key.drain()
    assert (await bed.get(id)).status == "completed"


async def test_a_model_without_a_key_is_left_out_and_named(database: Database) -> None:
    no_key = ModelBlocked("no_key", "no key: set OPENAI_API_KEY")

    class OneModel(Assistant):
        async def __call__(self, question: ModelQuestion[T]) -> ModelResult[T]:
            return no_key if question.model == "openai:gpt" else await super().__call__(question)

    settings = Settings(report_models=f"openai:gpt,{MODELS[0]}")
    bed = ReportBed(database, assistant=OneModel(), settings=settings)
    id = await bed.create()
    await bed.run()
    stored = await bed.read(id)
    assert stored.report.status == "completed"
    assert {answer.answer.model for answer in stored.answers} == {MODELS[0]}
    assert any("openai:gpt was not asked" in limit for limit in stored.report.limits)
    # A model that the report names is waited for.
    id = await bed.create(models=("openai:gpt", MODELS[0]))
    await bed.run()
    assert ((await bed.get(id)).status, (await bed.get(id)).in_progress) == ("model-analysis", True)


async def test_a_limit_of_the_provider_costs_no_retry(database: Database) -> None:
    limited = ModelFailed("limited", "busy", False, dt.timedelta(minutes=3))
    bed = ReportBed(database, assistant=Assistant(results=[limited]))
    await bed.create(runs=1, prompt_count=1)
    await bed.run()
    rows = await fetch(database, "SELECT status::text, retry_count FROM queue.live")
    assert rows == [("PENDING", 0)]


async def test_a_report_whose_own_budget_allows_no_answer_ends_and_says_so(
    database: Database,
) -> None:
    spent = ModelBlocked("spent_out", "budget_run ($0) is spent")
    bed = ReportBed(database, assistant=Assistant(results=[spent] * 20))
    id = await bed.create(runs=1)
    await bed.run()
    report = await bed.get(id)
    assert report.status == "completed"
    for model in MODELS:
        limit = f"3 of the planned answers of {model} are missing: budget_run ($0) is spent."
        assert limit in report.limits


async def test_an_edited_question_names_the_company_only_as_a_word(bed: ReportBed) -> None:
    id = await bed.create(review=True)
    await bed.run()
    key = (await bed.read(id)).prompts[0].prompt.key
    for text, named in (
        ("Who works at Tidewater?", True),
        ("Who makes tidewatering tools?", False),
    ):
        async with bed.database.transaction() as tx:
            await contents.edit_prompt(tx, id, key, text)
        assert (await bed.read(id)).prompts[0].prompt.names_company is named


async def test_a_schedule_is_bounded_and_belongs_to_one_report_of_a_site(bed: ReportBed) -> None:
    first, second = await bed.create(), await bed.create()
    async with bed.database.transaction() as tx:
        await recurring.set_schedule(tx, first, dt.timedelta(days=7))
        await recurring.set_schedule(tx, second, dt.timedelta(days=7))
        with pytest.raises(Invalid, match="every 10 years"):
            await recurring.set_schedule(tx, first, dt.timedelta(days=9_999_999))
    assert (
        (await bed.get(first)).repeat_at is None,
        (await bed.get(second)).repeat_at is None,
    ) == (True, False)


async def test_a_spent_budget_costs_runs_and_no_prompts(database: Database) -> None:
    class Spent(Assistant):
        async def __call__(self, question: ModelQuestion[T]) -> ModelResult[T]:
            if len(self.questions) >= 6:
                return ModelBlocked("spent_out", "budget_run ($1) is spent")
            return await super().__call__(question)

    bed = ReportBed(database, assistant=Spent())
    id = await bed.create(runs=5)
    await bed.run()
    stored = await bed.read(id)
    assert stored.report.status == "completed"
    assert {answer.answer.run for answer in stored.answers} == {1}
    assert len(stored.answers) == 6
    for model in MODELS:
        limit = f"12 of the planned answers of {model} are missing: budget_run ($1) is spent."
        assert limit in stored.report.limits


async def test_a_model_that_is_too_dear_is_left_out_and_the_others_go_on(
    database: Database,
) -> None:
    too_dear = ModelBlocked("too_dear", "the call may cost $9.0000, more than its own budget ($1)")

    class OneDear(Assistant):
        async def __call__(self, question: ModelQuestion[T]) -> ModelResult[T]:
            return too_dear if question.model == MODELS[1] else await super().__call__(question)

    bed = ReportBed(database, assistant=OneDear())
    id = await bed.create(models=MODELS)
    await bed.run()
    stored = await bed.read(id)
    assert stored.report.status == "completed"
    assert [answer.answer.model for answer in stored.answers] == [MODELS[0]] * 6
    assert f"6 of the planned answers of {MODELS[1]} are missing: {too_dear.detail}." in (
        stored.report.limits
    )


async def test_a_question_waits_while_running_calls_have_reserved_the_rest_of_the_budget(
    database: Database,
) -> None:
    class OneAtATime(Assistant):
        running = 0
        refused = 0

        async def __call__(self, question: ModelQuestion[T]) -> ModelResult[T]:
            if self.running:
                self.refused += 1
                return ModelBlocked("busy", "reserved", dt.timedelta(seconds=15), use_local=False)
            self.running += 1
            for _ in range(20):
                await asyncio.sleep(0)
            self.running -= 1
            return await super().__call__(question)

    assistant = OneAtATime()
    bed = ReportBed(database, assistant=assistant)
    id = await bed.create()
    await bed.run()
    stored = await bed.read(id)
    assert (stored.report.status, len(stored.answers)) == ("completed", 12)
    # A refused question is asked again when a call has ended, not in a loop.
    assert 0 < assistant.refused <= 3 * 12


async def test_a_report_waits_for_reservations_of_others(database: Database) -> None:
    busy = ModelBlocked("busy", "reserved", dt.timedelta(seconds=15), use_local=False)
    bed = ReportBed(database, assistant=Assistant(results=[busy]))
    id = await bed.create()
    await bed.run()
    assert await fetch(database, "SELECT blocked_on FROM queue.live") == ["budget"]
    await make_due(database)
    await bed.drain()
    assert len((await bed.read(id)).answers) == 12


async def test_paid_answers_are_stored_when_another_call_meets_an_error(
    database: Database,
) -> None:
    class OneBreaks(Assistant):
        started = 0

        async def __call__(self, question: ModelQuestion[T]) -> ModelResult[T]:
            self.started += 1
            if self.started == 1:
                self.questions.append(question)
                for _ in range(5):
                    await asyncio.sleep(0)
                raise Unavailable("the database is gone")
            for _ in range(20):
                await asyncio.sleep(0)
            return await super().__call__(question)

    assistant = OneBreaks()
    bed = ReportBed(database, assistant=assistant)
    await bed.create()
    for _ in range(3):
        await bed.scan()
        await bed.drain()
    assert await fetch(database, "SELECT count(*) FROM reports.answer") == [PARALLEL - 1]
    await make_due(database)
    await bed.drain()
    assert sorted(assistant.asked.values()) == [1] * 11 + [2]


async def test_answers_are_judged_in_the_next_run_if_asking_took_long(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "JUDGING_AFTER", 0.0)
    bed = ReportBed(database)
    id = await bed.create()
    await bed.run()
    assert await fetch(database, "SELECT message FROM queue.items WHERE status = 'PENDING'") == [
        "All answers are stored; they are judged next"
    ]
    assert (await bed.read(id)).scores == ()
    await make_due(database)
    await bed.drain()
    assert (await bed.get(id)).status == "completed"
    assert len(bed.assistant.questions) == 12


async def test_the_models_of_a_report_review_its_claims(database: Database) -> None:
    for models, reviewer in (((MODELS[1], MODELS[0]), MODELS[1]), ((), None)):
        assistant = Assistant(text="Tidewater makes programs for clean water.")
        bed = ReportBed(database, assistant=assistant)
        await bed.create(runs=1, prompt_count=1, models=models)
        await bed.run()
        assert assistant.reviewers == [reviewer]


async def test_a_spent_day_waits_for_the_next(database: Database) -> None:
    spent = ModelBlocked("spent_out", "budget_day is spent", dt.timedelta(hours=2), use_local=False)
    bed = ReportBed(database, assistant=Assistant(results=[spent]))
    id = await bed.create()
    await bed.run()
    assert await fetch(database, "SELECT blocked_on FROM queue.live") == ["budget"]
    note = (await bed.get(id)).note
    assert note is not None
    assert "budget_day is spent" in note
    await make_due(database)
    await bed.drain()
    assert (await bed.get(id)).status == "completed"


async def test_answers_are_kept_when_a_model_fails(database: Database) -> None:
    assistant = Assistant()
    bed = ReportBed(database, assistant=assistant)
    id = await bed.create()
    assert await bed.scan()
    await bed.drain()
    assert await bed.scan()
    await bed.drain()
    assistant.results = [ModelRefused("refused to answer"), ModelFailed("server", "500", False)]
    assert await bed.scan()
    await bed.drain()
    await make_due(database)
    await bed.drain()
    stored = await bed.read(id)
    assert stored.report.status == "completed"
    assert [answer.failure for answer in stored.answers if answer.failure] == ["refused to answer"]
    # The failed question was asked again, the refused one and those with answers were not.
    assert sorted(assistant.asked.values()) == [1] * 11 + [2]


async def test_a_report_fails_after_its_last_try_and_keeps_the_reason(database: Database) -> None:
    net = make_site()
    net.on(SITE, FetchFailure(SITE, "server", "tidewater.example is broken"))
    bed = ReportBed(database, fetch=net)
    id = await bed.create()
    await bed.scan()
    for _ in range(5):
        await make_due(database)
        await bed.drain()
    assert (await bed.get(id)).in_progress
    await bed.settle()
    stored = await bed.get(id)
    assert (stored.status, stored.in_progress, stored.failed_status) == (
        "failed", False, "not-started",
    )  # fmt: skip
    assert stored.reason is not None
    assert "tidewater.example is broken" in stored.reason
    assert (await bed.events(id))[-1] == "failed"
    assert await bed.scan() == 0


async def test_rerun_repeats_one_phase_and_keeps_the_others(bed: ReportBed) -> None:
    id = await bed.create()
    await bed.run()
    before = await bed.read(id)
    async with bed.database.transaction() as tx:
        await store.rerun(tx, id, "website-analysis")
    assert (await bed.get(id)).status == "not-started"
    await bed.run()
    after = await bed.read(id)
    assert after.report.status == "completed"
    assert before.findings is not None
    assert after.findings is not None
    assert after.findings.read_at > before.findings.read_at
    assert (after.prompts, [a.asked_at for a in after.answers]) == (
        before.prompts, [a.asked_at for a in before.answers],
    )  # fmt: skip
    assert set(bed.assistant.asked.values()) == {1}


async def test_rerun_of_the_models_asks_again_unless_the_report_failed(bed: ReportBed) -> None:
    id = await bed.create()
    await bed.run()
    async with bed.database.transaction() as tx:
        await store.rerun(tx, id, "model-analysis")
    await bed.run()
    # None of the questions is the same for the cache of the ledger.
    assert sorted(bed.assistant.asked.values()) == [1] * 24
    async with bed.database.transaction() as tx:
        await tx.execute(
            "UPDATE reports.report SET status = 'failed', reason = 'x', failed_status = 'model-analysis'"
        )
        await store.rerun(tx, id, "model-analysis")
    await bed.run()
    assert len(bed.assistant.questions) == 24
    assert (await bed.get(id)).status == "completed"


async def test_a_rerun_that_fails_keeps_the_paid_answers_and_the_results(bed: ReportBed) -> None:
    id = await bed.create()
    await bed.run()
    before = await bed.read(id)
    async with bed.database.transaction() as tx:
        await store.rerun(tx, id, "model-analysis")
    bed.assistant.results = [ModelFailed("server", "500", False)] * 100
    await bed.scan()
    for _ in range(5):
        await make_due(bed.database)
        await bed.drain()
    await bed.settle()
    after = await bed.read(id)
    assert after.report.status == "failed"
    assert (after.answers, after.scores, after.recommendations, after.prompts) == (
        before.answers, before.scores, before.recommendations, before.prompts,
    )  # fmt: skip
    other = await bed.get(await bed.create())
    async with bed.database.transaction() as tx:
        previous = await store.find_previous(tx, other)
    assert previous is not None
    assert previous.id == id


async def test_a_new_round_takes_the_place_of_the_old_one_which_is_kept(bed: ReportBed) -> None:
    id = await bed.create()
    await bed.run()
    bed.assistant.text = "Nobody knows Tidewater."
    async with bed.database.transaction() as tx:
        await store.rerun(tx, id, "model-analysis")
    assert {answer.answer.text for answer in (await bed.read(id)).answers} != {bed.assistant.text}
    await bed.run()
    stored = await bed.read(id)
    assert [answer.answer.text for answer in stored.answers] == [bed.assistant.text] * 12
    rounds = "SELECT round, count(*) FROM reports.answer GROUP BY 1 ORDER BY 1"
    assert await fetch(bed.database, rounds) == [(1, 12), (2, 12)]
    recomputed = await results.recompute(stored)
    assert recomputed is not None
    assert recomputed.scores == stored.scores


async def test_questions_that_stay_the_same_keep_their_answers(bed: ReportBed) -> None:
    id = await bed.create()
    await bed.run()
    async with bed.database.transaction() as tx:
        await store.rerun(tx, id, "prompt-forming")
    await bed.run()
    assert (await bed.get(id)).status == "completed"
    assert len(bed.assistant.questions) == 12


async def test_rerun_is_refused_in_progress_and_without_earlier_results(bed: ReportBed) -> None:
    id = await bed.create()
    async with bed.database.transaction() as tx:
        with pytest.raises(Conflict, match="no result of website-analysis"):
            await store.rerun(tx, id, "prompt-forming")
    await bed.scan()
    async with bed.database.transaction() as tx:
        with pytest.raises(Conflict, match="in progress"):
            await store.rerun(tx, id, "website-analysis")


async def test_prompts_wait_for_review_and_are_editable_until_they_run(bed: ReportBed) -> None:
    id = await bed.create(review=True)
    await bed.run()
    assert (await bed.get(id)).awaits_approval
    assert bed.assistant.questions == []
    async with bed.database.transaction() as tx:
        with pytest.raises(Invalid, match="1 to 1000 characters"):
            await contents.edit_prompt(tx, id, "p1", " ")
    key = (await bed.read(id)).prompts[0].prompt.key
    async with bed.database.transaction() as tx:
        await contents.edit_prompt(tx, id, key, "Who pays well in Portland?", by="ada")
        await store.approve(tx, id, by="ada")
    await bed.run()
    stored = await bed.read(id)
    assert stored.report.status == "completed"
    assert (stored.prompts[0].prompt.text, stored.prompts[0].edited_by) == (
        "Who pays well in Portland?", "ada",
    )  # fmt: skip
    assert not stored.prompts[0].prompt.names_company
    assert any(
        question.text == "Who pays well in Portland?" for question in bed.assistant.questions
    )
    async with bed.database.transaction() as tx:
        with pytest.raises(Conflict, match="start a new report"):
            await contents.edit_prompt(tx, id, key, "Another?")


async def test_a_stuck_report_without_an_item_is_released_after_five_minutes(
    bed: ReportBed,
) -> None:
    id = await bed.create()
    async with bed.database.transaction() as tx:
        await store.claim_due(tx, "website-analysis", 10)
    await bed.settle()
    assert (await bed.get(id)).in_progress
    async with bed.database.transaction() as tx:
        await tx.execute(
            "UPDATE reports.report SET in_progress_since = now() - interval '5 minutes 1 second'"
        )
    await bed.settle()
    assert not (await bed.get(id)).in_progress
    await bed.run()
    assert (await bed.get(id)).status == "completed"
    assert "released" in await bed.events(id)


async def test_a_long_run_with_a_live_item_is_not_released(bed: ReportBed) -> None:
    id = await bed.create()
    await bed.scan()
    async with bed.database.transaction() as tx:
        await tx.execute("UPDATE reports.report SET in_progress_since = now() - interval '1 hour'")
    await bed.settle()
    assert (await bed.get(id)).in_progress


async def test_a_cancelled_item_fails_the_report(database: Database) -> None:
    bed = ReportBed(database, assistant=no_model)
    id = await bed.create()
    await bed.run()
    [item] = await fetch(database, "SELECT id FROM queue.live")
    async with database.transaction() as tx:
        await operator_actions.cancel_item(tx, ItemId(item), "not needed")
    await bed.settle()
    stored = await bed.get(id)
    assert (stored.status, stored.reason) == ("failed", "Cancelled: not needed")


async def test_an_item_that_is_cancelled_before_it_starts_fails_the_report(bed: ReportBed) -> None:
    id = await bed.create()
    await bed.scan()
    [item] = await fetch(bed.database, "SELECT id FROM queue.live")
    assert (await bed.get(id)).item_id == item
    async with bed.database.transaction() as tx:
        await operator_actions.cancel_item(tx, ItemId(item), "not needed")
        await tx.execute("UPDATE reports.report SET in_progress_since = now() - interval '1 hour'")
    await bed.settle()
    stored = await bed.get(id)
    assert (stored.status, stored.reason) == ("failed", "Cancelled: not needed")
    assert await bed.scan() == 0


async def test_a_stale_attempt_saves_nothing(bed: ReportBed) -> None:
    id = await bed.create()
    await bed.scan()
    stale, current = await claim_twice(bed.database, "report", "website-analysis")
    run = bed.stages["report", "website-analysis"].run
    from jobmill.queue.group_commit import settle_and_save
    from jobmill.queue.settlement import prepare_settlement

    move = await run(current)
    # It pays for nothing either: it ends before it asks.
    with pytest.raises(Conflict, match="another attempt has this task"):
        await run(stale)
    for work, status in ((stale, "not-started"), (current, "prompt-forming")):
        settlement = prepare_settlement(work, move, bed.stages, seconds=0)
        async with bed.database.transaction() as tx:
            await settle_and_save(tx, work.worker, [(settlement, move)])
        assert (await bed.get(id)).status == status


async def test_a_phase_ends_only_once_and_only_in_its_status(bed: ReportBed) -> None:
    id = await bed.create()
    async with bed.database.transaction() as tx:
        with pytest.raises(Conflict, match="no longer in the phase"):
            await store.end_phase(tx, id, "website-analysis", "prompt-forming")
        await store.claim_due(tx, "website-analysis", 10)
        with pytest.raises(Conflict, match="no longer in the phase"):
            await store.end_phase(tx, id, "prompt-forming", "model-analysis")
        await store.end_phase(tx, id, "website-analysis", "prompt-forming")
    assert (await bed.get(id)).status == "prompt-forming"


async def test_an_attempt_that_lost_its_claim_stores_no_answer(database: Database) -> None:
    class LosesClaim(Assistant):
        async def __call__(self, question: ModelQuestion[T]) -> ModelResult[T]:
            async with database.transaction() as tx:
                await tx.execute("UPDATE queue.live SET attempt = attempt + 1")
            return await super().__call__(question)

    bed = ReportBed(database, assistant=LosesClaim())
    await bed.create()
    for _ in range(3):
        await bed.scan()
        await bed.drain()
    assert bed.assistant.questions
    assert await fetch(database, "SELECT count(*) FROM reports.answer") == [0]


async def test_old_reports_are_pruned_but_not_the_one_that_a_schedule_repeats(
    bed: ReportBed,
) -> None:
    old, scheduled = await bed.create(), await bed.create(repeat_every=dt.timedelta(days=7))
    await bed.run()
    new = await bed.create(site_only=True)
    async with bed.database.transaction() as tx:
        await tx.execute(
            "UPDATE reports.report SET changed_at = now() - interval '31 days' WHERE id <> %s",
            [new],
        )
        assert await store.prune(tx, dt.timedelta(days=32)) == 0
        assert await store.prune(tx, dt.timedelta(days=30)) == 1
    left = await fetch(bed.database, "SELECT id FROM reports.report ORDER BY id")
    assert left == [scheduled, new]
    assert (await bed.events(old))[-1] == "pruned"


async def test_a_report_of_the_site_alone_ends_after_the_first_phase(bed: ReportBed) -> None:
    id = await bed.create(site_only=True)
    await bed.run()
    stored = await bed.read(id)
    assert (stored.report.status, stored.prompts) == ("completed", ())
    assert stored.findings is not None


async def test_a_recurring_report_is_created_again_with_its_budget(bed: ReportBed) -> None:
    week = dt.timedelta(days=7)
    id = await bed.create(repeat_every=week, budget=Decimal("0.5"))
    await bed.run()
    async with bed.database.transaction() as tx:
        assert await recurring.create_due(tx) == []
        await tx.execute("UPDATE reports.report SET repeat_at = now()")
        [next_id] = await recurring.create_due(tx)
        assert await recurring.create_due(tx) == []
    again = await bed.get(next_id)
    assert (again.previous_id, again.budget, again.repeat_every) == (id, Decimal("0.5"), week)
    await bed.run()
    assert bed.assistant.questions[-1].run_cap == Decimal("0.5")
    async with bed.database.transaction() as tx:
        previous = await store.find_previous(tx, await store.get(tx, next_id))
    assert previous is not None
    assert previous.id == id


@pytest.mark.parametrize("site", ["", "ftp://example.org", "localhost", "not a site", "http://"])
async def test_only_the_url_of_a_website_is_accepted(bed: ReportBed, site: str) -> None:
    with pytest.raises(Invalid):
        await bed.create(site)
