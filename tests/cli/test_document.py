"""`jobmill document`."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import subprocess
from pathlib import Path
from typing import Any

from jobmill.db import Database
from jobmill.matching import matches
from tests.catalog import helpers
from tests.cli import forked
from tests.documents.samples import POSTING, make_profile
from tests.matching import judged


async def test_a_document_is_written_listed_exported_frozen_and_queued(
    home: Path, url: str, database: Database
) -> None:
    variables = {"HOME": str(home), "PATH": os.environ["PATH"], "USER": "dana", "DATABASE_URL": forked.as_url(url)}  # fmt: skip

    async def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        return await asyncio.to_thread(
            forked.jobmill, "document", *arguments, stdin="", folder=home, variables=variables
        )

    async def record(*arguments: object) -> dict[str, Any]:
        done = await run(*arguments, "--json")
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    assert "jobmill document write MATCH" in (await run("list")).stdout
    async with database.transaction() as tx:
        posting = helpers.posting(1, POSTING.title, description=POSTING.description)
        place = await judged.make(tx, postings=[posting], profile=make_profile())
        match_id = await matches.save_verdict(tx, place.word(90, place.listing))
    written = await record("write", match_id, "--template", "modern")
    assert (written["version"], written["pages"], written["kind"]) == (1, 1, "resume")
    changed = await record("write", match_id, "--paper", "us-letter")
    assert (changed["id"], changed["version"]) == (written["id"], 2)
    exported = await run("export", written["id"], "--out", home / "cv.pdf")
    assert exported.returncode == 0, exported.stderr
    sent = await record("sent", written["id"])
    assert sent["sha256"] == hashlib.sha256((home / "cv.pdf").read_bytes()).hexdigest()
    assert await record("best") == {"queued": 1, "refused": 0}
    missing = await run("export", 999)
    assert (missing.returncode, "jobmill document list" in missing.stderr) == (3, True)
