"""/settings: the basics to edit, the model keys, and all settings with where each value comes from."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from pydantic import SecretStr

from jobmill import settings
from jobmill.db import Tx, redact_passwords
from jobmill.errors import AppError, Invalid
from jobmill.outside.model_check import ModelTrial
from jobmill.outside.model_endpoint import KEY_VARIABLES
from jobmill.people import model_keys, stored_settings
from jobmill.settings import PREFIX, Settings
from jobmill.web import html_errors
from jobmill.web.auth import Admin
from jobmill.web.page_query import ShortText
from jobmill.web.pages.settings import basics_form
from jobmill.web.shell import Page, PageRenderer
from jobmill.web.site_settings import SiteSettings
from jobmill.web.translations import say

router = APIRouter(prefix="/settings")

URL_PASSWORD = re.compile(r"(?<=://)[^/@\s]*@")


class SettingRow(NamedTuple):
    name: str
    value: str
    origin: str
    """`default`, a variable, a line of a file, or this page."""
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
            "smtp_", "mail_", "letters_", "time_zone", "fold_", "applications_", "confirm_", "proof_",
        ),
        say("Log"): ("log_",),
        say("Website reports"): ("report_",),
    }  # fmt: skip


class SettingSources(NamedTuple):
    """What the environment and the file say now, which may differ from the running process."""

    settings: Settings
    origins: Mapping[str, str]
    error: str = ""


def read_sources() -> SettingSources:
    try:
        return SettingSources(*settings.load())
    except Invalid as problem:
        return SettingSources(Settings(), {}, str(problem))


@dataclass(frozen=True, slots=True)
class SettingsFeedback:
    """What the page says about the last action."""

    did: str = ""
    error: AppError | None = None
    typed: Mapping[str, str] = field(default_factory=dict[str, str])
    trials: Sequence[ModelTrial] = ()


class ModelKeyRow(NamedTuple):
    provider: str
    variable: str
    is_in_environment: bool
    stored_at: dt.datetime | None


@router.get("")
async def show(visitor: Admin, page: Page, did: ShortText = "") -> HTMLResponse:
    return await render(page, SettingsFeedback(did))


async def render(page: PageRenderer, feedback: SettingsFeedback) -> HTMLResponse:
    sources = read_sources()
    async with page.db.transaction() as tx:
        stored = await stored_settings.read_all(tx)
        keys = await read_model_keys(tx, page.site_settings.environ)
        current = await page.site_settings.with_stored(tx)
    after_restart = (
        current.settings if sources.error else stored_settings.merge(sources.settings, stored)
    )
    kept = _find_replaced(page.site_settings, sources.settings) - stored.keys()
    rows = _rows(current.settings, after_restart, sources.origins, stored, kept)
    return page(
        "settings/page.html",
        html_errors.status_code(feedback.error) if feedback.error else 200,
        groups=_group(rows),
        basics=basics_form.make_fields(
            sources.origins, {row.name: row.value for row in rows}, stored, feedback.typed
        ),
        keys=keys,
        error=sources.error,
        feedback=feedback,
        notice=_notices().get(feedback.did, ""),
        file=None if sources.error else settings.find_file(),
        places=settings.search_paths(),
        set_count=sum(row.is_set for row in rows),
        count=len(rows),
        restart_names=[row.name for row in rows if row.next_value is not None],
        models=current.tiers,
        has_models=any(tier.missing is None for tier in current.tiers),
    )


def _notices() -> Mapping[str, str]:
    return {
        "saved": say("Settings saved."),
        "same": say("No changes."),
        "key": say("Key saved. Running workers use it within a few seconds."),
        "key-removed": say("Key removed."),
    }


async def read_model_keys(tx: Tx, environ: Mapping[str, str]) -> list[ModelKeyRow]:
    stored = {key.variable: key.changed_at for key in await model_keys.find_all(tx)}
    titles = {"anthropic": "Anthropic", "openai": "OpenAI"}
    return [
        ModelKeyRow(titles[provider], variable, bool(environ.get(variable)), stored.get(variable))
        for provider, variable in KEY_VARIABLES.items()
    ]


def _find_replaced(site_settings: SiteSettings, now: Settings) -> set[str]:
    """Settings that the command line or a demo has replaced, and that have not changed since."""
    at_start = site_settings.at_start or site_settings.settings
    return {
        name
        for name in Settings.model_fields
        if getattr(at_start, name) == getattr(now, name)
        and getattr(at_start, name) != getattr(site_settings.settings, name)
    }


def _rows(
    current: Settings,
    after_restart: Settings,
    origins: Mapping[str, str],
    stored: Mapping[str, str],
    kept: Collection[str],
) -> list[SettingRow]:
    rows: list[SettingRow] = []
    for name in Settings.model_fields:
        value = format_value(name, getattr(current, name))
        next_value = format_value(name, getattr(after_restart, name))
        rows.append(
            SettingRow(
                name,
                value,
                _origin(origins.get(name, "default"), is_stored=name in stored),
                basics_form.describe_setting(name),
                settings.describe_allowed(name),
                next_value if next_value != value and name not in kept else None,
            )
        )
    return rows


def _origin(origin: str, *, is_stored: bool) -> str:
    return say("saved on this page") if origin == "default" and is_stored else origin


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
