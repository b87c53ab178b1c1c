from __future__ import annotations

import datetime as dt
from dataclasses import replace
from uuid import UUID

import pytest
from rich.console import Console

from jobmill.cli.queue import lineage_tree
from jobmill.cli.queue.watch import RATE_WINDOW, RunRate
from jobmill.cli.support import times
from jobmill.queue.inspect import Item

THEN = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
ITEM = Item(
    id=1, kind="tea", stage="boil", key="green", status="SUCCESS", priority=100,
    available_at=None, tracking_id=UUID(int=1), ancestry=[], spawn_depth=0, max_spawn_depth=10,
    parent_id=None, handed_over=False, retry_count=0, max_retries=3, attempts=1, worker=None,
    started_at=None, leased_until=None, waits_for=None, blocked_on=None, final=True, message=None,
    error_class=None, error_text=None, error_fingerprint=None, created_at=THEN, updated_at=THEN,
    finished_at=THEN, data={},
)  # fmt: skip


def drawn(*items: Item) -> list[str]:
    console = Console(width=200)
    with console.capture() as captured:
        console.print(lineage_tree.draw_lineage(items, []))
    return [line.rstrip() for line in captured.get().splitlines()[1:]]


def test_a_child_imported_before_its_parent_is_shown_below_it() -> None:
    child, parent = replace(ITEM, id=1, parent_id=2), replace(ITEM, id=2)
    assert drawn(child, parent) == [
        "└── 2 SUCCESS tea/boil green  depth 0",
        "    └── 1 SUCCESS tea/boil green  depth 0",
    ]


def test_items_with_a_deleted_or_cyclic_parent_are_still_shown() -> None:
    orphan = replace(ITEM, id=5, parent_id=4)
    circle = (replace(ITEM, id=1, parent_id=2), replace(ITEM, id=2, parent_id=1))
    lines = drawn(*circle, orphan)
    assert sorted(line.strip(" │├└─").split()[0] for line in lines) == ["1", "2", "5"]
    assert "parent 4 is no longer in this lineage" in next(text for text in lines if "5 " in text)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(-1, "0 s"), (0.4, "0 s"), (119, "119 s"), (120, "2 min"), (7199, "120 min"), (7200, "2 h"),
     (200_000, "2 d")],
)  # fmt: skip
def test_ages_are_short(seconds: float, words: str) -> None:
    assert times.format_age(seconds) == words


def test_the_rate_covers_only_the_recent_past() -> None:
    rate = RunRate()
    assert rate.add(0.0, 1_000) is None
    assert rate.add(10.0, 1_050) == 5.0
    assert rate.add(10.0 + RATE_WINDOW, 1_050 + 2 * int(RATE_WINDOW)) == 2.0
