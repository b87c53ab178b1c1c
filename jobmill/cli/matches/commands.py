"""jobmill match …: the few listings that fit, and why."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog.listings import Listing
from jobmill.cli.matches import match_output, rescore_commands, saved_views
from jobmill.cli.matches import statuses as triage
from jobmill.cli.matches.statuses import Statuses
from jobmill.cli.support import hints, lookups, output, session, times
from jobmill.cli.support.lookups import ListingName, ProfileName
from jobmill.cli.support.output import AsJson
from jobmill.db import Database, Tx
from jobmill.matching import (
    duplicate_matches,
    judging_feed,
    local_score,
    match_json,
    matches,
    profiles,
    rescore,
    verdicts,
)
from jobmill.matching.duplicate_matches import MatchDuplicate
from jobmill.matching.matches import Match, MatchEvent, MatchQuery
from jobmill.matching.profiles import ProfileVersion
from jobmill.matching.verdicts import RuleCount, Verdict

if TYPE_CHECKING:
    Copies: TypeAlias = dict[int, list[MatchDuplicate]]

app = typer.Typer(no_args_is_help=True)
Id = Annotated[int, typer.Argument(metavar="ID", min=1, help="The number of a match.")]


@app.command("list")
def list_matches(
    statuses: Statuses = None,
    priority: Annotated[
        Literal["High", "Medium", "Low"] | None,
        typer.Option(case_sensitive=False, help="Only those."),
    ] = None,
    least: Annotated[
        int | None, typer.Option(metavar="SCORE", min=0, max=100, help="At least this score.")
    ] = None,
    find: Annotated[
        str | None, typer.Option(metavar="WORDS", help='Words, "phrases", or, -not.')
    ] = None,
    newest: Annotated[bool, typer.Option("--newest", help="The newest first.")] = False,
    closed: Annotated[bool, typer.Option("--closed", help="Also new ones that closed.")] = False,
    after: Annotated[
        int | None, typer.Option(metavar="ID", min=1, help="The match to go on from.")
    ] = None,
    limit: Annotated[int, typer.Option(metavar="N", min=1, max=10_000, help="So many.")] = 20,
    profile: ProfileName = None,
    as_json: AsJson = False,
) -> None:
    """List the listings that fit, best first, with the reasons in a line.

    What you dismissed is not among them, unless you ask for it: --status dismissed.
    """

    async def ask(tx: Tx) -> tuple[list[Match], Copies, str]:
        version = await lookups.choose_profile(tx, profile)
        wanted = MatchQuery(
            profile_id=version.profile_id,
            statuses=triage.read(statuses) or triage.LISTED,
            priority=priority,
            least_score=least,
            q=find,
            include_closed=closed,
            order="newest" if newest else "best",
            after=after,
            limit=limit + 1,
        )
        found, nothing = await _find(tx, version, wanted)
        return (
            found,
            await duplicate_matches.find_duplicates(tx, [one.id for one in found]),
            nothing,
        )

    with hints.add_hints():
        found, also, nothing = session.in_transaction(ask)
    _print_list(found, also, limit, as_json)
    if not found and not as_json:
        output.print_wrapped(nothing)


async def _find(tx: Tx, version: ProfileVersion, wanted: MatchQuery) -> tuple[list[Match], str]:
    """The matches, or what to say where there are none."""
    found = await matches.find(tx, wanted)
    if found:
        return found, ""
    if wanted.after is not None:
        return [], "There are no more."
    if await matches.count_by_status(tx, version.profile_id):
        return [], (
            "No matches fit that. `jobmill match list --closed` without more shows all "
            "but those that you dismissed: `--status dismissed`."
        )
    return [], await _say_nothing(tx, version)


async def _say_nothing(tx: Tx, version: ProfileVersion) -> str:
    judged = sum(one.count for one in await verdicts.count_by_outcome(tx, version.profile_id))
    if waits := await judging_feed.count(tx, version.profile_id):
        many = output.format_count(waits, "listing")
        verb = "waits" if waits == 1 else "wait"
        return f"No matches yet: {many} {verb} to be judged. `jobmill up` or a worker does it."
    if judged:
        return (
            f"None of {output.format_count(judged, 'listing')} fits {version.name}. "
            "`jobmill match stats` says what turns them down."
        )
    return "No matches yet, for nothing was judged: `jobmill source add URL` finds listings."


def _print_list(found: list[Match], also: Copies, limit: int, as_json: bool) -> None:
    for one in found[:limit]:
        if as_json:
            output.print_json(match_json.to_dict(one))
        else:
            match_output.print_match_entry(one, also.get(one.id, ()))
    if len(found) > limit:
        # Not among the matches: whoever reads lines gets nothing else on stdout.
        typer.echo(f"There are more: --after {found[limit - 1].id}", err=True)


@app.command("show")
def show_match(
    id: Id,
    text: Annotated[bool, typer.Option("--text", help="The whole text of the listing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a match in full: the score, what to put into a resume, and what happened to it."""

    async def find(tx: Tx) -> tuple[Match, list[MatchEvent], Copies]:
        return (
            await matches.get(tx, id),
            await matches.read_events(tx, id),
            await duplicate_matches.find_duplicates(tx, [id]),
        )

    with hints.add_hints():
        match, events, also = session.in_transaction(find)
    if as_json:
        told = [{"at": one.at, "what": one.what, "actor": one.actor, "data": one.data} for one in events]  # fmt: skip
        output.print_json(match_json.to_dict(match) | {"events": told})
    else:
        match_output.print_match(match, events, also.get(id, ()), text=text)


