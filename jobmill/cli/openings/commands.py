"""jobmill opening …: what we offer, and on which terms."""

from __future__ import annotations

import datetime as dt
from collections.abc import Awaitable, Callable
from dataclasses import fields
from typing import Annotated, Any, Literal

import typer

from jobmill.cli.openings import blocked_addresses, roster, spreadsheets
from jobmill.cli.support import files, hiring_session, output, times
from jobmill.cli.support.hiring_session import DryRun, OpeningId
from jobmill.cli.support.output import AsJson, Limit
from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.hiring.actor import LOCAL, Actor
from jobmill.hiring.audit_log.events import find_by_opening
from jobmill.hiring.import_export import exports
from jobmill.hiring.openings import applicant_lists, lifecycle
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import Opening, OpeningStatus, OpeningTerms, get

app = typer.Typer(no_args_is_help=True)

Capacity = Annotated[
    int, typer.Option("--capacity", metavar="N", min=1, max=1_000_000, help="How many slots.")
]
Description = Annotated[str | None, typer.Option(metavar="TEXT", help="What it is about.")]
DescriptionFile = Annotated[
    str | None, typer.Option(metavar="FILE", help="The same from a file; `-` is stdin.")
]
Employer = Annotated[str | None, typer.Option(metavar="NAME", help="Who offers it.")]
Location = Annotated[str | None, typer.Option(metavar="PLACE", help="Where it is.")]
Remote = Annotated[
    bool | None, typer.Option("--remote/--no-remote", help="Whether it can be done from anywhere.")
]
Confirm = Annotated[
    bool | None,
    typer.Option(
        "--require-acknowledgement/--no-require-acknowledgement",
        help="Whether who takes a free slot must confirm it, like who is promoted.",
    ),
]
Window = Annotated[
    str | None,
    typer.Option(metavar="SPAN", help="How long an offer stands: 90s, 5m, 2h, 3d. [default: 5m]"),
]
Missed = Annotated[
    int | None,
    typer.Option(metavar="N", min=1, help="Offers missed until an application ends. [default: 3]"),
]
WaitlistLimit = Annotated[
    str | None, typer.Option(metavar="N", help="How many may wait; `none`: any number.")
]
ApplyUntil = Annotated[
    str | None,
    typer.Option(metavar="TIME", help="Until when one may apply: 2026-12-01 18:00; or `none`."),
]
KeepDays = Annotated[
    str | None,
    typer.Option(metavar="N", help="Days after an end until data are erased; `none`: kept."),
]


@app.command()
def create(
    title: Annotated[str, typer.Argument(metavar="TITLE", help="What it is called.")],
    capacity: Capacity,
    description: Description = None,
    description_file: DescriptionFile = None,
    employer: Employer = None,
    location: Location = None,
    remote: Remote = None,
    window: Window = None,
    max_missed: Missed = None,
    require_acknowledgement: Confirm = None,
    waitlist_limit: WaitlistLimit = None,
    apply_until: ApplyUntil = None,
    keep_days: KeepDays = None,
    as_json: AsJson = False,
) -> None:
    """Open something: people may apply at once."""
    terms = OpeningTerms(
        **_named(
            title=title,
            description=_text(description, description_file),
            employer=employer,
            location=location,
            remote=remote,
            acknowledge_window=window,
            max_missed=max_missed,
            require_acknowledgement=require_acknowledgement,
            waitlist_limit=waitlist_limit,
            apply_until=apply_until,
            keep_days=keep_days,
        )
    )
    made = hiring_session.in_transaction(lambda tx: lifecycle.create(tx, terms, capacity, LOCAL))
    _tell(made, f"Opening {made.id} is open: {output.printable(made.title)}.", as_json)
    if not as_json:
        typer.echo(f"People apply at {hiring_session.base_url()}/openings/{made.id}", err=True)


def _text(given: str | None, file: str | None) -> str | None:
    if given is not None and file is not None:
        raise Invalid("--description and --description-file: give one of them")
    return files.read_text(file) if file is not None else given


