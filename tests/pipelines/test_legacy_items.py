"""Items of an older queue become real work: imported, checked for loops and run by the real stages."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest

from jobmill import app, queue
from jobmill.catalog import companies, sources
from jobmill.db import Database, Tx
from jobmill.errors import Conflict
from jobmill.matching import profiles
from jobmill.matching.profile import Profile
from jobmill.outside.request import FetchFailure
from jobmill.pipelines import legacy_items
from jobmill.queue import RefusedItem, Stages, alerts
from jobmill.queue.legacy_import import ImportReport
from jobmill.queue.spawn_rules import ChildItem, spawn_children
from jobmill.settings import Settings
from jobmill.tools import Tools
from tests.extract.company.helpers import ABOUT, CAREERS, html
from tests.fakes import Net, ok
from tests.queue.helpers import drain, fetch, happened, make_due, new

SITE = "https://brinewell.example"
COMPANY = {"id": "doc-1", "type": "company", "url": SITE, "company_name": "Brinewell"}
JOB_URL = f"{SITE}/jobs/7"
JOB = {"id": "job-1", "type": "job", "url": JOB_URL}
BOARD = "https://job-boards.greenhouse.io/wells"
API = "https://boards-api.greenhouse.io/v1/boards/wells/jobs?content=true&pay_transparency=true"
STAGES = ("fetch", "extract", "analyze", "save")
DEAD_SITE = "brinewell.example timed out"


async def take(tx: Tx, *lines: dict[str, Any] | str, **options: Any) -> ImportReport:
    await queue.declare_stages(tx, real_stages(options.pop("database", None)))
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    numbered = [(number, text.encode("utf-8", "surrogatepass")) for number, text in enumerate(texts, 1)]  # fmt: skip
    return await legacy_items.import_lines(tx, numbered, **options)


def real_stages(database: Database | None, net: Net | None = None) -> Stages:
    return app.build_stages(Tools(database, net or Net()), Settings())  # pyright: ignore[reportArgumentType]


def four_stages(**changes: Any) -> list[dict[str, Any]]:
    """A company as the older queue left it: one item per stage, each the parent of the next."""
    return [
        COMPANY
        | {
            "id": f"doc-{number}",
            "company_sub_task": stage,
            "status": "success",
            "tracking_id": "abc-123-def",
            "ancestry_chain": ["abc-123-def", *(f"doc-{n}" for n in range(number))],
            "spawn_depth": number,
            "parent_item_id": f"doc-{number - 1}" if number else None,
        }
        | changes
        for number, stage in enumerate(STAGES)
    ]


async def rules(tx: Tx) -> list[str]:
    await alerts.check_rules(tx)
    return sorted(alert.rule for alert in await alerts.list_alerts(tx))


@pytest.fixture
async def profile(tx: Tx) -> None:
    await profiles.save(tx, "main", Profile())


# Lineages and loops.


async def test_an_item_without_tracking_fields_becomes_the_root_of_a_lineage(tx: Tx) -> None:
    assert await take(tx, COMPANY) == ImportReport(imported=1)
    [(kind, status, tracking, ancestry, depth, most)] = await fetch(
        tx,
        """
        SELECT kind, status, tracking_id, ancestry, spawn_depth, max_spawn_depth FROM queue.items
        """,
    )
    assert (kind, status, ancestry, depth, most) == ("company", "PENDING", [], 0, 10)
    assert isinstance(tracking, UUID)


async def test_a_healthy_company_of_four_stages_raises_no_alert(tx: Tx) -> None:
    assert await take(tx, *four_stages()) == ImportReport(imported=4)
    assert await rules(tx) == []
    rows = await fetch(
        tx,
        "SELECT stage, status, handed_over, final, spawn_depth FROM queue.items ORDER BY id",
    )
    assert rows == [
        ("fetch", "SUCCESS", False, False, 0),
        ("extract", "SUCCESS", True, False, 1),
        ("analyze", "SUCCESS", True, False, 2),
        ("save", "SUCCESS", True, True, 3),
    ]


async def test_a_longer_export_continues_the_lineages_of_an_earlier_one(tx: Tx) -> None:
    stages = four_stages()
    assert await take(tx, *stages[:2]) == ImportReport(imported=2)
    assert await take(tx, *stages) == ImportReport(imported=2, known=2)
    assert await rules(tx) == []
    rows = await fetch(tx, "SELECT id, parent_id, ancestry FROM queue.items ORDER BY spawn_depth")
    ids = [id for id, _, _ in rows]
    assert [parent for _, parent, _ in rows] == [None, *ids[:3]]
    assert [ancestry for _, _, ancestry in rows] == [ids[:depth] for depth in range(4)]


@pytest.mark.usefixtures("profile")
async def test_a_loop_of_the_older_queue_is_kept_and_raises_its_alerts(tx: Tx) -> None:
    """Scenario 1: a job asks for its company again and again."""
    loop = [
        (COMPANY | {"company_sub_task": "fetch"} if number % 2 else JOB)
        | {
            "id": f"doc-{number}",
            "status": "failed" if number < 7 else "pending",
            "tracking_id": "abc",
            "ancestry_chain": [f"doc-{n}" for n in range(number)],
            "parent_item_id": f"doc-{number - 1}" if number else None,
            "error_details": "no data",
        }
        for number in range(8)
    ]
    assert await take(tx, *loop) == ImportReport(imported=8)
    assert await rules(tx) == ["same key", "same key", "same work", "same work"]
    details = [alert.detail for alert in await alerts.list_alerts(tx) if alert.rule == "same work"]
    assert sum(JOB_URL in detail for detail in details) == 1
    assert await take(tx, *loop) == ImportReport(known=8)


@pytest.mark.usefixtures("profile")
async def test_pending_duplicates_are_kept_as_history_of_the_first(tx: Tx) -> None:
    """Scenario 3: three jobs spawned the same company."""
    copies = [JOB | {"id": f"job-{number}", "tracking_id": "abc"} for number in range(3)]
    assert await take(tx, *copies) == ImportReport(imported=3)
    assert await fetch(tx, "SELECT status FROM queue.items ORDER BY id") == [
        "PENDING", "SKIPPED", "SKIPPED",
    ]  # fmt: skip
    assert await rules(tx) == ["same key"]


@pytest.mark.usefixtures("profile")
async def test_an_imported_lineage_keeps_its_tree_its_limits_and_its_errors(tx: Tx) -> None:
    report = await take(
        tx,
        JOB | {"status": "success", "tracking_id": "abc-123-def", "spawn_depth": 0,
               "ancestry_chain": ["abc-123-def"], "created_at": "2025-01-01T00:00:00Z"},
        COMPANY | {"id": "item-2", "status": "failed", "tracking_id": "abc-123-def",
                   "ancestry_chain": ["abc-123-def", "job-1"], "spawn_depth": 1,
                   "parent_item_id": "job-1", "retry_count": 3, "error_details": "HTTP 500"},
        {"id": "item-3", "type": "source_discovery", "status": "processing",
         "tracking_id": "abc-123-def", "ancestry_chain": ["abc-123-def", "job-1", "item-2"],
         "source_discovery_config": {"url": BOARD}, "spawn_depth": 2, "max_spawn_depth": 4,
         "parent_item_id": "item-2", "retry_count": 2, "max_retries": 7},
    )  # fmt: skip
    assert report == ImportReport(imported=3)
    rows = await fetch(
        tx,
        """
        SELECT id, kind, stage, status, ancestry, parent_id, retry_count, max_retries,
               max_spawn_depth, error_text, error_fingerprint IS NOT NULL
          FROM queue.items ORDER BY id
        """,
    )
    first, second, third = (row[0] for row in rows)
    assert [row[1:] for row in rows] == [
        ("listing", "scrape", "SUCCESS", [], None, 0, 3, 10, None, False),
        ("company", "fetch", "FAILED", [first], first, 3, 3, 10, "HTTP 500", True),
        ("source_discovery", "discover", "PENDING", [first, second], second, 2, 7, 4, None, False),
    ]
    [company_key, created_at] = await fetch(
        tx, "SELECT key FROM queue.item WHERE kind = 'company' UNION ALL "
        "SELECT (created_at AT TIME ZONE 'UTC')::text FROM queue.item WHERE kind = 'listing'",
    )  # fmt: skip
    assert created_at == "2025-01-01 00:00:00"
    answers = await spawn_children(
        tx,
        [
            ChildItem(third, new("company/fetch", company_key)),
            ChildItem(first, new("company/fetch", company_key)),
        ],
    )
    assert [answer.reason for answer in answers if isinstance(answer, RefusedItem)] == [
        "circular", "finished",
    ]  # fmt: skip


async def test_work_that_is_alive_already_is_not_imported(tx: Tx) -> None:
    assert await take(tx, COMPANY) == ImportReport(imported=1)
    assert await take(tx, COMPANY | {"id": "doc-2"}) == ImportReport(known=1)


# Real work.


async def run(database: Database, net: Net, *lines: dict[str, Any]) -> None:
    async with database.transaction() as tx:
        await profiles.save(tx, "main", Profile())
        report = await take(tx, *lines, database=database)
        assert report.bad == []
    await drain(database, real_stages(database, net))


@pytest.mark.parametrize("nested", ["data", "pipeline_state", None])
async def test_an_imported_company_is_analyzed_from_the_stage_it_had_reached(
    database: Database, nested: str | None
) -> None:
    net = Net()
    net.on(f"{SITE}/about", ok(html(ABOUT), url=f"{SITE}/about"))
    net.on(f"{SITE}/careers", ok(html(CAREERS), url=f"{SITE}/careers"))
    named = {"company_name": "Brinewell", "company_website": SITE}
    fetched, extracted, reached, _ = [
        {name: line[name] for name in line if name not in ("company_name", "url")}
        | ({nested: named} if nested else named)
        for line in four_stages()
    ]
    await run(database, net, fetched, extracted, reached | {"status": "processing"})
    async with database.transaction() as tx:
        brinewell = await companies.get_by_name(tx, "Brinewell")
        assert (brinewell.analysis_status, brinewell.website) == ("complete", SITE)
        assert await rules(tx) == []
    rows = await fetch(
        database,
        """
        SELECT stage, status, handed_over FROM queue.items WHERE kind = 'company' ORDER BY id
        """,
    )
    assert rows == [
        ("fetch", "SUCCESS", False),
        ("extract", "SUCCESS", True),
        ("fetch", "SUCCESS", True),
        ("extract", "SUCCESS", True),
        ("analyze", "SUCCESS", True),
        ("save", "SUCCESS", True),
    ]
    [note] = await fetch(
        database, "SELECT note FROM queue.event WHERE type = 'imported' AND note IS NOT NULL"
    )
    assert note == "starts again; it had reached analyze"


async def test_an_imported_job_is_judged_from_what_the_older_queue_had_read(
    database: Database,
) -> None:
    job_data = {
        "title": "Pump Engineer",
        "company": "Brinewell",
        "company_website": SITE,
        "location": "Remote",
        "description": "You design, build and test pumps for clean water. " * 5,
        "url": JOB_URL,
        "posted_date": "2025-01-01T08:00:00+02:00",
        "salary": "$150k-$200k",
    }
    net = Net()
    await run(
        database,
        net,
        JOB | {"pipeline_state": {"job_data": job_data, "filter_result": {"passed": True}}},
    )
    assert JOB_URL not in [request.url for request in net.requests]
    [(title, company, outcome)] = await fetch(
        database,
        """
        SELECT listing.title, company.name, verdict.outcome
          FROM matching.verdict JOIN catalog.listing ON listing.id = verdict.listing_id
          JOIN catalog.company ON company.id = listing.company_id
        """,
    )
    assert (title, company) == ("Pump Engineer", "Brinewell")
    assert outcome in ("matched", "skipped", "filtered")


@pytest.mark.parametrize("nested", [True, False])
async def test_an_imported_discovery_becomes_a_source(database: Database, nested: bool) -> None:
    net = Net()
    post = {"id": 7, "title": "Pump Engineer", "absolute_url": f"{BOARD}/jobs/7",
            "content": "We pump water.", "location": {"name": "Porto"}}  # fmt: skip
    net.on(API, ok({"jobs": [post]}))
    config = {
        "source_discovery_config": {
            "url": BOARD, "type_hint": "greenhouse", "company_id": "company-doc-id",
            "company_name": "Wells", "auto_enable": True, "validation_required": False,
        }
    }  # fmt: skip
    line = {"id": "d", "type": "source_discovery", "url": ""}
    await run(database, net, line | ({"data": config} if nested else config))
    async with database.transaction() as tx:
        [source] = await sources.find(tx)
    assert (source.source_type, source.company_name, source.status) == (
        "greenhouse", "Wells", "active",
    )  # fmt: skip


LINEAGE = {"tracking_id": "abc", "company_sub_task": "fetch"}


def dead_site() -> Net:
    net = Net()
    for path in ("about", "about-us", "company", "careers", ""):
        net.on(f"{SITE}/{path}", FetchFailure(SITE, "timeout", DEAD_SITE))
    return net


async def test_work_that_failed_with_the_same_error_in_its_lineage_is_not_retried(
    database: Database,
) -> None:
    """Document 001, section 5, check 3."""
    net = dead_site()
    await run(
        database,
        net,
        COMPANY | LINEAGE | {"status": "failed", "error_details": f"no page of {SITE} could be read: {DEAD_SITE}"},
        COMPANY | LINEAGE | {"id": "doc-2", "ancestry_chain": ["doc-1"], "parent_item_id": "doc-1"},
    )  # fmt: skip
    [(id, status, message, error)] = await fetch(
        database,
        "SELECT id, status, message, error_text FROM queue.items WHERE parent_id IS NOT NULL",
    )
    assert status == "FAILED", error
    assert message.startswith("Ancestor item failed with same error, not retrying. ")
    assert await happened(database, id) == ["imported", "started", "failed"]


async def test_another_error_than_before_is_retried(database: Database) -> None:
    net = dead_site()
    await run(
        database,
        net,
        COMPANY | LINEAGE | {"status": "failed", "error_details": "no data"},
        COMPANY | LINEAGE | {"id": "doc-2", "ancestry_chain": ["doc-1"], "retry_count": 2},
    )
    assert await fetch(
        database, "SELECT status, retry_count FROM queue.items WHERE parent_id IS NOT NULL"
    ) == [("PENDING", 3)]
    await make_due(database)
    await drain(database, real_stages(database, net))
    assert await fetch(
        database, "SELECT status, retry_count FROM queue.items WHERE parent_id IS NOT NULL"
    ) == [("FAILED", 3)]


# Bad input.


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{not json", "line 2: not JSON: "),
        ("[1, 2]", "line 2: not a JSON object"),
        ('"text"', "line 2: not a JSON object"),
        ("null", "line 2: not a JSON object"),
        ("9" * 5000, "line 2: not JSON: "),
        ('{"type": "\udfff"}', "line 2: not UTF-8 at byte 11"),
        (COMPANY | {"id": "\ud800"}, "line 2: the data contains a lone surrogate"),
        (COMPANY | {"message": "\x00"}, "line 2: the data contains a NUL"),
        (COMPANY | {"error_details": "\x00"}, "line 2: the data contains a NUL"),
        ("[" * 100_000, "line 2: not JSON: "),
        (COMPANY | {"type": "brewery"}, "line 2: unknown kind 'brewery'; the kinds are: company, job, listing, source_discovery"),
        (COMPANY | {"url": "ftp://a.test"}, "line 2: "),
        (COMPANY | {"url": "", "company_name": ""}, "line 2: a company needs company_name, company_website or url"),
        ({"id": "x", "type": "job"}, "line 2: a job needs url"),
        ({"id": "x", "type": "job", "url": "no url"}, "line 2: "),
        ({"id": "x", "type": "source_discovery"}, "line 2: a source discovery needs source_discovery_config.url or url"),
        ({"id": "x", "type": "source_discovery", "url": BOARD, "source_discovery_config": {"type_hint": "x"}},
         "line 2: source_discovery_config is invalid: type_hint: "),
        (COMPANY | {"status": "confused"}, "line 2: status: Input should be"),
        (COMPANY | {"spawn_depth": -1}, "line 2: spawn_depth: "),
        (COMPANY | {"id": "x" * 501}, "line 2: id: "),
        (COMPANY | {"pipeline_state": {"x": "\x00"}}, "line 2: the data contains a NUL"),
        (COMPANY | {"pipeline_state": [1]}, "line 2: pipeline_state: "),
        (COMPANY | {"priority": 10**9}, "line 2: priority 1000000000"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)  # fmt: skip
@pytest.mark.usefixtures("profile")
async def test_a_bad_line_is_named(tx: Tx, line: dict[str, Any] | str, says: str) -> None:
    report = await take(tx, COMPANY, line, "", JOB)
    [bad] = report.bad
    assert bad.startswith(says)
    assert report.imported == 2


async def test_jobs_are_not_imported_without_a_profile(tx: Tx) -> None:
    with pytest.raises(Conflict, match="there is no profile to score them for: create one"):
        await take(tx, COMPANY, JOB)


async def test_a_line_that_breaks_its_reader_is_named_and_the_others_are_read(tx: Tx) -> None:
    """A reader runs in a child process with limited memory."""
    bomb = (
        '{"type": "company", "url": "https://a.test", "data": {"x": [' + "[]," * 4_500_000 + "[]]}}"
    )
    report = await take(tx, COMPANY, bomb, COMPANY | {"id": "doc-3", "status": "failed"})
    assert (report.imported, report.bad) == (
        2, ["line 2: Reading took more than 256 MB of memory."],
    )  # fmt: skip
