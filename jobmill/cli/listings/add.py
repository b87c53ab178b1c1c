"""jobmill listing add: add jobs by URL."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from jobmill import app, queue
from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import listings
from jobmill.cli.support import environment, foreground_worker, hints, lookups, output, session
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.matching import matches
from jobmill.pipelines import judging, submission
from jobmill.queue import ItemId, inspect
from jobmill.tools import Tools

FINISHED = ("SUCCESS", "FILTERED", "SKIPPED")
"""Statuses of an item that read and scored its job."""


@dataclass(frozen=True)
class _AddedListing:
    url: str
    item: int | None
    status: str
    note: str
    listing: int | None = None
    match: int | None = None


def add(
    urls: Annotated[list[str], typer.Argument(metavar="URL", help="Page of the job.")],
    profile: lookups.ProfileName = None,
    person: lookups.PersonEmail = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Keep it as a match whatever its score."),
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Score it now, in this command, instead of in a worker.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Add a job by URL, then read and score it.

    With --force it becomes a match even if the filter or the score rejects it;
    `jobmill match why` still shows their reasons.
    """

    lookups.choose_person(person)

    async def add_listings(tools: Tools) -> list[_AddedListing]:
        settings = environment.load_settings()
        await app.declare_stages(tools, settings)
        async with tools.db.transaction() as tx:
            submitted = await _submit(tx, urls, profile, force)
        if not wait:
            return submitted
        items = [listing.item for listing in submitted if listing.item is not None]
        await foreground_worker.finish_items(
            tools, settings, ("listing", "company"), items, quiet=as_json
        )
        async with tools.db.transaction() as tx:
            return [await _read_outcome(tx, listing, profile) for listing in submitted]

    added = session.with_tools(add_listings)
    if as_json:
        output.print_json_lines(added)
    else:
        for listing in added:
            _print_outcome(listing)
        if not wait:
            typer.echo(
                "A worker reads and scores it (`jobmill up` starts one); "
                "then see `jobmill match why URL`."
            )
    if wait and any(listing.status not in FINISHED for listing in added):
        raise typer.Exit(1)


async def _submit(tx: Tx, urls: list[str], profile: str | None, force: bool) -> list[_AddedListing]:
    version = await lookups.choose_profile(tx, profile)
    new_items = [
        judging.new_item_for_url(url, version.profile_id, force=force)
        for url in dict.fromkeys(urls)
    ]
    submissions = await queue.submit_all(tx, new_items)
    for item, answer in zip(new_items, submissions, strict=True):
        live = answer.live if isinstance(answer, queue.RefusedItem) else answer.id
        await submission.record_job(
            tx,
            item.data["url"],
            version.profile_id,
            live,
            owner=version.owner_id,
            by=lookups.current_user(),
        )
    return [
        _AddedListing(item.data["url"], submission.live, "refused", submission.message)
        if isinstance(submission, queue.RefusedItem)
        else _AddedListing(item.data["url"], submission.id, "queued", "")
        for item, submission in zip(new_items, submissions, strict=True)
    ]


async def _read_outcome(tx: Tx, added: _AddedListing, profile: str | None) -> _AddedListing:
    if added.item is None:
        return added
    item = await inspect.get_item(tx, ItemId(added.item))
    version = await lookups.choose_profile(tx, profile)
    listing = await listings.find_by_url(tx, added.url, PLATFORM_RULES)
    match = await matches.find_id_by_listing(tx, version.profile_id, listing) if listing else None
    note = item.message or ""
    if item.status == "FAILED":
        note = item.error_text or note
    elif item.status == "PENDING" and item.error_text:
        note = f"{note}: {item.error_text}"
    return _AddedListing(added.url, added.item, item.status, note, listing, match)


def _print_outcome(added: _AddedListing) -> None:
    note = f": {hints.add_next_command(added.note)}" if added.note else ""
    typer.echo(output.printable(f"{added.url}: {added.status.lower()}{note}"))
    if added.match is not None:
        typer.echo(f"  See `jobmill match show {added.match}`")
    elif added.listing is not None:
        typer.echo(f"  See why: `jobmill match why {added.listing}`")
