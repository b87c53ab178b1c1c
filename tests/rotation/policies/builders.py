"""Targets and histories for the tests of policies."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from jobmill.rotation.policies import Policy

NOW = 1_800_000_000.0
MINUTE, HOUR, DAY = 60.0, 3_600.0, 86_400.0
ROOM: dict[str, int] = {}
"""No source states how many calls it accepts."""


def company(id: Hashable, source: str = "lever", **state: Any) -> dict[str, Any]:
    return {
        "id": id,
        "kind": "company",
        "source": source,
        "page_cap": None,
        "priority": 100,
    } | state


def search(id: Hashable, source: str = "jooble", **state: Any) -> dict[str, Any]:
    return {"id": id, "kind": "slice", "source": source, "page_cap": 50, "priority": 100} | state


def ok(new: int = 1, **fields: Any) -> dict[str, Any]:
    return {"status": "ok", "returned": new, "new": new, "fresh": new, "truncated": False} | fields


ERROR = {"status": "error", "http_status": 503}
GONE = {"status": "gone", "http_status": 404}


def next_call(
    policy: Policy,
    id: Hashable,
    since: float,
    *,
    within: float = 90 * DAY,
    step: float = HOUR,
    room: Mapping[str, int] = ROOM,
) -> float | None:
    """Seconds until the policy would call a target, with room for all."""
    for turn in range(int(within / step) + 1):
        if id in policy.choose(since + turn * step, 1_000, room):
            return turn * step
    return None
