"""The interval policy (setting value `seed`): fixed intervals that adapt, least recently called first."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice, zip_longest
from typing import Any

import numpy as np

from . import eligibility
from .eligibility import DAY, HOUR, BreakerRules
from .target_pool import NEVER, PooledPolicy, PoolIndexes, TargetPool, without_future_times


@dataclass(frozen=True, slots=True)
class IntervalRules:
    """The parameters of the interval policy, in seconds."""

    company_interval: float = 24 * HOUR
    slice_interval: float = 12 * HOUR
    slice_least: float = 6 * HOUR
    slice_most: float = 24 * HOUR
    cool_after: int = 3
    """Consecutive empty runs after which a slice cools."""
    backoff_most: float = 7 * DAY
    bad_after: int = 5
    bad_retry: float = 30 * DAY
    """A bad target is retried after this time."""
    companies_per_run: int = 50
    """Per platform."""
    slices_per_run: int = 50
    breaker: BreakerRules = field(default_factory=BreakerRules)

    @property
    def longest_delay(self) -> float:
        """The longest postponement."""
        intervals = self.company_interval, self.slice_interval, self.slice_most
        return max(self.backoff_most, self.bad_retry, *intervals)


@dataclass(frozen=True, slots=True)
class IntervalState:
    """The stored state of a target."""

    interval: float
    fail_count: int = 0
    empty_runs: int = 0
    new_last: int | None = None
    called_at: float | None = None
    last_success_at: float | None = None
    next_allowed_at: float = -math.inf


def initial_state(kind: str, rules: IntervalRules) -> IntervalState:
    """A target that was never called."""
    return IntervalState(rules.slice_interval if kind == "slice" else rules.company_interval)


def is_bad(state: IntervalState, rules: IntervalRules) -> bool:
    return state.fail_count >= rules.bad_after


def learn(
    state: IntervalState, outcome: Mapping[str, Any], now: float, *, kind: str, rules: IntervalRules
) -> IntervalState:
    """The state after a call; a request to slow down is not the target's failure."""
    match outcome.get("status"):
        case "rate_limited":
            return state
        case "ok":
            return _after_success(
                state, int(eligibility.as_count(outcome.get("new"))), now, kind, rules
            )
        case "not_modified":
            return _after_success(state, 0, now, kind, rules)
        case _:
            return _after_failure(state, now, rules)


def _after_success(
    state: IntervalState, new: int, now: float, kind: str, rules: IntervalRules
) -> IntervalState:
    empty_runs = 0 if new else state.empty_runs + 1
    interval = state.interval
    if kind == "slice" and new:
        interval = max(interval / 2, rules.slice_least)
    elif kind == "slice" and empty_runs >= rules.cool_after:
        interval = min(interval * 2, rules.slice_most)
    # The window of a signature is never longer than the interval, so the interval implies it.
    return IntervalState(interval, 0, empty_runs, new, now, now, now + interval)


def _after_failure(state: IntervalState, now: float, rules: IntervalRules) -> IntervalState:
    fails = state.fail_count + 1
    wait = min(state.interval * 2.0 ** min(fails, 64), rules.backoff_most)
    wait = rules.bad_retry if fails >= rules.bad_after else wait
    return replace(state, fail_count=fails, called_at=now, next_allowed_at=now + wait)


class IntervalPolicy(PooledPolicy):
    """Chooses by staleness; its knowledge is in `states` and `pool.breakers`."""

    def __init__(self, rules: IntervalRules) -> None:
        self.rules = rules
        self.states: dict[Hashable, IntervalState] = {}
        self._turn = 0
        super().__init__(TargetPool(rules.breaker, rules.longest_delay))

    def _build_columns(self) -> None:
        """One group per platform, and one for all slices."""
        targets = self.pool.targets
        groups = [None if target.kind == "slice" else target.source for target in targets]
        self._group_names = sorted(set(groups), key=lambda name: (name is None, name or ""))
        number = {name: n for n, name in enumerate(self._group_names)}
        self._group = np.array([number[name] for name in groups], dtype=np.intp)
        # Slices have no priority, only staleness.
        self._rank = np.array(
            [0.0 if target.kind == "slice" else -target.priority for target in targets]
        )
        self._succeeded_at = np.full(len(targets), NEVER)
        for index, target in enumerate(targets):
            if target.id in self.states:
                self._fill_columns(index, self.states[target.id])

    def _fill_columns(self, index: int, state: IntervalState) -> None:
        self._succeeded_at[index] = (
            NEVER if state.last_success_at is None else state.last_success_at
        )

    def choose(self, now: float, budget: int, room: Mapping[str, Any] | None) -> list[Hashable]:
        """One run: the stalest of each group up to its limit; a small budget is shared in turn."""
        most = int(eligibility.as_count(budget))
        left = self.pool.remaining_calls(now, room)
        ready = self.pool.ready(now, left) if most else np.empty(0, dtype=np.intp)
        if not len(ready):
            return []
        picked = list(islice(self._interleave(self._choose_per_group(ready, left, now)), most))
        self._turn += len(picked)
        gaps = {"company": self.rules.company_interval, "slice": self.rules.slice_least}
        return self.pool.claim(picked, now, gaps)

    def _choose_per_group(self, ready: PoolIndexes, left: list[int], now: float) -> list[list[int]]:
        """What each group would call without a budget."""
        order = np.lexsort(
            (ready, without_future_times(self._succeeded_at[ready], now), self._rank[ready])
        )
        ready = ready[order]
        runs: list[list[int]] = []
        for number, name in enumerate(self._group_names):
            most = self.rules.slices_per_run if name is None else self.rules.companies_per_run
            group = ready[self._group[ready] == number].tolist()
            runs.append(self.pool.take(group, most, left))
        return runs

    def _interleave(self, runs: list[list[int]]) -> Iterator[int]:
        """Take one of each group in turn, starting where the last run stopped."""
        begin = self._turn % len(runs)
        for row in zip_longest(*runs[begin:], *runs[:begin]):
            yield from (index for index in row if index is not None)

    def record(self, id: Hashable, now: float, outcome: Mapping[str, Any]) -> None:
        """Learn from an outcome; unknown ids are ignored."""
        index = self.pool.index_by_id.get(id)
        if index is None:
            return
        target = self.pool.targets[index]
        state = self.states.get(id) or initial_state(target.kind, self.rules)
        state = self.states[id] = learn(state, outcome, now, kind=target.kind, rules=self.rules)
        self.pool.record_answer(target.source, outcome, now)
        self._fill_columns(index, state)
        self.pool.set_times(index, state.called_at, state.next_allowed_at)
