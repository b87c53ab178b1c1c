"""Baselines for the policies: round robin, and a policy that knows the true rates."""

from __future__ import annotations

from typing import Any

import numpy as np

from bench.rotation.simulator import GAPS
from bench.rotation.world import DAY, World, trouble
from jobmill.rotation.policies.yield_policy import rank_by_value


class RoundRobin:
    """Calls the least recently called target, within gaps and limits."""

    def bind(
        self, targets: list[dict[str, Any]], sources: dict[str, dict[str, Any]], now: float
    ) -> None:
        self.targets = {target["id"]: target for target in targets}
        self.turn: dict[int, float] = {target["id"]: -1e18 for target in targets}

    def choose(self, now: float, budget: int, room: dict[str, int]) -> list[int]:
        chosen: list[int] = []
        for id, last in self.turn.items():
            target = self.targets[id]
            if len(chosen) == budget:
                break
            if room[target["source"]] > 0 and now - last >= GAPS[target["kind"]]:
                room[target["source"]] -= 1
                chosen.append(id)
        return chosen

    def record(self, id: int, now: float, outcome: dict[str, Any]) -> None:
        del self.turn[id]
        self.turn[id] = now


class Clairvoyant:
    """The price rule with the true rates of the world; it also knows which boards are dead or down."""

    def __init__(self, world: World) -> None:
        self.world = world
        cap = np.array([target["page_cap"] or np.inf for target in world.targets])
        # A page that shows all open entries pushes none out.
        full = world.rate / world.scenario.closing > cap
        self.d = world.scenario.closing + np.where(full, world.rate / cap, 0.0)
        self.gap = np.array([GAPS[target["kind"]] for target in world.targets])
        self.last = np.full(len(world.targets), -1e18)

    def bind(
        self, targets: list[dict[str, Any]], sources: dict[str, dict[str, Any]], now: float
    ) -> None:
        self.names = list(sources)
        number = {name: n for n, name in enumerate(self.names)}
        self.source = np.array([number[target["source"]] for target in targets])

    def choose(self, now: float, budget: int, room: dict[str, int]) -> list[int]:
        for name in self.names:
            if trouble(self.world.down[name], now) or trouble(self.world.slow[name], now):
                room[name] = 0
        after = (now >= self.world.changed).astype(int)
        at = np.arange(len(self.last))
        d, share = self.d[after, at], self.world.own_share[after, at]
        z = d * (now - self.last) / DAY
        value = share / d * (1 - (1 + z) * np.exp(-z))
        value[(now - self.last < self.gap) | (now >= self.world.dies)] = -1.0
        chosen: list[int] = []
        for id in rank_by_value(at, value, 4 * budget + 1):
            name = self.names[self.source[id]]
            if len(chosen) == budget or value[id] < 0:
                break
            if room[name] > 0:
                room[name] -= 1
                chosen.append(id)
        return chosen

    def record(self, id: int, now: float, outcome: dict[str, Any]) -> None:
        if outcome["status"] in ("ok", "not_modified"):
            self.last[id] = now
