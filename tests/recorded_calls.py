"""Records which functions this process runs: what a child process runs instead is missing here."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def recorded_calls() -> Iterator[Counter[str]]:
    """How often this thread, and the event loop on it, calls each Python function in the block."""
    calls: Counter[str] = Counter()

    def record(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            calls[frame.f_code.co_qualname] += 1

    sys.setprofile(record)
    try:
        yield calls
    finally:
        sys.setprofile(None)
