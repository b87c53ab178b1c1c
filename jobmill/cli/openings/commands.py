"""jobmill opening: create, edit, list, show, pause and close openings."""

from __future__ import annotations

import datetime as dt
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass, fields
from typing import Annotated, Any, Literal

import typer

from jobmill.cli.openings import (
    blocked_addresses,
    closing,
    form_commands,
    opening_output,
    posting,
    spreadsheets,
)
from jobmill.cli.support import environment, files, hiring_session, output, session, times
from jobmill.cli.support.hiring_session import DryRun, OpeningId
from jobmill.cli.support.option_groups import expand_options
from jobmill.cli.support.output import AsJson, Limit, NextPage
from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.hiring.actor import LOCAL, Actor
from jobmill.hiring.admission.admission_changes import InReviewDecision
from jobmill.hiring.audit_log.events import find_by_opening
from jobmill.hiring.import_export import exports
from jobmill.hiring.openings import applicant_lists, lifecycle
from jobmill.hiring.records import openings
from jobmill.hiring.records.openings import (
    Admission,
    Opening,
    OpeningStatus,
    OpeningTerms,
    ReviewOrder,
)
from jobmill.hiring.timestamps import format_time_of_day, parse_time_of_day
from jobmill.hiring.waitlist import overdue_offers

app = typer.Typer(no_args_is_help=True)


@dataclass(frozen=True, slots=True)
class TermOptions:
    """The options that set the terms of an opening."""

    description: Annotated[str | None, typer.Option(metavar="TEXT", help="Description.")] = None
    description_file: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Read the description from a file; `-` is stdin."),
    ] = None
    employer: Annotated[str | None, typer.Option(metavar="NAME", help="Name of the employer.")] = (
        None
    )
    location: Annotated[str | None, typer.Option(metavar="PLACE", help="Location.")] = None
    remote: Annotated[
        bool | None, typer.Option("--remote/--no-remote", help="Whether remote work is possible.")
    ] = None
    window: Annotated[
        str | None,
        typer.Option(metavar="SPAN", help="Time to accept an offer: 5m, 2h, 3d. New openings: 2d."),
    ] = None
    max_missed: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Missed offers until an application ends. New openings: 3."
        ),
    ] = None
    require_acknowledgement: Annotated[
        bool | None,
        typer.Option(
            "--require-acknowledgement/--no-require-acknowledgement",
            help="Whether applicants must accept a free place, as they accept an offer.",
        ),
    ] = None
    waitlist_limit: Annotated[
        str | None,
        typer.Option(metavar="N", help="Maximum length of the waitlist; `none`: no limit."),
    ] = None
    apply_until: Annotated[
        str | None,
        typer.Option(
            metavar="TIME", help="Application deadline such as 2026-12-01 18:00, or `none`."
        ),
    ] = None
    keep_days: Annotated[
        str | None,
        typer.Option(
            metavar="N", help="Days until the data of ended applications is erased; `none`: never."
        ),
    ] = None
    fairness_proof: Annotated[
        bool | None,
        typer.Option(
            "--fairness-proof/--no-fairness-proof",
            help="Publish the history of places and offers under random codes, for anyone to verify.",
        ),
    ] = None
    admission: Annotated[
        Admission | None,
        typer.Option(
            "--admission",
            help="Places at once (first_come), after a decision (review) or by lot (lottery).",
        ),
    ] = None
    review_order: Annotated[
        ReviewOrder | None,
        typer.Option("--review-order", help="Order of applications that are accepted together."),
    ] = None
    stage: Annotated[
        list[str] | None,
        typer.Option(
            "--stage",
            metavar="KEY:NAME:KIND",
            help="A stage of people with a place, such as trial:Trial day:open; repeat for each. "
            "Kinds: open, hired, rejected. `default`: the default stages.",
        ),
    ] = None
    time_zone: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Time zone of letters and quiet hours, such as Europe/Berlin. [default: the setting]",
        ),
    ] = None
    quiet_hours: Annotated[
        str | None,
        typer.Option(
            metavar="FROM-UNTIL",
            help="Send no offer emails in these hours, such as 21:00-08:00; the time to accept starts "
            "after them. `none`: no quiet hours.",
        ),
    ] = None

    def parse(self) -> dict[str, Any]:
        """The terms of the options that were used, as `OpeningTerms` fields."""
        options = asdict(self)
        options["description"] = _read_description(
            self.description, options.pop("description_file")
        )
        options["acknowledge_window"] = options.pop("window")
        named_stages = options.pop("stage")
        quiet_hours = options.pop("quiet_hours")
        parsers: dict[str, Callable[[str], object]] = {
            "acknowledge_window": times.parse_duration,
            "waitlist_limit": _parse_count_or_none,
            "keep_days": _parse_count_or_none,
            "apply_until": lambda text: None if text == "none" else times.parse_time(text),
            # An empty text removes the value.
            "description": lambda text: text or None,
            "employer": lambda text: text or None,
            "location": lambda text: text or None,
        }
        terms = _parse_quiet_hours(quiet_hours) | {
            name: parsers[name](value) if isinstance(value, str) and name in parsers else value
            for name, value in options.items()
            if value is not None
        }
        return terms | ({"stages": _parse_stages(named_stages)} if named_stages else {})


