"""Open what stages use: the network and the models, or their stand-ins while the demo is on."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from jobmill.cli.support import environment
from jobmill.db import Database
from jobmill.demo import session
from jobmill.demo.session import DemoSession
from jobmill.outside.fetch import open_fetch
from jobmill.outside.model import open_model
from jobmill.pipelines.model_configuration import configuration_reader
from jobmill.settings import Settings
from jobmill.tools import Tools


@asynccontextmanager
async def open_tools(
    settings: Settings, database: Database
) -> AsyncGenerator[tuple[DemoSession, Tools]]:
    """The tools, with the settings that an admin saved and those of the demo."""
    stored = await environment.apply_stored_settings(settings, database)
    async with session.open_session(stored, database) as demo:
        reader = configuration_reader(demo.settings)
        async with (
            open_fetch(database, demo.settings) as fetch,
            open_model(database, demo.settings, read_configuration=reader) as model,
        ):
            yield demo, Tools(database, fetch, model)
