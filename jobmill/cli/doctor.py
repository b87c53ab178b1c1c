"""jobmill doctor: what could keep Jobmill from working here, and how to mend it."""

from __future__ import annotations

import asyncio
import datetime as dt
import os
import shutil
import socket
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import typer

from jobmill.cli.support import environment, output
from jobmill.cli.support.output import AsJson
from jobmill.db import binaries, state
from jobmill.db.state import DatabaseState
from jobmill.errors import AppError
from jobmill.hiring.messages import letters
from jobmill.outside import mail, model_tiers
from jobmill.outside.browser import find_browser
from jobmill.settings import Settings

OLDEST_PYTHON = (3, 11)
MUCH_SKEW = dt.timedelta(seconds=5)
GB = 10**9


@dataclass(frozen=True)
class Check:
    result: Literal["ok", "warn", "fail"]
    about: str
    found: str
    mend: str = ""


def doctor(as_json: AsJson = False) -> None:
    """Look for what could keep Jobmill from working here; exit code 1 if there is something."""
    checks = list(examine())
    output.print_table(checks, as_json=as_json)
    if any(check.result == "fail" for check in checks):
        raise typer.Exit(1)


def examine() -> Iterator[Check]:
    """All checks, in the order in which one depends on the other."""
    yield check_python()
    try:
        settings = environment.load_settings()
    except AppError as error:
        yield Check("fail", "settings", str(error), "correct it; `jobmill config check` tells more")
        return
    yield Check("ok", "settings", "all known and right")
    if not settings.database_url:
        yield from _local(settings)
    yield from _database(settings)
    if settings.database_pooler == "transaction":
        yield check_pooler(settings)
    yield check_port(settings)
    yield check_contact(settings)
    yield check_browser(settings)
    yield check_models(settings)
    yield check_mail(settings)


def check_mail(settings: Settings) -> Check:
    try:
        letters.check_templates(settings.letters_dir)
    except AppError as error:
        return Check("fail", "letters", str(error))
    missing = mail.missing_setting(settings)
    if missing:
        return Check("ok", "mail", f"applicants get no mail: {missing}")
    return Check("ok", "mail", "applicants are written to")


def check_python() -> Check:
    found = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < OLDEST_PYTHON:
        return Check("fail", "Python", found, "install Python 3.11 or newer")
    return Check("ok", "Python", found)


def _local(settings: Settings) -> Iterator[Check]:
    yield check_programs(settings)
    folder = _nearest(settings.data_dir)
    yield check_rights(settings.data_dir, folder)
    yield check_space(shutil.disk_usage(folder).free)


def check_programs(settings: Settings) -> Check:
    try:
        folder = binaries.find_folder(settings.postgres_bin)
        version = binaries.read_major_version(folder)
    except AppError as error:
        return Check("fail", "PostgreSQL programs", str(error))
    return Check("ok", "PostgreSQL programs", f"version {version} in {folder}")


def _nearest(path: Path) -> Path:
    return next(folder for folder in (path, *path.parents) if folder.exists())


def check_rights(wanted: Path, folder: Path) -> Check:
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        mend = "give this user the right to write there, or set data_dir"
        return Check("fail", "data folder", f"{folder} is not a folder we can write in", mend)
    if folder != wanted:
        return Check("ok", "data folder", f"{wanted} will be made at the first start")
    if folder.stat().st_mode & 0o022:
        return Check("warn", "data folder", f"others may write in {folder}", f"chmod go-w {folder}")
    return Check("ok", "data folder", str(folder))


def check_space(free: int) -> Check:
    result = "fail" if free < GB else "warn" if free < 5 * GB else "ok"
    mend = "" if result == "ok" else "free some space, or set data_dir to a larger disk"
    return Check(result, "free space", output.format_size(free), mend)


