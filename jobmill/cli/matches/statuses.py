"""jobmill match set-status, undo, export: track the status of matches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TextIO, get_args

import typer

from jobmill.cli.support import files, lookups, output, session
from jobmill.cli.support.lookups import ProfileName
from jobmill.cli.support.output import AsJson
from jobmill.db import Database, Tx
from jobmill.errors import Invalid
from jobmill.matching import match_export, match_json, matches
from jobmill.matching.match_export import Form
from jobmill.matching.matches import Match, MatchQuery

StatusName = Literal["new", "saved", "applied", "interviewing", "offer", "rejected", "dismissed"]
DEFAULT_STATUSES: list[StatusName] = [
    status for status in get_args(StatusName) if status != "dismissed"
]
Statuses = Annotated[
    list[str] | None,
    typer.Option(
        "--status", metavar="STATUS", help="Only matches with this status; may be repeated."
    ),
]


def parse_statuses(names: list[str] | None) -> list[StatusName] | None:
    statuses: dict[str, StatusName] = {status: status for status in get_args(StatusName)}
    unknown = [name for name in names or [] if name not in statuses]
    if unknown:
        raise Invalid(f"{', '.join(unknown)} is not a status: use {', '.join(statuses)}")
    return [statuses[name] for name in names] if names else None


@dataclass(frozen=True)
class StatusChange:
    id: int
    before: str
    status: str
    note: str | None
    title: str | None
    company: str | None


def set_status(
    ids: Annotated[list[int], typer.Argument(metavar="ID", help="Numbers of the matches.")],
    status: Annotated[StatusName, typer.Argument(metavar="STATUS", help="The new status.")],
    note: Annotated[
        str | None, typer.Option(metavar="TEXT", help="Note, shown with the match.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Set the status of matches: new, saved, applied, interviewing, offer, rejected or dismissed.

    Later scores do not change the status, and the job is never deleted.
    """

    async def act(tx: Tx) -> list[StatusChange]:
        # Every transaction locks the matches in the same order, to avoid deadlocks.
        return [await _set_status(tx, id, status, note) for id in sorted(set(ids))]

    changes = session.in_transaction(act)
    if as_json:
        output.print_json_lines(changes)
        return
    for change in changes:
        _print_change(change)
    changed = [str(change.id) for change in changes if change.before != change.status]
    if changed:
        id = changed[0] if len(changed) == 1 else "ID"
        typer.echo(f"To undo: jobmill match undo {id}", err=True)


async def _set_status(tx: Tx, id: int, status: StatusName, note: str | None) -> StatusChange:
    owner, actor = await lookups.find_owner(tx), lookups.current_user()
    before = await matches.lock(tx, id, owner=owner)
    after = await matches.set_status(tx, id, status, owner=owner, note=note, actor=actor)
    return _make_change(before, after)


def _make_change(before: Match, after: Match) -> StatusChange:
    return StatusChange(
        after.id, before.status, after.status, after.note, after.title, after.company
    )


def _print_change(change: StatusChange) -> None:
    before = "" if change.before == change.status else f"{change.before} → "
    title = output.format_title(change.title, change.company)
    output.print_wrapped(title, f"{change.id:>5}  {before}{change.status}  ")


def undo(
    id: Annotated[int, typer.Argument(metavar="ID", help="Number of the match.")],
    as_json: AsJson = False,
) -> None:
    """Restore the previous status of a match; a second undo restores the later one."""

    async def act(tx: Tx) -> StatusChange:
        owner, actor = await lookups.find_owner(tx), lookups.current_user()
        return _make_change(*await matches.undo_status(tx, id, owner=owner, actor=actor))

    change = session.in_transaction(act)
    if as_json:
        output.print_record(change, as_json=True)
    else:
        _print_change(change)


def export(
    form: Annotated[
        Literal["csv", "jsonl"],
        typer.Option("--format", help="A table, or one JSON object per line."),
    ] = "csv",
    out: Annotated[str, typer.Option(metavar="FILE", help="Output file; - is stdout.")] = "-",
    statuses: Statuses = None,
    closed: Annotated[
        bool, typer.Option("--closed", help="Also new matches whose job has closed.")
    ] = False,
    profile: ProfileName = None,
    as_json: Annotated[bool, typer.Option("--json", help="Same as --format jsonl.")] = False,
) -> None:
    """Export matches with all fields, newest first."""

    async def run(database: Database) -> int:
        async with database.transaction() as tx:
            chosen = await lookups.choose_profile(tx, profile)
        query = MatchQuery(
            chosen.profile_id, statuses=parse_statuses(statuses), include_closed=closed
        )
        with files.open_output(out) as file:
            return await _write(file, "jsonl" if as_json else form, database, query)

    count = session.with_database(run)
    if out != "-":
        written = "1 match" if count == 1 else f"{count:,} matches"
        typer.echo(f"{written} written to {out}", err=True)


async def _write(out: TextIO, form: Form, database: Database, query: MatchQuery) -> int:
    out.write(match_export.header(form))
    count = 0
    async for page in match_export.read_pages(database.transaction, query):
        for match in page:
            if form == "csv":
                out.write(match_export.write_match(match, form))
            else:
                output.print_json(match_json.to_dict(match), out)
        count += len(page)
    return count
