"""The example of the how-to page runs as it stands there."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path
from typing import Any

from jobmill.db import Database
from jobmill.queue import Stage
from jobmill.tools import Tools

from .kit import drain, fetch, new, put, stages

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "add-a-pipeline.md"


async def test_the_example_pipeline(database: Database) -> None:
    found = re.search(r"<!-- example: .*?```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert found
    assert len(found[1].splitlines()) <= 32
    page: dict[str, Any] = {}
    exec(found[1], page)  # noqa: S102
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
