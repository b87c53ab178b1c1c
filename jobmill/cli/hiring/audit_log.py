"""jobmill hiring summary|replay|why|verify: what the log of an opening tells."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from jobmill.cli.hiring import applicants, log_heads
from jobmill.cli.openings import roster
from jobmill.cli.support import hints, hiring_session, output, session, times
from jobmill.cli.support.hiring_session import OpeningId
from jobmill.cli.support.output import AsJson, Limit
from jobmill.db import Database, Tx
from jobmill.errors import Invalid
from jobmill.hiring.audit_log import events
from jobmill.hiring.audit_log import explanations as reasoning
from jobmill.hiring.audit_log import replay as replays
from jobmill.hiring.audit_log import summary as summaries
from jobmill.hiring.audit_log.events import AuditEvent
from jobmill.hiring.audit_log.explanations import EventExplanation
from jobmill.hiring.audit_log.replay import OpeningReplay, ReplayedApplication
from jobmill.hiring.audit_log.summary import OpeningSummary
from jobmill.hiring.audit_log.verification import VerificationReport
from jobmill.hiring.import_export import exports

LAST = 10
"""So many events are shown to people, the last ones."""


def summary(opening: OpeningId, as_json: AsJson = False) -> None:
    """Tell how an opening goes: counts, and how long people waited and took to answer."""

    async def ask(tx: Tx) -> OpeningSummary:
        return await summaries.summarize(tx, opening)

    found = hiring_session.read_opening(opening, ask)
    if as_json:
        known = exports.to_json_fields(found)
        names = {"openingId": "jobId", "title": "jobTitle"}
        output.print_json({names.get(name, name): value for name, value in known.items()})
        return
    output.print_wrapped(found.title, f"{found.opening_id:>5}  ", bold=True)
    output.print_facts(
        {
            "slots": f"{found.active_count:,} of {found.capacity:,} taken",
            "waiting": f"{found.waitlist_count:,}",
            "ended": f"{found.inactive_count:,}",
            "applications": f"{found.total_applications:,}",
            "missed offers": f"{found.decay_events:,}",
            "until an offer": _mean(found.avg_time_to_promotion_seconds),
            "until an answer": _mean(found.avg_acknowledgment_time_seconds),
        }
    )


def _mean(seconds: float | None) -> str:
    if seconds is None:
        return "not known yet"
    return f"{times.format_age(seconds)} on average"


def replay(
    opening: OpeningId,
    at: Annotated[
        str | None, typer.Option(metavar="TIME", help="At this time: 2026-11-15 09:30; else now.")
    ] = None,
    seq: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Or right after this event."),
    ] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """Show an opening as it was at any moment: who was in it, who waited, what had happened."""
    if at is not None and seq is not None:
        raise Invalid("name --at TIME or --seq N, not both")
    as_of = times.parse_time(at) if at is not None else None

    async def ask(tx: Tx) -> tuple[OpeningReplay, list[AuditEvent]]:
        found = await replays.replay_at(tx, opening, as_of=as_of, seq=seq)
        first = 0 if as_json else max(found.seq - LAST, 0)
        return found, await events.find_by_opening(tx, opening, after=first, upto=found.seq)

    found, told = hiring_session.read_opening(opening, ask)
    if as_json:
        output.print_json(_replay(found, told))
    else:
        _print_replay(found, told, limit)


def _replay(found: OpeningReplay, told: Sequence[AuditEvent]) -> dict[str, Any]:
    return {
        "jobId": found.opening_id,
        "asOf": exports.to_json_value(found.as_of),
        "activeApplicants": [_entry(one) for one in found.active],
        "waitlistApplicants": [_entry(one) for one in found.waiting],
        # What happened to the opening itself is no event of the contract.
        "events": [applicants.event_record(one) for one in told if one.application_id is not None],
        "seq": found.seq,
        "status": found.status,
        "capacity": found.capacity,
    }


def _entry(one: ReplayedApplication) -> dict[str, Any]:
    return {
        "applicationId": one.application_id,
        "applicantId": one.applicant_id,
        "applicantName": one.applicant_name,
        "status": one.status,
        "queuePosition": one.position,
    }


def _print_replay(found: OpeningReplay, told: Sequence[AuditEvent], limit: int) -> None:
    at = f"{times.format_second(found.as_of)}"
    if found.status is None:
        typer.echo(f"At {at} opening {found.opening_id} was not there yet.")
        return
    taken = f"{found.occupied:,} of {output.format_count(found.capacity, 'slot')} taken"
    waiting = f"{len(found.waiting):,} waiting"
    words = [at, f"after event {found.seq}", found.status, taken, waiting]
    output.print_wrapped(output.join(words), f"{found.opening_id:>5}  ", bold=True)
    _print_entries("In it", found.active, limit)
    _print_entries("Waiting", found.waiting, limit)
    typer.echo("\nWhat had happened last")
    for event in told:
        applicants.print_event(event, opening=False)


def _print_entries(word: str, entries: Sequence[ReplayedApplication], limit: int) -> None:
    if not entries:
        return
    typer.echo(f"\n{word} ({len(entries):,})")
    for one in entries[:limit]:
        state = f"position {one.position:,}" if one.position else roster.STATES[one.status]
        missed = (
            f"missed {output.format_count(one.penalty_count, 'offer')}"
            if one.penalty_count
            else None
        )
        who = f"applicant {one.applicant_id}"
        words = output.join([one.applicant_name, state, missed, who])
        output.print_wrapped(words, f"{one.application_id:>5}  ")
    if len(entries) > limit:
        typer.echo(f"{'':7}and {len(entries) - limit:,} more: --limit N shows more")


def why(
    opening: OpeningId,
    seq: Annotated[int, typer.Argument(metavar="SEQ", min=1, help="The number of an event.")],
    as_json: AsJson = False,
) -> None:
    """Say why something happened: which rule, what it saw, and who was ahead."""

    async def ask(tx: Tx) -> EventExplanation:
        return await reasoning.explain_event(tx, opening, seq)

    found = hiring_session.read_opening(opening, ask)
    if as_json:
        output.print_json(_why(found))
        return
    words = [found.type, f"{times.format_second(found.at)}", f"by {found.by}"]
    output.print_wrapped(output.join(words), f"{found.seq:>5}  ", bold=True)
    # Two may have the same name.
    names = {id: f"{name} ({id})" for id, name in found.names.items()}
    for sentence in found.story:
        output.print_wrapped(reasoning.render_sentence(sentence, names, _here), "       ")


def _here(at: dt.datetime) -> str:
    return f"{times.format_second(at)}"


def _why(found: EventExplanation) -> dict[str, Any]:
    return {
        "jobId": found.opening_id,
        "seq": found.seq,
        "eventType": found.type,
        "applicationId": found.application_id,
        "rule": found.rule,
        "cause": found.cause,
        "ahead": {"count": found.ahead.count, "first": list(found.ahead.first)},
        "actor": found.by,
        "createdAt": exports.to_json_value(found.at),
        "sentences": found.sentences,
    }


def verify(
    opening: Annotated[
        int | None,
        typer.Argument(metavar="[OPENING]", min=1, help="Left out: all openings."),
    ] = None,
    save: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Keep how far each log has come; keep it elsewhere."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Also check that no log was rewritten since that file."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Check that no log was tampered with, and say where (exit code 1).

    A log is a chain: each event holds a digest of all before it. Who can write to the database could
    write a whole new chain; a file that you saved before shows that, too.
    """
    known = log_heads.read(against) if against else {}

    async def run(database: Database) -> list[VerificationReport]:
        return await log_heads.verify(database, opening, known, quiet=as_json)

    with hints.add_hints():
        found = session.with_database(run)
    lost = [] if opening else sorted(set(known) - {one.opening_id for one in found})
    bad = bool(lost) or any(one.faults for one in found)
    log_heads.show_reports(found, lost, as_json=as_json)
    if save and not bad:
        log_heads.write(save, found)
    elif save:
        typer.echo(f"{save} was not written: what is wrong must not be kept as right.", err=True)
    if bad:
        raise typer.Exit(1)
