"""Lead links of the documentation site that leave `docs` to the repository."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
LINK = re.compile(r"(\]\()(\.\./[^)\s#]+)")


def on_page_markdown(markdown: str, /, *, page: Any, **_: Any) -> str:
    """mkdocs calls this for every page."""
    folder = (ROOT / "docs" / page.file.src_uri).parent
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

    def lead(match: re.Match[str]) -> str:
        target = (folder / match[2]).resolve()
        if target.is_relative_to(ROOT / "docs") or not target.exists():
            return match[0]
        return f"{match[1]}{project['urls']['Repository']}/blob/HEAD/{target.relative_to(ROOT)}"

    return LINK.sub(lead, markdown)
