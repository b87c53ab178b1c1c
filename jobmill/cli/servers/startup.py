"""Settings and messages that the long-running commands share."""

from __future__ import annotations

import logging

import typer

from jobmill.cli.support import environment
from jobmill.cli.support.output import format_count
from jobmill.db import Database, redact_passwords
from jobmill.queue import Stages, item_log, status_log
from jobmill.settings import Settings, load


def load_quiet_settings() -> Settings:
    """Load the settings, and silence libraries that log every connection and start."""
    settings = environment.load_settings()
    _silence("psycopg.pool", "uvicorn")
    return settings


def hide_routine_lines() -> None:
    """Hide the log lines about each item, which are for services: `up` runs in a person's terminal.

    A log level that was set on purpose counts."""
    _, origins = load()
    if origins["log_level"] == "default":
        _silence(item_log.__name__, status_log.__name__)


def _silence(*names: str) -> None:
    for name in names:
        logging.getLogger(name).setLevel(logging.WARNING)


def print_startup(**facts: str) -> None:
    typer.echo("Jobmill is running.")
    for name, text in facts.items():
        typer.echo(f"  {name:<10}{text}")


def describe_database(settings: Settings, database: Database) -> str:
    url = redact_passwords(database.url)
    if settings.database_pooler == "transaction":
        return f"{url}; web pages through {redact_passwords(settings.database_url)}"
    if settings.database_url:
        return url
    return f"bundled PostgreSQL in {settings.data_dir / 'postgres'}"


def describe_stages(stages: Stages) -> str:
    processors = sum(stage.processors for stage in stages.values())
    few = len(stages) <= 3
    names = dict.fromkeys("/".join(phase) if few else phase[0] for phase in stages)
    phases = format_count(len(stages), "phase")
    return f"{', '.join(names)}: {phases}, {format_count(processors, 'processor')}"
