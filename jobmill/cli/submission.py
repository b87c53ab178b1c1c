"""jobmill listing add: listings that a person found elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from jobmill.cli import show
from jobmill.cli.show import AsJson

if TYPE_CHECKING:
    from jobmill.db import Tx
    from jobmill.tools import Tools


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
    from jobmill.cli import session

    async def act(tools: Tools) -> list[Submitted]:
        from jobmill import app
        from jobmill.cli import environment

        settings = environment.load()
        await app.declare(tools, settings)
        async with tools.db.transaction() as tx:
            submitted = await _submit(tx, urls, profile, force)
        if not wait:
            return submitted
        only = [one for one in app.stages(tools, settings) if one[0] in ("listing", "company")]
        await app.worker(tools, settings, only=only).drain()
        async with tools.db.transaction() as tx:
            return [await _outcome(tx, one, profile) for one in submitted]

    done = session.reach(act)
    if as_json:
        show.lines(done)
        return
    for one in done:
        _tell(one)
    if not wait:
        typer.echo("A worker judges them: `jobmill up` starts one, `jobmill match list` shows what fits.")  # fmt: skip


async def _submit(tx: Tx, urls: list[str], profile: str | None, force: bool) -> list[Submitted]:
    from jobmill import queue
    from jobmill.matching import profiles
    from jobmill.pipelines import inbox

    judge = await profiles.get(tx, profile)
    news = [inbox.submission(url, judge.profile_id, force=force) for url in dict.fromkeys(urls)]
    answers = await queue.submit_all(tx, news)
    return [
        Submitted(new.data["url"], answer.live, "refused", answer.message)
        if isinstance(answer, queue.Refused)
        else Submitted(new.data["url"], answer.id, "queued", "")
        for new, answer in zip(news, answers, strict=True)
    ]


async def _outcome(tx: Tx, one: Submitted, profile: str | None) -> Submitted:
    """What became of it, once nothing is left to do."""
    from jobmill.catalog import listings
    from jobmill.matching import matches, profiles
    from jobmill.queue import ItemId, inspect

    if one.item is None:
        return one
    item = await inspect.get(tx, ItemId(one.item))
    judge = await profiles.get(tx, profile)
    listing = await listings.by_url(tx, one.url)
    match = await matches.of_listing(tx, judge.profile_id, listing) if listing else None
    why = item.error_text if item.status == "PENDING" else None
    note = ": ".join(filter(None, [item.message, why]))
    return Submitted(one.url, one.item, item.status, note, listing, match)


def _tell(one: Submitted) -> None:
    told = f": {one.note}" if one.note else ""
    typer.echo(show.plain(f"{one.url}: {one.status}{told}"))
    if one.match is not None:
        typer.echo(f"  `jobmill match show {one.match}` shows it")
    elif one.listing is not None:
        typer.echo(f"  `jobmill match why {one.listing}` says why")
