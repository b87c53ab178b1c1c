"""The functions, classes and tests that documentation pages cite."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "jobmill"
CODE = re.compile(r"`([a-z_0-9/]+\.py):([A-Za-z_]\w*)`")
TEST = re.compile(r"`(tests/[a-z_0-9/]+\.py)::(test_\w+)`")


@cache
def defined_names(path: Path) -> frozenset[str]:
    """Functions, methods and classes of a module, and what it assigns at its top level."""
    if not path.is_file():
        return frozenset()
    tree = ast.parse(path.read_text())
    names = {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }
    for statement in tree.body:
        targets: list[ast.expr] = []
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return frozenset(names)


def missing_code(page: str) -> list[str]:
    """What a page cites as `package/module.py:name` and does not exist."""
    return [
        f"{file}:{name}"
        for file, name in CODE.findall(page)
        if name not in defined_names(PACKAGE / file)
    ]


def missing_tests(page: str) -> list[str]:
    """What a page cites as `tests/package/test_module.py::test_name` and does not exist."""
    return [
        f"{file}::{name}"
        for file, name in TEST.findall(page)
        if name not in defined_names(ROOT / file)
    ]
