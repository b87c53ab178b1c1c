"""jobmill hiring verify: check that no audit log was changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer
from pydantic import TypeAdapter, ValidationError

from jobmill.cli.support import files, hiring_session, output
from jobmill.cli.support.output import AsJson
from jobmill.db import Database
from jobmill.errors import Invalid
from jobmill.hiring.audit_log.verification import ChainHead, VerificationReport, verify_log
from jobmill.hiring.records import openings
from jobmill.hiring.waitlist import snapshots

PAGE_SIZE = 1_000


def verify(
    opening: Annotated[
        int | None,
        typer.Argument(
            metavar="[OPENING]", min=1, help="Number of the opening; default: all openings."
        ),
    ] = None,
    save: Annotated[
        str | None,
        typer.Option(
            metavar="FILE", help="Save the end of each log; store the file outside the database."
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Also check that no log was rewritten since that file."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check that no audit log was tampered with; exit code 1 if one was.

    A log is a hash chain: each event holds a digest of all events before it. With write
    access to the database one could replace the whole chain; a file saved earlier reveals that, too.
    """
    saved_heads = _read_heads(against) if against else {}
    reports = hiring_session.with_database(
        lambda database: _verify_logs(database, opening, saved_heads, quiet=as_json)
    )
    verified = {report.opening_id for report in reports}
    missing = [] if opening else sorted(set(saved_heads) - verified)
    failed = bool(missing) or any(report.faults for report in reports)
    _print_reports(reports, missing, as_json=as_json)
    if save and not failed:
        _write_heads(save, reports)
    elif save:
        typer.echo(f"{save} was not written, because a log has faults.", err=True)
    if failed:
        raise typer.Exit(1)


@dataclass(frozen=True)
class _SavedHead:
    jobId: int
    seq: int
    hash: str


def _read_heads(file: str) -> dict[int, ChainHead]:
    """Read the saved end of each log, by opening."""
    adapter = TypeAdapter(_SavedHead)
    heads: dict[int, ChainHead] = {}
    for line_number, line in enumerate(files.read_text(file).splitlines(), 1):
        if not line.strip():
            continue
        try:
            head = adapter.validate_json(line)
        except ValidationError:
            raise Invalid(f"{file}:{line_number} was not written by `verify --save`") from None
        heads[head.jobId] = ChainHead(head.seq, head.hash)
    return heads


def _write_heads(file: str, reports: Sequence[VerificationReport]) -> None:
    with files.open_output(file) as out:
        for report in reports:
            head = {
                "jobId": report.opening_id,
                "seq": report.head.seq,
                "hash": report.head.hash,
            }
            output.print_json(head, out)
    if file != "-":
        typer.echo(f"Saved to {file}; store it where the database cannot be reached.", err=True)


async def _verify_logs(
    database: Database, opening: int | None, heads: Mapping[int, ChainHead], *, quiet: bool
) -> list[VerificationReport]:
    """Verify one log or all of them, each in its own snapshot, without blocking writers."""
    ids = [opening] if opening else await _list_opening_ids(database)
    reports: list[VerificationReport] = []
    with output.show_progress("Verifying", quiet=quiet) as update:
        for id in ids:
            update(f"{len(reports) + 1:,} of {len(ids):,}")
            async with database.transaction() as tx:
                await snapshots.begin_snapshot(tx)
                against = [heads[id]] if id in heads else []
                reports.append(await verify_log(tx, id, against=against))
    return reports


async def _list_opening_ids(database: Database) -> list[int]:
    ids: list[int] = []
    while True:
        async with database.transaction() as tx:
            page = await openings.list_openings(tx, after=ids[-1] if ids else 0, limit=PAGE_SIZE)
        ids += [opening.id for opening in page]
        if len(page) < PAGE_SIZE:
            return ids


def _print_reports(
    reports: Sequence[VerificationReport], missing: Sequence[int], *, as_json: bool
) -> None:
    if as_json:
        for report in reports:
            output.print_json(_to_json(report))
        for id in missing:
            output.print_json({"jobId": id, "ok": False, "faults": [{"seq": None, "what": "gone"}]})
        return
    for report in reports:
        for fault in report.faults:
            where = f"event {fault.seq}" if fault.seq is not None else "the opening itself"
            output.print_wrapped(fault.what, f"opening {report.opening_id}, {where}: ")
    for id in missing:
        typer.echo(f"opening {id}: the opening and its log are gone")
    events = output.format_count(sum(report.events for report in reports), "event")
    failed = sum(bool(report.faults) for report in reports) + len(missing)
    total = output.format_count(len(reports) + len(missing), "opening")
    if failed:
        typer.echo(f"{failed:,} of {total} with faults; {events} checked.")
    elif reports:
        typer.echo(f"ok: {events} of {total}, nothing was tampered with.")
    else:
        typer.echo("There are no openings to verify.")


def _to_json(report: VerificationReport) -> dict[str, object]:
    return {
        "jobId": report.opening_id,
        "ok": not report.faults,
        "events": report.events,
        "seq": report.head.seq,
        "hash": report.head.hash,
        "faults": [{"seq": fault.seq, "what": fault.what} for fault in report.faults],
    }
