"""Takes many boards in at once: lines of platform and slug."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from jobmill.boards import response_reader, saved_responses
from jobmill.catalog import source_import
from jobmill.catalog.sources import NewSource
from jobmill.db import Tx
from jobmill.errors import Invalid

from . import targets

FIELDS = ("platform", "slug", "priority")
NAMED = 20
"""So many wrong lines are named at once."""


@dataclass(frozen=True, slots=True)
class Board:
    """One line."""

    new: NewSource
    priority: int | None


@dataclass(frozen=True, slots=True)
class Imported:
    """What became of the lines."""

    boards: int
    new: int
    known: int


def read(text: str) -> list[Board]:
    """CSV (platform,slug[,priority], with or without a heading) or JSON lines with these names;
    Invalid names the lines that are wrong."""
    found: list[Board] = []
    wrong: list[str] = []
    for number, line in _lines(text):
        try:
            found.append(_board(line))
        except Invalid as error:
            wrong.append(f"line {number}: {error}")
    if wrong:
        more = f"; and {len(wrong) - NAMED} more" if len(wrong) > NAMED else ""
        raise Invalid(f"nothing was imported: {'; '.join(wrong[:NAMED])}{more}")
    return found


def _lines(text: str) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """Each line with its number: by name, or in words why it cannot be read."""
    if text.lstrip("\ufeff \n\r\t").startswith("{"):
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                yield number, _object(line)
        return
    reader = csv.reader(text.lstrip("\ufeff").splitlines())
    for cells in reader:
        plain = [cell.strip() for cell in cells]
        if any(plain) and [cell.lower() for cell in plain[:2]] != list(FIELDS[:2]):
            yield reader.line_num, dict(zip(FIELDS, plain, strict=False))


def _object(line: str) -> dict[str, Any] | str:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError) as error:
        return f"not JSON: {error}"
    return cast(dict[str, Any], found) if isinstance(found, dict) else "not an object: {…}"


def _board(line: dict[str, Any] | str) -> Board:
    if isinstance(line, str):
        raise Invalid(line)
    name, slug = line.get("platform"), line.get("slug")
    if not isinstance(name, str) or not isinstance(slug, str) or not name or not slug:
        raise Invalid("wants a platform and a slug")
    return Board(new_board(name, slug), _priority(line.get("priority")))


def _priority(given: Any) -> int | None:
    if given in (None, ""):
        return None
    if not str(given).isascii() or not str(given).isdigit() or int(given) > 1_000_000:
        raise Invalid(f"priority is a whole number, lower first, not {given!r}")
    return int(given)


def new_board(name: str, slug: str) -> NewSource:
    """The source of a board; Invalid where the platform has no such thing."""
    platform = saved_responses.platform(name)
    if platform.off or platform.first is None:
        raise Invalid(f"{platform.title}: {platform.off or 'it cannot be read yet'}")
    if "board_token" not in platform.config.model_fields:
        raise Invalid(f"{platform.title} has no boards: `rotate search add` looks there")
    if len(slug) > 300 or not slug.isprintable() or any(mark.isspace() for mark in slug):
        raise Invalid(f"{slug[:50]!r} cannot be the name of a board")
    config = response_reader.configure(platform, {"board_token": slug})
    return NewSource(
        name=slug,
        source_type=platform.name,
        token=platform.token(config),
        config={"board_token": slug},
        discovered_via="import",
        evidence="imported",
    )


async def keep(tx: Tx, found: Sequence[Board]) -> Imported:
    """Make each a source that runs and a target; those known already stay as they are."""
    answers = await source_import.add_all(tx, [one.new for one in found], enabled=True)
    fresh = {id for id, new in answers if new}
    await targets.add_new(tx, sorted(fresh))
    # All at once: each priority's own would not be the lowest first.
    await targets.lock(tx, [id for id, new in answers if not new])
    for priority, ids in _by_priority(zip(found, answers, strict=True)):
        await targets.prioritise(tx, ids, priority)
    ids = {id for id, _ in answers}
    return Imported(len(ids), len(fresh), len(ids) - len(fresh))


def _by_priority(
    pairs: Iterable[tuple[Board, tuple[int, bool]]],
) -> Iterator[tuple[int, list[int]]]:
    named: dict[int, list[int]] = {}
    for board, (id, _) in pairs:
        if board.priority is not None:
            named.setdefault(board.priority, []).append(id)
    yield from named.items()
