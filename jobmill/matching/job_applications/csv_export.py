"""The CSV file of applications: its columns, and how to write it."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import asdict

from jobmill.catalog import csv_files
from jobmill.db import Tx
from jobmill.matching.job_applications import board, details

COLUMNS = (
    "url",
    "company",
    "title",
    "location",
    "status",
    "applied_on",
    "interview_at",
    "offer_deadline",
    "next_step",
    "next_step_on",
    "notes",
)
"""The columns of the export, which the import reads."""


async def write(tx: Tx, profile_id: int) -> str:
    """All applications of a profile as CSV; cells that look like formulas are escaped."""
    out = io.StringIO()
    add_row = csv_files.start_csv(out, COLUMNS)
    for record in await read_records(tx, profile_id):
        add_row(record)
    return out.getvalue()


async def read_records(tx: Tx, profile_id: int) -> list[Mapping[str, object]]:
    """The values of `COLUMNS` for all applications, by column of the board."""
    applications = await board.find_all(tx, profile_id)
    ids = [application.id for application in applications]
    notes = await _read_notes(tx, ids)
    stored = await details.find_all(tx, ids)
    return [
        {
            "url": application.url,
            "company": application.company or "",
            "title": application.title or "",
            "location": application.location or "",
            "status": application.custom_status or application.status,
            **{
                name: "" if value is None else _format(value)
                for name, value in asdict(stored[application.id]).items()
                if name in COLUMNS
            },
            "notes": notes.get(application.id, ""),
        }
        for application in applications
    ]


def _format(value: object) -> str:
    to_iso = getattr(value, "isoformat", None)
    return to_iso() if to_iso else str(value)


async def _read_notes(tx: Tx, ids: Sequence[int]) -> dict[int, str]:
    notes = await tx.execute(
        """
        SELECT match_id, string_agg(body, E'\\n\\n' ORDER BY created_at, id)
          FROM matching.application_note
         WHERE match_id = ANY(%s) AND removed_at IS NULL GROUP BY match_id
        """,
        [list(ids)],
    )
    return dict(await notes.fetchall())
