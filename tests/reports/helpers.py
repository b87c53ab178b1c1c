"""A site, an assistant and the phases of a report, without waiting for periodic tasks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, cast

from jobmill import app, queue
from jobmill.db import Database
from jobmill.outside.model_question import ModelAnswer, ModelQuestion, ModelResult, T
from jobmill.outside.request import Fetch
from jobmill.pipelines import report
from jobmill.pipelines.report_answers import AssistantAnswer
from jobmill.queue import Worker
from jobmill.queue.feed import feed_batch
from jobmill.reports import contents, store
from jobmill.reports.claim_review import ClaimOpinion, ClaimReviewAnswer
from jobmill.reports.report import Report, ReportContents, ReportId, ReportOptions
from jobmill.settings import Settings
from jobmill.tools import Tools
from tests.fakes import Net, ok

SITE = "https://tidewater.example/"
HOME = """
<html><head><title>Tidewater</title></head><body><h1>Tidewater</h1>
<p>Tidewater builds software that keeps drinking water safe. Founded in 2009, we are 250 people.</p>
<a href="/about">About</a> <a href="/careers">Careers</a></body></html>
"""
ABOUT = "<html><body><p>Tidewater is headquartered in Portland, Oregon.</p></body></html>"
CAREERS = "<html><body><p>We offer 30 days of paid vacation.</p></body></html>"
MODELS = ("anthropic:claude-haiku-5-5", "anthropic:claude-sonnet-5-5")


@dataclass
class Assistant:
    """A model that answers every question; `results` are used up first."""

    results: list[Any] = field(default_factory=list[Any])
    questions: list[ModelQuestion[Any]] = field(default_factory=list[ModelQuestion[Any]])
    text: str = "Tidewater is a good place to work. It was founded in 2009."
    opinions: list[ClaimOpinion] = field(default_factory=list[ClaimOpinion])
    reviews: list[str] = field(default_factory=list[str])
    """The questions about claims that the rules leave open."""
    reviewers: list[str | None] = field(default_factory=list[str | None])
    """The models that these name."""

    async def __call__(self, question: ModelQuestion[T]) -> ModelResult[T]:
        if question.answer_type is ClaimReviewAnswer:
            self.reviews.append(question.text)
            self.reviewers.append(question.model)
            review = cast(T, ClaimReviewAnswer(opinions=self.opinions))
            return ModelAnswer(review, "m", Decimal("0.001"))
        self.questions.append(question)
        if self.results:
            return self.results.pop(0)
        answer = cast(T, AssistantAnswer(answer=self.text))
        return ModelAnswer(answer, question.model or "m", Decimal("0.001"))

    @property
    def asked(self) -> Counter[tuple[str, str | None, str]]:
        """How often each question was asked: text, model and version."""
        return Counter(
            (question.text, question.model, question.prompt_version) for question in self.questions
        )


def make_site() -> Net:
    net = Net()
    for path, body in (("", HOME), ("about", ABOUT), ("careers", CAREERS)):
        net.on(f"{SITE}{path}", ok(body, url=f"{SITE}{path}"))
    return net


class ReportBed:
    def __init__(
        self,
        database: Database,
        fetch: Fetch | None = None,
        assistant: Any = None,
        settings: Settings | None = None,
    ) -> None:
        self.database = database
        self.assistant = assistant if assistant is not None else Assistant()
        settings = settings or Settings()
        tools = Tools(database, fetch or make_site(), self.assistant)
        stages = app.build_stages(tools, settings)
        self.stages = {phase: stage for phase, stage in stages.items() if phase[0] == report.KIND}

    async def declare(self) -> None:
        async with self.database.transaction() as tx:
            await queue.declare_stages(tx, self.stages)

    async def create(self, url: str = SITE, **options: Any) -> ReportId:
        await self.declare()
        chosen: dict[str, Any] = {"runs": 2, "prompt_count": 3, **options}
        async with self.database.transaction() as tx:
            return await store.create(tx, url, ReportOptions(**chosen))

    async def scan(self) -> int:
        """One scan of each phase; returns how many reports were taken."""
        taken = 0
        for feed in report.queue_feeds():
            async with self.database.transaction() as tx:
                taken += await feed_batch(tx, feed)
        return taken

    async def drain(self, **options: Any) -> int:
        # Nothing arrives during a drain that a notification would have to announce.
        options = {"poll_only": True, **options}
        return await Worker(self.database, self.stages, **options).drain()

    async def run(self) -> None:
        """Run until no report waits for a scan."""
        while await self.scan():
            await self.drain()

    async def settle(self) -> None:
        async with self.database.transaction() as tx:
            await report.settle_abandoned(tx)

    async def get(self, id: int) -> Report:
        async with self.database.transaction() as tx:
            return await store.get(tx, id)

    async def read(self, id: int) -> ReportContents:
        async with self.database.transaction() as tx:
            return await contents.read_contents(tx, id)

    async def events(self, id: int) -> list[str]:
        from jobmill.catalog import history

        async with self.database.transaction() as tx:
            return [event.what for event in await history.find_events(tx, "report", id)]
