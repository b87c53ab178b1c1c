"""Import of items that an older queue exported."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest

from jobmill import queue
from jobmill.db import Database, Tx
from jobmill.errors import Invalid
from jobmill.queue import Finish, Move, RefusedItem, Stage, Work
from jobmill.queue.child_items import ChildItem, spawn_children
from jobmill.queue.legacy_import import ImportReport, import_lines

from .helpers import drain, fetch, new, stages


async def nothing(work: Work) -> Move:
    return Finish()


TABLE = stages(
    {"listing/scrape": Stage(nothing), "listing/filter": Stage(nothing)},
    company=nothing,
    source=nothing,
)
LEGACY = {"id": "doc-1", "type": "company", "url": "https://a.test", "status": "pending"}


async def take(tx: Tx, *lines: dict[str, Any] | str, **options: Any) -> ImportReport:
    await queue.declare_stages(tx, TABLE)
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    return await import_lines(tx, texts, **options)


async def test_an_item_without_tracking_fields_becomes_the_root_of_a_lineage(tx: Tx) -> None:
    assert await take(tx, LEGACY) == ImportReport(imported=1)
    [(kind, key, status, tracking, ancestry, depth, most)] = await fetch(
        tx,
        """
        SELECT kind, key, status, tracking_id, ancestry, spawn_depth, max_spawn_depth
          FROM queue.items
        """,
    )
    assert (kind, key, status) == ("company", "https://a.test", "PENDING")
    assert isinstance(tracking, UUID)
    assert (ancestry, depth, most) == ([], 0, 10)


async def test_an_imported_lineage_keeps_its_tree_and_its_limits(tx: Tx) -> None:
    """A listing, its company and its source; old ids are replaced by new ones."""
    await take(
        tx,
        {"id": "item-1", "type": "job", "url": "https://s.test/1", "status": "success",
         "tracking_id": "abc-123-def", "ancestry_chain": ["abc-123-def"], "spawn_depth": 0},
        {"id": "item-2", "type": "company", "url": "https://s.test", "status": "failed",
         "tracking_id": "abc-123-def", "ancestry_chain": ["abc-123-def", "item-1"],
         "spawn_depth": 1, "parent_item_id": "item-1", "error_details": "HTTP 500"},
        {"id": "item-3", "type": "source", "url": "https://s.test/careers", "status": "processing",
         "tracking_id": "abc-123-def", "ancestry_chain": ["abc-123-def", "item-1", "item-2"],
         "spawn_depth": 2, "parent_item_id": "item-2", "retry_count": 2},
        rename={"job": "listing"},
    )  # fmt: skip
    rows = await fetch(
        tx,
        """
        SELECT id, kind, stage, status, ancestry, parent_id, retry_count, error_text
          FROM queue.items ORDER BY id
        """,
    )
    first, second, third = (row[0] for row in rows)
    assert [row[1:] for row in rows] == [
        ("listing", "scrape", "SUCCESS", [], None, 0, None),
        ("company", "run", "FAILED", [first], first, 0, "HTTP 500"),
        ("source", "run", "PENDING", [first, second], second, 2, None),
    ]
    answers = await spawn_children(
        tx,
        [
            ChildItem(third, new("company", "https://s.test")),
            ChildItem(first, new("company", "https://s.test")),
        ],
    )
    assert [answer.reason for answer in answers if isinstance(answer, RefusedItem)] == [
        "circular", "finished",
    ]  # fmt: skip


async def test_a_second_import_of_the_same_file_changes_nothing(tx: Tx) -> None:
    done = LEGACY | {"id": "doc-2", "url": "https://b.test", "status": "success"}
    assert await take(tx, LEGACY, done) == ImportReport(imported=2)
    assert await take(tx, LEGACY, done) == ImportReport(known=2)
    assert await fetch(tx, "SELECT count(*) FROM queue.item") == [2]


async def test_work_that_is_alive_already_is_not_imported(tx: Tx) -> None:
    await queue.declare_stages(tx, TABLE)
    await queue.submit(tx, new("company", "https://a.test"))
    assert await take(tx, LEGACY) == ImportReport(known=1)


async def test_imported_items_run(database: Database) -> None:
    async with database.transaction() as tx:
        await take(
            tx,
            LEGACY,
            LEGACY | {"id": "doc-2", "url": "https://b.test", "pipeline_state": {"x": 1}},
        )
    assert await drain(database, TABLE) == 2


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("{not json", "line 2: not JSON: "),
        ("[1, 2]", "line 2: not a JSON object"),
        ('"text"', "line 2: not a JSON object"),
        ("null", "line 2: not a JSON object"),
        ("9" * 5000, "line 2: not JSON: "),
        (LEGACY | {"id": "\ud800"}, "line 2: the data contains a lone surrogate"),
        (LEGACY | {"message": "\x00"}, "line 2: the data contains a NUL"),
        (LEGACY | {"error_details": "\x00"}, "line 2: the data contains a NUL"),
        ("[" * 100_000, "line 2: not JSON: "),
        (LEGACY | {"type": "brewery"}, "line 2: unknown kind 'brewery'; the kinds are: company, listing, source"),
        (LEGACY | {"url": ""}, "line 2: the key must have"),
        (LEGACY | {"url": "a\x00b"}, "line 2: the key must have"),
        ({"id": "x", "type": "company"}, "line 2: key: Field required"),
        (LEGACY | {"status": "confused"}, "line 2: status: Input should be"),
        (LEGACY | {"spawn_depth": -1}, "line 2: spawn_depth: "),
        (LEGACY | {"pipeline_state": {"x": "\x00"}}, "line 2: the data contains a NUL"),
        (LEGACY | {"pipeline_state": [1]}, "line 2: pipeline_state: "),
        (LEGACY | {"priority": 10**9}, "line 2: priority 1000000000"),
    ],
    ids=lambda value: value[:20] if isinstance(value, str) else "",
)  # fmt: skip
async def test_a_bad_line_is_named_and_nothing_is_imported(
    tx: Tx, line: dict[str, Any] | str, says: str
) -> None:
    with pytest.raises(Invalid, match="1 bad lines, nothing was imported") as caught:
        await take(tx, LEGACY, line)
    assert says in str(caught.value)
    assert await fetch(tx, "SELECT count(*) FROM queue.item") == [0]


async def test_bad_lines_can_be_skipped_and_are_still_named(tx: Tx) -> None:
    report = await take(tx, "{", LEGACY, "", skip_bad=True)
    assert (report.imported, len(report.bad)) == (1, 1)
    assert report.bad[0].startswith("line 1: not JSON")
