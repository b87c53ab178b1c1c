"""Measures reading: postings per second from real boards, time per page relative to the HTML
parser, and memory."""

from __future__ import annotations

import argparse
import asyncio
import gc
import json
import resource
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path

from rich.console import Console
from rich.table import Table
from selectolax.lexbor import LexborHTMLParser

from bench.ingest import sandbox_cost
from bench.ingest.pages import all_pages
from evaluation.goal import Goal
from evaluation.run import DATA, line
from jobmill.boards import readable_board
from jobmill.boards.adapters import find_platform
from jobmill.extract.fields import html_text
from jobmill.extract.page import page_reader

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "bench" / "results" / "ingest.json"
ROUNDS = 5
TURNS = 41
PAGES = 10_000
SETTLED = 1_000
"""Pages after which memory should not grow any more."""

BOARDS = {
    "greenhouse": (
        "ats_greenhouse/stripe__enjoiyourlife.json",
        lambda answer: answer["jobs"],
        "content",
    ),
    "lever": ("ats_lever/matchgroup__enjoiyourlife.json", lambda answer: answer, "description"),
    "ashby": (
        "ats_ashby/ramp__enjoiyourlife.json",
        lambda answer: answer["jobs"],
        "descriptionHtml",
    ),
}
"""Complete boards: the file, its records, and the field with the longest text of a record."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=DATA, help="where the real answers are")
    parser.add_argument("--pages", type=int, default=PAGES, help="how many for the memory")
    parser.add_argument("--hostile", action="store_true", help="only read the hostile documents")
    options = parser.parse_args()
    if options.hostile:
        for goal in asyncio.run(sandbox_cost.measure_responsiveness()):
            print(line(goal, "ingest"))
        return
    pages = all_pages(options.data)
    rows = [*_boards(options.data), *_speeds(pages)]
    grown, size = _memory(pages, options.pages)
    _print(rows)
    slowest = max((ratio for name, _, ratio in rows if name.startswith("page")), default=0.0)
    goals = [
        Goal("ingest.page_over_parse", slowest, 2.0, at_most=True),
        Goal("ingest.memory_growth", grown, 1.05, at_most=True),
        sandbox_cost.measure_cost(pages, _files(options.data)),
        *asyncio.run(sandbox_cost.measure_responsiveness()),
    ]
    print(f"memory: {size:.0f} MB after {options.pages} pages, {grown:.3f} of that after {SETTLED}")
    for goal in goals:
        print(line(goal, "ingest"))
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps({"rows": rows, "memory": [grown, size]}, indent=1) + "\n")


def _files(data: Path) -> dict[str, Path]:
    files = {name: data / file for name, (file, _, _) in BOARDS.items()}
    return {name: file for name, file in files.items() if file.is_file()}


def _took(act: Callable[[], object]) -> float:
    """Seconds of one core."""
    began = time.process_time()
    act()
    return time.process_time() - began


def _median(act: Callable[[], object]) -> float:
    """Seconds, as the median of a few rounds."""
    return statistics.median(_took(act) for _ in range(ROUNDS))


def _boards(data: Path) -> list[tuple[str, str, float]]:
    """Postings per second of one core, and the time relative to only decoding the JSON and removing
    the tags of one text per posting."""
    rows: list[tuple[str, str, float]] = []
    for name, (file, records, field) in BOARDS.items():
        if not (data / file).is_file():
            continue
        body = (data / file).read_bytes()
        platform = find_platform(name)
        count = len(readable_board.read_saved_response(platform, body))
        ours = _median(
            lambda platform=platform, body=body: readable_board.read_saved_response(platform, body)
        )
        bare = _median(lambda body=body, records=records, field=field: _bare(body, records, field))
        rows.append((f"board {name}", f"{count / ours:,.0f} postings/s", ours / bare))
    if not rows:
        print(f"Skipped: there are no real boards at {data}.", file=sys.stderr)
    return rows


def _bare(body: bytes, records: Callable[..., list[dict[str, str]]], field: str) -> None:
    for record in records(json.loads(body)):
        html_text.from_escaped_html(record.get(field))


def _speeds(pages: dict[str, str]) -> list[tuple[str, str, float]]:
    """The time to read a page, and relative to only parsing it.

    Both are measured alternately, so that a busy machine slows both.
    """
    rows: list[tuple[str, str, float]] = []
    for name, html in pages.items():
        bare: list[float] = []
        ours: list[float] = []
        for _ in range(TURNS):
            bare.append(_took(lambda html=html: LexborHTMLParser(html)))
            ours.append(
                _took(lambda html=html: page_reader.read_posting(html, "https://x.example/1"))
            )
        read, parse = statistics.median(ours), statistics.median(bare)
        rows.append((name, f"{read * 1000:.1f} ms, parser {parse * 1000:.1f}", read / parse))
    return rows


def _memory(pages: dict[str, str], count: int) -> tuple[float, float]:
    """Memory after all pages relative to memory after the first few, and in MB."""
    settled = 0.0
    htmls = list(pages.values())
    for number in range(count):
        html = htmls[number % len(htmls)]
        page_reader.read_posting(
            html.replace("<title>", f"<title>{number} ", 1), f"https://x.example/{number}"
        )
        if number == min(SETTLED, count // 2):
            settled = _resident()
    return _resident() / settled, _resident()


def _resident() -> float:
    """MB in use now."""
    gc.collect()
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return pages * resource.getpagesize() / 1e6
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def _print(rows: list[tuple[str, str, float]]) -> None:
    table = Table("what", "ours", "over the bare minimum")
    for name, rate, ratio in rows:
        table.add_row(name, rate, f"{ratio:.2f}")
    Console(width=None if sys.stdout.isatty() else 120).print(table)


if __name__ == "__main__":
    main()
