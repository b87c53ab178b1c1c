"""The yield policy as the database runs it: it reads only what an index on `due_at` returns, not
every target."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from jobmill.rotation.policies import call_value, yield_model
from jobmill.rotation.policies.target_pool import PoolIndexes
from jobmill.rotation.policies.yield_policy import YieldPolicy, rank_by_value

LOOK = 50
"""Rows read for each call that may be made."""


class Indexed(YieldPolicy):
    """The same rules. A due time is computed when an outcome is recorded, again after the price has
    fallen, and when a due target is worth too little."""

    def bind(self, targets: Sequence[Mapping[str, Any]], *arguments: Any) -> None:
        super().bind(targets, *arguments)
        self.due = np.full(len(targets), math.inf)
        self.price_then = np.zeros(len(targets))
        self.price = 1.0

    def _reckon(self, index: int) -> None:
        state = self.states[self.pool.targets[index].id]
        if state.new_per_day is not None:
            since = float(self.pool.added_at[index])
            self.due[index] = yield_model.due_at(state, self.price, since, self.rules)
            self.price_then[index] = self.price

    def record(self, id: Hashable, now: float, outcome: Mapping[str, Any]) -> None:
        super().record(id, now, outcome)
        self._reckon(self.pool.index_by_id[id])

    def _put_off(self, indexes: Iterable[int], now: float) -> None:
        for index in indexes:
            state = self.states[self.pool.targets[index].id]
            self.due[index] = yield_model.reconsider_at(state, self.price, now, self.rules)
            self.price_then[index] = self.price

    def choose(self, now: float, budget: int, room: Mapping[str, Any] | None) -> list[Hashable]:
        outdated = np.flatnonzero(call_value.is_outdated(self.price_then, self.price))
        self._put_off(outdated[: LOOK * budget].tolist(), now)
        left = self.pool.remaining_calls(now, room)
        ready = self.pool.ready(now, left)
        due = self._due(ready, now, budget)
        looked = np.union1d(due, self._unknown(ready, now, budget))
        # Overdue targets have an index of their own.
        overdue = self.pool.take(self._overdue(ready, now), self._overdue_quota(budget), left)
        self._overdue_calls -= len(overdue)
        rest = np.setdiff1d(looked, overdue)
        values = self._values(rest, now)
        worth = dict(zip(rest.tolist(), values.tolist(), strict=True))
        dear = self.pool.take(
            rank_by_value(rest, values, 2 * budget + 1), budget - len(overdue), left
        )
        full = bool(dear) and len(dear) + len(overdue) == budget
        self.price = call_value.next_price(self.price, worth[dear[-1]] if full else None)
        passed = set(due.tolist()) - {*overdue, *dear}
        self._put_off(
            [index for index in passed if worth[index] < call_value.NEAR_PRICE * self.price], now
        )
        return self.pool.claim(overdue + dear, now, self.rules.gaps)

    def _due(self, ready: PoolIndexes, now: float, budget: int) -> PoolIndexes:
        """Like ORDER BY due_at LIMIT."""
        due = ready[self.due[ready] <= now]
        return due[np.argsort(self.due[due], kind="stable")[: LOOK * budget]]

    def _unknown(self, ready: PoolIndexes, now: float, budget: int) -> PoolIndexes:
        """Targets never called, by the average of their platform, which have their own index."""
        never = ready[np.isnan(self._worth[ready])]
        best = rank_by_value(never, self._values(never, now), 2 * budget + 1)
        return np.array(list(islice(best, budget)), dtype=np.intp)
