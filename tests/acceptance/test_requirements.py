"""Checks docs/requirements.md: every row says where a requirement is implemented and which test shows it."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

import pytest

from .citations import CODE, ROOT, TEST, missing_code, missing_tests

PAGE = (ROOT / "docs" / "requirements.md").read_text()


class Requirement(NamedTuple):
    id: str
    statement: str
    code: str
    tests: str
    difference: str


ROWS = [
    [cell.strip() for cell in line.strip().strip("|").split("|")]
    for line in PAGE.splitlines()
    if re.match(r"\| [A-E]\d+ \|", line)
]
REQUIREMENTS = [Requirement(*row) for row in ROWS]
ROW_IDS = [requirement.id for requirement in REQUIREMENTS]


def test_all_five_documents_are_covered() -> None:
    assert set(Counter(id[0] for id in ROW_IDS)) == set("ABCDE")
    assert len(REQUIREMENTS) > 180


def test_ids_are_consecutive_and_unique() -> None:
    for letter, count in Counter(id[0] for id in ROW_IDS).items():
        numbers = [id for id in ROW_IDS if id.startswith(letter)]
        assert numbers == [f"{letter}{number}" for number in range(1, count + 1)]


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=ROW_IDS)
def test_a_requirement_names_its_code_and_tests_or_says_why_not(requirement: Requirement) -> None:
    assert requirement.statement
    assert CODE.search(requirement.code) or re.match("not implemented: .", requirement.code)
    assert TEST.search(requirement.tests) or re.match("no test: .", requirement.tests)


@pytest.mark.parametrize("requirement", REQUIREMENTS, ids=ROW_IDS)
def test_cited_code_and_tests_exist(requirement: Requirement) -> None:
    assert missing_code(requirement.code) == []
    assert missing_tests(requirement.tests) == []
    assert "`" not in CODE.sub("", requirement.code), (
        "not a citation such as `queue/retry.py:backoff`"
    )
    assert "`" not in TEST.sub("", requirement.tests), "not a citation of a test"
