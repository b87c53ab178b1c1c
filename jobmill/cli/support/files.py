"""Files that commands read and write."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Generator
from pathlib import Path
from typing import TextIO

from jobmill.errors import Invalid


def read_bytes(name: str) -> bytes:
    try:
        return Path(name).read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise Invalid(f"cannot read {name}: {reason}") from error


def read_text(name: str) -> str:
    """The text of a file; `-` is stdin."""
    return decode(sys.stdin.buffer.read() if name == "-" else read_bytes(name))


def decode(data: bytes) -> str:
    """Decode as UTF-8, whatever the locale of the terminal is."""
    return data.decode("utf-8-sig", "replace")


def decode_strictly(data: bytes, name: str) -> str:
    """Decode as UTF-8; Invalid, with the name of the file, if it is something else."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Invalid(f"{name} is not UTF-8 text") from error


@contextlib.contextmanager
def open_output(name: str) -> Generator[TextIO]:
    """Open a file that replaces an existing one when the block succeeds; `-` is stdout."""
    if name == "-":
        yield sys.stdout
        return
    try:
        # Replace the target of a symbolic link, not the link.
        target = Path(name).resolve()
        with _open_temporary(target) if _is_replaceable(target) else _open(target) as out:
            yield out
    except OSError as error:
        raise Invalid(f"cannot write {name}: {error.strerror}") from error


def _is_replaceable(target: Path) -> bool:
    """False for a pipe or a device such as /dev/null, which is written to directly."""
    return target.is_file() or not target.exists()


def _open(target: Path) -> TextIO:
    return target.open("w", encoding="utf-8", newline="")


def _create(target: Path) -> TextIO:
    """A new file that only this user may read: exports contain personal data."""
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    return os.fdopen(descriptor, "w", encoding="utf-8", newline="")


@contextlib.contextmanager
def open_private(target: Path) -> Generator[TextIO]:
    """Open a file that only this user may read, and that replaces an existing one."""
    with _open_temporary(target) as out:
        yield out


@contextlib.contextmanager
def _open_temporary(target: Path) -> Generator[TextIO]:
    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with _create(temporary) as out:
            yield out
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
