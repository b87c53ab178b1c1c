"""Matches as a file: a table for people, or a JSON object a line for programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import fields, replace
from typing import Literal, TypeAlias

from jobmill.catalog.spreadsheet_cells import escape_formula
from jobmill.db import Tx
from jobmill.matching.matches import Match, Wanted
from jobmill.matching.verdict import Intake

from . import match_json, matches

Form: TypeAlias = Literal["csv", "jsonl"]
Begin: TypeAlias = Callable[[], AbstractAsyncContextManager[Tx]]

PAGE = 200
INTAKE = "resumeIntakeData"
NAMES = [match_json.camel(one.name) for one in fields(Match) if one.name != "resume_intake"]
TOLD = [match_json.camel(one.name) for one in fields(Intake)]


async def read(begin: Begin, wanted: Wanted) -> AsyncGenerator[list[Match]]:
    """All of them, copies too, page after page, each in a transaction of its own, the newest first:
    when a match was made never changes, so that none is left out or repeated."""
    wanted = replace(wanted, order="newest", limit=PAGE, copies=True)
    while True:
        async with begin() as tx:
            page = await matches.find(tx, wanted)
        yield page
        if len(page) < PAGE:
            return
        wanted = replace(wanted, after=page[-1].id)


def head(form: Form) -> str:
    """What stands above them all."""
    return _line([*NAMES, *(f"{INTAKE}.{name}" for name in TOLD)]) if form == "csv" else ""


def write(match: Match, form: Form) -> str:
    """One of them, with the end of its line."""
    written = match_json.write(match)
    if form == "jsonl":
        return json.dumps(written, ensure_ascii=False) + "\n"
    written["items"] = [f"{one['name']} {one['points']}/{one['most']}" for one in match.items]
    told = (written[INTAKE].get(name) for name in TOLD)
    return _line([*(written[name] for name in NAMES), *told])


def _line(cells: list[object]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow(map(escape_formula, cells))
    return out.getvalue()