@dataclass(frozen=True)
class ExplainedVerdict:
    """A verdict with the listing and the profile that it is about."""

    listing: Listing
    version: ProfileVersion
    verdict: Verdict
    match: Match | None
    newest: int
    """Version of the profile."""


@app.command()
def why(listing: ListingName, profile: ProfileName = None, as_json: AsJson = False) -> None:
    """Say why a listing fits or not: each rule, each point, and the words that were seen.

    One that was never judged is judged now, locally, and nothing is kept.
    """

    async def find(database: Database) -> ExplainedVerdict:
        return await _verdict(database, listing, profile)

    found = session.with_database(find)
    if as_json:
        output.print_json(_record(found))
    else:
        _print_verdict(found)


async def _verdict(database: Database, named: str, profile: str | None) -> ExplainedVerdict:
    async with database.transaction() as tx:
        version = await lookups.choose_profile(tx, profile)
        newest = version.version
        listing = await lookups.find_listing(tx, named)
        verdict = await verdicts.get(tx, version.profile_id, listing.id)
        id = await matches.find_id_by_listing(tx, version.profile_id, listing.id)
        match = None if id is None else await matches.get(tx, id)
        if verdict is not None:
            version = await lookups.choose_profile(
                tx, version.name, version=verdict.profile_version
            )
    verdict = verdict or await _judge(database, version, listing)
    return ExplainedVerdict(listing, version, verdict, match, newest)


async def _judge(database: Database, version: ProfileVersion, listing: Listing) -> Verdict:
    async with database.transaction() as tx:
        known = await rescore.read_employer(tx, listing)
    found = await local_score.judge(database, version.profile(), listing, known, PLATFORM_RULES)
    return Verdict(
        version.profile_id,
        version.version,
        listing.id,
        found.outcome,
        found.filter,
        found.match,
        found.match and found.match.match_score,
    )


def _record(found: ExplainedVerdict) -> dict[str, Any]:
    verdict = found.verdict
    match = verdict.match_result
    return {
        "listing_id": found.listing.id,
        "url": found.listing.url,
        "title": found.listing.title,
        "company": found.listing.company,
        "profile": found.version.name,
        "profile_version": found.version.version,
        "newest_version": found.newest,
        "kept": verdict.judged_at is not None,
        "judged_at": verdict.judged_at,
        "outcome": verdict.outcome,
        "score": verdict.score,
        "local_score": verdict.local_score,
        "scored_by": match and match.scored_by,
        "forced": verdict.forced,
        "filter_result": verdict.filter_result.to_dict(),
        "match_result": match and match.to_dict(),
        "match_id": found.match and found.match.id,
        "status": found.match and found.match.status,
    }


