"""A simulated world of boards and search slices: what is posted when, which targets show it, and
what calls return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

DAY = 86_400.0
HOUR = 3_600.0
START = 1_767_571_200.0
"""A Monday, midnight UTC."""
HISTORY = 60.0
"""Days of postings before the first call."""

BOARD_SOURCES = ("greenhouse", "lever", "ashby")
SLICE_SOURCES = ("jooble", "reed_uk", "adzuna", "themuse")


@dataclass(frozen=True)
class Scenario:
    """Everything that can differ between worlds; rates are per day."""

    days: int = 45
    tick_minutes: int = 24
    calls: int = 1_200
    boards: int = 5_000
    slices: int = 400
    board_rate: float = 0.2
    board_spread: float = 1.5
    slice_rate: float = 12.0
    slice_spread: float = 1.4
    closing: float = 1 / 20
    caps: tuple[int, ...] = (20, 50, 100)
    capped_boards: float = 0.05
    shared: float = 0.35
    """Share of slice entries that several slices show."""
    copied: float = 0.4
    """Share of board postings that a slice also shows, some hours later."""
    weekend: float = 0.25
    night: float = 0.3
    dead: float = 0.08
    dying: float = 0.001
    outages: float = 1 / 15
    outage_hours: float = 4.0
    throttles: float = 1 / 10
    errors: float = 0.01
    undated: float = 0.2
    """Share of slices with pages without dates."""
    drift: float = 0.003
    """Share of targets per day with a change of rate."""
    per_hour: int | None = 60
    per_day: int | None = 600


@dataclass
class World:
    scenario: Scenario
    targets: list[dict[str, Any]]
    sources: dict[str, dict[str, int | None]]
    posted: NDArray[np.float64]
    closes: NDArray[np.float64]
    first: NDArray[np.int64]
    """Where the entries of each target start; one more than there are targets."""
    entry: NDArray[np.int64]
    """Listings, by target and time."""
    shown: NDArray[np.float64]
    dies: NDArray[np.float64]
    dated: NDArray[np.bool_]
    down: dict[str, list[tuple[float, float]]]
    slow: dict[str, list[tuple[float, float]]]
    changed: NDArray[np.float64]
    rate: NDArray[np.float64]
    """Entries per day of each target, counted before and after its change."""
    own_share: NDArray[np.float64]
    """The same, with each listing divided among the targets that show it."""


def make(scenario: Scenario, seed: int) -> World:
    """Build a world; the same for the same seed."""
    rng = np.random.default_rng(seed)
    targets = _targets(scenario, rng)
    clock = _Clock(scenario)
    change = _changes(scenario, rng, clock)
    posted, carriers, shown, what = _shows(scenario, rng, clock, change)
    order = np.lexsort((shown, carriers))
    carriers, shown, what = carriers[order], shown[order], what[order]
    share = 1 / np.bincount(what, minlength=len(posted))
    changed = clock.spread(change)
    later = shown >= changed[carriers]
    return World(
        scenario=scenario,
        targets=targets,
        sources={name: {"per_hour": None, "per_day": None} for name in BOARD_SOURCES}
        | {
            name: {"per_hour": scenario.per_hour, "per_day": scenario.per_day}
            for name in SLICE_SOURCES
        },
        posted=posted,
        closes=posted + rng.exponential(DAY / scenario.closing, len(posted)),
        first=np.searchsorted(carriers, np.arange(len(targets) + 1)),
        entry=what,
        shown=shown,
        dies=_deaths(scenario, rng),
        dated=rng.random(len(targets)) >= scenario.undated,
        down=_troubles(scenario, rng, scenario.outages, scenario.outage_hours),
        slow=_troubles(scenario, rng, scenario.throttles, 0.5),
        changed=changed,
        rate=_per_day(carriers, later, change * clock.days, clock.days, np.ones(len(what))),
        own_share=_per_day(carriers, later, change * clock.days, clock.days, share[what]),
    )


def _changes(scenario: Scenario, rng: np.random.Generator, clock: _Clock) -> NDArray[np.float64]:
    """When the rate of each target changes, as a share of all time; most never do."""
    count = scenario.boards + scenario.slices
    at = rng.exponential(1 / (max(scenario.drift, 1e-9) * clock.days), count)
    return np.minimum(at, 1.0)


def _per_day(
    carriers: NDArray[np.int64],
    later: NDArray[np.bool_],
    before: NDArray[np.float64],
    days: float,
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Two rows of rates: before and after the change of each target."""
    rows: list[NDArray[np.float64]] = []
    for which, span in ((~later, before), (later, days - before)):
        sums = np.bincount(carriers[which], weights=weights[which], minlength=len(before))
        rows.append(sums / np.maximum(span, 1.0))
    return np.array(rows)


