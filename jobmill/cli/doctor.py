"""jobmill doctor: check what could keep Jobmill from working here, and tell how to fix it."""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import shutil
import socket
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import typer

from jobmill.cli.support import environment, hints, output
from jobmill.cli.support.output import AsJson
from jobmill.db import binaries, connect, state
from jobmill.db.state import DatabaseState
from jobmill.errors import AppError
from jobmill.hiring.messages import letters
from jobmill.outside import mail, model_tiers
from jobmill.outside.browser import find_browser
from jobmill.people import model_keys
from jobmill.settings import Settings
from jobmill.web import system_health
from jobmill.web.system_health import LOW_SPACE, SCARCE_SPACE, SystemHealth

MIN_PYTHON = (3, 11)
MAX_CLOCK_SKEW = dt.timedelta(seconds=5)


@dataclass(frozen=True)
class Diagnosis:
    result: Literal["ok", "warn", "fail"]
    subject: str
    finding: str
    advice: str = ""


def doctor(as_json: AsJson = False) -> None:
    """Check this installation; exit code 1 if something keeps Jobmill from working."""
    checks = list(examine())
    output.print_table(checks, as_json=as_json)
    if any(check.result == "fail" for check in checks):
        raise typer.Exit(1)


def examine() -> Iterator[Diagnosis]:
    """Run all checks; each may depend on the ones before it."""
    yield check_python()
    try:
        settings = environment.load_settings()
    except AppError as error:
        yield Diagnosis(
            "fail", "settings", str(error), "correct it; `jobmill config check` shows details"
        )
        return
    yield Diagnosis("ok", "settings", "valid")
    if not settings.database_url:
        yield from _check_local_server(settings)
    yield from _check_database(settings)
    if settings.database_pooler == "transaction":
        yield check_pooler(settings)
    yield check_port(settings)
    yield check_contact(settings)
    yield check_browser(settings)
    yield check_models(settings)
    yield check_mail(settings)


def check_mail(settings: Settings) -> Diagnosis:
    try:
        letters.check_templates(settings.letters_dir)
    except AppError as error:
        return Diagnosis("fail", "letters", str(error))
    missing = mail.missing_setting(settings)
    if missing:
        text = f"no email to applicants, addresses are not verified: {missing}"
        advice = "if you have openings, see docs/how-to/notify-applicants.md"
        return Diagnosis("ok", "mail", text, advice)
    confirms = "" if settings.confirm_address == "off" else " and confirm their address"
    test = "to test it: jobmill config test-mail ADDRESS"
    return Diagnosis("ok", "mail", f"applicants get email{confirms}", test)


def check_python() -> Diagnosis:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < MIN_PYTHON:
        return Diagnosis("fail", "Python", version, "install Python 3.11 or newer")
    return Diagnosis("ok", "Python", version)


def _check_local_server(settings: Settings) -> Iterator[Diagnosis]:
    yield check_programs(settings)
    folder = nearest_existing(settings.data_dir)
    yield check_rights(settings.data_dir, folder)
    yield check_space(shutil.disk_usage(folder).free)


def check_programs(settings: Settings) -> Diagnosis:
    try:
        folder = binaries.find_folder(settings.postgres_bin)
        version = binaries.read_version(folder)
    except AppError as error:
        return Diagnosis("fail", "PostgreSQL programs", str(error))
    return check_patches("PostgreSQL programs", version, f"version {version} in {folder}")


def check_patches(subject: str, version: str, text: str) -> Diagnosis:
    """Warn about a PostgreSQL that lacks security fixes."""
    if patched := state.find_missing_patch(version):
        advice = f"upgrade to PostgreSQL {patched}; see docs/how-to/update-postgresql.md"
        return Diagnosis("warn", subject, f"{text}, which lacks security fixes", advice)
    return Diagnosis("ok", subject, text)


def nearest_existing(path: Path) -> Path:
    return next(folder for folder in (path, *path.parents) if folder.exists())


def check_rights(data_dir: Path, folder: Path) -> Diagnosis:
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        advice = "make it writable for this user, or set data_dir"
        return Diagnosis("fail", "data folder", f"{folder} is not a writable folder", advice)
    if folder != data_dir:
        return Diagnosis("ok", "data folder", f"{data_dir} will be created at the first start")
    if folder.stat().st_mode & 0o022:
        return Diagnosis(
            "warn", "data folder", f"other users can write to {folder}", f"chmod go-w {folder}"
        )
    return Diagnosis("ok", "data folder", str(folder))


def check_space(free: int) -> Diagnosis:
    result = "fail" if free < SCARCE_SPACE else "warn" if free < LOW_SPACE else "ok"
    advice = "" if result == "ok" else "free some space, or set data_dir to a larger disk"
    return Diagnosis(result, "free space", output.format_size(free), advice)


def _check_database(settings: Settings) -> Iterator[Diagnosis]:
    with ExitStack() as stack:
        try:
            url = stack.enter_context(environment.running_server(settings))
            before = dt.datetime.now(dt.UTC)
            database_state = asyncio.run(state.read_state(url))
        except AppError as error:
            pooled = settings.database_pooler == "transaction"
            name = "database_direct_url" if pooled else "DATABASE_URL"
            advice = f"check {name} and the server" if settings.database_url else ""
            yield Diagnosis("fail", "database", str(error), advice)
            return
        yield check_version(database_state, direct=bool(settings.database_direct_url))
        yield check_migrations(database_state)
        yield check_clock(database_state, before, dt.datetime.now(dt.UTC))
        if not database_state.pending and not database_state.unknown:
            yield check_keys(asyncio.run(_read_keys(url)))
            yield describe_health(asyncio.run(_read_health(url, settings)))


