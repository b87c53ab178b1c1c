"""Readers that behave badly, for tests of the sandbox."""

from __future__ import annotations

import os
import time
from pathlib import Path

from jobmill.errors import Invalid, OutsideError


def double(text: str) -> str:
    return text * 2


def environment() -> dict[str, str]:
    return dict(os.environ)


def spin() -> None:
    while True:
        pass


def allocate(megabytes: int) -> int:
    return len(bytearray(megabytes * 2**20))


def sleep(seconds: float) -> None:
    time.sleep(seconds)


def crash() -> None:
    os.abort()


def refuse(message: str) -> None:
    raise Invalid(message)


def fail_outside(message: str) -> None:
    raise OutsideError(message, permanent=True)


def fail() -> None:
    raise RuntimeError("a bug")


def write_file(path: str) -> None:
    Path(path).write_text("x")


class Exploit:
    """An answer that would run a command where it is loaded carelessly."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return os.system, (f"touch {self.path}",)


def exploit(path: str) -> Exploit:
    return Exploit(path)


def process_id() -> int:
    return os.getpid()


def recurse() -> None:
    recurse()
