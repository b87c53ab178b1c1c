"""Imports many boards at once from lines of platform and slug."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from jobmill.boards.adapters import find_platform
from jobmill.catalog import source_import
from jobmill.catalog.sources import NewSource
from jobmill.db import Tx
from jobmill.errors import Invalid

from . import targets

_COLUMNS = ("platform", "slug", "priority")
MAX_NAMED_LINES = 20
"""An error message names at most this many invalid lines."""


@dataclass(frozen=True, slots=True)
class ImportedBoard:
    new: NewSource
    priority: int | None


@dataclass(frozen=True, slots=True)
class ImportResult:
    """How many lines were new, and how many were in the catalog already."""

    boards: int
    new: int
    known: int


def parse_boards(text: str) -> list[ImportedBoard]:
    """Read CSV (platform,slug[,priority], header optional) or JSON lines with these names. Invalid
    names the wrong lines."""
    boards: list[ImportedBoard] = []
    wrong: list[str] = []
    for number, line in _parse_lines(text):
        try:
            boards.append(_to_board(line))
        except Invalid as error:
            wrong.append(f"line {number}: {error}")
    if wrong:
        more = f"; and {len(wrong) - MAX_NAMED_LINES} more" if len(wrong) > MAX_NAMED_LINES else ""
        raise Invalid(f"nothing was imported: {'; '.join(wrong[:MAX_NAMED_LINES])}{more}")
    return boards


def _parse_lines(text: str) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """Yield the number of each line with its fields, or with the reason why it cannot be read."""
    if text.lstrip("\ufeff \n\r\t").startswith("{"):
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                yield number, _parse_object(line)
        return
    reader = csv.reader(text.lstrip("\ufeff").splitlines())
    for cells in reader:
        plain = [cell.strip() for cell in cells]
        if any(plain) and [cell.lower() for cell in plain[:2]] != list(_COLUMNS[:2]):
            yield reader.line_num, dict(zip(_COLUMNS, plain, strict=False))


def _parse_object(line: str) -> dict[str, Any] | str:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError) as error:
        return f"not JSON: {error}"
    return cast(dict[str, Any], value) if isinstance(value, dict) else "not an object: {…}"


def _to_board(line: dict[str, Any] | str) -> ImportedBoard:
    if isinstance(line, str):
        raise Invalid(line)
    name, slug = line.get("platform"), line.get("slug")
    if not isinstance(name, str) or not isinstance(slug, str) or not name or not slug:
        raise Invalid("wants a platform and a slug")
    return ImportedBoard(board_source(name, slug), _priority(line.get("priority")))


def _priority(value: Any) -> int | None:
    if value in (None, ""):
        return None
    if not str(value).isascii() or not str(value).isdigit() or int(value) > targets.MAX_PRIORITY:
        raise Invalid(f"priority is a whole number from 0 to 100, higher first, not {value!r}")
    return int(value)


def board_source(name: str, slug: str) -> NewSource:
    """Make a source for a board; Invalid if the platform has no such boards."""
    platform = find_platform(name)
    if platform.disabled or platform.first_request is None:
        raise Invalid(f"{platform.title}: {platform.disabled or 'it cannot be read yet'}")
    if "board_token" not in platform.config.model_fields:
        raise Invalid(f"{platform.title} has no boards: `rotate search add` looks there")
    if len(slug) > 300 or not slug.isprintable() or any(mark.isspace() for mark in slug):
        raise Invalid(f"{slug[:50]!r} cannot be the name of a board")
    config = platform.parse_config({"board_token": slug})
    return NewSource(
        name=slug,
        source_type=platform.name,
        token=platform.token(config),
        config={"board_token": slug},
        discovered_via="import",
        evidence="imported",
    )


async def import_boards(tx: Tx, boards: Sequence[ImportedBoard]) -> ImportResult:
    """Add each board as an enabled source and target; existing ones are not changed."""
    answers = await source_import.add_all(tx, [board.new for board in boards], enabled=True)
    fresh = {id for id, new in answers if new}
    await targets.add_new(tx, sorted(fresh))
    # Lock all targets in one statement: locking per priority would break the ascending lock order.
    await targets.lock(tx, [id for id, new in answers if not new])
    for priority, ids in _group_by_priority(zip(boards, answers, strict=True)):
        await targets.set_priorities(tx, ids, priority)
    ids = {id for id, _ in answers}
    return ImportResult(len(ids), len(fresh), len(ids) - len(fresh))


def _group_by_priority(
    pairs: Iterable[tuple[ImportedBoard, tuple[int, bool]]],
) -> Iterator[tuple[int, list[int]]]:
    named: dict[int, list[int]] = {}
    for board, (id, _) in pairs:
        if board.priority is not None:
            named.setdefault(board.priority, []).append(id)
    yield from named.items()
