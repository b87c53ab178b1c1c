"""The child process: `python -m jobmill.sandbox.child MEMORY MODULE...` runs one reader at a time.

Requests arrive on stdin and answers leave on stdout. Readers cannot write files, and their CPU time
and memory are limited by the kernel.
"""

from __future__ import annotations

import importlib
import math
import os
import pickle
import resource
import sys

from jobmill.errors import AppError

from .messages import HEADER, encode

STDIN, STDOUT = 0, 1


def main(memory: int, modules: list[str]) -> None:
    answers = os.dup(STDOUT)
    os.dup2(2, STDOUT)  # A reader that prints must not write into the answers.
    for module in modules:
        importlib.import_module(module)
    limit_process(memory)
    while True:
        header = _read_exactly(HEADER.size)
        if header is None:
            return
        body = _read_exactly(HEADER.unpack(header)[0])
        if body is None:
            return
        _write_all(answers, answer(body))


def limit_process(memory: int) -> None:
    """Allow `memory` bytes beyond what the loaded modules take, and no files."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    in_use = _address_space()
    if in_use:
        resource.setrlimit(resource.RLIMIT_AS, (in_use + memory, in_use + memory))


def _address_space() -> int | None:
    try:
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[0]) * resource.getpagesize()
    except OSError:  # Not Linux: there the address space is not limited.
        return None


def answer(body: bytes) -> bytes:
    try:
        function, arguments, cpu_seconds = pickle.loads(body)  # The parent is trusted.
        del body
        _limit_cpu(cpu_seconds)
        return encode(("value", function(*arguments)))
    except MemoryError:
        return encode(("memory",))
    except AppError as error:
        permanent = bool(getattr(error, "permanent", False))
        return encode(("app error", type(error).__name__, str(error), permanent))
    except Exception as error:  # noqa: BLE001 - The parent reports it; this child goes on.
        return encode(("error", f"{type(error).__name__}: {error}"))


def _limit_cpu(seconds: float) -> None:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    limit = math.ceil(usage.ru_utime + usage.ru_stime + seconds)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))


def _read_exactly(count: int) -> bytes | None:
    parts: list[bytes] = []
    while count:
        part = os.read(STDIN, min(count, 2**20))
        if not part:
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