def _print_verdict(found: ExplainedVerdict) -> None:
    verdict = found.verdict
    match = verdict.match_result
    match_output.print_headline(found.listing)
    score = "" if verdict.score is None else f" with {verdict.score} of 100"
    forced = ", kept because you wanted it whatever the rules say" if verdict.forced else ""
    outcome = "filtered out" if verdict.outcome == "filtered" else verdict.outcome
    output.print_wrapped(f"{outcome}{score}{forced}", bold=True)
    at = verdict.judged_at
    when = f"on {times.format_minute(at)}" if at else "now; nothing is kept"
    who = match_output.format_scorer(match and match.scored_by)
    output.print_wrapped(
        f"by {who}, version {verdict.profile_version} of {found.version.name}, {when}"
    )
    if verdict.profile_version < found.newest:
        hint = "`jobmill match rescore --dry-run` shows whether that differs"
        output.print_wrapped(f"the newest version is {found.newest}: {hint}")
    if match and verdict.local_score not in (None, match.match_score):
        output.print_wrapped(f"the local score was {verdict.local_score}")
    if found.match:
        dropped = ", dropped out" if found.match.dropped_at else ""
        output.print_wrapped(f"match {found.match.id}, {found.match.status}{dropped}")
    match_output.print_filter_result(
        verdict.filter_result, found.version.profile().rules.strikes.threshold
    )
    if match:
        match_output.print_score(match)


@dataclass(frozen=True)
class Stats:
    profile: str
    version: int
    paused_at: dt.datetime | None
    judged: int
    filtered: int
    skipped: int
    matched: int
    waiting: int
    newest: dt.datetime | None
    statuses: dict[str, int]
    rules: list[RuleCount]


@app.command()
def stats(profile: ProfileName = None, as_json: AsJson = False) -> None:
    """Count what was judged, what waits, what you made of it, and which rules turn most down."""

    async def find(tx: Tx) -> Stats:
        return await _count(tx, await lookups.choose_profile(tx, profile))

    found = session.in_transaction(find)
    if as_json:
        output.print_record(found, as_json=True)
        return
    _print_stats(found)


async def _count(tx: Tx, version: ProfileVersion) -> Stats:
    tallies = await verdicts.count_by_outcome(tx, version.profile_id)
    by_outcome = {one.outcome: one.count for one in tallies}
    (entry,) = [one for one in await profiles.find_all(tx) if one.name == version.name]
    return Stats(
        version.name,
        version.version,
        entry.paused_at,
        sum(by_outcome.values()),
        by_outcome.get("filtered", 0),
        by_outcome.get("skipped", 0),
        by_outcome.get("matched", 0),
        await judging_feed.count(tx, version.profile_id),
        max((one.newest for one in tallies), default=None),
        {one.status: one.count for one in await matches.count_by_status(tx, version.profile_id)},
        await verdicts.count_by_rule(tx, version.profile_id),
    )


def _print_stats(found: Stats) -> None:
    if not (found.judged or found.waiting):
        typer.echo("Nothing was judged yet: `jobmill source add URL` finds listings.")
        return
    at = found.newest
    output.print_wrapped(
        f"{found.profile}, version {found.version}{', paused' if found.paused_at else ''}"
    )
    lines = {
        "judged": (found.judged, f"last on {times.format_minute(at)}" if at else ""),
        "filtered": (found.filtered, "turned down by rules that cost nothing"),
        "skipped": (found.skipped, "scored, and below the threshold"),
        "matched": (found.matched, "fit"),
        "waiting": (found.waiting, "to be judged; `jobmill up` or a worker does it"),
    }
    for name, (count, means) in lines.items():
        output.print_wrapped(means, f"  {count:>7,}  {name:<9} ")
    if found.statuses:
        output.print_heading("what you made of them")
        for name, count in found.statuses.items():
            output.print_wrapped(name, f"  {count:>7,}  ")
    if found.rules:
        output.print_heading("what turns most down")
        for rule in found.rules:
            kind = "enough by itself" if rule.kind == "rejection" else "strikes"
            output.print_wrapped(f"{rule.rule.replace('_', ' ')} ({kind})", f"  {rule.count:>7,}  ")


app.command("rescore")(rescore_commands.rescore_listings)
app.command("what-if")(rescore_commands.what_if)
app.command("set-status")(triage.set_status)
app.command()(triage.undo)
app.command()(triage.export)
app.add_typer(saved_views.app, name="view")
