"""Ask the models of a report: each prompt, each model, several runs.

Each answer is stored as soon as it arrives. An attempt that dies between the answer and its storage finds
it in the ledger's cache, because the question names the report and the run.
"""

from __future__ import annotations

import asyncio
import datetime as dt
import time
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from pydantic import BaseModel

from jobmill.db import Tx
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
from jobmill.reports.report import Report, ReportAnswer, ReportResults
from jobmill.sandbox import read_untrusted
from jobmill.tools import Tools

BLOCKED_ON_KEY = "model key"
"""The resource on which reports are blocked while no model can be asked."""
PARALLEL = 4
ASKING_SECONDS = 50.0
"""After this an attempt asks nothing more and continues later. A phase has five minutes, and one call with
its retries can take four."""
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
    asked: int = 0
    """How many this attempt asked."""


async def ask_missing(
    tools: Tools, work: Work, report: Report, models: Sequence[str]
) -> AskedQuestions | Block | Postpone:
    """Ask what has no answer yet. Block without a key or budget, Postpone to continue in a new run."""
    async with tools.db.transaction() as tx:
        prompts, stored_answers = await read_round(tx, report)
    if not models:
        return _block(report, "no model: model_cheap and model_strong are set to none")
    answered = {
        (stored.answer.prompt_key, stored.answer.model, stored.answer.run)
        for stored in stored_answers
    }
    planned = [
        question
        for question in _plan(prompts, models, report.runs)
        if (question.prompt.key, question.model, question.run) not in answered
    ]
    asker = _Asker(tools, work, report, deque(planned), answers=len(answered))
    # No task group: it would cancel calls that are paid for when another one fails.
    outcomes = await asyncio.gather(
        *(asker.ask_all() for _ in range(PARALLEL)), return_exceptions=True
    )
    for outcome in outcomes:
        if isinstance(outcome, BaseException):
            raise outcome
    return asker.conclude()


async def read_round(tx: Tx, report: Report) -> tuple[list[Prompt], list[ReportAnswer]]:
    """The prompts of the current round and the answers so far."""
    prompts = await contents.find_prompts(tx, report.id, report.round)
    answers = await contents.find_answers(tx, report.id, report.round)
    return [stored.prompt for stored in prompts], answers


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
    # A report that names its models sends its texts to no other one.
    model = report.models[0] if report.models else None
    asked = await tools.model(replace(question, run_cap=report.budget, model=model))
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
    planned: deque[_PlannedQuestion]
    answers: int
    """How many questions have an answer or a final failure."""
    asked: int = 0
    running: int = 0
    unavailable: dict[str, str] = field(default_factory=dict[str, str])
    """Models without a key or a price, and why."""
    over_budget: dict[str, str] = field(default_factory=dict[str, str])
    """Models that the budget does not allow to be asked again, and why."""
    left_out: Counter[str] = field(default_factory=Counter[str])
    """How many questions a model over budget was not asked."""
    blocked: ModelBlocked | None = None
    error: OutsideError | RetryLater | None = None
    is_broken: bool = False
    """Whether one of the tasks failed: the others finish their call, store it, and ask nothing more."""
    call_ended: asyncio.Event = field(default_factory=asyncio.Event)
    deadline: float = field(default_factory=lambda: time.monotonic() + ASKING_SECONDS)

    async def ask_all(self) -> None:
        try:
            while self._may_ask():
                question = self.planned.popleft()
                if question.model in self.over_budget:
                    self.left_out[question.model] += 1
                elif question.model not in self.unavailable:
                    await self._ask(question)
        except BaseException:
            self.is_broken = True
            raise

    def _may_ask(self) -> bool:
        stopped = self.blocked or self.error or self.is_broken
        return bool(self.planned) and not stopped and time.monotonic() < self.deadline

    async def _ask(self, planned: _PlannedQuestion) -> None:
        self.running += 1
        is_waiting = False
        try:
            result = await self.tools.model(self._question(planned))
            if isinstance(result, ModelBlocked):
                is_waiting = self._put_off(planned, result)
            else:
                await self._store(planned, result)
        finally:
            self.running -= 1
            if not is_waiting:
                self.call_ended.set()
        if is_waiting:
            self.call_ended.clear()
            await self.call_ended.wait()

    async def _store(
        self,
        planned: _PlannedQuestion,
        result: ModelAnswer[AssistantAnswer] | ModelRefused | ModelFailed,
    ) -> None:
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

    def _put_off(self, planned: _PlannedQuestion, blocked: ModelBlocked) -> bool:
        """Note why a question was not asked; returns whether to wait for another call to end."""
        if blocked.reason in ("no_key", "no_model", "no_price"):
            self.unavailable[planned.model] = blocked.detail
        elif blocked.use_local:
            # Another model may be cheaper, so only this one is left out.
            self.over_budget[planned.model] = blocked.detail
            self.left_out[planned.model] += 1
        else:
            self.planned.appendleft(planned)
            # Most of what a call reserves is free again when it has ended.
            if blocked.reason == "busy" and self.running > 1:
                return True
            self.blocked = blocked
        return False

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
                await contents.save_answer(tx, self.report.id, self.report.round, answer)
        self.asked += 1
        self.answers += 1

    def conclude(self) -> AskedQuestions | Block | Postpone:
        if self.error:
            raise self.error
        missing = "; ".join(dict.fromkeys(self.unavailable.values()))
        has_none = self.answers == 0 and not self.over_budget
        if missing and (has_none or self.report.models):
            return _block(self.report, missing)
        if self.blocked:
            return self._wait_for_budget(self.blocked)
        if self.planned:
            note = f"{self.answers} answers so far, {len(self.planned)} left"
            return Postpone(dt.timedelta(seconds=1), note)
        limits = [f"{model} was not asked: {why}." for model, why in self.unavailable.items()]
        limits += [
            f"{count} of the planned answers of {model} are missing: {self.over_budget[model]}."
            for model, count in self.left_out.items()
        ]
        return AskedQuestions(tuple(limits), self.asked)

    def _wait_for_budget(self, blocked: ModelBlocked) -> Block:
        wait = blocked_models.block_until_budget_opens(blocked)
        note = _block(self.report, blocked.detail, wait.on)
        return Block(wait.on, note.message, recheck=wait.recheck, save=note.save)
