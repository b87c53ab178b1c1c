"""jobmill profile pause|resume: when listings are judged for a profile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from jobmill.cli.support import lookups, output, session
from jobmill.cli.support.output import AsJson
from jobmill.db import Tx
from jobmill.matching import judging_feed, profiles
from jobmill.queue.feed import notify_feeds

Name = Annotated[str, typer.Argument(metavar="NAME", help="Which profile.")]


@dataclass(frozen=True)
class Paused:
    name: str
    paused: bool
    waiting: int


def pause(
    name: Name,
    as_json: AsJson = False,
) -> None:
    """Judge nothing for a profile until it is resumed."""

    async def act(tx: Tx) -> Paused:
        id = (await lookups.choose_profile(tx, name)).profile_id
        await profiles.pause(tx, name)
        return Paused(name, True, await judging_feed.count(tx, id))

    done = session.in_transaction(act)
    if as_json:
        output.print_record(done, as_json=True)
        return
    typer.echo(f"{name} is paused: nothing is judged for it, {output.format_count(done.waiting, 'listing')} waiting.")  # fmt: skip


def resume(
    name: Name,
    as_json: AsJson = False,
) -> None:
    """Go on judging for a profile, and begin with what came meanwhile."""

    async def act(tx: Tx) -> Paused:
        id = (await lookups.choose_profile(tx, name)).profile_id
        if await profiles.resume(tx, name):
            await judging_feed.add_unjudged(tx, id)
            await notify_feeds(tx)
        return Paused(name, False, await judging_feed.count(tx, id))

    done = session.in_transaction(act)
    if as_json:
        output.print_record(done, as_json=True)
        return
    typer.echo(f"{name} is at work: {output.format_count(done.waiting, 'listing')} waiting.")
