"""Files that commands write."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import TextIO

from jobmill.errors import Invalid


@contextlib.contextmanager
def replacing(name: str) -> Generator[TextIO]:
    """A file that appears whole or not at all; `-` is stdout."""
    if name == "-":
        yield sys.stdout
        return
    try:
        # A link stays one, and what it points to is replaced.
        target = Path(name).resolve()
        with _beside(target) if _is_replaceable(target) else _into(target) as out:
            yield out
    except OSError as error:
        raise Invalid(f"{name} cannot be written: {error.strerror}") from error


def _is_replaceable(target: Path) -> bool:
    """Not a pipe or a device (/dev/null): those are written to."""
    return target.is_file() or not target.exists()


def _into(target: Path) -> TextIO:
    return target.open("w", encoding="utf-8", newline="")


@contextlib.contextmanager
def _beside(target: Path) -> Generator[TextIO]:
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with _into(beside) as out:
            yield out
        beside.replace(target)
    finally:
        beside.unlink(missing_ok=True)
