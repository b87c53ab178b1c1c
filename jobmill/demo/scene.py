"""What runs where the demo is on: its sites, its life, and settings that lead to them alone."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pydantic import SecretStr

from jobmill.db import Database
from jobmill.demo import seeds, server
from jobmill.demo.life import Life
from jobmill.settings import Settings

INTERVAL = 0.05
"""Seconds between two calls to a host: nobody else is bothered by them."""


@dataclass(frozen=True, slots=True)
class Scene:
    settings: Settings
    life: Life | None
    """None where the database holds no demo."""


@asynccontextmanager
async def staged(settings: Settings, database: Database) -> AsyncGenerator[Scene]:
    """Serve the world of this database, if it holds one, and say with which settings to work in it."""
    async with database.transaction() as tx:
        world = await seeds.find(tx)
    if world is None:
        yield Scene(settings, None)
        return
    async with server.open_server(world) as sites:
        yield Scene(adjusted(settings, sites.port), Life(database))


def adjusted(settings: Settings, port: int) -> Settings:
    """Settings by which nothing leaves this machine and nothing is paid for: all hosts are the
    world's, no model is asked, and no letter is sent."""
    return settings.model_copy(
        update={
            "stand_ins": {**server.stand_ins(port), **settings.stand_ins},
            "host_interval_seconds": min(INTERVAL, settings.host_interval_seconds),
            "model_cheap": "none",
            "model_strong": "none",
            "smtp_url": SecretStr(""),
        }
    )
