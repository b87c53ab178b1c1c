"""/settings: everything that an operator can set, what it is, and where that comes from."""

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

PASSWORD = re.compile(r"(?<=://)[^/@\s]*@")


class Setting(NamedTuple):
    name: str
    value: str
    origin: str
    """`default`, a variable, or a line of a file."""
    about: str
    accepts: str
    next: str | None
    """What it becomes at the next start, if that is something else."""

    @property
    def variable(self) -> str:
        return PREFIX + self.name.upper()

    @property
    def is_set(self) -> bool:
        return self.origin != "default"


class Group(NamedTuple):
    name: str
    settings: Sequence[Setting]


def groups() -> Mapping[str, Sequence[str]]:
    """Each setting by the beginning of its name; what fits nowhere stands at the end."""
    return {
        say("Database"): ("database_", "data_dir", "postgres_"),
        say("Web pages and people"): ("web_", "trusted_", "public_"),
        say("Queue and workers"): ("poll_", "processors", "queue_", "max_retries", "max_spawn", "run_limit", "keep_"),
        say("Rotation"): ("rotation_", "max_company", "max_search", "greenhouse_", "lever_"),
        say("Asking other sites"): ("user_agent", "contact", "host_", "private_", "stand_ins", "chromium"),
        say("Models and budget"): ("model_", "company_model", "anthropic_", "openai_", "ollama_", "budget_"),
        say("Letters and applications"): ("smtp_", "mail_", "letters_", "fold_", "applications_"),
        say("Log"): ("log_",),
    }  # fmt: skip


@router.get("")
async def show(visitor: Admin, page: Page, site_settings: CurrentSiteSettings) -> HTMLResponse:
    try:
        coming, origins = settings.load()
        error = ""
    except Invalid as trouble:
        coming, origins, error = site_settings.settings, {}, str(trouble)
    found = _all(site_settings.settings, coming, origins)
    return page(
        "settings/page.html",
        groups=_grouped(found),
        error=error,
        file=None if error else settings.find_file(),
        places=settings.search_paths(),
        set=sum(one.is_set for one in found),
        count=len(found),
        seats=site_settings.seats,
    )


def _all(now: Settings, coming: Settings, origins: Mapping[str, str]) -> list[Setting]:
    found: list[Setting] = []
    for name, field in Settings.model_fields.items():
        value, later = say_value(name, getattr(now, name)), say_value(name, getattr(coming, name))
        about = " ".join((field.description or "").split())
        origin, accepts = origins.get(name, "default"), settings.describe_allowed(name)
        found.append(
            Setting(name, value, origin, about, accepts, later if later != value else None)
        )
    return found


def say_value(name: str, value: Any) -> str:
    """A value as it may be shown: no secret, and no password inside of a URL."""
    if isinstance(value, SecretStr):
        return say("set, and hidden") if value.get_secret_value() else ""
    if name in settings.CONNECTION_STRINGS:
        return redact_passwords(value) if value else ""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}={one}" for key, one in value.items())  # pyright: ignore[reportUnknownVariableType]
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else PASSWORD.sub("…@", str(value))


def _grouped(found: Sequence[Setting]) -> list[Group]:
    left = list(found)
    made: list[Group] = []
    for name, beginnings in groups().items():
        these = [one for one in left if one.name.startswith(tuple(beginnings))]
        left = [one for one in left if one not in these]
        made.append(Group(name, these))
    return [*made, *([Group(say("Other"), left)] if left else [])]
