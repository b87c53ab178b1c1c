"""jobmill match list, show, why, stats: matches, the reasons for them, and how many there are."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.catalog import listings, submissions
from jobmill.catalog.listings import Listing
from jobmill.catalog.submissions import Submission
from jobmill.cli.matches import match_output, rescore_commands, saved_views
from jobmill.cli.matches import statuses as triage
from jobmill.cli.matches.statuses import Statuses
from jobmill.cli.support import hints, lookups, output, session, times
from jobmill.cli.support.lookups import ListingName, ProfileName
from jobmill.cli.support.output import AsJson, Limit
from jobmill.db import Database, Tx
from jobmill.errors import Invalid
from jobmill.matching import (
    duplicate_matches,
    judging_feed,
    local_verdict,
    match_json,
    match_reasons,
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
    Duplicates: TypeAlias = dict[int, list[MatchDuplicate]]

app = typer.Typer(no_args_is_help=True, callback=lookups.choose_person)


@app.command("list")
def list_matches(
    statuses: Statuses = None,
    priority: Annotated[
        Literal["High", "Medium", "Low"] | None,
        typer.Option(case_sensitive=False, help="Only matches with this priority."),
    ] = None,
    least: Annotated[
        int | None, typer.Option(metavar="SCORE", min=0, max=100, help="Minimum score.")
    ] = None,
    find: Annotated[
        str | None, typer.Option(metavar="WORDS", help='Words, "phrases", or, -not.')
    ] = None,
    newest: Annotated[bool, typer.Option("--newest", help="Newest first.")] = False,
    closed: Annotated[
        bool, typer.Option("--closed", help="Also new matches whose job has closed.")
    ] = False,
    after: Annotated[
        int | None, typer.Option(metavar="ID", min=1, help="Only matches after this one.")
    ] = None,
    limit: Limit = 20,
    profile: ProfileName = None,
    as_json: AsJson = False,
) -> None:
    """List matches, best first, with the main reasons.

    Dismissed matches are listed only with --status dismissed.
    """

    async def read(tx: Tx) -> tuple[list[Match], Duplicates, str]:
        version = await lookups.choose_profile(tx, profile)
        query = MatchQuery(
            profile_id=version.profile_id,
            statuses=triage.parse_statuses(statuses) or triage.DEFAULT_STATUSES,
            priority=priority,
            min_score=least,
            q=find,
            include_closed=closed,
            order="newest" if newest else "best",
            after=after,
            limit=limit + 1,
        )
        page, empty_message = await _read_page(tx, version, query)
        duplicates = await duplicate_matches.find_duplicates(tx, [match.id for match in page])
        return page, duplicates, empty_message

    page, duplicates, empty_message = session.in_transaction(read)
    match_output.print_matches(page[:limit], duplicates, as_json=as_json)
    if len(page) > limit:
        output.print_more_hint("--after", page[limit - 1].id)
    if not page and not as_json:
        output.print_wrapped(empty_message)


async def _read_page(tx: Tx, version: ProfileVersion, query: MatchQuery) -> tuple[list[Match], str]:
    """The matches, or a message if there are none."""
    page = await matches.find(tx, query)
    if page:
        return page, ""
    if query.after is not None:
        return [], "No more matches."
    if await matches.count_by_status(tx, version.profile_id):
        return [], (
            "No matches for these filters. `jobmill match list --closed` lists all except dismissed "
            "ones, which --status dismissed lists."
        )
    return [], await _explain_no_matches(tx, version)


async def _explain_no_matches(tx: Tx, version: ProfileVersion) -> str:
    if waiting := await judging_feed.count(tx, version.profile_id):
        jobs = f"{output.format_count(waiting, 'job')} {'is' if waiting == 1 else 'are'}"
        return f"No matches yet: {jobs} waiting to be scored. `jobmill up` or a worker scores them."
    outcomes = await verdicts.count_by_outcome(tx, version.profile_id)
    if scored := sum(outcome.count for outcome in outcomes):
        return (
            f"None of {output.format_count(scored, 'job')} matches {version.name}. "
            "`jobmill match stats` shows which rules reject most."
        )
    return "No matches yet, because no jobs were scored. `jobmill source add URL` finds jobs."


@app.command("show")
def show_match(
    id: Annotated[int, typer.Argument(metavar="ID", min=1, help="Number of the match.")],
    text: Annotated[bool, typer.Option("--text", help="Print the full text of the job.")] = False,
    as_json: AsJson = False,
) -> None:
    """Show a match: its score, points for your resume, and its history."""

    async def read(tx: Tx) -> tuple[Match, list[MatchEvent], Duplicates]:
        return (
            await matches.get(tx, id, owner=await lookups.find_owner(tx)),
            await matches.read_events(tx, id),
            await duplicate_matches.find_duplicates(tx, [id]),
        )

    match, events, duplicates = session.in_transaction(read)
    if as_json:
        history = [
            {"at": event.at, "what": event.what, "actor": event.actor, "data": event.data}
            for event in events
        ]
        output.print_json(match_json.to_dict(match) | {"events": history})
    else:
        match_output.print_match(match, events, duplicates.get(id, ()), text=text)


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
    """Explain why a job matches or not: the rules, the points and the words they are based on.

    A job without a score is scored now with local rules, and nothing is saved.
    """

    unread = session.in_transaction(lambda tx: _find_unread(tx, listing))
    if unread:
        _print_unread(unread, as_json)
        return
    explained = session.with_database(lambda database: _read_verdict(database, listing, profile))
    if as_json:
        output.print_json(_to_dict(explained))
    else:
        _print_verdict(explained)


async def _find_unread(tx: Tx, name: str) -> Submission | None:
    """The record of a URL that was added, but is not in the catalog (yet)."""
    try:
        key = PLATFORM_RULES.canonical(name)
    except Invalid:
        return None
    if await listings.find_by_url(tx, name, PLATFORM_RULES, private=True):
        return None
    submission = await submissions.find_by_key(tx, key, owner=await lookups.find_owner(tx))
    return submission if submission and submission.listing_id is None else None


def _print_unread(submission: Submission, as_json: bool) -> None:
    outcome = "unknown" if submission.state == "unknown" else "waiting"
    if as_json:
        output.print_json(
            {
                "url": submission.url,
                "outcome": outcome,
                "reason": submission.reason,
                "read": submission.partial,
                "item": submission.item_id,
            }
        )
        return
    states = {
        "waiting": "It was added and is not read yet",
        "unknown": "It was added, but could not be read",
        "done": "It was added, and is not a job in the catalog",
    }
    reason = f": {hints.add_next_command(submission.reason)}" if submission.reason else ""
    typer.echo(output.printable(f"{submission.url}\n{states[submission.state]}{reason}"))
    for name in ("title", "company", "location"):
        if submission.partial.get(name):
            typer.echo(output.printable(f"  {name}: {submission.partial[name]}"))
    if submission.state == "unknown":
        typer.echo(output.printable(f"  To try again: `jobmill add {submission.url}`"))


async def _read_verdict(database: Database, name: str, profile: str | None) -> ExplainedVerdict:
    async with database.transaction() as tx:
        version = await lookups.choose_profile(tx, profile)
        newest = version.version
        listing = await lookups.find_listing(tx, name)
        verdict = await verdicts.get(tx, version.profile_id, listing.id)
        id = await matches.find_id_by_listing(tx, version.profile_id, listing.id)
        match = None if id is None else await matches.get(tx, id, owner=version.owner_id)
        if verdict is not None:
            version = await lookups.choose_profile(
                tx, version.name, version=verdict.profile_version
            )
    verdict = verdict or await _judge(database, version, listing)
    return ExplainedVerdict(listing, version, verdict, match, newest)


async def _judge(database: Database, version: ProfileVersion, listing: Listing) -> Verdict:
    async with database.transaction() as tx:
        employer = await rescore.read_employer(tx, listing)
    local = await local_verdict.judge(version.profile(), listing, employer, PLATFORM_RULES)
    return Verdict(
        version.profile_id,
        version.version,
        listing.id,
        local.outcome,
        local.filter,
        local.match,
        local.match and local.match.match_score,
    )


def _to_dict(explained: ExplainedVerdict) -> dict[str, Any]:
    verdict = explained.verdict
    match = verdict.match_result
    reasons = match_reasons.find_reasons(match.items, match.skill_gaps).to_dict() if match else {}
    return {
        "listing_id": explained.listing.id,
        "url": explained.listing.url,
        "title": explained.listing.title,
        "company": explained.listing.company,
        "profile": explained.version.name,
        "profile_version": explained.version.version,
        "newest_version": explained.newest,
        "kept": verdict.judged_at is not None,
        "judged_at": verdict.judged_at,
        "outcome": verdict.outcome,
        "score": verdict.score,
        "local_score": verdict.local_score,
        "scored_by": match and match.scored_by,
        "forced": verdict.forced,
        "filter_result": verdict.filter_result.to_dict(),
        "match_result": match and match.to_dict() | reasons,
        "match_id": explained.match and explained.match.id,
        "status": explained.match and explained.match.status,
    }


def _print_verdict(explained: ExplainedVerdict) -> None:
    verdict = explained.verdict
    match = verdict.match_result
    match_output.print_headline(explained.listing)
    score = "" if verdict.score is None else f", score {verdict.score} of 100"
    forced = ", added by you regardless of the rules" if verdict.forced else ""
    outcome = "filtered out" if verdict.outcome == "filtered" else verdict.outcome
    output.print_wrapped(f"{outcome}{score}{forced}", bold=True)
    at = verdict.judged_at
    when = f"on {times.format_minute(at)}" if at else "just now, not saved"
    scorer = match_output.format_scorer(match and match.scored_by)
    output.print_wrapped(
        f"scored by {scorer} for version {verdict.profile_version} of {explained.version.name}, {when}"
    )
    if verdict.profile_version < explained.newest:
        hint = "`jobmill match rescore --dry-run` shows what it changes"
        output.print_wrapped(f"the newest version is {explained.newest}; {hint}")
    if match and verdict.local_score not in (None, match.match_score):
        output.print_wrapped(f"the local score was {verdict.local_score}")
    if explained.match:
        dropped = ", no longer a match" if explained.match.dropped_at else ""
        output.print_wrapped(f"match {explained.match.id}, {explained.match.status}{dropped}")
    match_output.print_filter_result(
        verdict.filter_result, explained.version.profile().rules.strikes.threshold
    )
    if match:
        match_output.print_score(match)


@dataclass(frozen=True)
class MatchStats:
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
    """Count scored and waiting jobs, matches by status, and the rules that reject most."""

    async def read(tx: Tx) -> MatchStats:
        return await _read_stats(tx, await lookups.choose_profile(tx, profile))

    counts = session.in_transaction(read)
    if as_json:
        output.print_record(counts, as_json=True)
        return
    _print_stats(counts)


async def _read_stats(tx: Tx, version: ProfileVersion) -> MatchStats:
    outcomes = await verdicts.count_by_outcome(tx, version.profile_id)
    by_outcome = {outcome.outcome: outcome.count for outcome in outcomes}
    by_status = await matches.count_by_status(tx, version.profile_id)
    summaries = await profiles.find_all(tx, owner=version.owner_id)
    (summary,) = [entry for entry in summaries if entry.name == version.name]
    return MatchStats(
        version.name,
        version.version,
        summary.paused_at,
        sum(by_outcome.values()),
        by_outcome.get("filtered", 0),
        by_outcome.get("skipped", 0),
        by_outcome.get("matched", 0),
        await judging_feed.count(tx, version.profile_id),
        max((outcome.newest for outcome in outcomes), default=None),
        {entry.status: entry.count for entry in by_status},
        await verdicts.count_by_rule(tx, version.profile_id),
    )


def _print_stats(counts: MatchStats) -> None:
    if not (counts.judged or counts.waiting):
        typer.echo("No jobs were scored yet. `jobmill source add URL` finds jobs.")
        return
    at = counts.newest
    output.print_wrapped(
        f"{counts.profile}, version {counts.version}{', paused' if counts.paused_at else ''}"
    )
    lines = {
        "decided": (counts.judged, f"last on {times.format_minute(at)}" if at else ""),
        "filtered": (counts.filtered, "rejected by the filter"),
        "skipped": (counts.skipped, "scored below the threshold"),
        "matched": (counts.matched, "matches"),
        "waiting": (counts.waiting, "to be scored by `jobmill up` or a worker"),
    }
    for label, (count, meaning) in lines.items():
        output.print_wrapped(meaning, f"  {count:>7,}  {label:<9} ")
    if counts.statuses:
        output.print_heading("matches by status")
        for status, count in counts.statuses.items():
            output.print_wrapped(status, f"  {count:>7,}  ")
    if counts.rules:
        output.print_heading("rules that reject most")
        for rule in counts.rules:
            kind = "dealbreaker" if rule.kind == "rejection" else "strikes"
            output.print_wrapped(f"{rule.rule.replace('_', ' ')} ({kind})", f"  {rule.count:>7,}  ")


app.command("rescore")(rescore_commands.rescore_listings)
app.command("what-if")(rescore_commands.what_if)
app.command("set-status")(triage.set_status)
app.command()(triage.undo)
app.command()(triage.export)
app.add_typer(saved_views.app, name="view")