async def _read_keys(url: str) -> dict[str, str]:
    async with connect(url) as database, database.transaction() as tx:
        return await model_keys.with_stored_keys(tx, {})


def check_keys(keys: Mapping[str, str]) -> Diagnosis:
    """Keys cannot be decrypted after a restore without the table of the signing key."""
    unreadable = [variable for variable, key in keys.items() if not key]
    if unreadable:
        text = f"cannot be decrypted: {', '.join(unreadable)}"
        return Diagnosis("warn", "stored keys", text, "paste them again on the Settings page")
    return Diagnosis("ok", "stored keys", ", ".join(keys) or "none")


async def _read_health(url: str, settings: Settings) -> SystemHealth:
    """The same conditions as on the page Health, without the ones that are checked above."""
    sends_mail = mail.missing_setting(settings) is None
    async with connect(url) as database, database.transaction() as tx:
        facts = await system_health.read_facts(tx, sends_mail=sends_mail)
    return system_health.assess(facts)


def describe_health(health: SystemHealth) -> Diagnosis:
    """Conditions never fail this check: workers may be stopped on purpose."""
    if not health.conditions:
        return Diagnosis("ok", "health", health.summary)
    sentences = "; ".join(condition.sentence for condition in health.conditions)
    advice = "; ".join(
        hints.add_next_command(condition.advice)
        for condition in health.conditions
        if condition.advice
    )
    return Diagnosis("warn", "health", f"{health.summary}: {sentences}", advice)


def check_pooler(settings: Settings) -> Diagnosis:
    pooler_url, direct_url = settings.database_url, settings.database_direct_url
    try:
        same = asyncio.run(state.is_same_database(pooler_url, direct_url))
    except AppError as error:
        advice = "check database_url, the pooler and its pool_mode"
        return Diagnosis("fail", "connection pooler", str(error), advice)
    if same is False:
        text = "database_url and database_direct_url reach different databases"
        advice = "make both name the same database of the same server"
        return Diagnosis("fail", "connection pooler", text, advice)
    detail = ", and reaches the same database as database_direct_url" if same else ""
    return Diagnosis("ok", "connection pooler", f"answers at database_url{detail}")


def check_version(database_state: DatabaseState, *, direct: bool = False) -> Diagnosis:
    if database_state.facts.major < state.MIN_MAJOR_VERSION:
        advice = f"upgrade to PostgreSQL {state.MIN_MAJOR_VERSION} or newer"
        return Diagnosis("fail", "database", f"PostgreSQL {database_state.facts.version}", advice)
    where = " at database_direct_url" if direct else ""
    version = database_state.facts.version
    return check_patches("database", version, f"PostgreSQL {version} answers{where}")


def check_migrations(database_state: DatabaseState) -> Diagnosis:
    if database_state.unknown:
        text = f"created by a newer Jobmill ({database_state.unknown[-1]})"
        return Diagnosis("fail", "migrations", text, "upgrade Jobmill, or restore an older backup")
    if database_state.pending:
        text = f"{len(database_state.pending)} pending; applied at the next start"
        return Diagnosis("ok" if not database_state.applied else "warn", "migrations", text)
    return Diagnosis("ok", "migrations", "up to date")


def check_clock(
    database_state: DatabaseState, before: dt.datetime, after: dt.datetime
) -> Diagnosis:
    """Compare the server's clock with ours before and after the query."""
    early, late = before - database_state.facts.clock, database_state.facts.clock - after
    skew = max(early, late, dt.timedelta(0))
    if skew > MAX_CLOCK_SKEW:
        text = f"the server's clock differs from ours by {skew.total_seconds():.0f} s"
        return Diagnosis("warn", "clock", text, "synchronize both with NTP")
    return Diagnosis("ok", "clock", "the server's clock agrees with ours")


def check_port(settings: Settings) -> Diagnosis:
    host, port = settings.web_host, settings.web_port
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        advice = "unless this is Jobmill itself, set web_host or web_port"
        return Diagnosis("warn", "web address", f"{host}:{port}: {error.strerror}", advice)
    return Diagnosis("ok", "web address", f"{host}:{port} is free")


def check_contact(settings: Settings) -> Diagnosis:
    if settings.contact:
        return Diagnosis("ok", "contact", settings.contact)
    advice = "set contact to your website or email address"
    return Diagnosis("warn", "contact", "sites cannot see who runs this Jobmill", advice)


def check_browser(settings: Settings) -> Diagnosis:
    browser = find_browser(settings.chromium)
    if browser:
        return Diagnosis("ok", "browser", browser)
    advice = "install Chromium, or set chromium to its path"
    return Diagnosis("warn", "browser", "none: pages that need JavaScript cannot be read", advice)


def check_models(settings: Settings) -> Diagnosis:
    """Tell which mode is active. Models are optional, so this never fails."""
    tiers = model_tiers.find_tiers(settings, os.environ)
    missing = [f"{tier.tier}: {tier.missing}" for tier in tiers if tier.missing is not None]
    advice = f"{'; '.join(missing)}; keys saved on the Settings page: `jobmill setup check-model`"
    return Diagnosis("ok", "models", model_tiers.describe_mode(tiers), advice if missing else "")
