"""Rules of the architecture that import contracts cannot express."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "jobmill"


@pytest.mark.parametrize("package", ["cli", "web", "pipelines", "app.py"])
def test_sql_is_only_in_packages_that_own_tables(package: str) -> None:
    folder = PACKAGE / package
    files = [folder] if folder.is_file() else sorted(folder.rglob("*.py"))
    assert files
    assert [file.name for file in files if re.search(r"\.execute\(", file.read_text())] == []
