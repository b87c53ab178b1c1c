"""Every 2xx answer is in the log exactly once, although web processes and workers are killed at random."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hiring.storm import run_storm


async def test_every_answer_is_kept_once_while_processes_are_killed(
    url: str, tmp_path: Path
) -> None:
    answers = await run_storm(url, tmp_path, kills=4)
    assert answers.applied
    assert answers.withdrawn


@pytest.mark.soak
async def test_every_answer_is_kept_once_in_minutes_of_kills(url: str, tmp_path: Path) -> None:
    answers = await run_storm(url, tmp_path, kills=50, seconds=180)
    assert len(answers.applied) > 100
    assert answers.accepted
    assert answers.withdrawn