class _Clock:
    """Turn evenly spread times into times that follow weekdays and office hours."""

    def __init__(self, scenario: Scenario) -> None:
        self.days = HISTORY + scenario.days
        hours = np.arange(int(self.days * 24))
        self.edges = START - HISTORY * DAY + np.arange(len(hours) + 1) * HOUR
        weekday = ((self.edges[:-1] - START) // DAY) % 7
        hour = ((self.edges[:-1] - START) // HOUR) % 24
        weight = np.where(weekday >= 5, scenario.weekend, 1.0)
        weight = weight * np.where((hour >= 7) & (hour < 19), 1.0, scenario.night)
        self.sums = np.concatenate([[0.0], np.cumsum(weight)]) / weight.sum()

    def spread(self, even: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.interp(even, self.sums, self.edges)


def _targets(scenario: Scenario, rng: np.random.Generator) -> list[dict[str, Any]]:
    boards = rng.choice(BOARD_SOURCES, scenario.boards, p=(0.5, 0.3, 0.2))
    capped = rng.random(scenario.boards) < scenario.capped_boards
    slices = rng.choice(SLICE_SOURCES, scenario.slices, p=(0.4, 0.3, 0.2, 0.1))
    caps = rng.choice(scenario.caps, scenario.slices)
    return [
        {"id": n, "kind": "company", "source": str(source), "page_cap": cap, "priority": 100}
        for n, (source, cap) in enumerate(
            zip(boards, [50 if is_capped else None for is_capped in capped], strict=True)
        )
    ] + [
        {"id": n, "kind": "slice", "source": str(source), "page_cap": int(cap), "priority": 100}
        for n, (source, cap) in enumerate(zip(slices, caps, strict=True), scenario.boards)
    ]


def _rates(rng: np.random.Generator, count: int, mean: float, spread: float) -> NDArray[np.float64]:
    """Two rows of heavy-tailed rates with this mean."""
    return rng.lognormal(np.log(mean) - spread**2 / 2, spread, (2, count))


def _moments(
    rng: np.random.Generator,
    clock: _Clock,
    rates: NDArray[np.float64],
    change: NDArray[np.float64],
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Which target posts when: at the first rate until the change, then at the second."""
    who = np.arange(len(change))
    before = np.repeat(who, rng.poisson(rates[0] * change * clock.days))
    after = np.repeat(who, rng.poisson(rates[1] * (1 - change) * clock.days))
    early = rng.random(len(before)) * change[before]
    late = change[after] + rng.random(len(after)) * (1 - change[after])
    return np.concatenate([before, after]), clock.spread(np.concatenate([early, late]))


def _shows(
    scenario: Scenario, rng: np.random.Generator, clock: _Clock, change: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
    """When each listing is posted, and which targets show it from when: boards their own postings,
    slices their own, those of other slices, and copies from boards."""
    boards = scenario.boards
    rates = _rates(rng, boards, scenario.board_rate, scenario.board_spread)
    whose, posted = _moments(rng, clock, rates, change[:boards])
    if not scenario.slices:
        return posted, whose, posted, np.arange(len(posted))
    rates = _rates(rng, scenario.slices, scenario.slice_rate, scenario.slice_spread)
    who, when = _moments(rng, clock, rates, change[boards:])
    ids = len(posted) + np.arange(len(who))
    popular = rates[0] / rates[0].sum()
    # A listing of two slices is shown twice, so half as many make the share.
    both = np.flatnonzero(rng.random(len(who)) < scenario.shared / 2)
    others = rng.choice(scenario.slices, len(both), p=popular)
    both, others = both[others != who[both]], others[others != who[both]]
    copies = np.flatnonzero(rng.random(len(posted)) < scenario.copied)
    copiers = rng.choice(scenario.slices, len(copies), p=popular)
    lag = rng.exponential(12 * HOUR, len(copies))
    return (
        np.concatenate([posted, when]),
        np.concatenate([whose, boards + who, boards + others, boards + copiers]),
        np.concatenate([posted, when, when[both], posted[copies] + lag]),
        np.concatenate([np.arange(len(posted)), ids, ids[both], copies]),
    )


def _deaths(scenario: Scenario, rng: np.random.Generator) -> NDArray[np.float64]:
    count = scenario.boards + scenario.slices
    dies = START + rng.exponential(DAY / scenario.dying, count)
    dies[rng.random(count) < scenario.dead] = START - DAY
    dies[scenario.boards :] = np.inf
    return dies


def _troubles(
    scenario: Scenario, rng: np.random.Generator, rate: float, hours: float
) -> dict[str, list[tuple[float, float]]]:
    troubles: dict[str, list[tuple[float, float]]] = {}
    for name in BOARD_SOURCES + SLICE_SOURCES:
        begins = START + rng.random(rng.poisson(rate * scenario.days)) * scenario.days * DAY
        troubles[name] = [(at, at + rng.exponential(hours * HOUR)) for at in sorted(begins)]
    return troubles


def trouble(spans: list[tuple[float, float]], now: float) -> float | None:
    """When the current outage ends; None if there is none."""
    return next((end for begin, end in spans if begin <= now < end), None)


class Visit:
    """The view of one policy on a world: what it has seen, and what calls return."""

    def __init__(self, world: World, seed: int) -> None:
        self.world = world
        self.rng = np.random.default_rng(seed + 1)
        self.seen = np.zeros(len(world.posted), dtype=bool)
        self.met = np.zeros(len(world.entry), dtype=bool)
        self.page: dict[int, bytes] = {}

    def call(self, id: int, now: float) -> tuple[dict[str, Any], NDArray[np.int64]]:
        """The outcome, and the listings that are new to the catalog."""
        failed = self._fails(id, now)
        if failed is not None:
            return failed, np.empty(0, dtype=np.int64)
        target = self.world.targets[id]
        places, full = self._visible(id, now, target["page_cap"])
        ids = self.world.entry[places]
        new = ids[~self.seen[ids]]
        fresh = int((~self.met[places]).sum())
        self.seen[ids] = True
        self.met[places] = True
        page = places.tobytes()
        if target["source"] == "greenhouse" and self.page.get(id) == page:
            return {"status": "not_modified", "http_status": 304}, new
        self.page[id] = page
        outcome: dict[str, Any] = {
            "status": "ok",
            "http_status": 200,
            "returned": len(ids),
            "new": len(new),
            "fresh": fresh,
            "truncated": full,
        }
        if self.world.dated[id]:
            posted = self.world.shown[places]
            outcome["posted"] = posted.tolist()
            outcome["oldest_at"] = float(posted[0]) if len(posted) else None
        return outcome, new

    def _fails(self, id: int, now: float) -> dict[str, Any] | None:
        world = self.world
        source = world.targets[id]["source"]
        throttled_until = trouble(world.slow[source], now)
        if throttled_until is not None:
            return {
                "status": "rate_limited",
                "http_status": 429,
                "retry_after_s": throttled_until - now,
            }
        if trouble(world.down[source], now) is not None:
            return {"status": "error", "http_status": 503}
        if now >= world.dies[id]:
            return {"status": "gone", "http_status": 404}
        if self.rng.random() < world.scenario.errors:
            return {"status": "error", "http_status": 500}
        return None

    def _visible(self, id: int, now: float, cap: int | None) -> tuple[NDArray[np.int64], bool]:
        """The indexes of the open entries on the page, oldest first, and whether the page is
        truncated."""
        world = self.world
        low = world.first[id]
        high = low + np.searchsorted(world.shown[low : world.first[id + 1]], now)
        begin = low if cap is None else max(low, high - 4 * cap)
        while True:
            places = np.arange(begin, high)
            places = places[world.closes[world.entry[places]] > now]
            if cap is None or len(places) > cap or begin == low:
                break
            begin = low
        full = cap is not None and len(places) > cap
        return (places[-cap:] if full and cap else places), full
