"""jobmill approval …: what waits for a person's word."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import typer

from jobmill.catalog import approvals, history, sources
from jobmill.catalog.approvals import Approval, ApprovalRef
from jobmill.cli.support import output, session, times
from jobmill.cli.support.output import AsJson
from jobmill.db import Database, Tx
from jobmill.errors import AppError
from jobmill.pipelines import approval
from jobmill.pipelines.approval import Decided

app = typer.Typer(no_args_is_help=True)

Refs = Annotated[list[str], typer.Argument(metavar="REF…", help="Such as source:12 or board:7.")]
ACTOR = "command line"


@app.command("list")
def list_pending(
    kind: Annotated[
        Literal["source", "board"] | None, typer.Option(help="Only sources, or only boards.")
    ] = None,
    after: Annotated[
        str | None, typer.Option(metavar="REF", help="Only those after this one.")
    ] = None,
    limit: Annotated[
        int, typer.Option(metavar="N", min=1, max=10_000, help="At most so many.")
    ] = 50,
    as_json: AsJson = False,
) -> None:
    """List what waits: sources that were found, and boards of companies that are not sure."""
    start = approvals.parse_ref(after) if after else None

    async def find(tx: Tx) -> list[Approval]:
        return await approvals.find(tx, noun=kind, after=start, limit=limit + 1)

    found = session.in_transaction(find)
    if as_json:
        for one in found[:limit]:
            output.print_json(_record(one))
        return
    if not found:
        typer.echo("Nothing waits for you. What is found and is not sure will stand here.")
        return
    output.print_entries(map(_entry, found[:limit]))
    if len(found) > limit:
        typer.echo(f"There are more: --after {found[limit - 1].ref}")
    typer.echo(
        "Look with `approval show REF`, then `approval approve REF…` or `approval reject REF…`"
    )


def _record(one: Approval) -> dict[str, Any]:
    return {"ref": str(one.ref), **dataclasses.asdict(one)}


def _entry(one: Approval) -> tuple[str, Sequence[str | None], Sequence[str | None]]:
    sure = f"{one.confidence} confidence" if one.confidence else None
    tried = "tested" if one.tested_at else one.detail or "not tested"
    what = [one.name, one.platform, sure, tried if one.noun == "source" else None]
    return str(one.ref), what, [one.url, one.evidence]


@dataclass(frozen=True)
class _Story:
    pending: Approval
    config: dict[str, Any] | None
    events: list[Any]


@app.command("show")
def show_pending(
    ref: Annotated[str, typer.Argument(metavar="REF", help="Such as source:12 or board:7.")],
    as_json: AsJson = False,
) -> None:
    """Show what is known of it: where it is, why it was found, what was said about it."""
    wanted = approvals.parse_ref(ref)

    async def find(tx: Tx) -> _Story:
        pending = await approvals.get(tx, wanted)
        board = wanted.noun == "board"
        config = None if board else (await sources.get(tx, wanted.id)).config
        events = await history.find_events(tx, "company" if board else "source", wanted.id)
        return _Story(pending, config, events)

    story = session.in_transaction(find)
    if as_json:
        events = [dataclasses.asdict(event) for event in story.events]
        output.print_json({**_record(story.pending), "config": story.config, "events": events})
        return
    output.print_record(story.pending, as_json=False)
    if story.config:
        output.print_facts({"config": story.config})
    for event in story.events:
        said = event.data.get("reason", "")
        typer.echo(output.printable(f"{times.format_minute(event.at)} {event.what} {said}"))
    typer.echo(_advice(story.pending))


def _advice(one: Approval) -> str:
    if one.state == "approved":
        return f"It is approved. `jobmill approval reject {one.ref}` takes it back."
    approve = f"`jobmill approval approve {one.ref}`"
    if one.state == "rejected":
        return f"It is rejected. {approve} takes it back."
    look = f"Look at `jobmill source test {one.id}`, then " if one.noun == "source" else "Then "
    return f"It waits for you. {look}{approve}, or `reject`."


@app.command()
def approve(refs: Refs, as_json: AsJson = False) -> None:
    """Let sources run, and have boards looked at; also those that were rejected."""
    _decide(refs, lambda tx, ref: approval.approve(tx, ref, actor=ACTOR), as_json)


@app.command()
def reject(
    refs: Refs,
    reason: Annotated[str, typer.Option(help="Why, for those who read it later.")] = "not wanted",
    as_json: AsJson = False,
) -> None:
    """Say that they are not wanted: they stay known, and are not proposed again."""
    _decide(refs, lambda tx, ref: approval.reject(tx, ref, reason, actor=ACTOR), as_json)


def _decide(
    names: list[str], act: Callable[[Tx, ApprovalRef], Awaitable[Decided]], as_json: bool
) -> None:
    wanted = [approvals.parse_ref(name) for name in dict.fromkeys(names)]

    async def each(database: Database) -> list[Decided]:
        return [await _one(database, ref, act, alone=len(wanted) == 1) for ref in wanted]

    done = session.with_database(each, declared=True)
    if as_json:
        output.print_json_lines(done)
    else:
        for one in done:
            typer.echo(output.printable(f"{one.ref} ({one.name}): {one.state}. {one.note}"))
    if any(one.state == "unchanged" for one in done):
        raise typer.Exit(1)


async def _one(
    database: Database,
    ref: ApprovalRef,
    act: Callable[[Tx, ApprovalRef], Awaitable[Decided]],
    *,
    alone: bool,
) -> Decided:
    """One of several: that it cannot be decided does not stop the others."""
    try:
        async with database.transaction() as tx:
            return await act(tx, ref)
    except AppError as error:
        if alone:
            raise
        return Decided(str(ref), "unchanged", "-", None, str(error))
