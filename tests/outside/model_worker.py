"""A process that asks a model repeatedly until the budget is spent."""

from __future__ import annotations

import asyncio
import urllib.request

from pydantic import BaseModel

from jobmill.db import connect
from jobmill.outside.model import open_model
from jobmill.outside.model_question import ModelBlocked, ModelQuestion
from jobmill.settings import Settings


class JobTitle(BaseModel):
    title: str


async def main(url: str, server: str, name: str, day: float, tokens: int) -> None:
    settings = Settings(anthropic_base_url=server, budget_day=day)
    async with (
        connect(url, size=2) as database,
        open_model(database, settings, {"ANTHROPIC_API_KEY": "sk-worker"}) as model,
    ):
        # All processes start when the last one is ready.
        await asyncio.to_thread(urllib.request.urlopen, f"{server}/go")
        for number in range(1_000):
            text = f"{name} {number}"
            got = await model(ModelQuestion("strong", "race", "Read.", text, JobTitle, "1", tokens))
            if isinstance(got, ModelBlocked) and got.reason == "spent_out":
                return
            if isinstance(got, ModelBlocked):
                await asyncio.sleep(0.02)


def run(url: str, server: str, name: str, day: float, tokens: int) -> None:
    """The whole process."""
    asyncio.run(main(url, server, name, day, tokens))
