"""Benchmarks the queue against its peers on one PostgreSQL server, and prints a comparison."""

from __future__ import annotations

import argparse
import json
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import uuid
from collections import defaultdict
from collections.abc import Callable, Coroutine, Generator, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

import psycopg
import uvloop
from psycopg import sql
from rich.console import Console
from rich.table import Table

from bench.queue import costs, install
from evaluation.goal import format_goal
from jobmill.db.embedded import ADMIN, ROLE, EmbeddedServer

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results" / "queue.json"
OURS = "ours"
ITEMS = 30_000
SAMPLES = 200
TIME_LIMIT = 300

T = TypeVar("T")


@dataclass(frozen=True)
class Contestant:
    """A queue with a setting; `share` of the items keeps the slower ones within the time."""

    name: str
    module: str
    environment: install.Environment | None
    batch: int = 0
    share: float = 1.0
    measures: tuple[str, ...] = ("drain", "save", "enqueue", "latency")


CONTESTANTS = (
    Contestant("procrastinate", "bench.queue.peers.procrastinate", install.PEERS, share=0.1),
    Contestant("pgqueuer-10", "bench.queue.peers.pgqueuer", install.PEERS, batch=10),
    # The batch size affects neither enqueueing nor the latency of a single item.
    Contestant(
        "pgqueuer-100",
        "bench.queue.peers.pgqueuer",
        install.PEERS,
        batch=100,
        measures=("drain", "save"),
    ),
    # Even faster than the requested setting, so a fair comparison must include it.
    Contestant(
        "pgqueuer-500",
        "bench.queue.peers.pgqueuer",
        install.PEERS,
        batch=500,
        measures=("drain", "save"),
    ),
    Contestant("awa", "bench.queue.peers.awa", install.PEERS),
    Contestant("oban", "bench.queue.peers.oban", install.OBAN, share=0.3),
    Contestant(OURS, "bench.queue.ours", None),
)


@dataclass(frozen=True)
class Figure:
    """One column of the table: a key of the output of a run, and its goal."""

    name: str
    measure: str
    key: str
    workers: int = 1
    goal: float | None = None
    lower_is_better: bool = False

    @property
    def run(self) -> tuple[str, int]:
        return self.measure, self.workers


FIGURES = (
    Figure("drain-1", "drain", "per_second", goal=1.5),
    Figure("drain-2", "drain", "per_second", workers=2, goal=1.5),
    Figure("save-1", "save", "per_second"),
    Figure("enqueue-single", "enqueue", "single_per_second", goal=1.0),
    Figure("enqueue-bulk", "enqueue", "bulk_per_second", goal=1.0),
    Figure("latency-p50", "latency", "p50_ms", goal=1.0, lower_is_better=True),
    Figure("latency-p99", "latency", "p99_ms", goal=1.0, lower_is_better=True),
)


@dataclass(frozen=True)
class Turn:
    """A planned run."""

    number: int
    contestant: Contestant
    measure: str
    workers: int
    items: int

    def __str__(self) -> str:
        return f"round {self.number} {self.measure} {self.workers} {self.contestant.name}"

    def arguments(self, url: str) -> list[str]:
        """Arguments of the interpreter, the same for every script."""
        return [
            *("-m", self.contestant.module, self.measure),
            *("--url", url),
            *("--items", str(self.items)),
            *("--workers", str(self.workers)),
            *("--batch", str(self.contestant.batch)),
        ]


@dataclass(frozen=True)
class QueueGoal:
    name: str
    figure: float
    target: str
    met: bool

    @property
    def line(self) -> str:
        return format_goal(self.name, f"{self.figure:.2f}", self.target, met=self.met)


@dataclass(frozen=True)
class Growth:
    """Measures of Jobmill only: costs as tables grow, and a pipeline of three stages."""

    costs: tuple[costs.Cost, ...]
    stages_per_second: float


class Failed(Exception):
    """A run produced no figures; the text says why."""


