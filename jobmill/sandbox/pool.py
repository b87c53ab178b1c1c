"""A pool of warm child processes that run readers of untrusted content."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import jobmill
from jobmill import errors
from jobmill.errors import AppError, OutsideError

from .limits import CPU_SECONDS, MEMORY, WALL_SECONDS
from .messages import HEADER, MAX_MESSAGE, decode_untrusted, encode

T = TypeVar("T")

CHILDREN = 2
CALLS_PER_CHILD = 1_000
"""A child is replaced after this many calls, in case a reader leaks memory."""
CHUNK = 2**20


class ReaderStopped(OutsideError):
    """Content took more CPU time, memory or time to read than allowed, or broke the reader."""


async def read_untrusted(
    function: Callable[..., T], *arguments: object, cpu_seconds: float = CPU_SECONDS
) -> T:
    """Run a reader in the pool of this process, without blocking the event loop."""
    return await _shared().call(function, *arguments, cpu_seconds=cpu_seconds)


def read_untrusted_now(
    function: Callable[..., T], *arguments: object, cpu_seconds: float = CPU_SECONDS
) -> T:
    """The same for code without an event loop."""
    return _shared().call_now(function, *arguments, cpu_seconds=cpu_seconds)


@cache
def _shared() -> Sandbox:
    sandbox = Sandbox()
    atexit.register(sandbox.close)
    # A forked process must not share pipes with its parent.
    os.register_at_fork(after_in_child=_shared.cache_clear)
    return sandbox


class Sandbox:
    """Runs functions in child processes.

    A function and its arguments must be picklable: a module-level function of plain values and data
    classes. Children have almost no environment, so that no key is in their memory. They end
    with this process, because their input does.
    """

    def __init__(self, *, size: int = CHILDREN, memory: int = MEMORY) -> None:
        self._memory = memory
        self._threads = ThreadPoolExecutor(size, "sandbox")
        self._slots = threading.BoundedSemaphore(size)
        self._idle: list[_Child] = []

    def close(self) -> None:
        self._threads.shutdown()
        while self._idle:
            self._idle.pop().end()

    async def call(
        self,
        function: Callable[..., T],
        *arguments: object,
        cpu_seconds: float = CPU_SECONDS,
        wall_seconds: float = WALL_SECONDS,
    ) -> T:
        """The function's result; raises its AppErrors, and ReaderStopped past a limit."""
        request = encode((function, arguments, cpu_seconds, self._memory))
        run = _Run(cpu_seconds, wall_seconds)
        future = asyncio.get_running_loop().run_in_executor(self._threads, self._run, request, run)
        try:
            return self._result(await asyncio.shield(future))
        except asyncio.CancelledError:
            run.cancel()
            raise

    def call_now(
        self,
        function: Callable[..., T],
        *arguments: object,
        cpu_seconds: float = CPU_SECONDS,
        wall_seconds: float = WALL_SECONDS,
    ) -> T:
        request = encode((function, arguments, cpu_seconds, self._memory))
        return self._result(self._run(request, _Run(cpu_seconds, wall_seconds)))

    def _run(self, request: bytes, run: _Run) -> tuple[Any, ...]:
        with self._slots:
            if run.cancelled:
                return ("stopped", "Reading was cancelled.")
            child = self._take_idle() or _Child()
            keep = False
            try:
                answer = child.ask(request, run)
                # After a failed allocation a child may be in any state.
                broken = answer[0] in ("memory", "stopped") or child.calls >= CALLS_PER_CHILD
                keep = not run.end() and not broken
            finally:
                if keep:
                    self._idle.append(child)
                else:
                    run.end()
                    child.end()
        return answer

    def _take_idle(self) -> _Child | None:
        with contextlib.suppress(IndexError):
            while True:
                child = self._idle.pop()
                if child.is_alive:
                    return child
                child.end()
        return None

    def _result(self, answer: tuple[Any, ...]) -> Any:
        match answer:
            case ("value", value):
                return value
            case ("memory",):
                raise ReaderStopped(f"Reading took more than {self._memory // 2**20} MB of memory.")
            case ("depth",):
                raise ReaderStopped("The content is nested too deeply.")
            case ("outside error", str(message), bool(permanent)):
                raise OutsideError(message, permanent=permanent)
            case ("app error", str(name), str(message)):
                raise _app_error(name, message)
            case ("stopped", str(message)):
                raise ReaderStopped(message)
            case _:
                raise ReaderStopped(f"The reader failed: {answer[-1]}")


