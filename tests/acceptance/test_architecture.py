"""Checks the map in docs/architecture.md: every package is listed, and every function exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "jobmill"
PAGE = (ROOT / "docs" / "architecture.md").read_text()
STEPS = sorted(set(re.findall(r"`([a-z_/]+\.py):([A-Za-z_]+)`", PAGE)))
ENTRIES = sorted(
    path.name
    for path in PACKAGE.iterdir()
    if (path.suffix == ".py" and not path.name.startswith("_")) or any(path.glob("*.py"))
)


def test_there_are_walks() -> None:
    assert len(STEPS) > 15


@pytest.mark.parametrize("entry", ENTRIES)
def test_every_package_and_module_is_in_the_table(entry: str) -> None:
    table = PAGE.split("| package |")[1].split("##")[0]
    assert f"`{entry}/`" in table or f"`{entry}`" in table


@pytest.mark.parametrize(("file", "function"), STEPS)
def test_every_function_of_a_walk_exists(file: str, function: str) -> None:
    tree = ast.parse((PACKAGE / file).read_text())
    names = {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert function in names
