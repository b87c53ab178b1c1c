"""Renders pages that need JavaScript, with a local Chromium."""

from __future__ import annotations

import asyncio
import os
import pwd
import re
import shutil
import signal
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from jobmill.outside.guarded_transport import AddressGuard
from jobmill.outside.http_exchange import ExchangeError, HttpReply
from jobmill.outside.proxy import open_proxy
from jobmill.outside.public_addresses import AllowedUrl

PROGRAM_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ACCOUNTS = ("jobmill-browser", "nobody")
"""Users that run the browser if Jobmill runs as root; not the one that may own the data."""
MAX_BROWSERS = 2
"""Browsers per process: each needs several hundred megabytes."""

ISOLATED_FLAGS = (
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--disable-breakpad",
    "--no-first-run",
    "--blink-settings=imagesEnabled=false",
    # Also for loopback, which a browser contacts without its proxy by default.
    "--proxy-bypass-list=<-loopback>",
    # All lookups and all traffic go through the proxy.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
    # The flag with "force" in its name no longer has an effect; peer connections would bypass the proxy.
    "--webrtc-ip-handling-policy=disable_non_proxied_udp",
)
_LOAD_ERROR = re.compile(rb"Page load failed: (net::\w+)")


@dataclass(frozen=True, slots=True)
class RenderLimits:
    """Limits for one page."""

    seconds: float = 45
    script_seconds: float = 10
    """Virtual time for scripts; timers do not cost real time."""
    bytes: int = 16_000_000
    traffic: int = 60_000_000
    """All bytes that the page loads."""


class Browser:
    def __init__(
        self,
        guard: AddressGuard,
        agent: str,
        path: Path | None = None,
        limits: RenderLimits | None = None,
    ) -> None:
        self._guard = guard
        self._agent = agent
        self._path = path
        self._limits = limits or RenderLimits()
        self.slots = asyncio.Semaphore(MAX_BROWSERS)

    def missing_reason(self) -> str | None:
        """Why there is no browser and what to do; None if there is one."""
        if find_browser(self._path):
            return None
        if self._path:
            return f"the setting chromium is {self._path}, which is not a program"
        return (
            "this page needs a browser and there is none: install Chromium (package `chromium`), "
            "or set `chromium` to the program"
        )

    async def render(self, target: AllowedUrl, max_bytes: int | None = None) -> HttpReply:
        """The page after its scripts have run; raises ExchangeError."""
        program = find_browser(self._path)
        if program is None:
            raise ExchangeError("no_browser", self.missing_reason() or "")
        account = choose_account()
        try:
            async with (
                asyncio.timeout(self._limits.seconds),
                open_proxy(self._guard, self._limits.traffic) as proxy,
            ):
                return await self._run(program, account, proxy, target, max_bytes)
        except TimeoutError as error:
            raise ExchangeError("timeout", f"the browser timed out on {target.host}") from error
        except OSError as error:
            as_user = (
                f" as {account.name} (install it where that user can run it)" if account else ""
            )
            raise ExchangeError(
                "no_browser", f"{program} does not start{as_user}: {error}"
            ) from error

    async def _run(
        self,
        program: str,
        account: BrowserAccount | None,
        proxy: str,
        target: AllowedUrl,
        max_bytes: int | None,
    ) -> HttpReply:
        limit = min(max_bytes or self._limits.bytes, self._limits.bytes)
        # A new profile each time, so that pages cannot share state.
        with (
            tempfile.TemporaryDirectory(prefix="jobmill-", ignore_cleanup_errors=True) as folder,
            tempfile.TemporaryFile() as stderr,
        ):
            switch: dict[str, Any] = {}
            if account:
                os.chown(folder, account.uid, account.gid)
                switch = {"user": account.uid, "group": account.gid, "extra_groups": []}
            process = await asyncio.create_subprocess_exec(
                program,
                *self._arguments(folder, proxy),
                target.url,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=stderr,
                cwd=folder,
                env=browser_environment(folder),
                start_new_session=True,
                **switch,
            )
            try:
                page = await _read(process, limit)
            finally:
                await kill_browser(process)
            stderr.seek(0)
            load_error = _LOAD_ERROR.search(stderr.read())
        if not page.strip():
            why = f" ({load_error[1].decode()})" if load_error else ""
            raise ExchangeError("network", f"the browser got no page from {target.host}{why}")
        headers = httpx2.Headers({"content-type": "text/html; charset=utf-8"})
        return HttpReply(200, headers, page[:limit], limit if len(page) > limit else None)

    def _arguments(self, folder: str, proxy: str) -> list[str]:
        return [
            *ISOLATED_FLAGS,
            f"--user-data-dir={folder}/profile",
            f"--user-agent={self._agent}",
            f"--proxy-server=http://{proxy}",
            f"--virtual-time-budget={self._limits.script_seconds * 1000:.0f}",
            "--dump-dom",
        ]


@dataclass(frozen=True, slots=True)
class BrowserAccount:
    """An unprivileged user of the system."""

    name: str
    uid: int
    gid: int


def choose_account() -> BrowserAccount | None:
    """The user for the browser; None for the current one.

    Chromium refuses to run its sandbox as root, and without it a page could take over the machine.
    """
    if os.geteuid() != 0:
        return None
    for name in ACCOUNTS:
        with suppress(KeyError):
            user = pwd.getpwnam(name)
            return BrowserAccount(name, user.pw_uid, user.pw_gid)
    raise ExchangeError(
        "no_browser",
        f"pages are not rendered as root, and there is no user {' or '.join(ACCOUNTS)}: "
        "run Jobmill as another user",
    )


def find_browser(path: Path | None = None) -> str | None:
    """The configured program, otherwise $CHROMIUM, otherwise the first one in PATH."""
    if path:
        return shutil.which(str(path))
    named = os.environ.get("CHROMIUM")
    return next(filter(None, map(shutil.which, [named] if named else PROGRAM_NAMES)), None)


def browser_environment(folder: str) -> dict[str, str]:
    """Environment variables for the browser; keys are not passed on."""
    inherited = {name: os.environ[name] for name in ("PATH", "LANG", "TZ") if name in os.environ}
    return {**inherited, "HOME": folder, "TMPDIR": folder}


async def _read(process: asyncio.subprocess.Process, limit: int) -> bytes:
    assert process.stdout
    page = bytearray()
    while len(page) <= limit and (chunk := await process.stdout.read(65_536)):
        page += chunk
    return bytes(page)


async def kill_browser(process: asyncio.subprocess.Process) -> None:
    """Kill the browser and its child processes, which share a session."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    await process.wait()
