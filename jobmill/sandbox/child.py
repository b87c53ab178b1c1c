"""The child process: `python -m jobmill.sandbox.child` runs one reader at a time.

Requests arrive on stdin and answers leave on stdout. While a reader runs, the kernel limits its CPU
time and its memory, and it cannot write to files.
"""

from __future__ import annotations

import os
import pickle
import resource
import signal

from jobmill.errors import AppError, OutsideError

from . import limits
from .messages import HEADER, encode

STDIN, STDOUT, STDERR = 0, 1, 2


def main() -> None:
    answers = os.dup(STDOUT)
    os.dup2(STDERR, STDOUT)  # A reader that prints must not write into the answers.
    # The parent decides when to stop; its end is the end of the input.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    while True:
        header = _read_exactly(HEADER.size)
        body = _read_exactly(HEADER.unpack(header)[0]) if header else None
        if body is None:
            return
        _write_all(answers, _answer(body))


def _answer(body: bytes) -> bytes:
    try:
        # The parent is trusted. Loading imports the reader's module, which must not count.
        function, arguments, cpu_seconds, memory = pickle.loads(body)
        del body
        limits.apply_limits(cpu_seconds, memory)
        return encode(("value", function(*arguments)))
    except MemoryError:
        return encode(("memory",))
    except RecursionError:
        return encode(("depth",))
    except OutsideError as error:
        return encode(("outside error", str(error), error.permanent))
    except AppError as error:
        return encode(("app error", type(error).__name__, str(error)))
    except Exception as error:  # noqa: BLE001 - The parent reports it; this child continues.
        return encode(("error", f"{type(error).__name__}: {error}"[:500]))
    finally:
        limits.remove_limits()


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
    main()
