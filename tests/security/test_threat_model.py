"""The threat model states for every attack class how many attempts its tests make."""

from __future__ import annotations

import re
from pathlib import Path

from tests.browser import hostile
from tests.matching.test_llm_review import INJECTIONS
from tests.outside.test_public_addresses import NOT_ASKED
from tests.security.corpus import DOCUMENTS

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "explanation" / "threat-model.md"


def count_columns(*tables: dict[str, str]) -> int:
    return sum(len(columns.split()) for table in tables for columns in table.values())


COUNTS = {
    "A page, board, feed": [len(DOCUMENTS)],
    "Requests to private addresses": [len(NOT_ASKED)],
    "Scripts and markup": [
        len(hostile.TEXTS),
        count_columns(hostile.WRITTEN, hostile.LISTS, hostile.ANSWERS),
        len(hostile.URLS),
        count_columns(hostile.ADDRESSES),
    ],
    "A posting that instructs": [len(INJECTIONS)],
}


def rows() -> list[list[str]]:
    lines = PAGE.read_text().splitlines()
    table = [line.strip("|").split("|") for line in lines if line.startswith("|")][2:]
    return [[cell.strip() for cell in cells] for cells in table]


def test_every_attack_class_has_attempts_a_result_and_a_test() -> None:
    assert len(rows()) >= 14
    for attack, attempts, result, tests in rows():
        assert re.search(r"\d", attempts), attack
        assert result, attack
        files = re.findall(r"`(tests/[\w/]+\.py)`", tests)
        assert files, attack
        assert all((ROOT / file).is_file() for file in files), files


def test_the_numbers_are_those_of_the_tests() -> None:
    cells = {attack: attempts for attack, attempts, _, _ in rows()}
    for start, numbers in COUNTS.items():
        [attempts] = [cell for attack, cell in cells.items() if attack.startswith(start)]
        assert [int(number) for number in re.findall(r"\d+", attempts)][: len(numbers)] == numbers
