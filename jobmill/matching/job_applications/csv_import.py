"""Import applications from CSV: read the file, preview it, then import it in one transaction.

An application is identified by its URL, else by company and title: the same row again, in the same
file or in a later one, is the same application.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from psycopg.types.json import Jsonb

from jobmill.catalog import csv_files, listings, save_posting
from jobmill.catalog.csv_files import InvalidSpreadsheet, LineProblem
from jobmill.catalog.listings import ListingId
from jobmill.catalog.platform_rules import PlatformRules
from jobmill.catalog.posting import Posting
from jobmill.db import Tx, fetch_single_value, fetch_value
from jobmill.errors import AppError, Invalid
from jobmill.matching import judging_feed, matches
from jobmill.matching.job_applications import board, custom_statuses, details, entries
from jobmill.matching.job_applications.details import ApplicationDetails
from jobmill.matching.matches import MatchId
from jobmill.matching.profiles import ProfileVersion
from jobmill.sandbox import ReaderStopped, read_untrusted

MAX_BYTES = 500_000
MAX_ROWS = 500
MAX_TEXT = 300
"""Of a title, company or place."""

RowOutcome: TypeAlias = Literal["new", "known", "repeated", "problem"]


@dataclass(frozen=True, slots=True)
class ImportRow:
    line: int
    url: str
    company: str
    title: str
    location: str
    status: str
    details: ApplicationDetails
    notes: str

    @property
    def key(self) -> str:
        return self.url or f"{self.company}\n{self.title}".casefold()


@dataclass(frozen=True, slots=True)
class ImportedRow:
    """A row of the file and what the import does with it."""

    line: int
    outcome: RowOutcome
    title: str
    company: str
    status: str
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ParsedApplications:
    rows: Sequence[ImportRow]
    problems: Sequence[LineProblem]
    """Rows that cannot be imported."""


async def read_file(data: bytes) -> ParsedApplications:
    """Read the file in a child process. Invalid if it is no CSV file with the needed columns."""
    if len(data) > MAX_BYTES:
        raise Invalid(f"The file has more than {MAX_BYTES // 1000} kB. Split it.")
    try:
        result = await read_untrusted(_parse, data)
    except ReaderStopped as error:
        raise Invalid(f"The file could not be read: {error}") from error
    if isinstance(result, str):
        raise Invalid(result)
    return result


def _parse(data: bytes) -> ParsedApplications | str:
    """The rows, or why the file is no CSV file."""
    try:
        lines = csv_files.parse_csv(data, needed=("title", "company"))
    except (InvalidSpreadsheet, Invalid) as error:
        return str(error)
    if len(lines) > MAX_ROWS:
        return f"The file has more than {MAX_ROWS} rows. Split it into smaller files."
    rows: list[ImportRow] = []
    problems: list[LineProblem] = []
    for line in lines:
        try:
            rows.append(_read_row(line.line, line.cells))
        except Invalid as error:
            problems.append(LineProblem(line.line, str(error)))
    return ParsedApplications(rows, problems)


def _read_row(line: int, cells: Mapping[str, Any]) -> ImportRow:
    texts = {name: " ".join(str(cells.get(name, "")).split()) for name in cells}
    title, company, url = (texts.get(name, "") for name in ("title", "company", "url"))
    if not title or not company:
        raise Invalid("title and company are needed")
    if max(len(texts.get(name, "")) for name in ("title", "company", "location")) > MAX_TEXT:
        raise Invalid(f"title, company and location can have at most {MAX_TEXT} characters")
    if url and not url.lower().startswith(("https://", "http://")):
        raise Invalid("the url must begin with https:// or http://")
    if not all(char.isprintable() for text in texts.values() for char in text):
        raise Invalid("contains characters that cannot be printed")
    step = texts.get("next_step", "")[: details.MAX_STEP_LENGTH] or None
    return ImportRow(
        line,
        url,
        company,
        title,
        texts.get("location", ""),
        texts.get("status", "") or "applied",
        details.checked(
            ApplicationDetails(
                _read_date(texts, "applied_on"),
                _read_time(texts, "interview_at"),
                _read_date(texts, "offer_deadline"),
                step,
                _read_date(texts, "next_step_on"),
            )
        ),
        str(cells.get("notes", "")).strip()[: entries.MAX_NOTE_LENGTH],
    )


def _read_date(cells: Mapping[str, str], name: str) -> dt.date | None:
    try:
        return dt.date.fromisoformat(cells[name]) if cells.get(name) else None
    except ValueError as error:
        raise Invalid(f"{name} should be a date such as 2026-11-20") from error


def _read_time(cells: Mapping[str, str], name: str) -> dt.datetime | None:
    try:
        time = dt.datetime.fromisoformat(cells[name]) if cells.get(name) else None
    except ValueError as error:
        raise Invalid(f"{name} should be a time such as 2026-11-20T14:30:00+00:00") from error
    return time.replace(tzinfo=dt.UTC) if time and time.tzinfo is None else time


async def import_rows(
    tx: Tx,
    version: ProfileVersion,
    file: ParsedApplications,
    platforms: PlatformRules,
    *,
    actor: str | None = None,
    dry_run: bool = False,
) -> list[ImportedRow]:
    """Import the rows without problems, and say what happens to each row. `dry_run` writes nothing."""
    # The profile row serialises imports: a file that is sent twice finds its own applications.
    await tx.execute(
        "SELECT FROM matching.profile WHERE id = %s FOR NO KEY UPDATE", [version.profile_id]
    )
    done = [ImportedRow(bad.line, "problem", "", "", "", bad.what) for bad in file.problems]
    seen: set[str] = set()
    for row in file.rows:
        result = await _import_row(tx, version, row, platforms, seen, actor, dry_run)
        done.append(result)
    return sorted(done, key=lambda row: row.line)


async def _import_row(
    tx: Tx,
    version: ProfileVersion,
    row: ImportRow,
    platforms: PlatformRules,
    seen: set[str],
    actor: str | None,
    dry_run: bool,
) -> ImportedRow:
    def report(outcome: RowOutcome, problem: str = "") -> ImportedRow:
        return ImportedRow(row.line, outcome, row.title, row.company, row.status, problem)

    try:
        column = await custom_statuses.find_column(tx, version.profile_id, row.status)
        listing_id = (
            await listings.find_by_url(tx, row.url, platforms, private=True) if row.url else None
        )
    except Invalid as error:
        return report("problem", str(error))
    if row.key in seen:
        return report("repeated")
    seen.add(row.key)
    match_id = await _find_match(tx, version.profile_id, row, listing_id)
    if match_id and (await matches.get(tx, match_id, owner=version.owner_id)).status != "new":
        return report("known")
    if dry_run:
        return report("new")
    try:
        async with tx.transaction():
            await _add(tx, version, row, column.key, platforms, listing_id, match_id, actor)
    except AppError as error:
        return report("problem", str(error))
    return report("new")


async def _find_match(
    tx: Tx, profile_id: int, row: ImportRow, listing_id: ListingId | None
) -> MatchId | None:
    if row.url:
        if listing_id is None:
            return None
        return await matches.find_id_by_listing(tx, profile_id, listing_id)
    return await fetch_value(
        tx,
        MatchId,
        """
        SELECT match.id FROM matching.match JOIN catalog.listing ON listing.id = listing_id
         WHERE profile_id = %s AND lower(company) = lower(%s) AND lower(title) = lower(%s)
         ORDER BY match.status = 'new', match.id LIMIT 1
        """,
        [profile_id, row.company, row.title],
    )


async def _add(
    tx: Tx,
    version: ProfileVersion,
    row: ImportRow,
    column: str,
    platforms: PlatformRules,
    listing_id: ListingId | None,
    match_id: MatchId | None,
    actor: str | None,
) -> None:
    owner = version.owner_id
    if match_id is None:
        # Others must not see what the person applied to. A listing that the catalog has stays as it is.
        listing_id = listing_id or await save_posting.save_private(
            tx,
            Posting(row.title, row.url, company=row.company, location=row.location or None),
            platforms,
        )
        match_id = await _add_match(tx, version, listing_id)
        await judging_feed.add(tx, [listing_id], profile_id=version.profile_id)
    await board.move(tx, match_id, column, owner=owner, actor=actor)
    await details.save(tx, match_id, row.details, owner=owner, actor=actor)
    if row.notes:
        await entries.add_note(tx, match_id, row.notes, owner=owner, actor=actor)


async def _add_match(tx: Tx, version: ProfileVersion, listing_id: ListingId) -> MatchId:
    """A match without a score, which a worker adds."""
    id = await fetch_single_value(
        tx,
        MatchId,
        """
        INSERT INTO matching.match
               (profile_id, listing_id, company_id, profile_version, match_score,
                application_priority, matched_skills, skill_gaps, resume_intake, items, scored_by)
        SELECT %(profile)s, id, company_id, %(version)s, 0, 'Low', '{}', '{}', %(none)s, '[]', 'import'
          FROM catalog.listing WHERE id = %(listing)s
        ON CONFLICT ON CONSTRAINT match_once DO UPDATE SET updated_at = now() RETURNING id
        """,
        {
            "profile": version.profile_id,
            "listing": listing_id,
            "version": version.version,
            "none": Jsonb({}),
        },
    )
    await matches.record_event(tx, id, "imported")
    return id


def count_outcomes(rows: Sequence[ImportedRow]) -> Mapping[RowOutcome, int]:
    return Counter(row.outcome for row in rows)
