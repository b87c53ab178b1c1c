"""Generates docs/reference/api-coverage.md: which operation, command and tool does what a page does.

    python -m scripts.api_coverage

The rows are in scripts/api_coverage.txt; a test finds pages, operations and tools without a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from jobmill.web.api import router

ROWS = Path("scripts/api_coverage.txt")
PAGE = Path("docs/reference/api-coverage.md")

INTRO = """\
# What pages, the API, commands and assistants can do

This page lists every page and every change that you can make on one, with the API operation, the command
and the MCP tool for the same purpose. Confirmation pages and forms are part of the change that they lead
to. `make fmt` generates this page from `scripts/api_coverage.txt`; a test compares it with the routes,
the commands and the tools.

"""


class CoverageRow(NamedTuple):
    section: str
    page: str
    operations: tuple[str, ...]
    """Ids of operations of the API."""
    reason: str
    """Why there is no operation."""
    command: str
    tools: tuple[str, ...]


def read_rows() -> list[CoverageRow]:
    rows: list[CoverageRow] = []
    section = ""
    for line in ROWS.read_text("utf-8").splitlines():
        if line.startswith("= "):
            section = line.removeprefix("= ")
        elif line and not line.startswith("#"):
            page, api, command, tools = (cell.strip() for cell in line.split(" | "))
            reason = api.removeprefix("- ") if api.startswith("-") else ""
            operations = () if reason else tuple(api.split())
            rows.append(
                CoverageRow(
                    section,
                    page,
                    operations,
                    reason,
                    "" if command == "-" else command,
                    () if tools == "-" else tuple(tools.split()),
                )
            )
    return rows


def find_operations() -> Mapping[str, str]:
    """`POST /api/jobs` by the id of the operation."""
    description: Any = router.description()
    return {
        operation["operationId"]: f"{method.upper()} {path}"
        for path, methods in description["paths"].items()
        for method, operation in methods.items()
    }


def coverage_page() -> str:
    rows = read_rows()
    return INTRO + _summary(rows) + "".join(_sections(rows, find_operations()))


def _summary(rows: list[CoverageRow]) -> str:
    counts = [
        ("page actions", len(rows)),
        ("with an API operation", sum(bool(row.operations) for row in rows)),
        ("with a command", sum(bool(row.command) for row in rows)),
        ("with an MCP tool", sum(bool(row.tools) for row in rows)),
    ]
    head = f"| {' | '.join(name for name, _ in counts)} |\n|{'---|' * len(counts)}\n"
    return head + f"| {' | '.join(str(count) for _, count in counts)} |\n"


def _sections(rows: list[CoverageRow], operations: Mapping[str, str]) -> Iterator[str]:
    for section in dict.fromkeys(row.section for row in rows):
        yield f"\n## {section}\n\n| page | API | command | MCP tool |\n|---|---|---|---|\n"
        for row in rows:
            if row.section == section:
                api = "<br>".join(f"`{operations[id]}`" for id in row.operations)
                command = f"`jobmill {row.command}`" if row.command else ""
                tools = ", ".join(f"`{tool}`" for tool in row.tools)
                yield f"| `{row.page}` | {api or f'none: {row.reason}'} | {command} | {tools} |\n"


if __name__ == "__main__":
    PAGE.write_text(coverage_page(), encoding="utf-8")
