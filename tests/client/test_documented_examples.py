"""The Python examples of the guide, run as a reader would."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

from jobmill.db import Database
from tests.web.api.search_world import search_world

GUIDE = Path("docs/how-to/call-the-api.md")
EXAMPLE = re.compile(r"<!-- run: ([a-z ]+) -->\n```python\n(.*?)```", re.DOTALL)
OUTPUT = {
    "list matches": "95 Pump Engineer 1 of 2 requested skills\n",
    "change a profile": "",
    "handle errors": "404 NOT_FOUND Match with id 999999 not found\n",
}
"""The first line that each prints."""


async def test_every_example_of_the_guide_runs(database: Database) -> None:
    examples = EXAMPLE.findall(GUIDE.read_text("utf-8"))
    assert [name for name, _ in examples] == list(OUTPUT)
    async with search_world(database) as world:
        environ = {**os.environ, "JOBMILL_URL": world.url, "JOBMILL_API_KEY": world.key}
        for name, code in examples:
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-c", code, env=environ, stdout=asyncio.subprocess.PIPE
            )
            printed, _ = await process.communicate()
            assert process.returncode == 0, name
            assert printed.decode().startswith(OUTPUT[name]), name
        match = (await world.site.get(f"/api/matches/{world.match_ids[0]}")).json()
        profile = (await world.site.get("/api/profiles/main")).json()
    assert match["status"] == "saved"
    assert (profile["version"], profile["profile"]["arrangements"]) == (2, ["remote"])