def _named(**given: object) -> dict[str, Any]:
    """What was named, as the rules want it."""
    read: dict[str, Callable[[str], object]] = {
        "acknowledge_window": times.parse_duration,
        "waitlist_limit": _count_or_none,
        "keep_days": _count_or_none,
        "apply_until": lambda text: None if text == "none" else times.parse_time(text),
        # An empty text takes away what was there.
        "description": lambda text: text or None,
        "employer": lambda text: text or None,
        "location": lambda text: text or None,
    }
    named = {name: value for name, value in given.items() if value is not None}
    return {
        name: read[name](value) if isinstance(value, str) and name in read else value
        for name, value in named.items()
    }


def _count_or_none(text: str) -> int | None:
    if text == "none":
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise Invalid(f"{text} is neither a number nor `none`")
    return int(text)


@app.command()
def edit(
    opening: OpeningId,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="What it is called.")] = None,
    description: Description = None,
    description_file: DescriptionFile = None,
    employer: Employer = None,
    location: Location = None,
    remote: Remote = None,
    window: Window = None,
    max_missed: Missed = None,
    require_acknowledgement: Confirm = None,
    waitlist_limit: WaitlistLimit = None,
    apply_until: ApplyUntil = None,
    keep_days: KeepDays = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Change what is named and nothing else; offers that are out keep their deadline.

    An empty text, or `none` for a number or a time, takes away what was set.
    """
    changes = _named(
        title=title,
        description=_text(description, description_file),
        employer=employer,
        location=location,
        remote=remote,
        acknowledge_window=window,
        max_missed=max_missed,
        require_acknowledgement=require_acknowledgement,
        waitlist_limit=waitlist_limit,
        apply_until=apply_until,
        keep_days=keep_days,
    )
    if not changes:
        raise Invalid("nothing is named that should change: see `jobmill opening edit --help`")
    before, after = _trial(opening, changes, dry_run)
    _tell_change(before, after, dry_run, as_json)


def _trial(opening: int, changes: dict[str, Any], dry_run: bool) -> tuple[Opening, Opening]:
    async def act(tx: Tx) -> tuple[Opening, Opening]:
        before = await openings.get(tx, opening)
        async with tx.transaction(force_rollback=dry_run):
            return before, await lifecycle.edit(tx, opening, LOCAL, **changes)

    return hiring_session.in_transaction(act)


def _tell_change(before: Opening, after: Opening, dry_run: bool, as_json: bool) -> None:
    names = [one.name for one in fields(OpeningTerms)]
    was, now = ({name: getattr(one, name) for name in names} for one in (before, after))
    changed = [name for name in names if was[name] != now[name]]
    if as_json:
        parts = {name: {"from": was[name], "to": now[name]} for name in changed}
        output.print_json({"id": after.id, "changed": parts, "dryRun": dry_run})
        return
    for name in changed:
        output.print_wrapped(
            f"{_word(was[name])} → {_word(now[name])}", f"{name.replace('_', ' ')}: "
        )
    if not changed:
        typer.echo("Nothing changes: it is so already.")
    elif dry_run:
        typer.echo("Nothing was changed.")


def _word(value: object) -> str:
    match value:
        case None:
            return "(none)"
        case bool():
            return "yes" if value else "no"
        case dt.timedelta():
            return times.format_duration(value)
        case dt.datetime():
            return f"{times.format_second(value)}"
        case str() if len(value) > 60:
            return f"{value[:59]}… ({len(value):,} characters)"
        case _:
            return str(value)


@app.command("list")
def list_openings(
    status: Annotated[
        Literal["open", "paused", "closed"] | None, typer.Option(help="Only those.")
    ] = None,
    after: Annotated[int, typer.Option(metavar="ID", min=0, help="The opening to go on from.")] = 0,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List openings, the oldest first: slots taken, and how many wait."""
    found = hiring_session.in_transaction(lambda tx: _find(tx, status, after, limit + 1))
    roster.openings(found[:limit], as_json=as_json)
    if not found and not as_json:
        typer.echo(_nothing(status, after))
    if len(found) > limit:
        typer.echo(f"There are more: --after {found[limit - 1].id}", err=True)


