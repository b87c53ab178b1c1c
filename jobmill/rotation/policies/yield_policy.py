"""The policy `yield`: the most valuable calls within budget, limits and fairness."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from typing import Any

import numpy as np

from . import call_value, eligibility, yield_model
from .eligibility import DAY
from .target_pool import NEVER, Floats, PooledPolicy, PoolIndexes, TargetPool, without_future_times
from .yield_model import PlatformAverage, YieldRules, YieldState


class YieldPolicy(PooledPolicy):
    """Chooses by value; its knowledge is in `states`, `platforms` and `pool.breakers`."""

    def __init__(self, rules: YieldRules) -> None:
        self.rules = rules
        self.states: dict[Hashable, YieldState] = {}
        self.platforms: dict[tuple[str, str], PlatformAverage] = {}
        self._overdue_calls = 0.0
        super().__init__(TargetPool(rules.breaker, rules.longest_delay))

    def _build_columns(self) -> None:
        targets = self.pool.targets
        self._groups = list({(bound.source, bound.kind, bound.page_cap): None for bound in targets})
        number = {key: n for n, key in enumerate(self._groups)}
        self._group = np.array(
            [number[bound.source, bound.kind, bound.page_cap] for bound in targets], dtype=np.intp
        )
        self._worth = np.full(len(targets), math.nan)
        self._loss_rate = np.ones(len(targets))
        self._health = np.ones(len(targets))
        self._ok = np.full(len(targets), NEVER)
        for index, target in enumerate(targets):
            if target.id in self.states:
                self._fill_columns(index, self.states[target.id])

    def _fill_columns(self, index: int, state: YieldState) -> None:
        self._health[index] = state.health
        if (
            state.new_per_day is not None
            and state.loss_rate is not None
            and state.last_ok_at is not None
        ):
            self._worth[index] = state.new_per_day / state.loss_rate
            self._loss_rate[index] = state.loss_rate
            self._ok[index] = state.last_ok_at

    def choose(self, now: float, budget: int, room: Mapping[str, Any] | None) -> list[Hashable]:
        """The ids to call now: overdue targets, then the most valuable."""
        most = int(eligibility.as_count(budget))
        left = self.pool.remaining_calls(now, room)
        ready = self.pool.ready(now, left) if most else np.empty(0, dtype=np.intp)
        if not len(ready):
            return []
        overdue = self.pool.take(self._overdue(ready, now), self._overdue_quota(most), left)
        self._overdue_calls -= len(overdue)
        ready = np.setdiff1d(ready, overdue, assume_unique=True) if overdue else ready
        dear = rank_by_value(ready, self._values(ready, now), 2 * most)
        picked = overdue + self.pool.take(dear, most - len(overdue), left)
        return self.pool.claim(picked, now, self.rules.gaps)

    def _overdue_quota(self, budget: int) -> int:
        """Calls of this round reserved for overdue targets."""
        fair = self.rules.stale_share * budget
        self._overdue_calls = min(self._overdue_calls + fair, max(1.0, 2 * fair))
        return min(int(self._overdue_calls), budget)

    def _overdue(self, ready: PoolIndexes, now: float) -> Iterator[int]:
        """Overdue targets, the longest waiting first."""
        called, added = (
            without_future_times(self.pool.called[ready], now),
            without_future_times(self.pool.added_at[ready], now),
        )
        waited = now - np.maximum(called, added)
        late = waited >= self.rules.staleness
        order = np.argsort(-waited[late], kind="stable")
        return iter(ready[late][order].tolist())

    def _values(self, ready: PoolIndexes, now: float) -> Floats:
        """`yield_model.value_of` for many targets at once."""
        days = np.maximum(now - without_future_times(self._ok[ready], now), 0.0) / DAY
        z = np.minimum(self._loss_rate[ready] * days, call_value.MAX_Z)
        worth = self._worth[ready]
        repeat_value = worth * (1.0 - (1.0 + z) * np.exp(-z))
        first = np.array([self._first_call_value(*group) for group in self._groups])
        return self._health[ready] * np.where(
            np.isnan(worth), first[self._group[ready]], repeat_value
        )

    def _first_call_value(self, source: str, kind: str, page_cap: int | None) -> float:
        """The value of the first call of such a target."""
        platform = self.platforms.get((source, kind), PlatformAverage())
        return platform.new_per_day(kind, self.rules) / platform.loss_rate(
            kind, page_cap, self.rules
        )

    def record(self, id: Hashable, now: float, outcome: Mapping[str, Any]) -> None:
        """Learn from an outcome; unknown ids are ignored."""
        index = self.pool.index_by_id.get(id)
        if index is None:
            return
        target = self.pool.targets[index]
        key = target.source, target.kind
        self.states[id], self.platforms[key] = yield_model.learn(
            self.states.get(id, YieldState()),
            outcome,
            now,
            kind=target.kind,
            page_cap=target.page_cap,
            platform=self.platforms.get(key, PlatformAverage()),
            rules=self.rules,
            excused=self.pool.record_answer(target.source, outcome, now),
        )
        self._fill_columns(index, self.states[id])
        self.pool.set_times(index, self.states[id].called_at, self.states[id].blocked_until)


def rank_by_value(indexes: PoolIndexes, values: Floats, first: int) -> Iterator[int]:
    """Indexes by descending value, stable; sorts lazily, which keeps a million targets fast."""
    while len(indexes):
        top = np.ones(len(indexes), dtype=bool)
        if first < len(indexes):
            least = np.partition(values, len(values) - first)[len(values) - first]
            top = values > least
            same = np.flatnonzero(values == least)
            top[same[: first - int(top.sum())]] = True
        order = np.argsort(-values[top], kind="stable")
        yield from indexes[top][order].tolist()
        indexes, values, first = indexes[~top], values[~top], first * 8
