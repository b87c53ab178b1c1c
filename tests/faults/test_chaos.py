"""Half a minute of chaos; `make soak` runs ten minutes and requires every counter to be above zero."""

from __future__ import annotations

from pathlib import Path

from .chaos import chaos, show


async def test_half_a_minute_of_chaos_violates_no_guarantee(home: Path) -> None:
    async with chaos(home) as storm:
        report = await storm.run(30, wanted_faults=50)
    show(report, wanted_faults=50)
    assert report.violations == []
    assert report.operations > 50
    assert report.faults.total() >= 50