def _read_description(text: str | None, file: str | None) -> str | None:
    if text is not None and file is not None:
        raise Invalid("use --description or --description-file, not both")
    return files.read_text(file) if file is not None else text


def _parse_stages(texts: list[str]) -> list[dict[str, str]] | None:
    if texts == ["default"]:
        return None
    stages: list[dict[str, str]] = []
    for text in texts:
        key, _, rest = text.partition(":")
        name, _, kind = rest.rpartition(":")
        stages.append({"key": key, "name": name, "kind": kind})
    return stages


def _parse_quiet_hours(text: str | None) -> dict[str, Any]:
    if text is None:
        return {}
    if text == "none":
        return {"quiet_from": None, "quiet_until": None}
    start, _, end = text.partition("-")
    return {"quiet_from": parse_time_of_day(start), "quiet_until": parse_time_of_day(end)}


def _parse_count_or_none(text: str) -> int | None:
    if text == "none":
        return None
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise Invalid(f"{text} is neither a number nor `none`")
    return int(text)


@app.command()
@expand_options
def create(
    title: Annotated[str, typer.Argument(metavar="TITLE", help="Title of the opening.")],
    capacity: Annotated[
        int, typer.Option("--capacity", metavar="N", min=1, max=1_000_000, help="Number of places.")
    ],
    options: TermOptions,
    as_json: AsJson = False,
) -> None:
    """Create an opening; people can apply at once."""
    defaults: dict[str, Any] = {"time_zone": environment.load_settings().time_zone}
    terms = OpeningTerms(title=title, **defaults | options.parse())
    created = session.in_transaction(lambda tx: lifecycle.create(tx, terms, capacity, LOCAL))
    _print_opening(
        created, f"Opening {created.id} is open: {output.printable(created.title)}.", as_json
    )
    if not as_json:
        typer.echo(
            f"People can apply at {hiring_session.base_url()}/openings/{created.id}", err=True
        )


