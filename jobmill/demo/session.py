"""What runs while the demo is on: its sites, its clock, and settings that point to them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pydantic import SecretStr

from jobmill.db import Database
from jobmill.settings import Settings

from . import server, setup
from .simulation import DemoSimulation

INTERVAL = 0.05
"""Seconds between two calls to a host; only the demo's own server is called."""


@dataclass(frozen=True, slots=True)
class DemoSession:
    settings: Settings
    clock: DemoSimulation | None
    """None if the database holds no demo."""


@asynccontextmanager
async def open_session(settings: Settings, database: Database) -> AsyncGenerator[DemoSession]:
    """Serve the demo of this database, if there is one, and return the settings to use."""
    async with database.transaction() as tx:
        world = await setup.read_world(tx)
    if world is None:
        yield DemoSession(settings, None)
        return
    async with server.open_server(world) as sites:
        yield DemoSession(demo_settings(settings, sites.port), DemoSimulation(database))


def demo_settings(settings: Settings, port: int) -> Settings:
    """Settings that keep everything on this machine: all hosts resolve to the demo's server, no
    model is called, and no letter is sent."""
    return settings.model_copy(
        update={
            "host_overrides": {**server.host_overrides(port), **settings.host_overrides},
            "host_interval_seconds": min(INTERVAL, settings.host_interval_seconds),
            "model_cheap": "none",
            "model_strong": "none",
            "smtp_url": SecretStr(""),
        }
    )
