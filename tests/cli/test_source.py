"""`jobmill source` and `jobmill listing` against a site on loopback."""

from __future__ import annotations

import asyncio
import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest

from jobmill.catalog.posting import format_salary
from tests.cli import forked
from tests.cli.forked import Run, json_lines
from tests.outside.site import LoopbackSite, open_site, reply

CONFIG = {
    "selectors": {
        "job_list": "li.post",
        "title": "h2",
        "link": "a[href]",
        "location": ".place",
        "description": ".text",
    },
}


def page(*posts: tuple[str, str]) -> bytes:
    """A careers page with these postings: path and title."""
    items = "".join(
        f'<li class="post"><h2>{title}</h2><a href="/posts/{path}">Apply</a>'
        f'<span class="place">Porto</span><p class="text">{title}: {"we pump water. " * 10}</p></li>'
        for path, title in posts
    )
    return f"<html><body><ul>{items}</ul></body></html>".encode()


@pytest.fixture
async def site() -> Any:
    async with open_site() as site:
        site.on("/robots.txt", reply(b"User-agent: *\nAllow: /\n"))
        site.on("/careers", reply(page(("1", "Pump Engineer"), ("2", "Cook"))))
        yield site


@pytest.fixture
def run(home: Path, url: str, site: LoopbackSite) -> Run:
    return forked.runner(home, url, JOBMILL_PRIVATE_HOSTS=site.place)


async def add(run: Run, site: LoopbackSite, **config: Any) -> int:
    text = json.dumps(CONFIG | {"url": site.url("/careers")} | config)
    done = await run(
        "source", "add", "--platform", "html", "--config", text, "--company", "Wells & Co",
        "--enable", "--json",
    )  # fmt: skip
    return json_lines(done)[0]["id"]


async def test_a_source_is_added_tested_scraped_and_searched(
    run: Run, site: LoopbackSite, home: Path
) -> None:
    id = await add(run, site)
    sample = json_lines(await run("source", "test", id, "--json"))[0]
    assert (sample["ok"], sample["seen"]) == (True, 2)
    assert json_lines(await run("listing", "list", "--json")) == []

    (ran,) = json_lines(await run("source", "scrape", id, "--json"))
    assert (ran["outcome"], ran["added"]) == ("complete", 2)
    (hit,) = json_lines(await run("listing", "search", "pump engineer", "--json"))
    assert (hit["title"], hit["company"], hit["location"]) == (
        "Pump Engineer",
        "Wells & Co",
        "Porto",
    )
    assert hit["url"] == site.url("/posts/1")

    site.on("/careers", reply(page(("1", "Senior Pump Engineer"), ("3", "Diver"))))
    (again,) = json_lines(await run("source", "scrape", "--all", "--json"))
    assert [again[name] for name in ("added", "changed", "closed")] == [1, 1, 1]
    story = json_lines(await run("listing", "show", hit["id"], "--json"))[0]
    assert [event["what"] for event in story["events"]] == ["opened", "changed"]
    assert (
        json_lines(await run("listing", "list", "--state", "closed", "--json"))[0]["title"]
        == "Cook"
    )
    (company,) = json_lines(await run("company", "list", "--json"))
    assert (company["name"], company["open_listings"]) == ("Wells & Co", 2)

    out = await run("listing", "export", "all.csv", "--format", "csv", "--state", "all")
    assert "3 jobs" in out.stdout
    table = list(csv.DictReader(io.StringIO((home / "all.csv").read_text())))
    assert {row["title"] for row in table} == {"Senior Pump Engineer", "Cook", "Diver"}


async def test_results_are_printed_as_text_without_json(run: Run, site: LoopbackSite) -> None:
    assert "No sources" in (await run("source", "list")).stdout
    assert "No jobs" in (await run("listing", "list")).stdout
    id = await add(run, site)
    assert "not run yet" in (await run("source", "list")).stdout
    assert "It works: 2" in (await run("source", "test", id)).stdout
    assert "complete" in (await run("source", "scrape", id)).stdout
    assert "Pump Engineer" in (await run("listing", "list")).stdout
    (first, _) = json_lines(await run("listing", "list", "--json"))
    assert "opened" in (await run("listing", "show", first["id"])).stdout
    assert "completeness" in (await run("source", "show", id)).stdout
    assert "Wells & Co" in (await run("company", "show", "wells")).stdout


