"""Run the real command in a process forked from one that has loaded everything.

A new interpreter takes seconds to load the web pages, which is most of what short commands take.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Mapping, Sequence
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NoReturn
from urllib.parse import urlencode

from psycopg.conninfo import conninfo_to_dict

from jobmill import cli
from jobmill.sandbox import child, pool

Run = Callable[..., Awaitable[subprocess.CompletedProcess[str]]]

FORKS = multiprocessing.get_context("forkserver")
LIMIT = 120.0
PRELOADED = "tests.cli.preloaded"
FORKS.set_forkserver_preload([__name__, PRELOADED])


def start_shared_server() -> None:
    """Start the fork server that all processes of the tests share: loading everything takes seconds."""
    forkserver.ensure_running()
    # `ensure_running` waits for the server process, which only the process that started it can.
    forkserver._forkserver.ensure_running = lambda: None  # pyright: ignore


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
        process = FORKS.Process(
            target=_call, args=(_run, words, str(folder), dict(variables), files)
        )
        process.start()
        process.join(LIMIT)
        process.kill()
        process.join()
        assert process.exitcode is not None
        return subprocess.CompletedProcess(
            words, process.exitcode, *(Path(file).read_text("utf-8") for file in files[1:])
        )


class ForkedProcess:
    """A process that runs until it is told to stop; used like a `Popen`."""

    def __init__(self, function: Callable[..., None], *arguments: object) -> None:
        """The function is called with the arguments in a forked process."""
        self._process = FORKS.Process(target=_call, args=(function, *arguments), daemon=True)
        self._process.start()
        assert self._process.pid
        self.pid = self._process.pid

    def send_signal(self, number: int) -> None:
        if self._process.exitcode is None:
            os.kill(self.pid, number)

    def kill(self) -> None:
        self._process.kill()

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(self._process.name, timeout or 0)
        return self._process.exitcode


class ForkedCommand(ForkedProcess):
    """A running `jobmill …`."""

    def __init__(
        self, words: Sequence[str], folder: Path, variables: Mapping[str, str], errors: Path
    ) -> None:
        lines, output = FORKS.Pipe(duplex=False)
        files = (os.devnull, output, str(errors))
        super().__init__(_serve, list(words), str(folder), dict(variables), files)
        output.close()
        self.stdout = os.fdopen(os.dup(lines.fileno()), "r")
        lines.close()


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


File = str | Connection


def _call(function: Callable[..., None], *arguments: object) -> None:
    """Call the function as in a process of its own."""
    # The fork server ignores it, as a background job does.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.enable()
    function(*arguments)


def _run(*arguments: Any) -> None:
    """Run a command that ends by itself."""
    pipes = {"PIPE": subprocess.PIPE, "DEVNULL": subprocess.DEVNULL}
    # Not in a server: a fork would copy the locks of its threads.
    pool.subprocess = SimpleNamespace(Popen=ForkedReader, **pipes)
    _serve(*arguments)


def _serve(
    words: Sequence[str], folder: str, variables: Mapping[str, str], files: Sequence[File]
) -> None:
    for number, file in enumerate(files):
        if isinstance(file, str):
            file = open(file, "rb" if number == 0 else "wb")  # noqa: SIM115
        os.dup2(file.fileno(), number)
        file.close()
    sys.stdin = os.fdopen(0, "r")
    sys.argv = ["jobmill", *words]
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    cli.main()
