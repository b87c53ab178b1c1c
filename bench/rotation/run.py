"""Measure rotation: the share of each policy compared with one that knows the true rates, and its
speed."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.rotation import world
from bench.rotation.baselines import Clairvoyant, RoundRobin
from bench.rotation.indexed import Indexed
from bench.rotation.scenarios import random_scenario
from bench.rotation.simulator import Policy, Result, run
from bench.rotation.world import DAY, START, Scenario, World
from evaluation.goal import Goal
from evaluation.run import line
from jobmill.rotation.policies import create_policy
from jobmill.rotation.policies.yield_model import YieldRules

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results" / "rotation.json"
SIZES = (1_000, 5_400, 100_000, 1_000_000)
ROUNDS = 15
BOUND = "knows the true rates"

POLICIES: dict[str, Callable[[World], Policy]] = {
    "round robin": lambda _: RoundRobin(),
    "seed": lambda _: create_policy("seed"),
    "yield": lambda _: create_policy("yield"),
    "yield, by index": lambda _: Indexed(YieldRules()),
    BOUND: Clairvoyant,
}
WORLDS: dict[str, Callable[[int], Scenario]] = {
    "base": lambda _: Scenario(),
    "random": random_scenario,
    "boards only": lambda _: Scenario(slices=0),
}

Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10, help="worlds of the base kind")
    parser.add_argument("--random", type=int, default=20, help="worlds in which everything differs")
    parser.add_argument("--boards-only", type=int, default=4, help="worlds without slices")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--largest", type=int, default=SIZES[-1], help="most targets to decide for")
    options = parser.parse_args()
    counts = {"base": options.seeds, "random": options.random, "boards only": options.boards_only}
    results_by_world = {
        name: _play(name, count, options.processes) for name, count in counts.items() if count
    }
    rows = [row for name, results in results_by_world.items() for row in _rows(name, results)]
    times = [_decide(size) for size in SIZES if size <= options.largest]
    _print(rows, times)
    for goal in _goals(rows, times):
        print(line(goal, "rotation"))
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({"policies": rows, "decisions": times}, indent=1) + "\n")


def _play(name: str, count: int, processes: int) -> list[dict[str, Result]]:
    with ProcessPoolExecutor(processes) as pool:
        return list(pool.map(partial(_one, name), range(count)))


def _one(name: str, seed: int) -> dict[str, Result]:
    """All policies in one world."""
    made = world.make(WORLDS[name](seed), seed)
    return {policy: run(made, make(made), seed) for policy, make in POLICIES.items()}


def _rows(name: str, results: list[dict[str, Result]]) -> list[Row]:
    def mean(policy: str, figure: str) -> float:
        return statistics.mean(getattr(result[policy], figure) for result in results)

    rows: list[Row] = []
    for policy in POLICIES:
        shares = [result[policy].new_per_day / result[BOUND].new_per_day for result in results]
        late = [result[policy].late / result[BOUND].late for result in results]
        rows.append(
            {
                "world": name,
                "policy": policy,
                "share": statistics.mean(shares),
                "least": min(shares),
                "second half": statistics.mean(late),
                "least of it": min(late),
                "new a day": mean(policy, "new_per_day"),
                "delay, h": mean(policy, "delay_hours"),
                "wasted": mean(policy, "wasted"),
                "dead a day": mean(policy, "dead"),
            }
        )
    return rows


def _decide(count: int) -> Row:
    """Milliseconds of one `choose` of 20 from this many targets, half of them called before."""
    kinds = (("company", "lever", None), ("company", "ashby", None), ("slice", "jooble", 50))
    targets = [
        {"id": n, "kind": kind, "source": source, "page_cap": cap, "priority": n % 7}
        for n in range(count)
        for kind, source, cap in [kinds[n % 3]]
    ]
    row: Row = {"targets": count}
    for name in ("seed", "yield"):
        policy = create_policy(name)
        policy.bind(targets, {}, START)
        for n in range(0, count, 2):
            outcome = {"status": "ok", "returned": n % 40, "new": n % 11, "fresh": n % 11}
            policy.record(n, START + n % DAY, outcome)
        took: list[float] = []
        for turn in range(ROUNDS):
            began = time.perf_counter()
            policy.choose(START + (3 + turn) * DAY, 20, {"jooble": 5})
            took.append(time.perf_counter() - began)
        row[name] = statistics.median(took) * 1_000
    return row


def _goals(rows: list[Row], times: list[Row]) -> list[Goal]:
    ours = {row["world"]: row for row in rows if row["policy"] == "yield"}
    goals: list[Goal] = []
    if "base" in ours:
        goals.append(Goal("rotation.base_share", ours["base"]["share"], 0.95))
        goals.append(Goal("rotation.base_least", ours["base"]["least"], 0.93))
    if "random" in ours:
        goals.append(Goal("rotation.random_share", ours["random"]["share"], 0.95))
    usual = next((row for row in times if row["targets"] == 5_400), None)
    if usual:
        goals.append(Goal("rotation.choose_ms", usual["yield"], 5.0, at_most=True))
    return goals


def _print(rows: list[Row], times: list[Row]) -> None:
    console = Console(width=None if sys.stdout.isatty() else 140)
    for title, table_rows in (("what is found", rows), ("one decision, ms", times)):
        table = Table(*(table_rows[0] if table_rows else ()), title=title)
        for row in table_rows:
            table.add_row(
                *(f"{cell:,.3f}" if isinstance(cell, float) else str(cell) for cell in row.values())
            )
        console.print(table)


if __name__ == "__main__":
    main()