async def test_a_worker_runs_a_queued_source_once(run: Run, site: LoopbackSite) -> None:
    id = await add(run, site)
    assert json_lines(await run("source", "scrape", id, "--queue", "--json"))[0]["note"] == "queued"
    refused = json_lines(await run("source", "scrape", id, "--queue", "--json"))[0]
    assert refused["note"] != "queued"
    assert (await run("worker", "--drain")).returncode == 0
    assert len(json_lines(await run("listing", "list", "--json"))) == 2


async def test_failures_of_a_source_are_shown_and_counted(run: Run, site: LoopbackSite) -> None:
    id = await add(run, site)
    site.on("/careers", reply(b"broken", status=500))
    assert (await run("source", "scrape", id, "--json")).returncode == 1
    source = json_lines(await run("source", "show", id, "--json"))[0]["source"]
    assert (source["consecutive_failures"], source["last_cause"]) == (1, "transient")
    assert "1 failure (transient)" in (await run("source", "list")).stdout


async def test_a_source_is_disabled_rejected_and_enabled_by_hand(
    run: Run, site: LoopbackSite
) -> None:
    id = await add(run, site)
    assert "disabled" in (await run("source", "disable", id, "--reason", "too noisy")).stdout
    assert "too noisy" in (await run("source", "list", "--status", "disabled")).stdout
    assert "rejected" in (await run("source", "reject", id)).stdout
    assert (await run("source", "enable", id)).stdout.strip().endswith("active.")
    assert (await run("source", "enable", id)).returncode == 4


async def test_bad_wishes_are_refused_with_what_to_do(run: Run, site: LoopbackSite) -> None:
    for arguments, words in [
        (["source", "add"], "name the source to add"),
        (["source", "add", "--platform", "greenhose", "--token", "x"], "did you mean greenhouse"),
        (["source", "add", "--platform", "html", "--config", "{"], "not JSON"),
        (["source", "add", "--platform", "html", "--config", '{"url": "x", "colour": 1}'], "colour"),
        (["source", "add", "--platform", "jooble", "--config", '{"keywords": "cook"}'], "JOOBLE_API_KEY"),
        (["source", "scrape"], "--all"),
        (["source", "show", "77"], "does not exist"),
        (["source", "read", "nothing.json", "--platform", "lever"], "cannot read"),
        (["listing", "read", "nothing.html"], "cannot read"),
        (["listing", "dedup", "nothing.jsonl"], "cannot read"),
        (["listing", "list", "--after", "???"], "invalid cursor"),
        (["company", "show", "nobody"], "does not exist"),
    ]:  # fmt: skip
        done = await run(*arguments)
        assert done.returncode != 0, arguments
        assert words in done.stdout + done.stderr, (arguments, done.stderr)
    assert json_lines(await run("source", "list", "--json")) == []


async def test_a_private_address_is_refused(run: Run, site: LoopbackSite) -> None:
    config = json.dumps(CONFIG | {"url": site.url("/careers")})
    done = await run(
        "source", "add", "--platform", "html", "--config", config, "--json",
        JOBMILL_PRIVATE_HOSTS="",
    )  # fmt: skip
    added = json_lines(done)[0]
    assert added["status"] == "pending_validation"
    assert "refused" in added["note"]
    assert site.requests_to("/careers") == []


async def test_bulk_detection_reads_lines(run: Run) -> None:
    stdin = "\n".join(
        [
            "https://boards.greenhouse.io/wells",
            "https://wells.example/careers",
            json.dumps({
                "url": "https://brine.example/",
                "html": '<iframe src="https://boards.greenhouse.io/embed/job_board?for=brine">',
            }),
        ]
    )  # fmt: skip
    detected = json_lines(await run("source", "detect", "-", "--json", stdin=stdin))
    assert [(board["platform"], board["token"]) for board in detected] == [
        ("greenhouse", "wells"),
        (None, None),
        ("greenhouse", "brine"),
    ]


async def test_an_invalid_saved_response_does_not_stop_the_others(run: Run, home: Path) -> None:
    good = [
        {
            "id": "a-1",
            "text": "Pump Engineer",
            "categories": {"location": "Porto"},
            "hostedUrl": "https://jobs.lever.co/wells/a-1",
        }
    ]
    (home / "good.json").write_text(json.dumps(good))
    (home / "bad.json").write_text("<html>")
    done = await run("source", "read", "--platform", "lever", "bad.json", "good.json", "--json")
    assert done.returncode == 1
    bad, posting = [json.loads(line) for line in done.stdout.splitlines()]
    assert bad["file"] == "bad.json"
    assert "Lever" in bad["error"]
    assert (posting["title"], posting["platform"], posting["board"]) == (
        "Pump Engineer",
        "lever",
        "wells",
    )


