"""Where a process spends its time: whose code the main thread is in, each few milliseconds of a core."""

from __future__ import annotations

import signal
from collections import Counter
from types import FrameType, TracebackType
from typing import Self

EVERY = 0.002
IDLE = ("selectors.py", "base_events.py")


class Sampler:
    """Counts while its block runs. What other threads use while the main one waits is the model's:
    no other thread works."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def __enter__(self) -> Self:
        signal.signal(signal.SIGPROF, self._look)
        signal.setitimer(signal.ITIMER_PROF, EVERY, EVERY)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)

    def shares(self) -> dict[str, float]:
        """By package, the share of the time."""
        total = self._counts.total() or 1
        return {name: count / total for name, count in self._counts.most_common(8)}

    def _look(self, number: int, frame: FrameType | None) -> None:
        if frame:
            self._counts[_name(frame.f_code.co_filename)] += 1


def _name(file: str) -> str:
    if file.endswith(IDLE):
        return "numpy (meaning)"
    if "site-packages/" in file:
        return file.partition("site-packages/")[2].partition("/")[0]
    return "jobmill" if "/jobmill/" in file else "python"
