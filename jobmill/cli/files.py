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
    target = Path(name)
    beside = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with beside.open("w", encoding="utf-8", newline="") as out:
            yield out
        beside.replace(target)
    except OSError as error:
        raise Invalid(f"{name} cannot be written: {error.strerror}") from error
    finally:
        beside.unlink(missing_ok=True)
