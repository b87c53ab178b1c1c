"""Finds the route of a request by the first segments of its path.

FastAPI tries its routes one after the other, and those of included routers again at each level. With
several hundred routes that took longer than most requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import zip_longest

from fastapi.routing import RouteContext, iter_route_contexts
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match
from starlette.types import Receive, Scope, Send

DEPTH = 2
"""How many segments are compared before any pattern is."""
OTHER = ""
"""Stands for a segment that no route names at that place."""
SELECTED = "jobmill.route"

Key = tuple[str, ...]


class RouteTable(BaseRoute):
    """Routes that are tried in their order, but only those that the first segments leave."""

    def __init__(self, routes: Sequence[BaseRoute]) -> None:
        self._routes = [
            (_segments(context.path or ""), context) for context in iter_route_contexts(routes)
        ]
        self._names = [
            {segments[place] for segments, _ in self._routes if len(segments) > place}
            for place in range(DEPTH)
        ]
        self._candidates: dict[Key, list[RouteContext]] = {}

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] != "http":
            return Match.NONE, {}
        path = scope["path"].removeprefix(scope.get("root_path", ""))
        partial: Scope | None = None
        for context in self._find_candidates(path):
            match = context.path_regex.match(path)
            if not match:
                continue
            values = {
                name: context.param_convertors[name].convert(value)
                for name, value in match.groupdict().items()
            }
            child_scope = {
                "endpoint": context.endpoint,
                "path_params": {**scope.get("path_params", {}), **values},
                "route": context.original_route,
                SELECTED: context,
            }
            if scope["method"] in (context.methods or ()):
                return Match.FULL, child_scope
            partial = partial or child_scope
        return (Match.PARTIAL, partial) if partial else (Match.NONE, {})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        context: RouteContext = scope[SELECTED]
        methods = context.methods or ()
        if scope["method"] not in methods:
            raise HTTPException(status_code=405, headers={"Allow": ", ".join(methods)})
        await context.app(scope, receive, send)

    def _find_candidates(self, path: str) -> list[RouteContext]:
        # Other names than those of routes share a key, so that visitors cannot fill the memory.
        key = tuple(
            segment if segment in names else OTHER
            for segment, names in zip_longest(_segments(path), self._names, fillvalue=OTHER)
        )
        if key not in self._candidates:
            self._candidates[key] = [
                context for segments, context in self._routes if _may_match(segments, key)
            ]
        return self._candidates[key]


def _segments(path: str) -> list[str]:
    return path.split("/", DEPTH + 1)[1 : DEPTH + 1]


def _may_match(pattern: Iterable[str], key: Key) -> bool:
    for segment, name in zip(pattern, key, strict=False):
        if ":path" in segment:
            return True
        if "{" not in segment and segment != name:
            return False
    return True
