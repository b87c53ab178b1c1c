"""/settings: all settings, their values and where each value comes from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from pydantic import SecretStr

from jobmill import settings
from jobmill.db import redact_passwords
from jobmill.errors import Invalid
from jobmill.settings import PREFIX, Settings
from jobmill.web.auth import Admin
from jobmill.web.shell import Page
from jobmill.web.site_settings import CurrentSiteSettings
from jobmill.web.translations import say

router = APIRouter(prefix="/settings")

URL_PASSWORD = re.compile(r"(?<=://)[^/@\s]*@")


class SettingRow(NamedTuple):
    name: str
    value: str
    origin: str
    """`default`, a variable, or a line of a file."""
    description: str
    accepts: str
    next_value: str | None
    """The value after a restart, if it differs."""

    @property
    def variable(self) -> str:
        return PREFIX + self.name.upper()

    @property
    def is_set(self) -> bool:
        return self.origin != "default"


class SettingGroup(NamedTuple):
    name: str
    settings: Sequence[SettingRow]


def groups() -> Mapping[str, Sequence[str]]:
    """Prefixes of setting names by group; other settings form the last group."""
    return {
        say("Database"): ("database_", "data_dir", "postgres_"),
        say("Website and people"): ("web_", "session_", "trusted_", "public_"),
        say("Queue and workers"): (
            "poll_", "processors", "start_rate", "queue_", "max_retries", "max_spawn", "run_limit", "keep_",
        ),
        say("Rotation"): ("rotation_", "max_company", "max_search", "greenhouse_", "lever_"),
        say("Requests to other sites"): ("user_agent", "contact", "host_", "private_", "chromium"),
        say("Language models and budget"): ("model_", "company_model", "anthropic_", "openai_", "ollama_", "budget_"),
        say("Email and applications"): (
            "smtp_", "mail_", "letters_", "fold_", "applications_", "confirm_", "proof_",
        ),
        say("Log"): ("log_",),
        say("Website reports"): ("report_",),
    }  # fmt: skip


@router.get("")
async def show(visitor: Admin, page: Page, site_settings: CurrentSiteSettings) -> HTMLResponse:
    current = site_settings.settings
    try:
        (after_restart, origins), error = settings.load(), ""
    except Invalid as problem:
        after_restart, origins, error = current, {}, str(problem)
    rows = _rows(current, after_restart, origins)
    return page(
        "settings/page.html",
        groups=_group(rows),
        error=error,
        file=None if error else settings.find_file(),
        places=settings.search_paths(),
        set_count=sum(row.is_set for row in rows),
        count=len(rows),
        models=site_settings.seats,
    )


def _rows(
    current: Settings, after_restart: Settings, origins: Mapping[str, str]
) -> list[SettingRow]:
    rows: list[SettingRow] = []
    for name, field in Settings.model_fields.items():
        value = format_value(name, getattr(current, name))
        next_value = format_value(name, getattr(after_restart, name))
        rows.append(
            SettingRow(
                name,
                value,
                origins.get(name, "default"),
                " ".join((field.description or "").split()),
                settings.describe_allowed(name),
                next_value if next_value != value else None,
            )
        )
    return rows


def format_value(name: str, value: Any) -> str:
    """A value as it may be shown: without secrets and passwords in URLs."""
    if isinstance(value, SecretStr):
        return say("set, hidden") if value.get_secret_value() else ""
    if name in settings.CONNECTION_STRINGS:
        return redact_passwords(value) if value else ""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={item}" for key, item in value.items())  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else URL_PASSWORD.sub("…@", str(value))


def _group(rows: Sequence[SettingRow]) -> list[SettingGroup]:
    remaining = list(rows)
    result: list[SettingGroup] = []
    for name, prefixes in groups().items():
        members = [row for row in remaining if row.name.startswith(tuple(prefixes))]
        remaining = [row for row in remaining if row not in members]
        result.append(SettingGroup(name, members))
    return [*result, *([SettingGroup(say("Other"), remaining)] if remaining else [])]
