"""How far the log of each opening has come, in a file that is kept elsewhere; and what is wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import typer
from pydantic import TypeAdapter, ValidationError

from jobmill.cli.support import files, output
from jobmill.db import Database
from jobmill.errors import Invalid
from jobmill.hiring.audit_log import verification as logs
from jobmill.hiring.audit_log.verification import ChainHead, VerificationReport
from jobmill.hiring.openings import applicant_lists
from jobmill.hiring.records import openings

PAGE = 1_000


@dataclass(frozen=True)
class _Kept:
    jobId: int
    seq: int
    hash: str


def read(file: str) -> dict[int, ChainHead]:
    """What was kept, by opening; Invalid says which line is wrong."""
    kept = TypeAdapter(_Kept)
    found: dict[int, ChainHead] = {}
    for number, line in enumerate(files.read_text(file).splitlines(), 1):
        if not line.strip():
            continue
        try:
            one = kept.validate_json(line)
        except ValidationError:
            raise Invalid(f"{file}:{number} is no line that `verify --save` wrote") from None
        found[one.jobId] = ChainHead(one.seq, one.hash)
    return found


def write(file: str, reports: Sequence[VerificationReport]) -> None:
    with files.open_output(file) as out:
        for one in reports:
            output.print_json(
                {"jobId": one.opening_id, "seq": one.head.seq, "hash": one.head.hash}, out
            )
    if file != "-":
        typer.echo(f"Kept in {file}; store it where the database cannot be reached.", err=True)


async def verify(
    database: Database, opening: int | None, known: Mapping[int, ChainHead], *, quiet: bool
) -> list[VerificationReport]:
    """The reports of one opening or of all, each of one moment; writers go on meanwhile."""
    ids = [opening] if opening else await _all(database)
    found: list[VerificationReport] = []
    with output.show_progress("Verifying", quiet=quiet) as tell:
        for id in ids:
            tell(f"{len(found) + 1:,} of {len(ids):,}")
            async with database.transaction() as tx:
                await applicant_lists.begin_snapshot(tx)
                heads = [known[id]] if id in known else []
                found.append(await logs.verify_log(tx, id, against=heads))
    return found


async def _all(database: Database) -> list[int]:
    ids: list[int] = []
    while True:
        async with database.transaction() as tx:
            page = await openings.list_openings(tx, after=ids[-1] if ids else 0, limit=PAGE)
        ids += [one.id for one in page]
        if len(page) < PAGE:
            return ids


def show_reports(
    found: Sequence[VerificationReport], lost: Sequence[int], *, as_json: bool
) -> None:
    """What was checked, and all that is wrong, with its place."""
    if as_json:
        for one in found:
            output.print_json(_record(one))
        for id in lost:
            output.print_json({"jobId": id, "ok": False, "faults": [{"seq": None, "what": "gone"}]})
        return
    for one in found:
        for fault in one.faults:
            where = f"event {fault.seq}" if fault.seq is not None else "the opening itself"
            output.print_wrapped(fault.what, f"opening {one.opening_id}, {where}: ")
    for id in lost:
        typer.echo(f"opening {id}: it is gone, and its log with it")
    events = output.format_count(sum(one.events for one in found), "event")
    bad = sum(bool(one.faults) for one in found) + len(lost)
    many = output.format_count(len(found) + len(lost), "opening")
    if bad:
        typer.echo(f"{bad:,} of {many} with faults; {events} checked.")
    elif found:
        typer.echo(f"ok: {events} of {many}, nothing was tampered with.")
    else:
        typer.echo("There are no openings, so there is nothing to verify.")


def _record(one: VerificationReport) -> dict[str, object]:
    return {
        "jobId": one.opening_id,
        "ok": not one.faults,
        "events": one.events,
        "seq": one.head.seq,
        "hash": one.head.hash,
        "faults": [{"seq": fault.seq, "what": fault.what} for fault in one.faults],
    }
