"""`jobmill approval` against a site on loopback."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.boards.selectors import pages
from tests.cli import forked
from tests.cli.forked import Run, json_lines
from tests.outside.site import LoopbackSite, open_site, reply


@pytest.fixture
async def site() -> Any:
    async with open_site() as site:
        site.on("/robots.txt", reply(b"User-agent: *\nAllow: /\n"))
        site.on("/careers", reply(pages.cards()))
        yield site


@pytest.fixture
def run(home: Path, url: str, site: LoopbackSite) -> Run:
    return forked.runner(home, url, JOBMILL_PRIVATE_HOSTS=site.place)


def make_board(url: str, board: str) -> int:
    with psycopg.connect(url) as connection:
        made = connection.execute(
            "INSERT INTO catalog.company (name, key, job_board_url, job_board_confidence) "
            "VALUES ('Wells', 'wells', %s, 'medium') RETURNING id",
            [board],
        ).fetchone()
    assert made
    return made[0]


async def listed(run: Run) -> list[str]:
    return [entry["ref"] for entry in json_lines(await run("approval", "list", "--json"))]


async def test_a_page_is_discovered_shown_approved_and_run(run: Run, site: LoopbackSite) -> None:
    assert "Nothing needs your approval" in (await run("approval", "list")).stdout
    queued = json_lines(await run("source", "discover", site.url("/careers"), "--json"))[0]
    assert (await run("worker", "--drain")).returncode == 0
    done = json_lines(await run("queue", "show", queued["item"], "--json"))[0]
    ref = f"source:{done['item']['data']['source_id']}"
    assert await listed(run) == [ref]

    words = (await run("approval", "list")).stdout
    assert "medium confidence" in words
    assert "jobmill approval show" in words
    shown = json_lines(await run("approval", "show", ref, "--json"))[0]
    assert (shown["state"], shown["config"]["selectors"]["title"]) == ("waiting", "h3.job-title")
    assert "It needs your approval" in (await run("approval", "show", ref)).stdout

    approved = json_lines(await run("approval", "approve", ref, "--json"))[0]
    assert (approved["ref"], approved["state"]) == (ref, "approved")
    assert (await run("worker", "--drain")).returncode == 0
    assert len(json_lines(await run("listing", "list", "--json"))) == len(pages.POSTS)
    assert await listed(run) == []


async def test_an_approved_board_becomes_a_source_that_runs(
    run: Run, site: LoopbackSite, url: str
) -> None:
    ref = f"board:{make_board(url, site.url('/careers'))}"
    assert await listed(run) == [ref]
    assert (
        "is not proposed again" in (await run("approval", "reject", ref, "--reason", "spam")).stdout
    )
    assert await listed(run) == []
    assert "Undo: " in (await run("approval", "show", ref)).stdout
    assert "is queued" in (await run("approval", "approve", ref)).stdout
    assert (await run("worker", "--drain")).returncode == 0
    (source,) = json_lines(await run("source", "list", "--json"))
    assert (source["status"], source["company_name"]) == ("active", "Wells")
    assert source["discovered_via"] == "company_analysis"
    assert source["open_listings"] == len(pages.POSTS)


async def test_an_invalid_approval_does_not_stop_the_others(
    run: Run, site: LoopbackSite, url: str
) -> None:
    ref = f"board:{make_board(url, site.url('/careers'))}"
    done = await run("approval", "reject", "source:99", ref, "--json")
    first, second = map(json.loads, done.stdout.splitlines())
    assert (done.returncode, first["state"], second["state"]) == (1, "unchanged", "rejected")
    assert "does not exist" in first["note"]


async def test_invalid_approvals_are_refused_with_a_hint(
    run: Run, site: LoopbackSite, url: str
) -> None:
    ref = f"board:{make_board(url, site.url('/careers'))}"
    assert (await run("approval", "approve", ref)).returncode == 0

    def refused(done: subprocess.CompletedProcess[str], code: int, words: str) -> bool:
        return done.returncode == code and words in done.stderr

    assert refused(await run("approval", "approve", ref), 4, "already approved")
    assert refused(await run("approval", "approve", "12"), 2, "write source:12 or board:7")
    assert refused(await run("approval", "show", "source:99"), 3, "does not exist")
    assert refused(await run("approval", "list", "--after", "x"), 2, "write source:12")
    assert refused(await run("source", "discover", "nowhere"), 2, "url")
    hint = await run("source", "discover", site.url("/careers"), "--type", "greenhose")
    assert refused(hint, 2, "did you mean greenhouse")


async def test_a_long_list_says_how_to_get_the_next_page(run: Run, home: Path, url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute(
            "INSERT INTO catalog.source (name, source_type, token, config, status, discovered_via) "
            "SELECT 'Wells ' || n, 'html', n, '{}', 'pending_validation', 'import' "
            "FROM generate_series(1, 3) AS n"
        )
    first = (await run("approval", "list", "--limit", 2)).stderr
    after = first.partition("There are more: --after ")[2].split()[0]
    (last,) = json_lines(await run("approval", "list", "--after", after, "--json"))
    assert last["name"] == "Wells 3"
