"""The settings that can be changed on the page, as form fields."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple, get_args, get_origin

from jobmill.people.stored_settings import EDITABLE, LIVE_PREFIXES
from jobmill.settings import Settings
from jobmill.web.translations import say


class SettingField(NamedTuple):
    name: str
    label: str
    description: str
    value: str
    """What the field shows: what was typed, else the stored value; empty means the default."""
    seen: str
    """The stored value when the page was made."""
    default: str
    choices: Sequence[str]
    """Empty for a text field."""
    fixed_by: str
    """The variable or the line that sets it, which overrides the page; empty if nothing does."""
    fixed_value: str
    needs_restart: bool


def labels() -> Mapping[str, str]:
    return {
        "model_cheap": say("Model for reading text"),
        "model_strong": say("Model for reviewing matches"),
        "company_model": say("Model for company pages"),
        "budget_call": say("Budget per call ($)"),
        "budget_run": say("Budget per task ($)"),
        "budget_day": say("Budget per day ($)"),
        "budget_month": say("Budget per month ($)"),
        "budget_spent_out": say("When the budget is spent"),
        "contact": say("Contact for site operators"),
        "rotation_calls_per_day": say("Sources to read per day"),
        "processors": say("Parallel tasks per step"),
        "keep_finished_days": say("Days to keep finished tasks"),
        "keep_closed_days": say("Days to keep closed jobs"),
        "session_idle_hours": say("Hours of inactivity before sign-out"),
        "public_url": say("Public address of this site"),
        "mail_from": say("Sender of messages"),
    }


def make_fields(
    origins: Mapping[str, str],
    values: Mapping[str, str],
    stored: Mapping[str, str],
    typed: Mapping[str, str],
) -> list[SettingField]:
    """`origins` and `values` are those of the environment, the file and the defaults."""
    names = labels()
    return [
        SettingField(
            name,
            names[name],
            describe_setting(name),
            typed.get(name, stored.get(name, "")),
            stored.get(name, ""),
            _plain_default(name),
            _choices(name),
            "" if origins.get(name, "default") == "default" else origins[name],
            values.get(name, ""),
            not name.startswith(LIVE_PREFIXES),
        )
        for name in EDITABLE
    ]


def describe_setting(name: str) -> str:
    """Its description as plain text on one line."""
    description = Settings.model_fields[name].description or ""
    return " ".join(description.split()).replace("`", "")


def read_changes(form: Mapping[str, str], origins: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """The seen and the typed value of each changed field; fields that something else sets are left out."""
    return {
        name: (form.get(f"seen:{name}", ""), form[name])
        for name in EDITABLE
        if name in form
        and origins.get(name, "default") == "default"
        and form[name].strip() != form.get(f"seen:{name}", "")
    }


def _plain_default(name: str) -> str:
    default = Settings.model_fields[name].default
    return f"{default:g}" if isinstance(default, float) else str(default)


def _choices(name: str) -> Sequence[str]:
    annotation = Settings.model_fields[name].annotation
    return get_args(annotation) if get_origin(annotation) is Literal else ()
