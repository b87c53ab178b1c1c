"""Every page action has an operation of the API or a reason, and the table names only what exists."""

from __future__ import annotations

import re

from jobmill.db import Database
from jobmill.mcp_server.tools import TOOLS
from scripts import api_coverage
from tests.web.test_every_route import Route, routes

COMMANDS = re.compile(r"^#{2,3} `jobmill ([a-z -]+)", re.MULTILINE)
NO_ACTION = {
    "GET /healthz",
    "GET /readyz",
    "GET /live",
    "GET /",
    "GET /my",
    "GET /my/{token}/live",
    "GET /sign-in/local",
    "GET /matches/board",
    "GET /people/keys",
    "GET /rotation",
    "GET /rotation/{rest:path}",
    "GET /queue",
    "GET /queue/{rest:path}",
    "GET /hiring/company/letters",
    "GET /hiring/company/letters/{rest:path}",
}
"""Probes, streams and redirects."""


def is_action(route: Route, pages: set[str]) -> bool:
    """Not a page that only asks before a change or shows its form."""
    asks = route.method == "GET" and f"POST {route.path}" in pages
    is_form = route.path.endswith(("/new", "/edit", "/import", "/interview"))
    return not (asks or (is_form and route.method == "GET"))


def test_every_page_action_is_in_the_table(database: Database) -> None:
    pages = {route.name: route for route in routes() if not route.path.startswith("/api")}
    actions = {
        name
        for name, route in pages.items()
        if is_action(route, set(pages)) and name not in NO_ACTION
    }
    listed = [row.page for row in api_coverage.read_rows()]
    assert len(listed) == len(set(listed))
    assert set(listed) <= set(pages)
    assert actions - set(listed) == set()


def test_every_operation_and_tool_is_in_the_table_and_exists() -> None:
    rows = api_coverage.read_rows()
    operations = {id for row in rows for id in row.operations}
    assert operations == set(api_coverage.find_operations())
    assert {tool for row in rows for tool in row.tools} == {tool.name for tool in TOOLS}


def test_every_command_of_the_table_exists() -> None:
    text = (api_coverage.PAGE.parent / "commands.md").read_text("utf-8")
    commands = {name.strip() for name in COMMANDS.findall(text)}
    missing = {row.command for row in api_coverage.read_rows() if row.command} - commands
    assert missing == set()


def test_an_action_without_an_operation_says_why() -> None:
    assert all(row.operations or len(row.reason) > 10 for row in api_coverage.read_rows())


def test_the_coverage_page_is_up_to_date() -> None:
    """If this fails, run: python -m scripts.api_coverage"""
    assert api_coverage.PAGE.read_text("utf-8") == api_coverage.coverage_page()
