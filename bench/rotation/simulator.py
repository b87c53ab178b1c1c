"""Run a policy in a world and count what it finds; stops a policy that breaks a limit."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bench.rotation.world import DAY, HOUR, START, Visit, World

GAPS = {"company": 6 * HOUR, "slice": 24 * 60}
"""The minimum time between two calls of a target."""


class Policy(Protocol):
    def bind(
        self, targets: list[dict[str, Any]], sources: dict[str, dict[str, Any]], now: float
    ) -> None: ...
    def choose(self, now: float, budget: int, room: dict[str, int]) -> list[Any]: ...
    def record(self, id: Any, now: float, outcome: dict[str, Any]) -> None: ...


@dataclass(frozen=True)
class Result:
    """The result of one policy in one world."""

    new_per_day: float
    """Listings new to the catalog per day."""
    late: float
    """The same in the second half."""
    delay_hours: float
    wasted: float
    """Share of calls without new listings."""
    dead: float
    """Calls per day to boards that are gone."""
    calls: float


class Limits:
    """The remaining calls of each source."""

    def __init__(self, sources: dict[str, dict[str, int | None]]) -> None:
        self.sources = sources
        self.calls: dict[str, deque[float]] = {name: deque() for name in sources}

    def room(self, now: float) -> dict[str, int]:
        return {name: self._left(name, now) for name in self.sources}

    def _left(self, name: str, now: float) -> int:
        calls, limits = self.calls[name], self.sources[name]
        while calls and calls[0] <= now - DAY:
            calls.popleft()
        left = 10**9 if limits["per_day"] is None else limits["per_day"] - len(calls)
        if limits["per_hour"] is not None:
            left = min(left, limits["per_hour"] - sum(at > now - HOUR for at in calls))
        return max(left, 0)

    def note(self, name: str, now: float) -> None:
        if any(limit is not None for limit in self.sources[name].values()):
            self.calls[name].append(now)


def run(world: World, policy: Policy, seed: int) -> Result:
    """Run a policy through all days of a world."""
    return _Run(world, policy, seed).through()


class _Run:
    def __init__(self, world: World, policy: Policy, seed: int) -> None:
        self.world, self.policy = world, policy
        self.visit = Visit(world, seed)
        self.limits = Limits(world.sources)
        self.last: dict[int, float] = {}
        self.new_by_day = np.zeros(world.scenario.days)
        self.delays: list[NDArray[np.float64]] = []
        self.calls = self.wasted = self.dead = 0

    def through(self) -> Result:
        scenario = self.world.scenario
        tick = scenario.tick_minutes * 60.0
        self.policy.bind(self.world.targets, self.world.sources, START)
        chosen_count = 0
        for number in range(int(scenario.days * DAY / tick)):
            now = START + number * tick
            budget = int((number + 1) * tick * scenario.calls / DAY) - chosen_count
            chosen_count += budget
            self._tick(now, budget)
        return self._result()

    def _tick(self, now: float, budget: int) -> None:
        room = self.limits.room(now)
        chosen = self.policy.choose(now, budget, dict(room))
        assert len(chosen) <= budget, "over the budget"
        assert len(set(chosen)) == len(chosen), "a target twice"
        for id in chosen:
            target = self.world.targets[id]
            source = target["source"]
            room[source] -= 1
            assert room[source] >= 0, f"over the limit of {source}"
            gap = GAPS[target["kind"]]
            assert now - self.last.get(id, -1e18) >= gap, f"{target['kind']} called too soon"
            self._call(id, source, now)

    def _call(self, id: int, source: str, now: float) -> None:
        self.limits.note(source, now)
        outcome, new = self.visit.call(id, now)
        if outcome["status"] in ("ok", "not_modified"):
            self.last[id] = now
        self.policy.record(id, now, outcome)
        self.calls += 1
        self.wasted += not len(new)
        self.dead += outcome["status"] == "gone"
        self.new_by_day[int((now - START) / DAY)] += len(new)
        posted = self.world.posted[new]
        self.delays.append(now - posted[posted >= START])

    def _result(self) -> Result:
        days = self.world.scenario.days
        delays = np.concatenate(self.delays)
        return Result(
            new_per_day=float(self.new_by_day.mean()),
            late=float(self.new_by_day[days // 2 :].mean()),
            delay_hours=float(delays.mean() / HOUR) if len(delays) else 0.0,
            wasted=self.wasted / max(self.calls, 1),
            dead=self.dead / days,
            calls=self.calls / days,
        )
