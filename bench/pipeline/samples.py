"""Where a process spends its time: what stands on top of each thread's stack, looked at often."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from types import FrameType, TracebackType

EVERY = 0.002
WAITS = ("select", "poll", "wait", "_wait", "get", "_worker")
"""Functions in which a thread waits rather than works."""


class Sampler:
    """Looks at every thread but its own while its block runs."""

    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Sampler:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._over.set()
        self._thread.join()

    def shares(self) -> dict[str, float]:
        """By package, the share of the time in which a thread worked."""
        total = self._counts.total() or 1
        return {name: count / total for name, count in self._counts.most_common(8)}

    def _look(self) -> None:
        me = threading.get_ident()
        while not self._over.is_set():
            for thread, frame in sys._current_frames().items():
                if thread != me and (name := _name(frame)):
                    self._counts[name] += 1
            time.sleep(EVERY)


def _name(frame: FrameType) -> str | None:
    """Whose code runs; None where nothing does."""
    file, function = frame.f_code.co_filename, frame.f_code.co_name
    if "/jobmill/matching/" in file and "minilm" in file:
        # Its lines are calls of numpy, which is where the time goes.
        return "numpy (meaning)"
    if "/jobmill/" in file and "site-packages" not in file:
        return "jobmill"
    if "site-packages/" in file:
        return file.partition("site-packages/")[2].partition("/")[0]
    return None if function in WAITS else "python"
