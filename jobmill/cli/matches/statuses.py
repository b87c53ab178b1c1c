"""jobmill match set-status|undo|export: what one makes of matches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TextIO, get_args

import typer

from jobmill.cli.support import files, hints, lookups, output, session
from jobmill.cli.support.lookups import ProfileName
from jobmill.cli.support.output import AsJson
from jobmill.db import Database, Tx
from jobmill.errors import Invalid
from jobmill.matching import match_export, match_json, matches
from jobmill.matching.match_export import Form
from jobmill.matching.matches import Match, MatchQuery

StatusName = Literal["new", "saved", "applied", "interviewing", "offer", "rejected", "dismissed"]
LISTED: list[StatusName] = [one for one in get_args(StatusName) if one != "dismissed"]
"""Those that are shown where none is asked for."""
Statuses = Annotated[
    list[str] | None,
    typer.Option("--status", metavar="STATUS", help="Only those; may be given several times."),
]


def read(given: list[str] | None) -> list[StatusName] | None:
    """The statuses that are wanted; Invalid if one is none."""
    known: dict[str, StatusName] = {one: one for one in get_args(StatusName)}
    wrong = [one for one in given or [] if one not in known]
    if wrong:
        raise Invalid(f"{', '.join(wrong)} is no status; there are {', '.join(known)}")
    return [known[one] for one in given] if given else None


@dataclass(frozen=True)
class Turned:
    id: int
    before: str
    status: str
    note: str | None
    title: str | None
    company: str | None


def set_status(
    ids: Annotated[list[int], typer.Argument(metavar="ID", help="The numbers of matches.")],
    status: Annotated[
        StatusName, typer.Argument(metavar="STATUS", help="What they are from now on.")
    ],
    note: Annotated[str | None, typer.Option(metavar="TEXT", help="A word to remember.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say what you made of matches: new, saved, applied, interviewing, offer, rejected or dismissed.

    What you say stays, whatever is judged later, and the listing is kept for ever.
    """

    async def act(tx: Tx) -> list[Turned]:
        # In one order for all, so that two who do this at once never wait for each other.
        return [await _turn(tx, id, status, note) for id in sorted(set(ids))]

    with hints.add_hints():
        turned = session.in_transaction(act)
    if as_json:
        output.print_json_lines(turned)
        return
    for one in turned:
        _tell(one)
    changed = [str(one.id) for one in turned if one.before != one.status]
    if changed:
        which = changed[0] if len(changed) == 1 else "ID"
        typer.echo(f"Not meant so? jobmill match undo {which}", err=True)


async def _turn(tx: Tx, id: int, status: StatusName, note: str | None) -> Turned:
    before = await matches.lock(tx, id)
    after = await matches.set_status(tx, id, status, note=note, actor=lookups.current_user())
    return _turned(before, after)


def _turned(before: Match, after: Match) -> Turned:
    return Turned(after.id, before.status, after.status, after.note, after.title, after.company)


def _tell(one: Turned) -> None:
    change = one.status if one.before == one.status else f"{one.before} → {one.status}"
    output.print_wrapped(output.format_title(one.title, one.company), f"{one.id:>5}  {change}  ")


def undo(
    id: Annotated[int, typer.Argument(metavar="ID", help="The number of a match.")],
    as_json: AsJson = False,
) -> None:
    """Give a match the status that it had before the last change; twice is as before."""

    async def act(tx: Tx) -> Turned:
        return _turned(*await matches.undo_status(tx, id, actor=lookups.current_user()))

    with hints.add_hints():
        turned = session.in_transaction(act)
    if as_json:
        output.print_record(turned, as_json=True)
    else:
        _tell(turned)


def export(
    form: Annotated[
        Literal["csv", "jsonl"], typer.Option("--format", help="A table, or one object a line.")
    ] = "csv",
    out: Annotated[str, typer.Option(metavar="FILE", help="Where to; - is stdout.")] = "-",
    statuses: Statuses = None,
    closed: Annotated[bool, typer.Option("--closed", help="Also new ones that closed.")] = False,
    profile: ProfileName = None,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format jsonl.")] = False,
) -> None:
    """Write matches with all their fields to a file, the newest first."""

    async def run(database: Database) -> int:
        async with database.transaction() as tx:
            chosen = await lookups.choose_profile(tx, profile)
        wanted = MatchQuery(chosen.profile_id, statuses=read(statuses), include_closed=closed)
        with files.open_output(out) as file:
            return await _write(file, "jsonl" if as_json else form, database, wanted)

    count = session.with_database(run)
    if out != "-":
        words = "1 match" if count == 1 else f"{count:,} matches"
        typer.echo(f"{words} written to {out}", err=True)


async def _write(out: TextIO, form: Form, database: Database, wanted: MatchQuery) -> int:
    out.write(match_export.header(form))
    count = 0
    async for page in match_export.read_pages(database.transaction, wanted):
        for one in page:
            if form == "csv":
                out.write(match_export.write_match(one, form))
            else:
                output.print_json(match_json.to_dict(one), out)
        count += len(page)
    return count