@app.command()
@expand_options
def edit(
    opening: OpeningId,
    *,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Title of the opening.")] = None,
    options: TermOptions,
    in_review: Annotated[
        InReviewDecision | None,
        typer.Option(help="What happens to applications in review with --admission first_come."),
    ] = None,
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Change some terms of an opening; open offers keep their deadline.

    An empty text, or `none` for a number or a time, removes the value.
    """
    changes = options.parse() | ({} if title is None else {"title": title})
    if not changes:
        raise Invalid("name at least one change; see `jobmill opening edit --help`")
    before, after = _edit(opening, changes, in_review, dry_run)
    _print_changes(before, after, dry_run, as_json)


def _edit(
    opening: int, changes: dict[str, Any], in_review: InReviewDecision | None, dry_run: bool
) -> tuple[Opening, Opening]:
    async def edit_opening(tx: Tx) -> tuple[Opening, Opening]:
        before = await openings.get(tx, opening)
        async with tx.transaction(force_rollback=dry_run):
            return before, await lifecycle.edit(tx, opening, LOCAL, in_review=in_review, **changes)

    return session.in_transaction(edit_opening)


def _print_changes(before: Opening, after: Opening, dry_run: bool, as_json: bool) -> None:
    values = {
        field.name: (getattr(before, field.name), getattr(after, field.name))
        for field in fields(OpeningTerms)
    }
    changes = {name: (old, new) for name, (old, new) in values.items() if old != new}
    if as_json:
        changed = {name: {"from": old, "to": new} for name, (old, new) in changes.items()}
        output.print_json({"id": after.id, "changed": changed, "dryRun": dry_run})
        return
    for name, (old, new) in changes.items():
        text = f"{_format_term(old)} → {_format_term(new)}"
        output.print_wrapped(text, f"{name.replace('_', ' ')}: ")
    if not changes:
        typer.echo("Nothing changes: the opening already has these values.")
    elif dry_run:
        typer.echo("Nothing was changed.")


def _format_term(value: object) -> str:
    match value:
        case None:
            return "(none)"
        case bool():
            return "yes" if value else "no"
        case dt.timedelta():
            return times.format_duration(value)
        case dt.datetime():
            return times.format_second(value)
        case dt.time():
            return format_time_of_day(value) or ""
        case str() if len(value) > 60:
            return f"{value[:59]}… ({len(value):,} characters)"
        case _:
            return str(value)


@app.command("list")
def list_openings(
    status: Annotated[
        Literal["open", "paused", "closed"] | None,
        typer.Option(help="Only openings of this status."),
    ] = None,
    after: Annotated[
        int, typer.Option(metavar="ID", min=0, help="Only openings after this one.")
    ] = 0,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List openings with their places and waitlists, oldest first."""
    rows = session.in_transaction(lambda tx: _find_openings(tx, status, after, limit + 1))
    output.print_page(
        rows,
        opening_output.opening_entry,
        limit=limit,
        option="--after",
        empty=_describe_no_openings(status, after),
        as_json=as_json,
        to_json=exports.opening_fields,
    )


async def _find_openings(
    tx: Tx, status: OpeningStatus | None, after: int, limit: int
) -> list[Opening]:
    await overdue_offers.begin_snapshot(tx)
    return await exports.list_openings(tx, status=status, after=after, limit=limit)


def _describe_no_openings(status: str | None, after: int) -> str:
    if after:
        return "There are no more."
    if status:
        return f"No opening is {status}. `jobmill opening list` lists all."
    return (
        "No openings. Create one with `jobmill opening create TITLE --capacity N`, "
        "or sample openings with `jobmill seed`."
    )


@app.command("show")
def show_opening(
    opening: OpeningId,
    limit: Limit = 50,
    after: NextPage = None,
    as_json: AsJson = False,
) -> None:
    """Show an opening, its applicants and its waitlist in order."""

    async def read_detail(tx: Tx) -> tuple[Opening, applicant_lists.OpeningDetail]:
        detail = await applicant_lists.get_detail(tx, opening, after=after, limit=limit)
        return await openings.get(tx, opening), detail

    row, detail = hiring_session.read_opening(opening, read_detail)
    if as_json:
        output.print_json(opening_output.opening_json(row, detail))
    else:
        opening_output.print_opening(row, detail, first_page=after is None)
    if detail.next:
        output.print_more_hint("--after", detail.next)


@app.command()
def pause(opening: OpeningId, as_json: AsJson = False) -> None:
    """Pause an opening: no applications and no new offers; open offers stay valid."""
    _change_status(opening, lifecycle.pause, "is paused", as_json)


@app.command()
def resume(opening: OpeningId, as_json: AsJson = False) -> None:
    """Resume a paused opening and offer its free places to the waitlist."""
    _change_status(opening, lifecycle.resume, "is open again", as_json)


@app.command()
def reopen(opening: OpeningId, as_json: AsJson = False) -> None:
    """Reopen a closed opening and offer its free places to the waitlist."""
    _change_status(opening, lifecycle.reopen, "is open again", as_json)


def _change_status(
    id: int, act: Callable[[Tx, int, Actor], Awaitable[Opening]], outcome: str, as_json: bool
) -> None:
    row = session.in_transaction(lambda tx: act(tx, id, LOCAL))
    _print_opening(row, f"Opening {id} {outcome}: {opening_output.format_places(row)}.", as_json)


@app.command()
def capacity(
    opening: OpeningId,
    number: Annotated[
        int, typer.Argument(metavar="N", min=1, max=1_000_000, help="Number of places.")
    ],
    dry_run: DryRun = False,
    as_json: AsJson = False,
) -> None:
    """Change the number of places: new ones are offered at once, and no applicant loses a place."""

    async def change_capacity(tx: Tx) -> tuple[Opening, list[opening_output.PromotedApplicant]]:
        before = await openings.get(tx, opening)
        openings.refuse_interview_time(before)
        async with tx.transaction(force_rollback=dry_run):
            after = await lifecycle.set_capacity(tx, opening, number, LOCAL)
            events = await find_by_opening(tx, opening, after=before.last_seq)
            return after, await opening_output.find_promoted(tx, events)

    row, promoted = session.in_transaction(change_capacity)
    opening_output.print_capacity_change(row, promoted, dry_run=dry_run, as_json=as_json)


def _print_opening(opening: Opening, text: str, as_json: bool) -> None:
    output.print_result(exports.opening_fields(opening), text, as_json)


app.command()(closing.close)
app.command()(posting.posting)
app.command("import")(spreadsheets.import_openings)
app.command("export")(spreadsheets.export)
app.command()(blocked_addresses.block)
app.command()(blocked_addresses.unblock)
app.command("blocked")(blocked_addresses.list_blocked)
app.add_typer(form_commands.app, name="form", help="Show and change the application form.")
