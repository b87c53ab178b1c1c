"""jobmill listing add: listings that a person found elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from jobmill import app, queue
from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import listings
from jobmill.cli.support import environment, foreground_worker, lookups, output, session
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.matching import matches, profiles
from jobmill.pipelines import judging
from jobmill.queue import ItemId, inspect
from jobmill.tools import Tools

ENDED = ("SUCCESS", "FILTERED", "SKIPPED")
"""How an item ends of which something can be said."""


@dataclass(frozen=True)
class Submitted:
    url: str
    item: int | None
    status: str
    note: str
    listing: int | None = None
    match: int | None = None


def add(
    urls: Annotated[list[str], typer.Argument(metavar="URL", help="The page of a listing.")],
    profile: Annotated[
        str | None, typer.Option(metavar="NAME", help="For whom; the default profile if not said.")
    ] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Keep it as a match whatever the rules say of it."),
    ] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Judge it here and now, not by a worker.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Let listings be read and judged that you found yourself.

    With --force one becomes a match though the filter or the score would turn it down;
    `jobmill match why` still shows what they said.
    """

    async def act(tools: Tools) -> list[Submitted]:
        settings = environment.load_settings()
        await app.declare_stages(tools, settings)
        async with tools.db.transaction() as tx:
            submitted = await _submit(tx, urls, profile, force)
        if not wait:
            return submitted
        items = [one.item for one in submitted if one.item is not None]
        await foreground_worker.finish_items(
            tools, settings, ("listing", "company"), items, quiet=as_json
        )
        async with tools.db.transaction() as tx:
            return [await _outcome(tx, one, profile) for one in submitted]

    done = session.with_tools(act)
    if as_json:
        output.print_json_lines(done)
    else:
        for one in done:
            _tell(one)
        if not wait:
            typer.echo("A worker does it (`jobmill up` starts one); then `jobmill match why URL` tells what came of it.")  # fmt: skip
    if wait and any(one.status not in ENDED for one in done):
        raise typer.Exit(1)


async def _submit(tx: Tx, urls: list[str], profile: str | None, force: bool) -> list[Submitted]:
    judge = await lookups.choose_profile(tx, profile)
    news = [judging.submission(url, judge.profile_id, force=force) for url in dict.fromkeys(urls)]
    answers = await queue.submit_all(tx, news)
    return [
        Submitted(new.data["url"], answer.live, "refused", answer.message)
        if isinstance(answer, queue.RefusedItem)
        else Submitted(new.data["url"], answer.id, "queued", "")
        for new, answer in zip(news, answers, strict=True)
    ]


async def _outcome(tx: Tx, one: Submitted, profile: str | None) -> Submitted:
    """What became of it, once nothing is left to do."""
    if one.item is None:
        return one
    item = await inspect.get_item(tx, ItemId(one.item))
    judge = await profiles.get(tx, profile)
    listing = await listings.find_by_url(tx, one.url, PLATFORM_RULES)
    match = await matches.of_listing(tx, judge.profile_id, listing) if listing else None
    note = item.message or ""
    if item.status == "FAILED":
        note = item.error_text or note
    elif item.status == "PENDING" and item.error_text:
        note = f"{note}: {item.error_text}"
    return Submitted(one.url, one.item, item.status, note, listing, match)


def _tell(one: Submitted) -> None:
    told = f": {one.note}" if one.note else ""
    typer.echo(output.printable(f"{one.url}: {one.status.lower()}{told}"))
    if one.match is not None:
        typer.echo(f"  `jobmill match show {one.match}` shows it")
    elif one.listing is not None:
        typer.echo(f"  `jobmill match why {one.listing}` says why")