class QueueComparison:
    """The measurements: one value per round for each queue and figure."""

    def __init__(self) -> None:
        self.values: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
        self.notes: dict[str, dict[str, str]] = defaultdict(dict)
        self.failures: dict[str, str] = {}
        self.growth: Growth | None = None

    def record(self, turn: Turn, printed: dict[str, Any]) -> None:
        name = turn.contestant.name
        for figure in FIGURES:
            if figure.run == (turn.measure, turn.workers):
                self.values[name][figure.name].append(printed[figure.key])
        self.notes[name] |= {key: text for key, text in printed.items() if isinstance(text, str)}

    def median(self, name: str, figure: Figure) -> float | None:
        values = self.values[name][figure.name]
        return statistics.median(values) if values else None

    def ratio(self, name: str, figure: Figure) -> float | None:
        """The ratio of Jobmill's median to that of the best peer."""
        peers = [self.median(peer, figure) for peer in list(self.values) if peer != OURS]
        values = [value for value in peers if value is not None]
        ours = self.median(name, figure)
        if ours is None or not values:
            return None
        return ours / (min(values) if figure.lower_is_better else max(values))

    def goals(self) -> Iterator[QueueGoal]:
        for figure in FIGURES:
            ratio = self.ratio(OURS, figure)
            if figure.goal is None or ratio is None:
                continue
            met = ratio <= figure.goal if figure.lower_is_better else ratio >= figure.goal
            yield QueueGoal(
                figure.name, ratio, f"{'<=' if figure.lower_is_better else '>='}{figure.goal}", met
            )
        for cost in self.growth.costs if self.growth else ():
            met = cost.ratio <= costs.MAX_RATIO
            yield QueueGoal(cost.name, cost.ratio, f"<={costs.MAX_RATIO}", met)


def main() -> int:
    args = _arguments()
    console = Console(width=150, highlight=False)
    sitting = QueueComparison()
    with server(args.url) as url, psycopg.connect(url, autocommit=True) as admin:
        name = check_durable(admin)
        pythons = find_pythons(args.only)
        for turn in plan(args, list(pythons)):
            take(sitting, admin, url, turn, pythons[turn.contestant])
        if any(contestant.name == OURS for contestant in pythons):
            sitting.growth = growth(admin, url, quick=args.quick)
    console.print(f"{name}; rounds: {args.rounds}; medians, and ratios to the best peer")
    console.print(table(sitting))
    if sitting.growth:
        console.print(growth_table(sitting.growth))
    for goal in sitting.goals():
        print(goal.line)
    for failure in sitting.failures:
        print(f"failed {failure}")
    write(sitting, name, args)
    # A missing peer would make the comparison look better; a missed goal is a finding, not an error.
    return 1 if sitting.failures else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--url",
        help="a server as its superuser, say postgresql://me@/postgres?host=/run/postgresql; else our own",
    )
    parser.add_argument("--only", action="append", choices=[each.name for each in CONTESTANTS])
    parser.add_argument("--items", type=int, help=f"{ITEMS} unless told; slow queues get a share")
    parser.add_argument("--rounds", type=int, help="3 unless told")
    parser.add_argument("--quick", action="store_true", help="one round of few items: does it run?")
    args = parser.parse_args()
    args.items = args.items or (3_000 if args.quick else ITEMS)
    args.rounds = args.rounds or (1 if args.quick else 3)
    args.samples = 50 if args.quick else SAMPLES
    return args


@contextmanager
def server(url: str | None) -> Generator[str]:
    """The given server, or else a bundled one that is deleted afterwards."""
    if url:
        yield url
        return
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    # Not the folder for temporary files: it may be in memory, where a commit costs nothing.
    with (
        tempfile.TemporaryDirectory(dir=RESULTS.parent) as folder,
        EmbeddedServer(Path(folder) / "data", connections=200).use() as bundled_url,
    ):
        # Some peers create extensions.
        yield bundled_url.replace(f"//{ROLE}@", f"//{ADMIN}@")


def check_durable(admin: psycopg.Connection) -> str:
    """The name of the server for the table; exits if the server could lose committed data."""
    for name in ("fsync", "full_page_writes", "synchronous_commit"):
        row = admin.execute("SELECT current_setting(%s)", (name,)).fetchone()
        if row != ("on",):
            raise SystemExit(
                f"this server has {name} {row and row[0]}; the figures would mean nothing"
            )
    return f"PostgreSQL {admin.info.parameter_status('server_version')}, {os.cpu_count()} cores"


def find_pythons(only: Sequence[str] | None) -> dict[Contestant, str]:
    pythons: dict[Contestant, str] = {}
    for contestant in CONTESTANTS:
        if only and contestant.name not in only:
            continue
        try:
            pythons[contestant] = _python(contestant)
        except install.Missing as missing:
            print(f"{contestant.name} is left out: {missing}", file=sys.stderr)
    return pythons


def _python(contestant: Contestant) -> str:
    if contestant.environment:
        return str(install.python(contestant.environment))
    if find_spec(contestant.module) is None:
        raise install.Missing(f"there is no {contestant.module}")
    return sys.executable


def plan(args: argparse.Namespace, contestants: Sequence[Contestant]) -> Iterator[Turn]:
    """Take one measure of all queues before the next measure; each round starts with another queue."""
    for number in range(args.rounds):
        start = number % max(len(contestants), 1)
        for measure, workers in dict.fromkeys(figure.run for figure in FIGURES):
            for contestant in [*contestants[start:], *contestants[:start]]:
                if measure in contestant.measures:
                    share = max(int(args.items * contestant.share), 500)
                    items = args.samples if measure == "latency" else share
                    yield Turn(number + 1, contestant, measure, workers, items)


