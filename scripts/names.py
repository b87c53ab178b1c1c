"""Checks that names and comments explain themselves: `python -m scripts.names [--list]`.

`make check` fails where a figure is over its limit; `--list` shows every place. `docs/glossary.md` has
the words to use instead.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parent.parent
VAGUE_NAMES = frozenset(
    [
        "one",
        "found",
        "told",
        "said",
        "known",
        "asked",
        "seen",
        "given",
        "wanted",
        "kept",
        "mine",
        "own",
        "whole",
        "held",
    ]
)
"""Participles and pronouns: a variable is named for the thing that it holds."""
UNCLEAR_ACTOR = re.compile(
    r"\b(who|whom|whoever|whose|somebody|nobody|anybody|so many|so long as|of now|befall|in vain|anew)\b",
    re.IGNORECASE,
)
"""Words that hide the actor: a comment names the worker, the caller or the applicant."""
SQL_ALIAS = re.compile(
    r"\bAS ([a-z_]\w*)"
    r"|\b([a-z_]\w*) AS (?:NOT )?(?:MATERIALIZED )?\("
)
"""The name of a table, a column or a WITH query in a statement, where AS is in capitals."""
LIMITS = {
    "jobmill": {
        "vague names": 0.25,
        "vague SQL aliases": 1.5,
        "unclear comments": 0.9,
        "shared class names": 1.0,
    },
    "tests": {"vague names": 1.0, "unclear comments": 1.0},
    "bench": {"vague names": 1.0, "unclear comments": 1.0},
    "evaluation": {"vague names": 1.0, "unclear comments": 1.0},
    "scripts": {"vague names": 1.0, "unclear comments": 1.0},
}
"""Percent."""


@dataclass
class Figure:
    total: int = 0
    places: list[str] = field(default_factory=list[str])

    @property
    def percent(self) -> float:
        return 100 * len(self.places) / max(self.total, 1)


def bound_names(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.lineno, node.id
        elif isinstance(node, ast.arg) and node.arg not in ("self", "cls"):
            yield node.lineno, node.arg


def sql_aliases(tree: ast.Module) -> Iterator[tuple[int, str]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for match in SQL_ALIAS.finditer(node.value):
                yield node.lineno + node.value.count("\n", 0, match.start()), match[1] or match[2]


def comments(source: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Comments, docstrings and the strings that explain constants."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            value = node.value.value
            if isinstance(value, str):
                yield node.lineno, " ".join(value.split())


def measure(folder: Path) -> dict[str, Figure]:
    figures: dict[str, Figure] = defaultdict(Figure)
    classes: dict[str, list[str]] = defaultdict(list)
    for path in sorted(folder.rglob("*.py")):
        source = path.read_text(encoding="utf8")
        tree = ast.parse(source)
        place = path.relative_to(ROOT)
        for line, name in bound_names(tree):
            figures["vague names"].total += 1
            if name.strip("_") in VAGUE_NAMES:
                figures["vague names"].places.append(f"{place}:{line} {name}")
        for line, name in sql_aliases(tree):
            figures["vague SQL aliases"].total += 1
            if name in VAGUE_NAMES:
                figures["vague SQL aliases"].places.append(f"{place}:{line} {name}")
        for line, text in comments(source, tree):
            figures["unclear comments"].total += 1
            if UNCLEAR_ACTOR.search(text):
                figures["unclear comments"].places.append(f"{place}:{line} {text[:100]}")
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(str(place))
    shared = [f"{name}: {', '.join(paths)}" for name, paths in classes.items() if len(paths) > 1]
    figures["shared class names"] = Figure(len(classes), shared)
    return figures


def main(show_all: bool) -> int:
    failed = False
    for folder, limits in LIMITS.items():
        figures = measure(ROOT / folder)
        for name, limit in limits.items():
            figure = figures[name]
            over = figure.percent > limit
            failed |= over
            if over or show_all:
                print(f"{folder}: {name} {figure.percent:.2f} % (limit {limit} %)")  # noqa: T201
                print(*figure.places[: None if show_all else 20], sep="\n")  # noqa: T201
    return int(failed)


if __name__ == "__main__":
    sys.exit(main("--list" in sys.argv))
