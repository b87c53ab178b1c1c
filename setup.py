"""What pyproject.toml cannot say: the README with absolute links, as a package index shows it."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

from setuptools import setup

ROOT = Path(__file__).parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RELATIVE_LINK = re.compile(r"(!?)(\[[^\]]*\])\((?![a-z]+:|#)([^)\s]+)\)")


def absolute_link(match: re.Match[str]) -> str:
    kind = "raw" if match[1] else "blob"
    base = f"{PROJECT['urls']['Repository']}/{kind}/v{PROJECT['version']}"
    return f"{match[1]}{match[2]}({base}/{match[3]})"


setup(
    long_description=RELATIVE_LINK.sub(
        absolute_link, (ROOT / "README.md").read_text(encoding="utf-8")
    ),
    long_description_content_type="text/markdown",
)
