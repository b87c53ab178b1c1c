"""`jobmill hiring in-review, accept, reject, score, stage, draw`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli import forked
from tests.cli.forked import Run, json_lines


@pytest.fixture
def run(home: Path, url: str) -> Run:
    return forked.runner(home, url)


async def apply(run: Run, opening: str, name: str) -> str:
    result = await run(
        "hiring", "apply", opening, "--name", name, "--email", f"{name}@example.org", "--json"
    )
    return str(json.loads(result.stdout)["applicationId"])


async def create(run: Run, *options: str) -> str:
    return str(
        json.loads((await run("opening", "create", "Baker", *options, "--json")).stdout)["id"]
    )


async def test_review_decisions_and_stages(run: Run) -> None:
    opening = await create(
        run, "--capacity", "1", "--admission", "review", "--review-order", "score"
    )
    ada, ben, cy = [await apply(run, opening, name) for name in ("Ada", "Ben", "Cy")]
    assert "score 80" in (await run("hiring", "score", ben, "80")).stdout
    assert (await run("hiring", "score", ben, "high")).returncode == 2
    listed = json_lines(await run("hiring", "in-review", opening, "--json"))
    assert [row["applicantName"] for row in listed] == ["Ben", "Ada", "Cy"]
    lines = json_lines(await run("hiring", "accept-many", opening, ada, ben, "--json"))
    assert [line["outcome"] for line in lines] == ["accepted", "offered"]
    assert "rejected; ended" in (await run("hiring", "reject", cy, "--reason", "late")).stdout
    assert (await run("hiring", "accept", cy)).returncode != 0
    (await run("hiring", "ack", ben))
    assert "moved to interview; active" in (await run("hiring", "stage", ben, "interview")).stdout
    assert (await run("hiring", "stage", ben, "offer", "--from", "screen")).returncode != 0
    assert "Interview (interview): 1" in (await run("hiring", "stages", opening)).stdout
    edited = await run("opening", "edit", opening, "--stage", "interview:First talk:open", "--json")
    assert json.loads(edited.stdout)["changed"]["stages"]["to"][0]["name"] == "First talk"


async def test_a_lottery(run: Run) -> None:
    opening = await create(run, "--capacity", "1", "--admission", "lottery")
    ids = [int(await apply(run, opening, name)) for name in ("Ada", "Ben")]
    assert "not yet" in (await run("hiring", "lottery", opening)).stdout
    refused = await run("hiring", "accept", ids[0])
    assert (refused.returncode != 0, "before the draw" in refused.stderr) == (True, True)
    proof = json.loads((await run("hiring", "draw", opening, "--json")).stdout)
    # After OPENED and LOTTERY_OPENED.
    assert sorted(proof["order"]) == [3, 4]
    assert (await run("hiring", "draw", opening)).returncode != 0
    assert "drawn" in (await run("hiring", "lottery", opening)).stdout
