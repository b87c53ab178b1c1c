"""A pool of warm child processes that run readers of untrusted content."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Sequence
from typing import Any, Self, TypeVar

from jobmill import errors
from jobmill.errors import AppError, OutsideError

from .messages import HEADER, MAX_MESSAGE, decode_untrusted, encode

T = TypeVar("T")

MEMORY = 256 * 2**20
CPU_SECONDS = 2.0
WALL_SECONDS = 60.0
"""Far above the CPU limit: on a busy machine a healthy reader may wait long for a core."""
CALLS_PER_CHILD = 500
"""A child is replaced after so many calls, in case a reader leaks memory."""


class ReaderStopped(OutsideError):
    """Content took more CPU time, memory or time to read than allowed, or broke the reader."""


class Sandbox:
    """Runs functions in child processes; use as an async context manager.

    A function and its arguments must be picklable, so a module-level function of plain values and
    data classes. Children inherit no secrets: their environment is almost empty.
    """

    def __init__(self, modules: Sequence[str] = (), *, size: int = 2, memory: int = MEMORY) -> None:
        self._modules = list(modules)
        self._memory = memory
        self._slots = asyncio.Semaphore(size)
        self._idle: list[_Child] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        while self._idle:
            await self._idle.pop().stop()

    async def call(
        self,
        function: Callable[..., T],
        *arguments: object,
        cpu_seconds: float = CPU_SECONDS,
        wall_seconds: float = WALL_SECONDS,
    ) -> T:
        """The function's result; its AppErrors are raised here, and ReaderStopped past a limit."""
        request = encode((function, arguments, cpu_seconds))
        async with self._slots:
            child = self._idle.pop() if self._idle else await self._start()
            try:
                async with asyncio.timeout(wall_seconds):
                    answer = await child.ask(request)
            except TimeoutError:
                await child.stop()
                raise ReaderStopped(f"Reading took longer than {wall_seconds:g} s.") from None
            except _Died:
                raise ReaderStopped(await child.explain_death(cpu_seconds)) from None
            except _Refused as error:
                await child.stop()
                raise ReaderStopped(f"The reader's answer was refused: {error}.") from None
            except BaseException:
                await child.stop()
                raise
            if answer[0] == "memory" or child.calls >= CALLS_PER_CHILD:
                await child.stop()
            else:
                self._idle.append(child)
        return self._result(answer)

    async def _start(self) -> _Child:
        return _Child(
            await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                f"{__package__}.child",
                str(self._memory),
                *self._modules,
                stdin=PIPE,
                stdout=PIPE,
                stderr=DEVNULL,
                env=_environment(),
                limit=2**20,
            )
        )

    def _result(self, answer: tuple[Any, ...]) -> Any:
        match answer:
            case ("value", value):
                return value
            case ("memory",):
                raise ReaderStopped(f"Reading took more than {self._memory // 2**20} MB of memory.")
            case ("app error", str(name), str(message), bool(permanent)):
                raise _app_error(name, message, permanent)
            case _:
                raise ReaderStopped(f"The reader failed: {answer[1:]}")


class _Died(Exception):
    """The child ended before it answered."""


class _Refused(Exception):
    """The answer holds something that the parent does not load."""


class _Child:
    def __init__(self, process: Process) -> None:
        self._process = process
        self.calls = 0

    async def ask(self, request: bytes) -> tuple[Any, ...]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin
        assert stdout
        self.calls += 1
        try:
            stdin.write(request)
            await stdin.drain()
            size = HEADER.unpack(await stdout.readexactly(HEADER.size))[0]
            if size > MAX_MESSAGE:
                raise _Died
            body = await stdout.readexactly(size)
        except (asyncio.IncompleteReadError, ConnectionError):
            raise _Died from None
        try:
            return decode_untrusted(body)
        except (
            pickle.UnpicklingError,
            AttributeError,
            ImportError,
            TypeError,
            ValueError,
        ) as error:
            await self.stop()
            return ("error", f"its answer was refused: {error}")

    async def explain_death(self, cpu_seconds: float) -> str:
        await self.stop()
        status = self._process.returncode
        if status == -signal.SIGXCPU:
            return f"Reading took more than {cpu_seconds:g} s of CPU time."
        return f"The reader process ended unexpectedly (status {status})."

    async def stop(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()


def _environment() -> dict[str, str]:
    """What Python needs to start, and nothing else: no keys, passwords or URLs."""
    names = ("PATH", "LANG", "LC_ALL", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "LD_LIBRARY_PATH")
    kept = {name: value for name in names if (value := os.environ.get(name))}
    return kept | {"PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"}


def _app_error(name: str, message: str, permanent: bool) -> AppError:
    error_type = getattr(errors, name, OutsideError)
    if error_type is OutsideError or not issubclass(error_type, AppError):
        return OutsideError(message, permanent=permanent)
    error = error_type.__new__(error_type)
    Exception.__init__(error, message)
    return error