class _Run:
    """The limits of one call, and a way to cancel it from another thread."""

    def __init__(self, cpu_seconds: float, wall_seconds: float) -> None:
        self.cpu_seconds = cpu_seconds
        self.wall_seconds = wall_seconds
        self._lock = threading.Lock()
        self._child: _Child | None = None
        self.cancelled = False

    def begin(self, child: _Child) -> bool:
        with self._lock:
            self._child = child
            return not self.cancelled

    def end(self) -> bool:
        """From here on `cancel` kills nothing; returns whether it did before."""
        with self._lock:
            self._child = None
            return self.cancelled

    def cancel(self) -> None:
        """Only kill: the thread of the call waits for the child and closes its pipes."""
        with self._lock:
            self.cancelled = True
            if self._child:
                self._child.kill()


class _Child:
    def __init__(self) -> None:
        self.calls = 0
        self._process = subprocess.Popen(
            # -P: a folder that this program was started in must not provide modules.
            [sys.executable, "-P", "-m", f"{__package__}.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            env=_environment(),
            # Ctrl-C ends this process in its own time, and its readers with it.
            start_new_session=True,
        )
        assert self._process.stdin
        assert self._process.stdout
        self._requests = self._process.stdin.fileno()
        self._answers = self._process.stdout.fileno()
        os.set_blocking(self._requests, False)

    def ask(self, request: bytes, run: _Run) -> tuple[Any, ...]:
        self.calls += 1
        if not run.begin(self):
            return ("stopped", "Reading was cancelled.")
        deadline = time.monotonic() + run.wall_seconds
        try:
            self._send(request, deadline)
            size = HEADER.unpack(self._receive(HEADER.size, deadline))[0]
            if size > MAX_MESSAGE:
                return ("stopped", "The reader's answer is too large.")
            answer = decode_untrusted(self._receive(size, deadline))
        except TimeoutError:
            return ("stopped", f"Reading took longer than {run.wall_seconds:g} s.")
        except OSError:
            return ("stopped", self._explain_death(run.cpu_seconds))
        except Exception as error:  # noqa: BLE001 - A child may send anything.
            return ("stopped", f"The reader's answer was refused: {error!r}.")
        match answer:
            case (str(), *_):
                return tuple(answer)
            case _:
                return ("stopped", "The reader's answer was refused.")

    def _send(self, data: bytes, deadline: float) -> None:
        view = memoryview(data)
        while view:
            self._wait(deadline, writing=True)
            with contextlib.suppress(BlockingIOError):
                view = view[os.write(self._requests, view[:CHUNK]) :]

    def _receive(self, count: int, deadline: float) -> bytes:
        parts: list[bytes] = []
        while count:
            self._wait(deadline)
            part = os.read(self._answers, min(count, CHUNK))
            if not part:
                raise ConnectionResetError
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def _wait(self, deadline: float, *, writing: bool = False) -> None:
        poll = select.poll()
        if writing:
            poll.register(self._requests, select.POLLOUT)
        else:
            poll.register(self._answers, select.POLLIN)
        if not poll.poll(max(0.0, deadline - time.monotonic()) * 1_000):
            raise TimeoutError

    def _explain_death(self, cpu_seconds: float) -> str:
        self.end()
        status = self._process.returncode
        if status in (-signal.SIGXCPU, -signal.SIGPROF):
            return f"Reading took more than {cpu_seconds:g} s of CPU time."
        return f"The reader process ended unexpectedly (status {status})."

    @property
    def is_alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        self._process.kill()

    def end(self) -> None:
        """Only the thread that uses the child may call this."""
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                pipe.close()


def _environment() -> dict[str, str]:
    """What Python needs to start, and nothing else: no keys, passwords or URLs."""
    names = ("PATH", "LANG", "LC_ALL", "PYTHONHOME", "VIRTUAL_ENV", "LD_LIBRARY_PATH")
    inherited = {name: value for name in names if (value := os.environ.get(name))}
    # The package itself, where it is used without being installed.
    return inherited | {
        "PYTHONPATH": str(Path(jobmill.__file__).parents[1]),
        "PYTHONDONTWRITEBYTECODE": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def _app_error(name: str, message: str) -> AppError:
    error_type = getattr(errors, name, None)
    if not (isinstance(error_type, type) and issubclass(error_type, AppError)):
        return OutsideError(message, permanent=True)
    error = error_type.__new__(error_type)
    Exception.__init__(error, message)
    return error
