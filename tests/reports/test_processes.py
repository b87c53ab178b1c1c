"""A report by real processes over real HTTP. Killing the worker in any phase changes nothing, and no answer
is paid twice."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from jobmill.db import Database, connect
from tests.acceptance.test_pipelines import Mill, let_leases_lapse
from tests.conftest import clone
from tests.outside.model_server import ModelServer, answer, open_server
from tests.outside.site import LoopbackSite, ReceivedRequest, ResponseWriter, open_site, reply
from tests.queue.helpers import fetch
from tests.reports.helpers import ABOUT, CAREERS, HOME

DEATHS = (
    "report/website-analysis",
    "report/prompt-forming",
    "model/answer",
    "report/model-analysis",
)
CREATE = ("report", "create", "https://tidewater.example", "--runs", "2")


@pytest.fixture
async def site() -> AsyncIterator[LoopbackSite]:
    async with open_site() as site:
        for path, body in (("/", HOME), ("/about", ABOUT), ("/careers", CAREERS)):
            site.on(path, reply(body.encode()))
        yield site


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    reply_to_prompt = answer({"answer": "Tidewater is a good place to work, founded in 2009."})
    reply_to_review = answer({"opinions": []})

    async def handle(request: ReceivedRequest, out: ResponseWriter) -> None:
        is_review = b"=== CLAIMS ===" in request.body
        await (reply_to_review if is_review else reply_to_prompt)(request, out)

    async with open_server() as server:
        server.says(handle)
        yield server


class ReportMill(Mill):
    wanted = "completed"

    async def is_busy(self, database: Database) -> bool:
        return set(await fetch(database, "SELECT status FROM reports.report")) != {self.wanted}

    async def work_until(self, database: Database, status: str, deaths: Sequence[str] = ()) -> int:
        """Run until every report has the status; returns how often the worker died."""
        self.wanted = status
        return await self.work(database, deaths)


def make_mill(home: Path, url: str, site: LoopbackSite, model: ModelServer) -> ReportMill:
    mill = ReportMill(home, url, {"tidewater.example": site})
    mill.variables |= {
        "ANTHROPIC_API_KEY": "sk-test",
        "JOBMILL_ANTHROPIC_BASE_URL": model.url,
        "JOBMILL_REPORT_PROMPTS": "3",
        "JOBMILL_CHROMIUM": "/nowhere/chromium",
    }
    return mill


async def _outcome(database: Database) -> dict[str, list[Any]]:
    """The results, without times and costs."""
    return {
        "reports": await fetch(
            database,
            "SELECT status, in_progress, findings - 'read_at', scores, recommendations, limits"
            " FROM reports.report",
        ),
        "prompts": await fetch(database, "SELECT key, text FROM reports.prompt ORDER BY 1"),
        "answers": await fetch(
            database,
            "SELECT prompt_key, model, run, text, analysis FROM reports.answer ORDER BY 1, 2, 3",
        ),
        "items": await fetch(database, "SELECT stage, status::text FROM queue.items ORDER BY id"),
        "events": await fetch(
            database,
            "SELECT type, data FROM catalog.event WHERE subject_type = 'report' ORDER BY id",
        ),
    }


async def test_killing_the_worker_in_each_phase_changes_nothing_and_pays_nothing_twice(
    home: Path, server: str, template: str, site: LoopbackSite, model: ModelServer
) -> None:
    with clone(server, template) as url:
        async with connect(url) as database:
            mill = make_mill(home, url, site, model)
            await mill.run(*CREATE)
            assert await mill.work_until(database, "completed") == 0
            undisturbed = await _outcome(database)
    asked = Counter(json.dumps(request, sort_keys=True) for request in model.requests)
    model.requests.clear()
    with clone(server, template) as url:
        async with connect(url) as database:
            mill = make_mill(home, url, site, model)
            await mill.run(*CREATE)
            assert await mill.work_until(database, "completed", DEATHS) == len(DEATHS)
            assert mill.deaths.read_text() == ""
            assert await _outcome(database) == undisturbed
            calls = await fetch(
                database, "SELECT outcome, cache_hit, count(*) FROM budget.call GROUP BY 1, 2"
            )
    assert [stage for stage, _ in undisturbed["items"]] == [
        "website-analysis", "prompt-forming", "model-analysis",
    ]  # fmt: skip
    # Each question reached the provider once, although the worker died with paid answers in its hands.
    questions = Counter(json.dumps(request, sort_keys=True) for request in model.requests)
    assert len(undisturbed["answers"]) == 3 * 2 * 2
    assert questions == asked
    # 12 questions of candidates, and at most one about the claims in the answers.
    assert questions.total() in (12, 13)
    by_outcome = {outcome: count for outcome, _, count in calls}
    assert by_outcome["answered"] == questions.total()
    assert by_outcome["cached"] >= 1
    assert set(by_outcome) == {"answered", "cached"}


async def test_a_report_waits_without_a_key_and_continues_when_a_worker_has_one(
    home: Path, url: str, database: Database, site: LoopbackSite, model: ModelServer
) -> None:
    mill = make_mill(home, url, site, model)
    key = mill.variables.pop("ANTHROPIC_API_KEY")
    await mill.run(*CREATE)
    await mill.work_until(database, "model-analysis")
    process = mill.start()
    try:
        async with asyncio.timeout(60):
            while await fetch(database, "SELECT blocked_on FROM queue.live") != ["model key"]:
                await asyncio.sleep(0.1)
        shown = json.loads(await mill.run("report", "show", "1", "--json"))
        assert "set the environment variable ANTHROPIC_API_KEY" in shown["report"]["note"]
    finally:
        process.kill()
        process.wait()
    assert model.requests == []
    await let_leases_lapse(database)
    mill.variables["ANTHROPIC_API_KEY"] = key
    await mill.work_until(database, "completed")
    assert len(model.requests) in (12, 13)
