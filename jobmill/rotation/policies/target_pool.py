"""The targets of a policy and what currently prevents calling them."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from . import eligibility
from .eligibility import CLOCK_SLACK, BreakerRules, BreakerState, CallCounter

Floats: TypeAlias = npt.NDArray[np.float64]
PoolIndexes: TypeAlias = npt.NDArray[np.intp]
"""Indexes of targets in the pool."""

NEVER = -math.inf
_DEFAULT_PRIORITY = 50.0
"""The default priority; higher comes first."""


@dataclass(frozen=True, slots=True)
class PoolTarget:
    id: Hashable
    kind: str
    source: str
    page_cap: int | None
    priority: float


class TargetPool:
    """Targets as columns, so that all are examined at once; the highest priority first, then as given."""

    def __init__(self, breaker: BreakerRules, longest_delay: float) -> None:
        self.breaker = breaker
        self.longest_delay = longest_delay
        self.breakers: dict[str, BreakerState] = {}
        self._first_bound_at: dict[Hashable, float] = {}
        self._call_times: dict[Hashable, tuple[float, float]] = {}
        self._counters: dict[str, CallCounter] = {}
        self.bind([], {}, 0.0)

    def bind(
        self,
        targets: Sequence[Mapping[str, Any]],
        sources: Mapping[str, Mapping[str, Any]],
        now: float,
    ) -> None:
        """Replace the set of targets; each id once."""
        by_id = {target["id"]: _parse_target(target) for target in targets}
        self.targets = sorted(by_id.values(), key=lambda target: -target.priority)
        self.index_by_id = {target.id: n for n, target in enumerate(self.targets)}
        self.source_names = list(
            dict.fromkeys([*sources, *(target.source for target in self.targets)])
        )
        for name in self.source_names:
            self._counters.setdefault(name, CallCounter()).set_limits(sources.get(name))
        number = {name: n for n, name in enumerate(self.source_names)}
        self.source = np.array([number[target.source] for target in self.targets], dtype=np.intp)
        self.added_at = np.array(
            [self._first_bound_at.setdefault(target.id, now) for target in self.targets]
        )
        never = NEVER, NEVER
        noted = [self._call_times.get(target.id, never) for target in self.targets]
        self.called, self.blocked_until = np.array(noted, dtype=np.float64).reshape(-1, 2).T.copy()

    def remaining_calls(self, now: float, capacity: Mapping[str, Any] | None) -> list[int]:
        """Calls that each source accepts now, in the order of `source_names`."""
        return [self._remaining_calls_of(name, now, capacity) for name in self.source_names]

    def _remaining_calls_of(self, name: str, now: float, capacity: Mapping[str, Any] | None) -> int:
        way = eligibility.breaker_position(
            self.breakers.get(name, BreakerState()), now, self.breaker
        )
        if way == "shut":
            return 0
        left = eligibility.remaining_calls(capacity, name, self._counters[name], now)
        return min(left, 1) if way == "probe" else left

    def ready(self, now: float, left: Sequence[int]) -> PoolIndexes:
        """Targets that may be called now."""
        # A block set by a wrong clock, or for longer than the maximum, is ignored.
        true = (self.called <= now + CLOCK_SLACK) & (
            self.blocked_until <= now + self.longest_delay + CLOCK_SLACK
        )
        shut = (self.blocked_until > now) & true
        return np.flatnonzero(~shut & (np.array(left) > 0)[self.source])

    def take(self, indexes: Iterable[int], most: int, left: list[int]) -> list[int]:
        """The first targets that fit into the remaining calls, which are used up."""
        picked: list[int] = []
        for index in indexes if most > 0 else ():
            source = self.source[index]
            if left[source] > 0:
                left[source] -= 1
                picked.append(index)
                if len(picked) >= most:
                    break
        return picked

    def claim(self, picked: Iterable[int], now: float, gaps: Mapping[str, float]) -> list[Hashable]:
        """Their ids; a target counts as called until its outcome is recorded."""
        picked = list(picked)
        for index in picked:
            target = self.targets[index]
            self.set_times(index, now, now + gaps.get(target.kind, eligibility.DAY))
            self._counters[target.source].count_call(now)
            trouble = self.breakers.get(target.source)
            if trouble and trouble.open_count:
                self.breakers[target.source] = eligibility.after_probe_sent(trouble, now)
        return [self.targets[index].id for index in picked]

    def set_times(self, index: int, called_at: float | None, blocked_until: float) -> None:
        """Record when a target was called, and when it may be called again."""
        noted = NEVER if called_at is None else called_at, blocked_until
        self.called[index], self.blocked_until[index] = self._call_times[self.targets[index].id] = (
            noted
        )

    def record_answer(self, source: str, outcome: Mapping[str, Any], now: float) -> bool:
        """Update the source from an outcome; returns whether it was in trouble before."""
        before = self.breakers.get(source, BreakerState())
        self.breakers[source] = eligibility.after_outcome(before, outcome, now, self.breaker)
        return before.open_count > 0


def without_future_times(moments: Floats, now: float) -> Floats:
    """Treat timestamps of a wrong clock as never."""
    return np.where(moments > now + CLOCK_SLACK, NEVER, moments)


def _parse_target(target: Mapping[str, Any]) -> PoolTarget:
    """A target as passed through the interface."""
    priority = eligibility.as_number(target.get("priority"))
    return PoolTarget(
        target["id"],
        str(target.get("kind", "company")),
        str(target.get("source", "")),
        int(eligibility.as_count(target.get("page_cap"))) or None,
        _DEFAULT_PRIORITY if priority is None else priority,
    )


class PooledPolicy(ABC):
    """A policy over a pool, with columns of its own for the targets of the pool."""

    def __init__(self, pool: TargetPool) -> None:
        self.pool = pool
        self._build_columns()

    def bind(
        self,
        targets: Sequence[Mapping[str, Any]],
        sources: Mapping[str, Mapping[str, Any]],
        now: float,
    ) -> None:
        """Replace the set of targets; the state of known ids is kept."""
        self.pool.bind(targets, sources, now)
        self._build_columns()

    @abstractmethod
    def _build_columns(self) -> None:
        """Rebuild the columns for the targets that are bound now."""
