"""The models, budgets and keys that count now: the environment, the settings file, then what an admin
saved on the Settings page."""

from __future__ import annotations

import os
from collections.abc import Mapping

from jobmill.db import Tx
from jobmill.outside.model import ModelConfiguration, ReadConfiguration
from jobmill.people import model_keys, stored_settings
from jobmill.settings import Settings


async def read_configuration(
    tx: Tx, settings: Settings, environ: Mapping[str, str]
) -> ModelConfiguration:
    return ModelConfiguration(
        await stored_settings.apply(tx, settings), await model_keys.with_stored_keys(tx, environ)
    )


def configuration_reader(settings: Settings) -> ReadConfiguration:
    """For a process that runs on while admins save settings."""

    async def read(tx: Tx) -> ModelConfiguration:
        return await read_configuration(tx, settings, os.environ)

    return read
