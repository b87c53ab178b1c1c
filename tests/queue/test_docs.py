"""The example of the how-to page runs, and the reference pages match the code."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

from jobmill import queue
from jobmill.db import Database, Tx
from jobmill.queue import Stage
from jobmill.tools import Tools

from .helpers import drain, fetch, new, put, stages

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "add-a-pipeline.md"


async def test_the_example_pipeline_runs(database: Database) -> None:
    match = re.search(r"<!-- example: .*?```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert match
    assert len(match[1].splitlines()) <= 32
    page: dict[str, Any] = {}
    exec(match[1], page)  # noqa: S102
    tools = Tools(database)
    table = stages(
        {f"page/{name}": Stage(partial(page[name], tools)) for name in ("read", "count")}
    )
    async with database.transaction() as tx:
        await tx.execute("CREATE TABLE public.words (page text, words int)")
    await put(database, table, new("page/read", "/"))
    assert await drain(database, table) == 4
    assert sorted(await fetch(database, "SELECT page, words FROM public.words")) == [
        ("/", 5),
        ("/about", 5),
    ]


REFERENCE = PAGE.parents[1] / "reference" / "tables.md"


async def test_the_table_reference_matches_the_database(tx: Tx) -> None:
    documented = {
        name: columns.replace("`", "").split(", ")
        for name, columns in re.findall(
            r"^\| `([\w.]+)`(?: \(view\))? \| ((?:`\w+`(?:, )?)+) \|",
            REFERENCE.read_text(),
            re.MULTILINE,
        )
    }
    existing = await fetch(
        tx,
        """
        SELECT CASE table_schema WHEN 'queue' THEN table_name
                                 ELSE table_schema || '.' || table_name END,
               array_agg(column_name::text ORDER BY ordinal_position)
          FROM information_schema.columns
         WHERE table_schema NOT IN ('pg_catalog', 'information_schema', 'public')
         GROUP BY 1
        """,
    )
    assert documented == dict(existing)


def test_the_event_reference_lists_every_event_that_the_code_writes() -> None:
    text = REFERENCE.read_text().partition("## Events")[2]
    documented = set(re.findall(r"`([a-z ]+)`", text)) - {"type", "from_status", "to_status"}
    code = "".join(file.read_text() for file in Path(queue.__file__).parent.glob("*.py"))
    # Endings are logged as their status in lower case.
    endings = {"success", "filtered", "skipped", "failed"}
    missing = [
        what for what in documented - endings if f"'{what}'" not in code and f'"{what}"' not in code
    ]
    assert missing == []
    written = set(re.findall(r"what=\"([a-z ]+)\"", code)) | set(
        re.findall(
            r"SELECT (?:\w+), '([a-z ]+)', '?(?:PENDING|PROCESSING|BLOCKED|NULL|status|reopened)",
            code,
        )
    )
    assert written <= documented