async def test_a_saved_page_is_read(run: Run, home: Path) -> None:
    json_ld = {"@type": "JobPosting", "title": "Diver", "hiringOrganization": {"name": "Wells"}}
    html = f'<script type="application/ld+json">{json.dumps(json_ld)}</script>'
    (home / "page.html").write_text(html)
    (posting,) = json_lines(
        await run("listing", "read", "page.html", "--url", "https://wells.example/1", "--json")
    )
    assert (posting["title"], posting["company"], posting["method"]) == (
        "Diver",
        "Wells",
        "json-ld",
    )
    (again,) = json_lines(
        await run("listing", "read", "-", "--json", stdin=json.dumps({"html": html, "url": "x"}))
    )
    assert again["title"] == "Diver"


async def test_duplicates_are_grouped_by_line_or_by_id(run: Run, home: Path) -> None:
    post = {"title": "Cook", "company": "Wells", "url": "https://jobs.lever.co/wells/" + "1" * 8 + "-1111-4111-8111-" + "1" * 12}  # fmt: skip
    other = post | {"url": post["url"] + "?lever-source=x"}
    alone = {"title": "Diver", "company": "Wells", "url": "https://wells.example/diver"}
    plain = "\n".join(map(json.dumps, (post, alone, other)))
    (group,) = json_lines(await run("listing", "dedup", "-", "--json", stdin=plain))
    assert (group["canonical"], sorted(group["members"])) == (0, [0, 2])
    assert group["why"]
    named = "\n".join(
        json.dumps(posting | {"id": name}) for posting, name in ((post, "a"), (other, "b"))
    )
    (group,) = json_lines(await run("listing", "dedup", "-", "--json", stdin=named))
    assert sorted(group["members"]) == ["a", "b"]


async def test_links_can_be_made_and_undone(run: Run, site: LoopbackSite) -> None:
    id = await add(run, site)
    json_lines(await run("source", "scrape", id, "--json"))
    duplicate, canonical = [hit["id"] for hit in json_lines(await run("listing", "list", "--json"))]
    assert (await run("listing", "link", duplicate, canonical)).returncode == 0
    assert [hit["id"] for hit in json_lines(await run("listing", "list", "--json"))] == [canonical]
    assert (await run("listing", "unlink", duplicate)).returncode == 0
    assert len(json_lines(await run("listing", "list", "--json"))) == 2
    assert (await run("listing", "mark", duplicate)).returncode == 0


async def test_an_invalid_line_does_not_stop_the_others(run: Run) -> None:
    board = "https://boards.greenhouse.io/wells"
    for command, inputs in [
        (("source", "detect"), [{"url": 5}, {"url": board, "html": 5}, {}]),
        (("source", "read", "--platform", "lever"), [{}, {"body": 5}, {"file": 5}, {"config": 5}]),
        (("listing", "read"), [{}, {"html": 5}, {"file": 5}, {"html": "<p>", "url": 5}]),
    ]:
        wrong = ["{", *map(json.dumps, inputs)]
        done = await run(*command, "-", "--json", stdin="\n".join(wrong))
        assert done.returncode == 1, (command, done.stderr)
        assert ["error" in json.loads(line) for line in done.stdout.splitlines()] == [True] * len(
            wrong
        )
    mixed = await run("source", "detect", "-", "--json", stdin=f"{{\n\n{board}\n")
    bad, good = map(json.loads, mixed.stdout.splitlines())
    assert bad["error"].startswith("line 1")
    assert good["token"] == "wells"


async def test_stdin_may_contain_a_byte_order_mark_and_lone_surrogates(run: Run) -> None:
    line = json.dumps({"url": "https://boards.greenhouse.io/wells"})
    (detected,) = json_lines(await run("source", "detect", "-", "--json", stdin=f"\ufeff{line}\n"))
    assert detected["token"] == "wells"
    half = json.dumps({"url": "https://wells.example/\ud800"})
    (odd,) = json_lines(await run("source", "detect", "-", "--json", stdin=half))
    assert odd["platform"] is None


