"""Export matches as CSV for people or as JSON Lines for programs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import fields, replace
from typing import Literal, TypeAlias

from jobmill.catalog.csv_files import escape_formula
from jobmill.db import Tx
from jobmill.matching.matches import Match, MatchQuery
from jobmill.matching.verdict import ResumeIntake

from . import match_json, matches

Form: TypeAlias = Literal["csv", "jsonl"]
Begin: TypeAlias = Callable[[], AbstractAsyncContextManager[Tx]]

PAGE_SIZE = 200
INTAKE = "resumeIntakeData"
REASONS = ["reasonFor", "reasonAgainst", "dealbreakers"]
NAMES = [
    match_json.to_camel_case(field.name) for field in fields(Match) if field.name != "resume_intake"
] + REASONS
INTAKE_NAMES = [match_json.to_camel_case(field.name) for field in fields(ResumeIntake)]


async def read_pages(begin: Begin, query: MatchQuery) -> AsyncGenerator[list[Match]]:
    """Read all matches page by page, including duplicates, newest first, each page in its own
    transaction. The creation time never changes, so no match is skipped or repeated."""
    query = replace(query, order="newest", limit=PAGE_SIZE, include_duplicates=True)
    while True:
        async with begin() as tx:
            page = await matches.find(tx, query)
        yield page
        if len(page) < PAGE_SIZE:
            return
        query = replace(query, after=page[-1].id)


def header(form: Form) -> str:
    """The header line of the file; empty for JSON Lines."""
    return _line([*NAMES, *(f"{INTAKE}.{name}" for name in INTAKE_NAMES)]) if form == "csv" else ""


def write_match(match: Match, form: Form) -> str:
    """Write one match as a line."""
    written = match_json.to_dict(match)
    if form == "jsonl":
        return json.dumps(written, ensure_ascii=False) + "\n"
    written["items"] = [f"{item['name']} {item['points']}/{item['most']}" for item in match.items]
    intake = (written[INTAKE].get(name) for name in INTAKE_NAMES)
    return _line([*(written[name] for name in NAMES), *intake])


def _line(cells: list[object]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow(map(escape_formula, cells))
    return out.getvalue()
