"""Random histories: whatever happens, no policy breaks a limit, hurries, repeats itself or forgets a target."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jobmill.rotation.policies import create_policy

from .builders import DAY, HOUR, MINUTE, NOW, company, ok, search

SOURCES = ("lever", "ashby", "jooble", "reed_uk")
GAPS = {
    "yield": {"company": 6 * HOUR, "slice": 24 * MINUTE},
    "seed": {"company": 24 * HOUR, "slice": 6 * HOUR},
}
LEAST_BACKOFF = {
    "yield": {"gone": 2 * DAY, "error": 30 * MINUTE},
    "seed": {"gone": 12 * HOUR, "error": 12 * HOUR},
}

STATUSES = ["ok", "ok", "ok", "not_modified", "gone", "rate_limited", "error", "odd", None]

names = st.sampled_from(["seed", "yield"])
# Drawn from a number: hypothesis would take minutes to make such histories value by value.
dice = st.integers(0, 2**32).map(random.Random)
targets = dice.map(lambda rng: draw_targets(rng))
rooms = dice.map(lambda rng: draw_room(rng))


def draw_targets(rng: random.Random) -> list[dict[str, Any]]:
    """Some of the targets there are: an id always means the same one."""
    return [
        (company if id % 3 else search)(
            id,
            SOURCES[id % 4],
            page_cap=(None, 1, 20, 100, None)[id % 5],
            priority=rng.choice([None, -5, 1, 1, 5]),
        )
        for id in rng.sample(range(26), rng.randint(1, 25))
    ]


def draw_room(rng: random.Random) -> dict[str, int | None]:
    named = rng.sample(SOURCES, rng.randint(0, len(SOURCES)))
    return {source: rng.choice([None, -1, 0, 1, 2, 6]) for source in named}


def draw_outcome(rng: random.Random, now: float) -> dict[str, Any]:
    """What a site may answer; any field may be missing."""
    counts = [None, -3, 0, 0, 1, 20, 100, 300]
    moments = [None, now + 9 * DAY, now, now - HOUR, now - 40 * DAY, float("nan")]
    outcome = {
        "status": rng.choice(STATUSES),
        "returned": rng.choice(counts),
        "new": rng.choice(counts),
        "fresh": rng.choice(counts),
        "truncated": rng.choice([None, True, False]),
        "retry_after_s": rng.choice([None, -5, 0, 90.0, 3 * DAY, float("inf")]),
        "oldest_at": rng.choice(moments),
        "posted": rng.choice([None, [], [now - HOUR] * 20, moments]),
    }
    return {name: value for name, value in outcome.items() if rng.random() < 0.9}


def draw_wait(rng: random.Random) -> float:
    """Hours mostly; also long sleeps, and a clock that is set back or was far ahead."""
    if rng.random() < 0.8:
        return rng.choice([0.0, 1.0, 10 * MINUTE, HOUR, rng.uniform(0, 8 * HOUR)])
    return rng.choice([-1.0, -HOUR, -DAY, -3 * DAY, -200 * DAY, 9 * DAY, 200 * DAY, 1e9])


@dataclass
class Witness:
    """Observes a policy and fails when it breaks an invariant."""

    name: str
    bound: dict[Hashable, dict[str, Any]] = field(default_factory=dict)
    not_before: dict[Hashable, tuple[float, float]] = field(default_factory=dict)
    """When it was called, and until when it rests."""
    held: dict[str, tuple[float, float]] = field(default_factory=dict)
    latest: float = NOW

    def check(self, chosen, now: float, budget: int, room: dict[str, int | None]) -> None:
        assert len(chosen) <= budget
        assert len(set(chosen)) == len(chosen)
        used = Counter(self.bound[id]["source"] for id in chosen)
        for source, count in used.items():
            stated = room.get(source)
            assert stated is None or count <= max(stated, 0)
            assert not self._rests(self.held.get(source), now)
        for id in chosen:
            assert not self._rests(self.not_before.get(id), now), f"{id} is called too soon"

    def _rests(self, span: tuple[float, float] | None, now: float) -> bool:
        return span is not None and now < span[1]

    def see(self, now: float) -> None:
        """A clock that was days ahead is not believed afterwards."""
        if now < self.latest - 2 * DAY:
            self.not_before.clear()
            self.held.clear()
            self.latest = now
        self.latest = max(self.latest, now)

    def note(self, id, now: float, outcome: dict[str, Any]) -> None:
        target = self.bound[id]
        match outcome.get("status"):
            case "rate_limited":
                wait = outcome.get("retry_after_s")
                if wait is not None and wait < 1e9:
                    before = self.held.get(target["source"])
                    until = before[1] if before and self._rests(before, now) else now
                    self.held[target["source"]] = now, max(now + max(wait, 0), until)
            case "ok" | "not_modified":
                self.not_before[id] = now, now + GAPS[self.name][target["kind"]]
            case status:
                kind = "gone" if status == "gone" else "error"
                self.not_before[id] = now, now + LEAST_BACKOFF[self.name][kind]


def play(name: str, seed: int, length: int) -> list[list[Hashable]]:
    """Run a policy through a history under observation."""
    rng = random.Random(seed)
    policy, witness, now = create_policy(name, {}), Witness(name), NOW
    log: list[list[Hashable]] = []
    for turn in range(length):
        if turn == 0 or rng.random() < 0.1:
            bound = draw_targets(rng)
            policy.bind(bound, {}, now)
            witness.bound = {target["id"]: target for target in bound}
        budget, room = rng.randint(0, 12), draw_room(rng)
        chosen = policy.choose(now, budget, dict(room))
        witness.see(now)
        witness.check(chosen, now, budget, room)
        for id in chosen:
            outcome = draw_outcome(rng, now)
            policy.record(id, now, outcome)
            witness.note(id, now, outcome)
        log.append(chosen)
        now += draw_wait(rng)
    return log


@settings(max_examples=300, deadline=None)
@given(names, st.integers(0, 2**32), st.integers(1, 60))
def test_no_history_makes_a_policy_hurry_repeat_or_exceed(name, seed, length) -> None:
    assert play(name, seed, length) == play(name, seed, length)


@settings(max_examples=100, deadline=None)
@given(names, targets, st.integers(0, 12), rooms, st.lists(st.floats(0, 20 * MINUTE), max_size=8))
def test_a_target_is_not_chosen_again_while_its_outcome_is_awaited(
    name, first, budget, room, waits
) -> None:
    policy, now = create_policy(name, {}), NOW
    policy.bind(first, {}, NOW)
    chosen: list[Hashable] = []
    for wait in waits:
        now = min(now + wait, NOW + 23 * MINUTE)
        chosen += policy.choose(now, budget, room)
        policy.bind(first, {}, now)
    assert len(set(chosen)) == len(chosen)


@settings(max_examples=60, deadline=None)
@given(names, targets, st.lists(st.floats(0, 2 * HOUR), max_size=60), st.integers(1, 9))
def test_limits_of_a_source_hold_where_nobody_states_its_room(name, first, waits, limit) -> None:
    policy, now = create_policy(name, {}), NOW
    policy.bind(first, {source: {"per_hour": limit, "per_day": 20} for source in SOURCES}, NOW)
    calls: list[tuple[float, str]] = []
    source_of = {target["id"]: target["source"] for target in first}
    for wait in waits:
        now += wait
        for id in policy.choose(now, 50, {}):
            calls.append((now, source_of[id]))
            policy.record(id, now, ok())
        for source in SOURCES:
            times = [at for at, name in calls if name == source]
            assert sum(at > now - HOUR for at in times) <= limit
            assert sum(at > now - DAY for at in times) <= 20


@settings(max_examples=25, deadline=None)
@given(names, st.integers(1, 12), st.integers(1, 3), st.integers(0, 40))
def test_nobody_starves_where_the_calls_suffice(name, boards, slices, rich) -> None:
    """One call an hour; the slices bring so much that value alone would never leave them."""
    policy = create_policy(name, {"staleness": 5 * DAY, "stale_share": 0.2})
    policy.bind(
        [company(n) for n in range(boards)] + [search(-n - 1) for n in range(slices)], {}, NOW
    )
    last: dict[Hashable, float] = {}
    for hour in range(24 * 40):
        now = NOW + hour * HOUR
        for id in policy.choose(now, 1, {}):
            policy.record(id, now, ok(rich if id < 0 else 0))
            last[id] = now
    # At most fifteen waiters at five calls a day.
    waits = [NOW + 40 * DAY - at for at in last.values()]
    assert len(last) == boards + slices
    assert max(waits) <= 5 * DAY + 3.2 * DAY


@pytest.mark.parametrize("name", ["seed", "yield"])
@pytest.mark.parametrize("gap", [2 * DAY, 400 * DAY, 40_000 * DAY])
def test_after_a_long_sleep_it_catches_up_within_its_budget(name: str, gap: float) -> None:
    policy = create_policy(name, {})
    policy.bind([company(n) for n in range(200)], {}, NOW)
    for id in policy.choose(NOW, 200, {}):
        policy.record(id, NOW, ok())
    assert len(policy.choose(NOW + gap, 7, {"lever": 100})) == 7
    assert len(policy.choose(NOW + gap, 100, {"lever": 3})) == 3


@pytest.mark.parametrize("name", ["seed", "yield"])
def test_a_clock_that_was_a_year_ahead_does_not_silence_its_targets(name: str) -> None:
    policy = create_policy(name, {})
    policy.bind([company(1), search(2)], {}, NOW)
    ahead = NOW + 365 * DAY
    for id in policy.choose(ahead, 9, {}):
        policy.record(id, ahead, ok())
    assert sorted(policy.choose(NOW + DAY, 9, {})) == [1, 2]


@pytest.mark.parametrize("name", ["seed", "yield"])
@pytest.mark.parametrize("back", [1.0, HOUR, DAY])
def test_a_clock_that_is_set_back_makes_nothing_early(name: str, back: float) -> None:
    policy = create_policy(name, {})
    policy.bind([company(1), search(2)], {}, NOW)
    for id in policy.choose(NOW, 9, {}):
        policy.record(id, NOW, ok())
    assert policy.choose(NOW - back, 9, {}) == []