async def test_postings_are_numbered_by_line_including_empty_lines(run: Run) -> None:
    post = json.dumps({"title": "Cook", "company": "Wells", "url": "https://wells.example/cook/1"})
    (group,) = json_lines(await run("listing", "dedup", "-", "--json", stdin=f"{post}\n\n{post}\n"))
    assert group["members"] == [0, 2]
    wrong = await run("listing", "dedup", "-", "--json", stdin=f"{post}\n\n[]\n{post}\n")
    bad, group = map(json.loads, wrong.stdout.splitlines())
    assert (wrong.returncode, bad["line"], group["members"]) == (1, 3, [0, 3])


async def test_a_source_without_its_api_key_does_not_stop_the_others(
    run: Run, site: LoopbackSite, url: str
) -> None:
    with psycopg.connect(url) as connection:
        connection.execute(
            "INSERT INTO catalog.source (name, source_type, token, config, status, discovered_via) "
            "VALUES ('x', 'jooble', 'cook', '{\"keywords\": \"cook\"}', 'active', 'import')"
        )
    id = await add(run, site)
    done = await run("source", "scrape", "--all", "--json")
    first, second = map(json.loads, done.stdout.splitlines())
    assert (first["ok"], "JOOBLE_API_KEY" in first["detail"]) == (False, True)
    assert (second["source"], second["added"], done.returncode) == (id, 2, 1)
    assert (await run("source", "scrape", first["source"])).returncode == 5


async def test_an_export_is_safe_in_a_spreadsheet_and_in_a_pipe(
    run: Run, home: Path, url: str
) -> None:
    with psycopg.connect(url) as connection:
        connection.execute(
            "INSERT INTO catalog.listing (identity, url, url_hash, title, description, locations, "
            "listed_hash, first_seen_at, last_seen_at, changed_at) "
            "SELECT n, n, md5(n::text)::uuid, '=A1', repeat('x', 9000), ARRAY['=A1', 'b'], "
            "md5('')::uuid, now(), now(), now() FROM generate_series(1, 50) AS n"
        )
    await run("listing", "export", "all.csv", "--format", "csv")
    with (home / "all.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["title"], row["locations"]) for row in rows} == {("'=A1", "'=A1; b")}

    os.mkfifo(home / "pipe")
    reader = asyncio.create_task(asyncio.to_thread((home / "pipe").read_bytes))
    assert "50 jobs" in (await run("listing", "export", "pipe")).stdout
    assert len((await reader).splitlines()) == 50
    assert (home / "pipe").is_fifo()

    (home / "link").symlink_to("kept.jsonl")
    await run("listing", "export", "link")
    assert (home / "link").is_symlink()
    assert len((home / "kept.jsonl").read_text().splitlines()) == 50
    assert "cannot write" in (await run("listing", "export", "all.csv/x")).stderr
    assert [path.name for path in home.iterdir() if path.name.startswith(".")] == []


async def test_values_that_postgresql_cannot_store_are_refused(run: Run) -> None:
    beyond = "9" * 20
    for arguments in (
        ["source", "show", beyond],
        ["source", "scrape", beyond],
        ["listing", "show", beyond],
        ["listing", "list", "--source", beyond],
        ["company", "show", beyond],
        ["listing", "search", "\udcff"],
    ):
        done = await run(*arguments)
        assert done.returncode in (2, 3), (arguments, done.stderr)
        assert "Traceback" not in done.stderr


def test_a_closed_pipe_is_not_reported_as_a_database_error(url: str, home: Path) -> None:
    with psycopg.connect(url) as connection:
        connection.execute(
            "INSERT INTO catalog.listing (identity, url, url_hash, description, listed_hash, "
            "first_seen_at, last_seen_at, changed_at) "
            "SELECT n, n, md5(n::text)::uuid, repeat('x', 9000), md5('')::uuid, now(), now(), now() "
            "FROM generate_series(1, 100) AS n"
        )
    closed, out = os.pipe()
    os.close(closed)
    done = subprocess.run(
        [sys.executable, "-m", "jobmill", "listing", "export"],
        check=False,
        stdout=out,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"DATABASE_URL": forked.as_url(url), "HOME": str(home)},
    )
    os.close(out)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (15.5, 17.25, "EUR 15.50-17.25 an hour"),
        (60_000.0, 75_000.0, "EUR 60,000-75,000 an hour"),
        (20.0, 20.0, "EUR 20 an hour"),
        (None, None, None),
    ],
)
def test_salaries_are_not_rounded(low: float | None, high: float | None, words: str | None) -> None:
    assert format_salary(low, high, "EUR", "hour") == words
