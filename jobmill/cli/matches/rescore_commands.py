"""jobmill match rescore|what-if: what another profile makes of listings."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any

import typer

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import listings
from jobmill.cli.matches import match_output
from jobmill.cli.support import lookups, output, session
from jobmill.cli.support.lookups import ProfileName
from jobmill.cli.support.output import AsJson
from jobmill.db import Database
from jobmill.errors import Invalid
from jobmill.matching import (
    judging_feed,
    local_score,
    profile_document,
    profiles,
    rescore,
    verdicts,
)
from jobmill.matching import what_if as whatif
from jobmill.matching.local_score import LocalVerdict
from jobmill.matching.profile import Profile
from jobmill.matching.profiles import ProfileVersion
from jobmill.matching.rescore import ScoredOutcome, VerdictChange
from jobmill.matching.what_if import VerdictDifference
from jobmill.queue.feed import notify_feeds

FIRST = 20
BATCH = 1_000
MEANS = {
    "in": "no match before, one then",
    "out": "a match before, none then",
    "moved": "a match before and then, with another score",
    "other": "no match before or then, but judged otherwise or for the first time",
    "same": "as it was",
}


@dataclass
class Outlook:
    """What judging all that is open would change."""

    profile: str
    version: int
    count: int = 0
    changes: dict[str, list[VerdictChange]] = field(
        default_factory=lambda: {kind: [] for kind in MEANS}
    )

    def add(self, one: VerdictChange) -> None:
        self.count += 1
        self.changes[one.kind].append(one)

    @property
    def differing(self) -> list[int]:
        """The listings that are to be judged anew."""
        kinds = (kind for kind in MEANS if kind != "same")
        return sorted(one.listing_id for kind in kinds for one in self.changes[kind])

    def record(self) -> dict[str, Any]:
        listed = {kind: list(map(asdict, self.changes[kind])) for kind in ("in", "out", "moved")}
        counts = {kind: len(found) for kind, found in self.changes.items()}
        told = {"profile": self.profile, "version": self.version, "judged": self.count}
        return told | {"counts": counts} | listed


def rescore_listings(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")] = False,
    profile: ProfileName = None,
    as_json: AsJson = False,
) -> None:
    """Judge all open listings by the newest version, and see what changes before it does.

    The judging here is local and costs nothing. What differs then goes through the queue, where a
    model is asked within the budget. Statuses that you set never change.
    """
    if not (dry_run or yes or sys.stdin.isatty()):
        raise Invalid("nobody is there to ask: --yes does it, --dry-run only looks")

    async def act(database: Database) -> None:
        async with database.transaction() as tx:
            version = await lookups.choose_profile(tx, profile)
        outlook = await _look(database, version, version.profile(), quiet=as_json)
        queued = 0
        if not as_json:
            _print(outlook)
        if not dry_run and outlook.differing and (yes or _agreed(outlook)):
            queued = await _queue(database, version, outlook.differing)
        if as_json:
            output.print_json(outlook.record() | {"queued": queued})
        else:
            _print_end(outlook, queued, dry_run)

    session.with_database(act)


async def _look(
    database: Database, version: ProfileVersion, profile: Profile, *, quiet: bool
) -> Outlook:
    outlook = Outlook(version.name, version.version)
    with output.show_progress("Judging", quiet=quiet) as tell:
        async for one in rescore.compare_open_listings(
            database, version.profile_id, profile, PLATFORM_RULES
        ):
            outlook.add(one)
            tell(output.format_count(outlook.count, "listing"))
    return outlook


def _agreed(outlook: Outlook) -> bool:
    typer.echo(err=True)
    many = output.format_count(len(outlook.differing), "listing")
    return typer.confirm(f"Let the queue judge {many} anew?", err=True)


async def _queue(database: Database, version: ProfileVersion, ids: Sequence[int]) -> int:
    async with database.transaction() as tx:
        for start in range(0, len(ids), BATCH):
            await judging_feed.add(tx, ids[start : start + BATCH], profile_id=version.profile_id)
        await notify_feeds(tx)
        if await profiles.is_paused(tx, version.profile_id):
            hint = f"jobmill profile resume {version.name}"
            typer.echo(f"{version.name} is paused: they wait until `{hint}`.", err=True)
    return len(ids)


def _print(outlook: Outlook, name: str | None = None) -> None:
    whose = name or f"version {outlook.version} of {outlook.profile}"
    if not outlook.count:
        typer.echo("No listings are open. `jobmill source add URL` finds some.")
        return
    open_ones = output.format_count(outlook.count, "open listing")
    output.print_wrapped(f"{open_ones}, judged locally by {whose}.")
    typer.echo()
    for kind, means in MEANS.items():
        found = outlook.changes[kind]
        kept = sum(one.status is not None for one in found) if kind == "out" else 0
        note = f"; {kept} of them you have spoken of, and they stay" if kept else ""
        output.print_wrapped(means + note, f"  {len(found):>6,}  {kind:<6} ")
    for kind in ("in", "out", "moved"):
        _print_some(kind, outlook.changes[kind])


def _print_some(kind: str, found: Sequence[VerdictChange]) -> None:
    if not found:
        return
    output.print_heading(kind)
    for one in found[:FIRST]:
        change = f"{match_output.format_standing(one.before)} → {match_output.format_standing(one.after)}"
        status = f"you said: {one.status}" if one.status else None
        named = output.join([output.format_title(one.title, one.company), status])
        output.print_wrapped(named, f"{one.listing_id:>7}  {change}  ")
    if len(found) > FIRST:
        typer.echo(f"{'':9}and {len(found) - FIRST:,} more: --json lists all")


def _print_end(outlook: Outlook, queued: int, dry_run: bool) -> None:
    if not outlook.count:
        return
    typer.echo()
    if queued:
        many = output.format_count(queued, "listing")
        stats = f"`jobmill match stats --profile {outlook.profile}`"
        output.print_wrapped(f"The queue judges {many}; {stats} says how far it is.")
    elif not outlook.differing:
        typer.echo("Nothing would change.")
    else:
        hint = f" `jobmill match rescore --profile {outlook.profile}` does it." if dry_run else ""
        typer.echo(f"Nothing was changed.{hint}")


def what_if(
    listing: Annotated[
        str | None,
        typer.Argument(metavar="LISTING", help="The number of a listing, or its URL."),
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(metavar="SKILL", help="As if you did not have it.")
    ] = None,
    having: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="SKILL[:RANK]", help="As if you had it: Go, Go:strong."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="FIELD=VALUE", help="As if it were so: locations=[Porto]."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All open listings instead of one.")
    ] = False,
    profile: ProfileName = None,
    as_json: AsJson = False,
) -> None:
    """Judge a listing, or all that are open, as if your profile were another; nothing is kept.

    A field is named by its path, `rules.match.score=75`, and its value is written as in a profile.
    """
    wishes = {"without": without or [], "having": having or [], "settings": settings or []}
    if not any(wishes.values()):
        raise Invalid(
            "say what would be different: --without SKILL, --with SKILL, --set FIELD=VALUE"
        )
    if everything == (listing is not None):
        raise Invalid("name one listing, or --all")

    async def act(database: Database) -> None:
        async with database.transaction() as tx:
            version = await lookups.choose_profile(tx, profile)
        other = _change(version.profile(), wishes)
        if listing is None:
            _say_strange(wishes["having"])
            outlook = await _look(database, version, other, quiet=as_json)
            _show_outlook(outlook, as_json)
        else:
            await _show_one(database, version, other, listing, wishes["having"], as_json)

    session.with_database(act)


def _say_strange(having: list[str]) -> None:
    """Skills that no list has may stand in some listing, word for word: they are no mistake."""
    for name in whatif.unknown_skills(having):
        typer.echo(
            output.printable(f"We know no skill {name}: only these words are looked for."), err=True
        )


def _change(profile: Profile, wishes: dict[str, list[str]]) -> Profile:
    """The other profile; all that is wrong with it is said, a line each."""
    try:
        return whatif.apply_changes(
            profile,
            without=wishes["without"],
            having=wishes["having"],
            settings=wishes["settings"],
        )
    except profile_document.InvalidProfile as error:
        for problem in error.problems:
            typer.echo(
                output.printable(profile_document.format_problem("what-if", problem)), err=True
            )
        raise typer.Exit(2) from error


def _show_outlook(outlook: Outlook, as_json: bool) -> None:
    if as_json:
        output.print_json(outlook.record())
        return
    _print(outlook, f"{outlook.profile} as it would be")
    typer.echo()
    typer.echo("Nothing was changed. `jobmill profile edit` makes it so.")


@dataclass(frozen=True)
class Alternative:
    """A listing under two profiles."""

    listing_id: int
    url: str
    title: str | None
    company: str | None
    profile: str
    version: int
    difference: VerdictDifference
    predicted: ScoredOutcome | None
    """Where a model scored it: what its score would become."""


async def _show_one(
    database: Database,
    version: ProfileVersion,
    other: Profile,
    named: str,
    having: list[str],
    as_json: bool,
) -> None:
    async with database.transaction() as tx:
        listing = await lookups.find_listing(tx, named)
        known = await rescore.read_employer(tx, listing)
        kept = (await verdicts.read_summaries(tx, version.profile_id, [listing.id])).get(listing.id)
    now = version.profile()
    places = [one for one in other.locations if one not in now.locations]
    whatif.check_changes(listings.to_posting(listing), having=having, places=places)
    before, after = await _judge_both(database, now, other, listing, known)
    found = whatif.compare_verdicts(before, after)
    by_model = kept is not None and kept.score != kept.local_score
    predicted = rescore.predict_outcome(kept, after) if by_model and after.filter.passed else None
    if as_json:
        told = Alternative(
            listing.id, listing.url, listing.title, listing.company, version.name,
            version.version, found, predicted,
        )  # fmt: skip
        output.print_record(told, as_json=True)
        return
    match_output.print_headline(listing)
    match_output.print_difference(found)
    if predicted and kept:
        output.print_wrapped(f"A model said {kept.score}; it would say about {predicted.score}.")
    typer.echo("Judged locally; nothing was kept.")


async def _judge_both(
    database: Database, profile: Profile, other: Profile, listing: Any, known: Any
) -> tuple[LocalVerdict, LocalVerdict]:
    return (
        await local_score.judge(
            database, profile, listing, known, PLATFORM_RULES, score_rejected=True
        ),
        await local_score.judge(
            database, other, listing, known, PLATFORM_RULES, score_rejected=True
        ),
    )