def take(
    sitting: QueueComparison, admin: psycopg.Connection, url: str, turn: Turn, python: str
) -> None:
    """Run once in a new database; record the figures or the failure."""
    try:
        with fresh_database(admin, url) as database:
            printed = run_script([python, *turn.arguments(database)])
    except Failed as failed:
        sitting.failures[str(turn)] = str(failed)
        print(f"{turn}: {failed}", file=sys.stderr)
    else:
        sitting.record(turn, printed)
        print(turn, json.dumps(printed), file=sys.stderr)


def growth(admin: psycopg.Connection, url: str, *, quick: bool) -> Growth:
    def in_fresh(
        measure: Callable[..., Coroutine[Any, Any, T]], *args: Any, databases: int = 1
    ) -> T:
        print(f"{measure.__name__} …", file=sys.stderr)
        with ExitStack() as stack:
            urls = [stack.enter_context(fresh_database(admin, url)) for _ in range(databases)]
            return uvloop.run(measure(*urls, *args))

    return Growth(
        (
            in_fresh(costs.claim_cost, databases=2),
            in_fresh(costs.spawn_cost),
            in_fresh(costs.held_cost),
        ),
        in_fresh(costs.pipeline, 2_000 if quick else 20_000),
    )


def growth_table(growth: Growth) -> Table:
    grid = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    for name in ("", "before ms", "after ms", "ratio"):
        grid.add_column(name, justify="right" if name else "left")
    for cost in growth.costs:
        grid.add_row(cost.name, f"{cost.before:.2f}", f"{cost.after:.2f}", f"{cost.ratio:.2f}x")
    grid.add_row("three stages with spawns", "", "", f"{growth.stages_per_second:,.0f} stages/s")
    return grid


@contextmanager
def fresh_database(admin: psycopg.Connection, url: str) -> Generator[str]:
    name = f"bench_{uuid.uuid4().hex[:12]}"
    admin.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
    try:
        place, mark, options = url.partition("?")
        yield f"{place.rpartition('/')[0]}/{name}{mark}{options}"
    finally:
        admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


def run_script(command: Sequence[str]) -> dict[str, Any]:
    """The JSON of the script's last line."""
    script = subprocess.Popen(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        out, err = script.communicate(timeout=TIME_LIMIT)
    except subprocess.TimeoutExpired:
        raise Failed(f"not done after {TIME_LIMIT} s") from None
    finally:
        # Its workers are in its session and would survive it.
        with suppress(ProcessLookupError):
            os.killpg(script.pid, signal.SIGKILL)
        script.wait()
    if script.returncode:
        raise Failed(err.strip() or f"exit status {script.returncode}")
    return json.loads(out.strip().rpartition("\n")[2])


def table(sitting: QueueComparison) -> Table:
    grid = Table(box=None, pad_edge=False, padding=(0, 3, 0, 0))
    grid.add_column("")
    for figure in FIGURES:
        grid.add_column(
            f"{figure.name} {'ms' if figure.lower_is_better else '/s'}", justify="right"
        )
    for contestant in CONTESTANTS:
        if contestant.name in sitting.values:
            grid.add_row(
                contestant.name, *(_cell(sitting, contestant.name, each) for each in FIGURES)
            )
    return grid


def _cell(sitting: QueueComparison, name: str, figure: Figure) -> str:
    median, ratio = sitting.median(name, figure), sitting.ratio(name, figure)
    if median is None:
        return "-"
    shown = f"{median:,.1f}" if figure.lower_is_better else f"{median:,.0f}"
    return shown if ratio is None else f"{shown} {ratio:.2f}x"


def write(sitting: QueueComparison, server: str, args: argparse.Namespace) -> None:
    queues = {
        name: {
            **sitting.notes[name],
            "figures": {
                figure.name: {
                    "median": sitting.median(name, figure),
                    "ratio": sitting.ratio(name, figure),
                    "values": values[figure.name],
                }
                for figure in FIGURES
                if values[figure.name]
            },
        }
        for name, values in sitting.values.items()
    }
    report = {
        "server": server,
        "python": platform.python_version(),
        "items": args.items,
        "rounds": args.rounds,
        "queues": queues,
        "growth": asdict(sitting.growth) if sitting.growth else None,
        "goals": [
            {"name": goal.name, "figure": goal.figure, "wanted": goal.target, "met": goal.met}
            for goal in sitting.goals()
        ],
        "failures": sitting.failures,
    }
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
