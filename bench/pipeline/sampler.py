"""Samples where a process spends its time: the package that the main thread runs, and the time of
the other threads."""

from __future__ import annotations

import signal
import time
from collections import defaultdict
from types import FrameType, TracebackType
from typing import Self

EVERY = 0.002
OTHERS = "numpy (meaning)"
"""Besides the main thread, only the thread of the embedding model works."""


class Sampler:
    """Samples every few milliseconds of processor time while its block runs; a sample counts for
    the time since the last one."""

    def __init__(self) -> None:
        self._used: defaultdict[str, float] = defaultdict(float)
        self._main = self._all = 0.0

    def __enter__(self) -> Self:
        self._main, self._all = time.thread_time(), time.process_time()
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
        """The share of the time by package, largest first."""
        total = sum(self._used.values()) or 1
        most = sorted(self._used.items(), key=lambda entry: -entry[1])[:8]
        return {name: used / total for name, used in most}

    def _look(self, number: int, frame: FrameType | None) -> None:
        main, all_of_them = time.thread_time(), time.process_time()
        main_used = main - self._main
        if frame:
            self._used[_name(frame.f_code.co_filename)] += main_used
        self._used[OTHERS] += max(0.0, all_of_them - self._all - main_used)
        self._main, self._all = main, all_of_them


def _name(file: str) -> str:
    if "site-packages/" in file:
        return file.partition("site-packages/")[2].partition("/")[0]
    return "jobmill" if "/jobmill/" in file else "python"
