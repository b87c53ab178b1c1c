"""jobmill hiring verify: check that no audit log was changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import typer

from jobmill.cli.support import files, output, session
from jobmill.cli.support.output import AsJson
from jobmill.db import Database
from jobmill.hiring.audit_log import saved_heads
from jobmill.hiring.audit_log.verification import ChainHead, VerificationReport, verify_log
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import Opening
from jobmill.hiring.waitlist import overdue_offers
from jobmill.time_zones import format_local_time

PAGE_SIZE = 1_000


@dataclass(frozen=True, slots=True)
class OpeningVerification:
    opening: Opening
    report: VerificationReport

    @property
    def name(self) -> str:
        """The opening, or the opening and the interview time."""
        if self.opening.parent_id is None or self.opening.starts_at is None:
            return f"opening {self.opening.id}"
        at = format_local_time(self.opening.starts_at, self.opening.time_zone)
        return f"opening {self.opening.parent_id}, interview {self.opening.id} on {at}"


def verify(
    opening: Annotated[
        int | None,
        typer.Argument(
            metavar="OPENING",
            min=1,
            help="Number of the opening; default: all openings and their interview times.",
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
    error_text = f"{against}:{{line}} was not written by `verify --save`"
    heads = saved_heads.parse_heads(files.read_text(against), error_text) if against else {}
    logs = session.with_database(
        lambda database: _verify_logs(database, opening, heads, quiet=as_json)
    )
    reports = [log.report for log in logs]
    verified = {report.opening_id for report in reports}
    missing = [] if opening else sorted(set(heads) - verified)
    failed = bool(missing) or any(report.faults for report in reports)
    _print_logs(logs, missing, as_json=as_json)
    if save and not failed:
        _write_heads(save, reports)
    elif save:
        typer.echo(f"{save} was not written, because a log has faults.", err=True)
    if failed:
        raise typer.Exit(1)


def _write_heads(file: str, reports: Sequence[VerificationReport]) -> None:
    with files.open_output(file) as out:
        out.write(saved_heads.format_heads(reports))
    if file != "-":
        typer.echo(f"Saved to {file}; store it where the database cannot be reached.", err=True)


async def _verify_logs(
    database: Database, opening: int | None, heads: Mapping[int, ChainHead], *, quiet: bool
) -> list[OpeningVerification]:
    """Verify one log or all of them, each in its own snapshot, without blocking writers."""
    ids = [opening] if opening else await _list_opening_ids(database)
    logs: list[OpeningVerification] = []
    with output.show_progress("Verifying", quiet=quiet) as update:
        for id in ids:
            update(f"{len(logs) + 1:,} of {len(ids):,}")
            async with database.transaction() as tx:
                await overdue_offers.begin_snapshot(tx)
                against = [heads[id]] if id in heads else []
                report = await verify_log(tx, id, against=against)
                logs.append(OpeningVerification(await openings.get(tx, id), report))
    return logs


async def _list_opening_ids(database: Database) -> list[int]:
    ids: list[int] = []
    while True:
        async with database.transaction() as tx:
            page = await openings.list_openings(
                tx, after=ids[-1] if ids else 0, limit=PAGE_SIZE, with_interviews=True
            )
        ids += [opening.id for opening in page]
        if len(page) < PAGE_SIZE:
            return ids


def _print_logs(
    logs: Sequence[OpeningVerification], missing: Sequence[int], *, as_json: bool
) -> None:
    reports = [log.report for log in logs]
    if as_json:
        for log in logs:
            output.print_json(_to_json(log))
        for id in missing:
            output.print_json({"jobId": id, "ok": False, "faults": [{"seq": None, "what": "gone"}]})
        return
    for log in logs:
        for fault in log.report.faults:
            where = f"event {fault.seq}" if fault.seq is not None else "the opening itself"
            output.print_wrapped(fault.what, f"{log.name}, {where}: ")
    for id in missing:
        typer.echo(f"opening {id}: the opening and its log are gone")
    events = output.format_count(sum(report.events for report in reports), "event")
    failed = sum(bool(report.faults) for report in reports) + len(missing)
    total = output.format_count(len(reports) + len(missing), "log")
    if failed:
        typer.echo(f"{failed:,} of {total} with faults; {events} checked.")
    elif reports:
        typer.echo(f"ok: {events} of {total}, nothing was tampered with.")
    else:
        typer.echo("There are no openings to verify.")


def _to_json(log: OpeningVerification) -> dict[str, object]:
    report = log.report
    return {
        "jobId": report.opening_id,
        "interviewOf": log.opening.parent_id,
        "ok": not report.faults,
        "events": report.events,
        "seq": report.head.seq,
        "hash": report.head.hash,
        "faults": [{"seq": fault.seq, "what": fault.what} for fault in report.faults],
    }
