"""Measure accuracy on real responses and pages, and report each goal."""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from evaluation import (
    boards,
    churn,
    claims,
    dedup,
    detection,
    documents,
    fields,
    meaning,
    pages,
    replay,
    site_report,
    text,
)
from evaluation.goal import Goal, Report, format_goal

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
RESULTS = ROOT / "evaluation" / "results.json"

PARTS: dict[str, Callable[[Path], Report]] = {
    "detection": detection.report,
    "boards": boards.report,
    "pages": pages.report,
    "fields": fields.report,
    "text": text.report,
    "dedup": dedup.report,
    "churn": churn.report,
    "meaning": meaning.report,
    "replay": replay.report,
    "claims": claims.report,
    "report": site_report.report,
    "documents": documents.report,
}

PROJECT_PARTS = ("claims", "documents")
"""Parts with a labelled set in the project."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all, if none is named")
    parser.add_argument("--data", type=Path, default=DATA, help="where the real answers are")
    options = parser.parse_args()
    names = select_parts(options.parts, options.data)
    reports = {name: _run(name, options.data) for name in names}
    for report in reports.values():
        _print(report)
    for name, report in reports.items():
        for goal in report.goals:
            print(line(goal, name))
    if set(reports) == set(PARTS):
        RESULTS.write_text(json.dumps(_as_json(reports), indent=1) + "\n")


def select_parts(chosen: Sequence[str], data: Path) -> list[str]:
    """The parts to measure: the chosen ones or all. Without the data folder only those of the project."""
    names = list(chosen or PARTS)
    if data.is_dir():
        return names
    skipped = [name for name in names if name not in PROJECT_PARTS]
    if skipped:
        print(
            f"Skipped {', '.join(skipped)}: there are no real answers at {data}; --data names another"
            " folder."
        )
    return [name for name in names if name in PROJECT_PARTS]


def _run(name: str, data: Path) -> Report:
    began = time.perf_counter()
    report = PARTS[name](data)
    print(f"{name}: {time.perf_counter() - began:.1f} s", file=sys.stderr)
    return report


def _print(report: Report) -> None:
    table = Table(*report.columns, title=report.title, title_justify="left")
    for row in report.rows:
        table.add_row(*row)
    console = Console(width=None if sys.stdout.isatty() else 200)
    console.print(table)
    for note in report.notes:
        console.print(note, markup=False, highlight=False)


def line(goal: Goal, part: str) -> str:
    """One line per goal, without spaces in its parts."""
    plain = goal.name.removeprefix(f"{part}.").removeprefix(f"{part}: ")
    target = f"{'<=' if goal.at_most else '>='}{goal.target:g}"
    return format_goal(f"{part}.{plain}", f"{goal.figure:.4g}", target, met=goal.met)


def _as_json(reports: dict[str, Report]) -> dict[str, object]:
    return {
        "python": platform.python_version(),
        "parts": {
            name: {
                "rows": [dict(zip(report.columns, row, strict=True)) for row in report.rows],
                "goals": [
                    {
                        "name": goal.name,
                        "figure": round(goal.figure, 5),
                        "wanted": goal.target,
                        "at_most": goal.at_most,
                        "met": goal.met,
                    }
                    for goal in report.goals
                ],
                "notes": report.notes,
            }
            for name, report in reports.items()
        },
    }


if __name__ == "__main__":
    main()
