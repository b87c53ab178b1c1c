"""The table finds the same route as FastAPI does, without trying them all."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute, iter_route_contexts
from starlette.routing import Match
from starlette.types import Scope

from jobmill.web import site
from jobmill.web.route_table import RouteTable
from tests.web.test_every_route import routes

ODD_PATHS = ("/", "", "//", "/no/such", "/api", "/api/", "/hiring/", "/hiring/1/none", "/api/jobs/x/y/z", "/{id}", "/api/apply", "/today")  # fmt: skip


def match_like_fastapi(scope: Scope) -> tuple[Match, Any, Any]:
    """The route that FastAPI chooses, through all levels of included routers."""
    chosen: tuple[Match, Any, Any] = (Match.NONE, None, None)
    for route in site.list_routes():
        match, values = route.matches(scope)
        if match.value > chosen[0].value:
            included: Any = route
            context: Any = route if isinstance(route, APIRoute) else None
            while context is None:
                _, values, included, context = included._match(scope)
            chosen = match, context.endpoint, values["path_params"]
        if match == Match.FULL:
            break
    return chosen


def test_the_table_agrees_with_fastapi_on_every_route() -> None:
    table = RouteTable(site.list_routes())
    known = [(route.method, re.sub(r"\{[^}]+\}", "7", route.path)) for route in routes()]
    odd = [(method, path) for method in ("GET", "TRACE") for path in ODD_PATHS]
    wrong: list[str] = []
    for method, path in known + odd:
        scope = {"type": "http", "method": method, "path": path, "headers": []}
        match, child = table.matches(dict(scope))
        result = match, child.get("endpoint"), child.get("path_params")
        if result != match_like_fastapi(dict(scope)):
            wrong.append(f"{method} {path}")
    assert wrong == []


def test_unknown_names_share_an_entry() -> None:
    table = RouteTable(site.list_routes())
    for number in range(100):
        table.matches({"type": "http", "method": "GET", "path": f"/n{number}/m{number}"})
    assert len(table._candidates) == 1


def list_calls(dependant: Dependant) -> Iterator[Any]:
    yield dependant.call
    for dependency in dependant.dependencies:
        yield from list_calls(dependency)


def test_nothing_that_a_route_depends_on_runs_in_a_thread() -> None:
    calls = {
        call
        for context in iter_route_contexts(site.list_routes())
        if isinstance(context.original_route, APIRoute)
        for call in list_calls(context.original_route.dependant)
    }
    in_threads = [
        call
        for call in calls
        if not inspect.iscoroutinefunction(call) and not inspect.isasyncgenfunction(call)
    ]
    assert len(calls) > 500
    assert not in_threads
