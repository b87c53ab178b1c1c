"""The command line adds the command that does what a text asks for; the texts themselves name none."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest

from jobmill.boards import adapters
from jobmill.cli.doctor import describe_health
from jobmill.cli.support import hints
from jobmill.errors import AppError
from jobmill.pipelines import first_boards
from jobmill.queue.retry import suggest_next_step
from jobmill.web.system_health import HealthFacts, assess


def error_text(act: Callable[[], object]) -> str:
    with pytest.raises(AppError) as caught:
        act()
    return str(caught.value)


UNDECIDED = "source 21 (Tea Co) needs your approval. 3 jobs"
REJECTED = "source 21 (Tea Co) was rejected. Approve it under Sources to read it"
TEXTS: dict[str, Callable[[], str]] = {
    "jobmill rotate import": lambda: error_text(
        lambda: first_boards.parse_lines(f"acme/{n}" for n in range(first_boards.MAX_LINES + 1))
    ),
    "jobmill source platforms": lambda: error_text(lambda: adapters.find_platform("nowhere")),
    "jobmill doctor": lambda: suggest_next_step(psycopg.OperationalError("server closed")),
}


@pytest.mark.parametrize("command", TEXTS)
def test_the_command_is_added_to_a_text_that_names_none(command: str) -> None:
    text = TEXTS[command]()
    assert "jobmill " not in text
    assert f"`{command}`" in hints.add_next_command(text)


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (
            UNDECIDED,
            f"{UNDECIDED}. Next: `jobmill approval approve source:21`, or `reject`",
        ),
        (
            REJECTED,
            f"{REJECTED}. `jobmill approval approve source:21` approves it",
        ),
        # An older row names its command already.
        ("its website is unknown. To add it: `jobmill company add NAME`", None),
        ("the page does not exist", None),
    ],
)
def test_numbers_of_the_text_are_part_of_the_command(message: str, shown: str | None) -> None:
    assert hints.add_next_command(message) == (shown or message)


def test_doctor_names_the_commands_that_the_health_page_lists_under_developer() -> None:
    health = assess(HealthFacts(workers=1, silent_workers=1, pending_migrations=["0099_later.sql"]))
    assert not any("jobmill " in condition.advice for condition in health.conditions)
    diagnosis = describe_health(health)
    for command in ("jobmill up", "jobmill worker", "jobmill db migrate"):
        assert f"`{command}`" in diagnosis.advice
