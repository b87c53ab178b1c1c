"""Settings and messages that the long-running commands share."""

from __future__ import annotations

import logging

import typer

from jobmill.cli.support import environment
from jobmill.cli.support.output import format_count
from jobmill.db import Database, redact_passwords
from jobmill.queue import Stages
from jobmill.settings import Settings


def load_quiet_settings() -> Settings:
    """Load the settings, and silence libraries that log every connection and start."""
    settings = environment.load_settings()
    for name in ("psycopg.pool", "uvicorn"):
        logging.getLogger(name).setLevel(logging.WARNING)
    return settings


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
