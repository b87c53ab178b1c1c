"""Count the calls of a function in this thread: what a request runs on the event loop, or too often."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType, FunctionType


@contextmanager
def count_calls(function: Callable[..., object]) -> Iterator[Callable[[], int]]:
    """Yields a function that tells how often `function` was called so far."""
    assert isinstance(function, FunctionType)
    calls = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal calls
        calls += event == "call" and frame.f_code is function.__code__

    sys.setprofile(count)
    try:
        yield lambda: calls
    finally:
        sys.setprofile(None)
