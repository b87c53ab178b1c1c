"""Run the real command in a process forked from one that has loaded everything.

For tests that call many commands.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn
from urllib.parse import urlencode

from psycopg.conninfo import conninfo_to_dict

from jobmill import cli
from jobmill.sandbox import child, pool

Run = Callable[..., Awaitable[subprocess.CompletedProcess[str]]]

FORKS = multiprocessing.get_context("forkserver")
LIMIT = 60.0
FORKS.set_forkserver_preload([__name__, *(command.module for command in cli.COMMANDS)])


def as_url(conninfo: str) -> str:
    """The URL of a database, as an operator would write it."""
    return f"postgresql:///?{urlencode(conninfo_to_dict(conninfo))}"


def jobmill(
    *arguments: object, stdin: str = "", folder: Path, variables: Mapping[str, str]
) -> subprocess.CompletedProcess[str]:
    with tempfile.TemporaryDirectory() as place:
        files = [str(Path(place, name)) for name in ("in", "out", "err")]
        Path(files[0]).write_text(stdin)
        words = [str(argument) for argument in arguments]
        process = FORKS.Process(target=_main, args=(words, str(folder), dict(variables), files))
        process.start()
        process.join(LIMIT)
        process.kill()
        process.join()
        assert process.exitcode is not None
        return subprocess.CompletedProcess(
            words, process.exitcode, *(Path(file).read_text("utf-8") for file in files[1:])
        )


def runner(folder: Path, url: str, **variables: str) -> Run:
    """Runs commands on a database, in a folder and with extra environment variables."""
    base = {
        "HOME": str(folder),
        "PATH": os.environ["PATH"],
        "DATABASE_URL": as_url(url),
        "JOBMILL_HOST_INTERVAL_SECONDS": "0.001",
        **variables,
    }

    async def call(
        *arguments: object, stdin: str = "", **more: str
    ) -> subprocess.CompletedProcess[str]:
        return await asyncio.to_thread(
            jobmill, *arguments, stdin=stdin, folder=folder, variables=base | more
        )

    return call


def json_lines(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    """The JSON objects that a successful command printed, one per line."""
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


class ForkedReader:
    """A sandbox child forked from this process, which has loaded the readers; used like a `Popen`.

    A new interpreter would take longer to load them than most commands take.
    """

    def __init__(self, command: Sequence[str], **options: Any) -> None:
        theirs_in, ours_in = os.pipe()
        ours_out, theirs_out = os.pipe()
        self.returncode: int | None = None
        self.pid = os.fork()
        if self.pid == 0:
            self._read_for_ever(theirs_in, theirs_out)
        os.close(theirs_in)
        os.close(theirs_out)
        self.stdin, self.stdout = os.fdopen(ours_in, "wb", 0), os.fdopen(ours_out, "rb", 0)

    @staticmethod
    def _read_for_ever(requests: int, answers: int) -> NoReturn:
        try:
            os.setsid()
            os.dup2(requests, 0)
            os.dup2(answers, 1)
            # The pipes of other children must close with their parent.
            os.closerange(3, 1_024)
            child.main()
        finally:
            os._exit(0)

    def poll(self) -> int | None:
        return self._wait(os.WNOHANG)

    def wait(self, timeout: float | None = None) -> int | None:
        return self._wait(0)

    def _wait(self, options: int) -> int | None:
        if self.returncode is None:
            with contextlib.suppress(ChildProcessError):
                pid, status = os.waitpid(self.pid, options)
                self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


def _main(
    words: Sequence[str], folder: str, variables: Mapping[str, str], files: Sequence[str]
) -> None:
    for number, file in enumerate(files):
        os.dup2(os.open(file, os.O_RDWR | os.O_CREAT), number)
    sys.stdin = os.fdopen(0, "r")
    sys.argv = ["jobmill", *words]
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    pipes = {"PIPE": subprocess.PIPE, "DEVNULL": subprocess.DEVNULL}
    pool.subprocess = SimpleNamespace(Popen=ForkedReader, **pipes)
    cli.main()
