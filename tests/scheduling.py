"""How tests are spread over processes: long groups first, and all browser tests in one process.

The browser tests share one demo world, which takes half a minute to build; a process of their own
builds it once. That process takes the longest, so the others yield to it.
"""

from __future__ import annotations

import os
from functools import cache
from typing import TYPE_CHECKING

from xdist.scheduler import LoadFileScheduling

if TYPE_CHECKING:
    import pytest

BROWSER = "tests/browser"
LONGEST_FIRST = (BROWSER, "tests/faults", "tests/acceptance", "tests/queue", "tests/demo")
"""Folders with the longest tests; a long group that starts last would keep the other processes waiting."""


NICENESS = 4


class Scheduler(LoadFileScheduling):
    """One group per file, except that all browser tests are one group."""

    def _split_scope(self, nodeid: str) -> str:
        return BROWSER if nodeid.startswith(f"{BROWSER}/") else super()._split_scope(nodeid)


def sort_longest_first(items: list[pytest.Item]) -> None:
    def rank(item: pytest.Item) -> int:
        folder = item.nodeid.rpartition("/")[0]
        return LONGEST_FIRST.index(folder) if folder in LONGEST_FIRST else len(LONGEST_FIRST)

    items.sort(key=rank)


def yield_to_browser_tests(item: pytest.Item) -> None:
    """Lower the priority of a process that shares the machine with the browser tests."""
    if "PYTEST_XDIST_WORKER" in os.environ and not item.nodeid.startswith(f"{BROWSER}/"):
        _lower_priority()


@cache
def _lower_priority() -> None:
    os.nice(NICENESS)
