"""Ask the models of a report: each prompt, each model, several runs.

Each answer is stored as soon as it arrives. An attempt that dies between the answer and its storage finds
it in the ledger's cache, because the question names the report and the run.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from pydantic import BaseModel

from jobmill.errors import OutsideError, RetryLater
from jobmill.outside.model_question import (
    ModelAnswer,
    ModelBlocked,
    ModelFailed,
    ModelQuestion,
    ModelRefused,
)
from jobmill.pipelines import blocked_models
from jobmill.queue import Block, Postpone, Work, lock_claim
from jobmill.reports import contents, store
from jobmill.reports.answers import Prompt
from jobmill.reports.claim_review import ClaimReviewAnswer, build_review
from jobmill.reports.contents import NewAnswer
from jobmill.reports.findings import SiteFindings
from jobmill.reports.report import Report, ReportResults
from jobmill.sandbox import read_untrusted
from jobmill.tools import Tools

BLOCKED_ON_KEY = "model key"
"""The resource on which reports are blocked while no model can be asked."""
PARALLEL = 4
ASKING_SECONDS = 120.0
"""After this an attempt asks nothing more and continues later: a phase has five minutes."""
LIMITED_WAIT = dt.timedelta(minutes=1)
"""How long to wait if a provider limits us and does not say how long."""
MAX_TOKENS = 2_000
INSTRUCTIONS = """
The document is a question of a person who looks for a job. Answer it as you would answer that person: from
what you know, in plain text of at most 250 words. Name companies where the question asks for some. Name a
web page only if you know its address. Say so where you do not know something.
"""
PROMPT_VERSION = "report-1"


class AssistantAnswer(BaseModel):
    answer: str


@dataclass(frozen=True, slots=True)
class _PlannedQuestion:
    prompt: Prompt
    model: str
    run: int


@dataclass(frozen=True, slots=True)
class AskedQuestions:
    """All questions were asked that can be."""

    limits: tuple[str, ...] = ()
    """Why some were not."""


async def ask_missing(
    tools: Tools, work: Work, report: Report, models: Sequence[str]
) -> AskedQuestions | Block | Postpone:
    """Ask what has no answer yet. Block without a key or budget, Postpone to continue in a new run."""
    async with tools.db.transaction() as tx:
        prompts = [stored.prompt for stored in await contents.find_prompts(tx, report.id)]
        stored_answers = [stored.answer for stored in await contents.find_answers(tx, report.id)]
    if not models:
        return _block(report, "no model: model_cheap and model_strong are set to none")
    answered = {(answer.prompt_key, answer.model, answer.run) for answer in stored_answers}
    planned = [
        question
        for question in _plan(prompts, models, report.runs)
        if (question.prompt.key, question.model, question.run) not in answered
    ]
    asker = _Asker(tools, work, report, iter(planned), answers=len(answered))
    async with asyncio.TaskGroup() as group:
        for _ in range(PARALLEL):
            group.create_task(asker.ask_all())
    return asker.conclude(len(planned))


@dataclass(frozen=True, slots=True)
class ClaimReview:
    """What a model says of claims that the rules leave open, or why it was not asked."""

    answer: ClaimReviewAnswer | None = None
    limit: str | None = None


async def review_claims(
    tools: Tools, work: Work, report: Report, results: ReportResults, findings: SiteFindings
) -> ClaimReview:
    """Ask once about the open claims of all answers. A repeated attempt finds the answer in the cache;
    without an answer the verdicts of the rules stand."""
    question = await read_untrusted(
        build_review, findings, results.analyses, work.id, report.ledger_run
    )
    if question is None:
        return ClaimReview()
    asked = await tools.model(replace(question, run_cap=report.budget))
    if isinstance(asked, ModelAnswer):
        return ClaimReview(asked.answer)
    return ClaimReview(limit=f"Claims that the rules leave open were not reviewed: {asked.detail}.")


def _plan(
    prompts: Sequence[Prompt], models: Sequence[str], runs: int
) -> Iterable[_PlannedQuestion]:
    """Every first run before the second ones, so that a spent budget costs runs and no prompts."""
    for run in range(1, runs + 1):
        for prompt in prompts:
            for model in models:
                yield _PlannedQuestion(prompt, model, run)


def _block(report: Report, detail: str, on: str = BLOCKED_ON_KEY) -> Block:
    note = (
        f"Waits for a language model: {detail}. The website analysis and the prompts are complete."
    )
    return Block(on, note, save=partial(store.set_note, id=report.id, note=note))


@dataclass(slots=True)
class _Asker:
    tools: Tools
    work: Work
    report: Report
    planned: Iterator[_PlannedQuestion]
    answers: int
    """How many questions have an answer or a final failure."""
    asked: int = 0
    unavailable: dict[str, str] = field(default_factory=dict[str, str])
    """Models that cannot be asked, and why."""
    blocked: ModelBlocked | None = None
    error: OutsideError | RetryLater | None = None
    deadline: float = field(default_factory=lambda: time.monotonic() + ASKING_SECONDS)

    async def ask_all(self) -> None:
        while self.blocked is None and self.error is None and time.monotonic() < self.deadline:
            question = next(self.planned, None)
            if question is None:
                return
            if question.model in self.unavailable:
                self.asked += 1
                continue
            await self._ask(question)

    async def _ask(self, planned: _PlannedQuestion) -> None:
        result = await self.tools.model(self._question(planned))
        place = (planned.prompt.key, planned.model, planned.run)
        match result:
            case ModelAnswer():
                await self._save(NewAnswer(*place, text=result.answer.answer, cost=result.cost))
            case ModelRefused() | ModelFailed(permanent=True):
                await self._save(NewAnswer(*place, failure=result.detail))
            # The others finish first: what was paid is stored.
            case ModelFailed(cause="limited"):
                self.error = RetryLater(result.detail, result.retry_after or LIMITED_WAIT)
            case ModelFailed():
                self.error = OutsideError(result.detail)
            case ModelBlocked(reason="no_key" | "no_model" | "no_price"):
                self.unavailable[planned.model] = result.detail
                self.asked += 1
            case ModelBlocked():
                self.blocked = result

    def _question(self, planned: _PlannedQuestion) -> ModelQuestion[AssistantAnswer]:
        # The cache must not answer a repeated run or a later report: the version names both.
        version = f"{PROMPT_VERSION} of {self.report.ledger_run}, run {planned.run}"
        return ModelQuestion(
            "strong",
            "report",
            INSTRUCTIONS,
            planned.prompt.text,
            AssistantAnswer,
            version,
            MAX_TOKENS,
            item=self.work.id,
            run=self.report.ledger_run,
            model=planned.model,
            run_cap=self.report.budget,
        )

    async def _save(self, answer: NewAnswer) -> None:
        async with self.tools.db.transaction() as tx:
            # A stale attempt stores nothing: the report may have been rerun since.
            if await lock_claim(tx, self.work):
                await contents.save_answer(tx, self.report.id, answer)
        self.asked += 1
        self.answers += 1

    def conclude(self, planned: int) -> AskedQuestions | Block | Postpone:
        if self.error:
            raise self.error
        missing = "; ".join(dict.fromkeys(self.unavailable.values()))
        if missing and (self.answers == 0 or self.report.models):
            return _block(self.report, missing)
        limits = [f"{model} was not asked: {why}." for model, why in self.unavailable.items()]
        if self.blocked is None and self.asked < planned:
            note = f"{self.answers} answers so far, {planned - self.asked} left"
            return Postpone(dt.timedelta(seconds=1), note)
        if self.blocked:
            if not self._ends_here(self.blocked):
                return self._wait_for_budget(self.blocked)
            left = planned - self.asked
            limits.append(f"{left} of the planned answers are missing: {self.blocked.detail}.")
        return AskedQuestions(tuple(limits))

    def _ends_here(self, blocked: ModelBlocked) -> bool:
        """Whether waiting brings no more answers: the budget of this report has no next day."""
        return blocked.use_local

    def _wait_for_budget(self, blocked: ModelBlocked) -> Block:
        wait = blocked_models.block_until_budget_opens(blocked)
        note = _block(self.report, blocked.detail, wait.on)
        return Block(wait.on, note.message, recheck=wait.recheck, save=note.save)
