"""jobmill approval: sources and job boards that need a decision."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Any, Literal

import typer

from jobmill.catalog import approvals, history, sources
from jobmill.catalog.approvals import Approval, ApprovalRef
from jobmill.catalog.history import CatalogEvent
from jobmill.cli.support import output, session, times
from jobmill.cli.support.output import AsJson, Limit
from jobmill.db import Database, Tx
from jobmill.errors import AppError
from jobmill.pipelines import approval
from jobmill.pipelines.approval import ApprovalResult

app = typer.Typer(no_args_is_help=True)

ACTOR = "command line"
REF_HELP = "Reference such as source:12 or board:7."
Refs = Annotated[list[str], typer.Argument(metavar="REF", help=REF_HELP)]


@app.command("list")
def list_pending(
    kind: Annotated[
        Literal["source", "board"] | None, typer.Option(help="Only sources, or only job boards.")
    ] = None,
    after: Annotated[
        str | None, typer.Option(metavar="REF", help="Only entries after this one.")
    ] = None,
    limit: Limit = 50,
    as_json: AsJson = False,
) -> None:
    """List sources and job boards that need your approval."""
    start = approvals.parse_ref(after) if after else None
    pending = session.in_transaction(
        lambda tx: approvals.find(tx, noun=kind, after=start, limit=limit + 1)
    )
    output.print_page(
        pending,
        _entry,
        limit=limit,
        option="--after",
        empty="Nothing needs your approval. Uncertain sources and job boards appear here.",
        as_json=as_json,
        to_json=_to_json,
    )
    if pending and not as_json:
        typer.echo("Check one with `jobmill approval show REF`, then `approve` or `reject` it.")


def _to_json(pending: Approval) -> dict[str, Any]:
    return {"ref": str(pending.ref), **dataclasses.asdict(pending)}


def _entry(pending: Approval) -> tuple[str, Sequence[str | None], Sequence[str | None]]:
    confidence = f"{pending.confidence} confidence" if pending.confidence else None
    test_result = "tested" if pending.tested_at else pending.detail or "not tested"
    title = [
        pending.name,
        pending.platform,
        confidence,
        test_result if pending.noun == "source" else None,
    ]
    return str(pending.ref), title, [pending.url, pending.evidence]


@app.command("show")
def show_pending(
    ref: Annotated[str, typer.Argument(metavar="REF", help=REF_HELP)], as_json: AsJson = False
) -> None:
    """Show a source or job board, why it was proposed and its history."""
    parsed = approvals.parse_ref(ref)

    async def read_details(tx: Tx) -> tuple[Approval, dict[str, Any] | None, list[CatalogEvent]]:
        pending = await approvals.get(tx, parsed)
        is_board = parsed.noun == "board"
        config = None if is_board else (await sources.get(tx, parsed.id)).config
        events = await history.find_events(tx, "company" if is_board else "source", parsed.id)
        return pending, config, events

    pending, config, events = session.in_transaction(read_details)
    if as_json:
        output.print_json({**_to_json(pending), "config": config, "events": events})
        return
    output.print_record(pending, as_json=False)
    if config:
        output.print_facts({"config": config})
    for event in events:
        reason = event.data.get("reason", "")
        typer.echo(output.printable(f"{times.format_minute(event.at)} {event.what} {reason}"))
    typer.echo(_next_step(pending))


def _next_step(pending: Approval) -> str:
    if pending.state == "approved":
        return f"It is approved. Undo: `jobmill approval reject {pending.ref}`"
    approve = f"`jobmill approval approve {pending.ref}`"
    if pending.state == "rejected":
        return f"It is rejected. Undo: {approve}"
    test = f"Test it with `jobmill source test {pending.id}`. "
    return (
        f"It needs your approval. {test if pending.noun == 'source' else ''}"
        f"Approve it with {approve}, or reject it with `jobmill approval reject {pending.ref}`."
    )


@app.command()
def approve(refs: Refs, as_json: AsJson = False) -> None:
    """Approve sources and job boards, also rejected ones."""
    _decide(refs, lambda tx, ref: approval.approve(tx, ref, actor=ACTOR), as_json)


@app.command()
def reject(
    refs: Refs,
    reason: Annotated[str, typer.Option(help="Reason, shown in the history.")] = "not wanted",
    as_json: AsJson = False,
) -> None:
    """Reject sources and job boards, so that they are never proposed again."""
    _decide(refs, lambda tx, ref: approval.reject(tx, ref, reason, actor=ACTOR), as_json)


def _decide(
    names: list[str], act: Callable[[Tx, ApprovalRef], Awaitable[ApprovalResult]], as_json: bool
) -> None:
    refs = [approvals.parse_ref(name) for name in dict.fromkeys(names)]

    async def decide_all(database: Database) -> list[ApprovalResult]:
        return [await _decide_one(database, ref, act, alone=len(refs) == 1) for ref in refs]

    decisions = session.with_database(decide_all, declared=True)
    if as_json:
        output.print_json_lines(decisions)
    else:
        for decision in decisions:
            name = f"{decision.ref} ({decision.name})"
            typer.echo(output.printable(f"{name}: {decision.state}. {decision.note}"))
    if any(decision.state == "unchanged" for decision in decisions):
        raise typer.Exit(1)


async def _decide_one(
    database: Database,
    ref: ApprovalRef,
    act: Callable[[Tx, ApprovalRef], Awaitable[ApprovalResult]],
    *,
    alone: bool,
) -> ApprovalResult:
    """Decide one of several; an error does not stop the others."""
    try:
        async with database.transaction() as tx:
            return await act(tx, ref)
    except AppError as error:
        if alone:
            raise
        return ApprovalResult(str(ref), "unchanged", "-", None, str(error))