async def _find(tx: Tx, status: OpeningStatus | None, after: int, limit: int) -> list[Opening]:
    await applicant_lists.begin_snapshot(tx)
    return await exports.list_openings(tx, status=status, after=after, limit=limit)


def _nothing(status: str | None, after: int) -> str:
    if after:
        return "There are no more."
    if status:
        return f"No opening is {status}. `jobmill opening list` shows all."
    return (
        "No openings. `jobmill opening create TITLE --capacity N` makes one, "
        "`jobmill seed` a few to look around in."
    )


@app.command("show")
def show_opening(
    opening: OpeningId,
    limit: Limit = 50,
    after: Annotated[
        str | None, typer.Option(metavar="PLACE", help="Where the list goes on, as it says.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show an opening: its terms, who is in it, and who waits, in order."""

    async def ask(tx: Tx) -> tuple[Opening, applicant_lists.OpeningDetail]:
        detail = await applicant_lists.get_detail(tx, opening, after=after, limit=limit)
        return await openings.get(tx, opening), detail

    found, detail = hiring_session.read_opening(opening, ask)
    if as_json:
        output.print_json(roster.record(found, detail))
    else:
        roster.whole(found, detail, first=after is None)
    if detail.next:
        typer.echo(f"There are more: --after {detail.next}", err=True)


@app.command()
def pause(opening: OpeningId, as_json: AsJson = False) -> None:
    """Take no applications and promote nobody for a while; offers that are out go on."""
    _turn(opening, lifecycle.pause, "is paused", as_json)


@app.command()
def resume(opening: OpeningId, as_json: AsJson = False) -> None:
    """Go on after a pause; free slots are offered to those who wait, at once."""
    _turn(opening, lifecycle.resume, "is open again", as_json)


@app.command()
def close(opening: OpeningId, as_json: AsJson = False) -> None:
    """Take no more applications and publish it no longer; who is in it stays."""
    _turn(opening, lifecycle.close, "is closed", as_json)


@app.command()
def reopen(opening: OpeningId, as_json: AsJson = False) -> None:
    """Open again what was closed; free slots are offered at once."""
    _turn(opening, lifecycle.reopen, "is open again", as_json)


def _turn(
    id: int, act: Callable[[Tx, int, Actor], Awaitable[Opening]], words: str, as_json: bool
) -> None:
    done = hiring_session.in_transaction(lambda tx: act(tx, id, LOCAL))
    _tell(done, f"Opening {id} {words}: {roster.filled(done)}.", as_json)


@app.command()
def capacity(
    opening: OpeningId,
    number: Annotated[
        int, typer.Argument(metavar="N", min=1, max=1_000_000, help="How many slots.")
    ],
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Change how many slots there are: more are offered at once, fewer send nobody away."""

    async def act(tx: Tx) -> tuple[Opening, list[roster.Promoted]]:
        before = await get(tx, opening)
        async with tx.transaction(force_rollback=dry_run):
            after = await lifecycle.set_capacity(tx, opening, number, LOCAL)
            events = await find_by_opening(tx, opening, after=before.last_seq)
            return after, await roster.promoted(tx, events)

    done, promoted = hiring_session.in_transaction(act)
    roster.tell_capacity(done, promoted, dry_run=dry_run, as_json=as_json)


def _tell(done: Opening, words: str, as_json: bool) -> None:
    if as_json:
        output.print_json(exports.opening_fields(done))
    else:
        typer.echo(words)


app.command("import")(spreadsheets.import_openings)
app.command("export")(spreadsheets.export)
app.command()(blocked_addresses.block)
app.command()(blocked_addresses.unblock)
app.command()(blocked_addresses.blocked)
