"""jobmill add: add any URL or pasted text."""

from __future__ import annotations

from typing import Annotated

import typer

from jobmill import app
from jobmill.catalog import submissions
from jobmill.catalog.submissions import Submission
from jobmill.cli.support import (
    environment,
    files,
    foreground_worker,
    hints,
    lookups,
    output,
    session,
)
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.pipelines import company, discovery, judging, source, submission
from jobmill.pipelines.submission import SubmittedText, SubmittedUrl
from jobmill.tools import Tools

KINDS = (submission.KIND, judging.KIND, discovery.KIND, source.KIND, company.KIND)


def add(
    what: Annotated[
        str,
        typer.Argument(
            metavar="URL|-",
            help="Job, job board, careers page or company; - reads the text of a job from stdin.",
        ),
    ],
    profile: lookups.ProfileName = None,
    person: lookups.PersonEmail = None,
    force: Annotated[
        bool, typer.Option("--force", help="Keep a job as a match whatever its score.")
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Read it now, in this command, instead of in a worker.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add a job, job board, careers page or company by URL, or a job by its text."""
    text = files.read_text("-") if what == "-" else what
    lookups.choose_person(person)

    async def add_and_wait(tools: Tools) -> Submission:
        settings = environment.load_settings()
        await app.declare_stages(tools, settings)
        entered = await submission.read_input(text)
        async with tools.db.transaction() as tx:
            added = await _submit(tx, entered, profile, force)
        if wait and added.item_id:
            await foreground_worker.finish_items(
                tools, settings, KINDS, [added.item_id], quiet=as_json
            )
        async with tools.db.transaction() as tx:
            return await submissions.get(tx, added.id, owner=added.owner_id)

    record = session.with_tools(add_and_wait)
    if as_json:
        output.print_record(record, as_json=True)
    else:
        _print_record(record, wait)
    if record.state == "unknown":
        raise typer.Exit(1)


async def _submit(
    tx: Tx, entered: SubmittedUrl | SubmittedText, profile: str | None, force: bool
) -> Submission:
    owner = await lookups.find_owner(tx)
    profile_id = await submission.default_profile_id(tx, owner=owner)
    if profile or isinstance(entered, SubmittedText):
        profile_id = (await lookups.choose_profile(tx, profile)).profile_id
    return await submission.submit(
        tx, entered, owner=owner, profile_id=profile_id, force=force, by=lookups.current_user()
    )


def _print_record(record: Submission, waited: bool) -> None:
    states = {"waiting": "waiting", "done": "added", "unknown": "could not be read"}
    reason = f": {hints.add_next_command(record.reason)}" if record.reason else ""
    typer.echo(output.printable(f"{record.url or 'text'}: {states[record.state]}{reason}"))
    if record.listing_id:
        typer.echo(f"  See `jobmill match why {record.listing_id}`")
    elif record.source_id:
        typer.echo(f"  See `jobmill source show {record.source_id}`")
    elif record.company_id:
        typer.echo(f"  See `jobmill company show {record.company_id}`")
    elif record.state == "unknown":
        typer.echo("  To try again, run this command again")
    elif not waited:
        typer.echo("A worker reads it (`jobmill up` starts one); then see `jobmill match why URL`.")