def _database(settings: Settings) -> Iterator[Check]:
    with ExitStack() as stack:
        try:
            url = stack.enter_context(environment.running_server(settings))
            asked_at = dt.datetime.now(dt.UTC)
            found = asyncio.run(state.read_state(url))
        except AppError as error:
            pooled = settings.database_pooler == "transaction"
            name = "database_direct_url" if pooled else "DATABASE_URL"
            mend = f"check {name} and the server" if settings.database_url else ""
            yield Check("fail", "database", str(error), mend)
            return
        yield check_version(found, direct=bool(settings.database_direct_url))
        yield check_migrations(found)
        yield check_clock(found, asked_at, dt.datetime.now(dt.UTC))


def check_pooler(settings: Settings) -> Check:
    pooler_url, direct_url = settings.database_url, settings.database_direct_url
    try:
        same = asyncio.run(state.is_same_database(pooler_url, direct_url))
    except AppError as error:
        mend = "check database_url, the pooler and its pool_mode"
        return Check("fail", "connection pooler", str(error), mend)
    if same is False:
        text = "database_url and database_direct_url reach different databases"
        mend = "make both name the same database of the same server"
        return Check("fail", "connection pooler", text, mend)
    detail = ", and reaches the same database as database_direct_url" if same else ""
    return Check("ok", "connection pooler", f"answers at database_url{detail}")


def check_version(found: DatabaseState, *, direct: bool = False) -> Check:
    if found.facts.major < state.MIN_MAJOR_VERSION:
        mend = f"move to PostgreSQL {state.MIN_MAJOR_VERSION} or newer"
        return Check("fail", "database", f"PostgreSQL {found.facts.version}", mend)
    where = " at database_direct_url" if direct else ""
    return Check("ok", "database", f"PostgreSQL {found.facts.version} answers{where}")


def check_migrations(found: DatabaseState) -> Check:
    if found.unknown:
        text = f"made by a newer Jobmill ({found.unknown[-1]})"
        return Check("fail", "migrations", text, "upgrade Jobmill, or restore an older backup")
    if found.pending:
        text = f"{len(found.pending)} to be applied at the next start"
        return Check("ok" if not found.applied else "warn", "migrations", text)
    return Check("ok", "migrations", "up to date")


def check_clock(found: DatabaseState, before: dt.datetime, after: dt.datetime) -> Check:
    """The server's clock lies between ours before and after, or it is off by the rest."""
    early, late = before - found.facts.clock, found.facts.clock - after
    skew = max(early, late, dt.timedelta(0))
    if skew > MUCH_SKEW:
        text = f"the server's differs from ours by {skew.total_seconds():.0f} s"
        return Check("warn", "clock", text, "set both by NTP")
    return Check("ok", "clock", "the server's agrees with ours")


def check_port(settings: Settings) -> Check:
    host, port = settings.web_host, settings.web_port
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        mend = "if that is not Jobmill itself, set web_host or web_port"
        return Check("warn", "web address", f"{host}:{port}: {error.strerror}", mend)
    return Check("ok", "web address", f"{host}:{port} is free")


def check_contact(settings: Settings) -> Check:
    if settings.contact:
        return Check("ok", "contact", settings.contact)
    mend = "set contact to a page or an address of yours"
    return Check("warn", "contact", "sites that we ask cannot tell whose we are", mend)


def check_browser(settings: Settings) -> Check:
    found = find_browser(settings.chromium)
    if found:
        return Check("ok", "browser", found)
    mend = "install chromium, or set chromium to where it is"
    return Check("warn", "browser", "none: pages that need JavaScript are not read", mend)


def check_models(settings: Settings) -> Check:
    """Which mode is on; without a model everything works, so nothing is wrong."""
    found = model_tiers.find_tiers(settings, os.environ)
    lacks = [f"{seat.tier}: {seat.missing}" for seat in found if seat.missing is not None]
    return Check("ok", "models", model_tiers.describe_mode(found), "; ".join(lacks))
