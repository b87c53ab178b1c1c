"""Run the real command in a process forked from one that has loaded everything.

A new interpreter takes seconds to load the web pages, which is most of what short commands take.
"""

from __future__ import annotations

import asyncio
import fcntl
import gc
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import termios
from collections.abc import Awaitable, Callable, Mapping, Sequence
from multiprocessing import forkserver, popen_forkserver
from multiprocessing.connection import Connection
from pathlib import Path
from types import SimpleNamespace
from typing import Any
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
    _use_running_server()


def _use_running_server() -> None:
    """Let this process and its forks use the fork server, and fork their sandbox children from it."""
    # `ensure_running` waits for the server process, which only the process that started it can.
    forkserver._forkserver.ensure_running = lambda: None  # pyright: ignore
    pool.subprocess = SimpleNamespace(
        Popen=ForkedReader, PIPE=subprocess.PIPE, DEVNULL=subprocess.DEVNULL
    )


def as_url(conninfo: str) -> str:
    """The URL of a database, as an operator would write it."""
    return f"postgresql:///?{urlencode(conninfo_to_dict(conninfo))}"


def jobmill(
    *arguments: object,
    stdin: str = "",
    terminal: str | None = None,
    folder: Path,
    variables: Mapping[str, str],
) -> subprocess.CompletedProcess[str]:
    """Run a command; its input is the text, or comes from the terminal with this name."""
    with tempfile.TemporaryDirectory() as place:
        files = [str(Path(place, name)) for name in ("in", "out", "err")]
        if terminal:
            files[0] = terminal
        else:
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
        # Otherwise it would log to the terminal, as the fork server does, past the captured output.
        with Connection(os.dup(2)) as errors:
            self._process = FORKS.Process(
                target=_call, args=(_log_to, errors, function, *arguments), daemon=True
            )
            self._process.start()
        assert self._process.pid
        self.pid = self._process.pid

    def poll(self) -> int | None:
        return self._process.exitcode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self._process.kill()

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired(self._process.name, timeout or 0)
        return self._process.exitcode


class ForkedProgram(ForkedProcess):
    """A function in a process of its own, with pipes as its standard input and output."""

    def __init__(self, function: Callable[..., None], *arguments: object) -> None:
        theirs_in, ours_in = os.pipe()
        ours_out, theirs_out = os.pipe()
        self.stdin, self.stdout = os.fdopen(ours_in, "w"), os.fdopen(ours_out, "r")
        with Connection(theirs_in) as stdin, Connection(theirs_out) as stdout:
            super().__init__(_run_program, (stdin, stdout), function, *arguments)

    def communicate(self) -> str:
        """Close the input, and return the rest of the output when the process has ended."""
        self.stdin.close()
        with self.stdout:
            output = self.stdout.read()
        self.wait()
        return output

    def close(self) -> None:
        """Kill the process and close its pipes."""
        self.kill()
        self.wait()
        self.stdin.close()
        self.stdout.close()


class ForkedCommand(ForkedProcess):
    """A running `jobmill …`."""

    def __init__(
        self, words: Sequence[str], folder: Path, variables: Mapping[str, str], errors: Path
    ) -> None:
        ours, theirs = os.pipe()
        self.stdout = os.fdopen(ours, "r")
        with Connection(theirs) as output:
            files = (os.devnull, output, str(errors))
            super().__init__(_run, list(words), str(folder), dict(variables), files)


class TerminalCommand(ForkedProcess):
    """A running `jobmill …` in a session of its own, with a terminal for input and output."""

    def __init__(
        self, words: Sequence[str], folder: Path, variables: Mapping[str, str], terminal: int
    ) -> None:
        with Connection(os.dup(terminal)) as file:
            super().__init__(_run_in_terminal, list(words), str(folder), dict(variables), file)


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
    """A sandbox child forked from the fork server, which has loaded the readers; used like a `Popen`.

    A new interpreter takes a second to load them, which is longer than most tests read.
    """

    def __init__(self, command: Sequence[str], **options: Any) -> None:
        theirs_in, ours_in = os.pipe()
        ours_out, theirs_out = os.pipe()
        self.stdin, self.stdout = os.fdopen(ours_in, "wb", 0), os.fdopen(ours_out, "rb", 0)
        with Connection(theirs_in) as requests, Connection(theirs_out) as answers:
            process = FORKS.Process(target=_call, args=(_run_reader, requests, answers))
            # Not `start`, which daemonic processes may not call, and which would wait for the child at
            # the exit of this process. The child ends when its input does.
            self._process = popen_forkserver.Popen(process)

    @property
    def returncode(self) -> int | None:
        return self._process.returncode

    def poll(self) -> int | None:
        return self._process.poll()

    def wait(self) -> int | None:
        return self._process.wait()

    def kill(self) -> None:
        self._process.kill()


File = str | Connection


def _call(function: Callable[..., None], *arguments: object) -> None:
    """Call the function as in a process of its own."""
    # The fork server ignores it, as a background job does.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    gc.enable()
    _use_running_server()
    function(*arguments)


def _log_to(errors: Connection, function: Callable[..., None], *arguments: object) -> None:
    os.dup2(errors.fileno(), 2)
    errors.close()
    function(*arguments)


def _run_program(files: Sequence[File], function: Callable[..., None], *arguments: object) -> None:
    _replace_files(files)
    function(*arguments)


def _run_reader(requests: Connection, answers: Connection) -> None:
    os.setsid()
    _replace_files([requests, answers, os.devnull])
    child.main()


def _run_in_terminal(
    words: Sequence[str], folder: str, variables: Mapping[str, str], terminal: Connection
) -> None:
    os.setsid()
    # Else Ctrl-C is only a character.
    fcntl.ioctl(terminal.fileno(), termios.TIOCSCTTY, 0)
    files = [Connection(os.dup(terminal.fileno())) for _ in range(3)]
    terminal.close()
    _run(words, folder, variables, files)


def _run(
    words: Sequence[str], folder: str, variables: Mapping[str, str], files: Sequence[File]
) -> None:
    """Run a command."""
    _replace_files(files)
    sys.argv = ["jobmill", *words]
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(variables)
    cli.main()


def _replace_files(files: Sequence[File]) -> None:
    """Use the files as standard input, output and errors."""
    for number, file in enumerate(files):
        if isinstance(file, str):
            file = open(file, "rb" if number == 0 else "wb")  # noqa: SIM115
        os.dup2(file.fileno(), number)
        file.close()
    sys.stdin = os.fdopen(0, "r")
