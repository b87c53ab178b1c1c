"""Checks the map in docs/architecture.md: every package is listed, and every function exists."""

from __future__ import annotations

import pytest

from .citations import CODE, PACKAGE, ROOT, missing_code

PAGE = (ROOT / "docs" / "architecture.md").read_text()
ENTRIES = sorted(
    path.name
    for path in PACKAGE.iterdir()
    if (path.suffix == ".py" and not path.name.startswith("_")) or any(path.glob("*.py"))
)


def test_the_page_describes_walks_through_the_code() -> None:
    assert len(set(CODE.findall(PAGE))) > 15


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_package_and_module_is_in_the_table(entry: str) -> None:
    table = PAGE.split("| package |")[1].split("##")[0]
    assert f"`{entry}/`" in table or f"`{entry}`" in table


def test_every_function_of_a_walk_exists() -> None:
    assert missing_code(PAGE) == []
