"""jobmill match rescore, what-if: how another profile scores jobs."""

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
    company_tiers,
    judging_feed,
    local_verdict,
    profile_document,
    profiles,
    rescore,
    verdicts,
)
from jobmill.matching import what_if as whatif
from jobmill.matching.profile import Profile
from jobmill.matching.profiles import ProfileVersion
from jobmill.matching.rescore import VerdictChange
from jobmill.queue.feed import notify_feeds

SHOWN_CHANGES = 20
BATCH_SIZE = 1_000
LABELS = {
    "in": "new matches",
    "out": "no longer matches",
    "moved": "matches with another score",
    "other": "other changes, not matches",
    "same": "unchanged",
}


@dataclass
class RescorePreview:
    """How the verdicts about all open listings would change."""

    profile: str
    version: int
    count: int = 0
    changes: dict[str, list[VerdictChange]] = field(
        default_factory=lambda: {kind: [] for kind in LABELS}
    )

    def add(self, change: VerdictChange) -> None:
        self.count += 1
        self.changes[change.kind].append(change)

    @property
    def changed_listings(self) -> list[int]:
        """The listings to queue for scoring."""
        kinds = (kind for kind in LABELS if kind != "same")
        return sorted(change.listing_id for kind in kinds for change in self.changes[kind])

    def to_dict(self) -> dict[str, Any]:
        listed = {kind: list(map(asdict, self.changes[kind])) for kind in ("in", "out", "moved")}
        counts = {kind: len(changes) for kind, changes in self.changes.items()}
        head = {"profile": self.profile, "version": self.version, "judged": self.count}
        return head | {"counts": counts} | listed


def rescore_listings(
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change without changing anything.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
    profile: ProfileName = None,
    as_json: AsJson = False,
) -> None:
    """Score all open jobs for the newest version of a profile, after a preview of the changes.

    The preview uses local rules and costs nothing. Changed jobs are then queued, and a model may
    review them within the budget. Statuses that you set are kept.
    """
    if not (dry_run or yes or sys.stdin.isatty()):
        raise Invalid(
            "cannot ask for confirmation without a terminal: use --yes, or --dry-run for a preview"
        )

    async def act(database: Database) -> None:
        async with database.transaction() as tx:
            version = await lookups.choose_profile(tx, profile)
        preview = await _score_open_jobs(database, version, version.profile(), quiet=as_json)
        queued = 0
        if not as_json:
            _print_preview(preview, f"version {preview.version} of {preview.profile}")
        if not dry_run and preview.changed_listings and (yes or _confirm(preview)):
            queued = await _queue(database, version, preview.changed_listings)
        if as_json:
            output.print_json(preview.to_dict() | {"queued": queued})
        else:
            _print_result(preview, queued, dry_run)

    session.with_database(act)


async def _score_open_jobs(
    database: Database, version: ProfileVersion, profile: Profile, *, quiet: bool
) -> RescorePreview:
    preview = RescorePreview(version.name, version.version)
    with output.show_progress("Scoring", quiet=quiet) as update:
        async for change in rescore.compare_open_listings(
            database, version.profile_id, profile, PLATFORM_RULES
        ):
            preview.add(change)
            update(output.format_count(preview.count, "job"))
    return preview


def _confirm(preview: RescorePreview) -> bool:
    typer.echo(err=True)
    jobs = output.format_count(len(preview.changed_listings), "job")
    return typer.confirm(f"Queue {jobs} for scoring?", err=True)


async def _queue(database: Database, version: ProfileVersion, ids: Sequence[int]) -> int:
    async with database.transaction() as tx:
        await company_tiers.rescore_companies(tx, await profiles.read_defaults(tx))
        for start in range(0, len(ids), BATCH_SIZE):
            await judging_feed.add(
                tx, ids[start : start + BATCH_SIZE], profile_id=version.profile_id
            )
        await notify_feeds(tx)
        if await profiles.is_paused(tx, version.profile_id):
            hint = f"jobmill profile resume {version.name}"
            typer.echo(f"{version.name} is paused. The jobs are scored after `{hint}`.", err=True)
    return len(ids)


def _print_preview(preview: RescorePreview, profile: str) -> None:
    if not preview.count:
        typer.echo("No open jobs. `jobmill source add URL` finds some.")
        return
    jobs = output.format_count(preview.count, "open job")
    output.print_wrapped(f"{jobs}, scored with local rules for {profile}.")
    typer.echo()
    for kind, label in LABELS.items():
        changes = preview.changes[kind]
        with_status = sum(change.status is not None for change in changes) if kind == "out" else 0
        note = f"; {with_status} with a status that you set, which is kept" if with_status else ""
        output.print_wrapped(label + note, f"  {len(changes):>6,}  {kind:<6} ")
    for kind in ("in", "out", "moved"):
        _print_changes(kind, preview.changes[kind])


def _print_changes(kind: str, changes: Sequence[VerdictChange]) -> None:
    if not changes:
        return
    output.print_heading(kind)
    for change in changes[:SHOWN_CHANGES]:
        before = match_output.format_outcome(change.before)
        after = match_output.format_outcome(change.after)
        status = f"your status: {change.status}" if change.status else None
        title = output.join([output.format_title(change.title, change.company), status])
        output.print_wrapped(title, f"{change.listing_id:>7}  {before} → {after}  ")
    if len(changes) > SHOWN_CHANGES:
        typer.echo(f"{'':9}and {len(changes) - SHOWN_CHANGES:,} more: --json lists all")


def _print_result(preview: RescorePreview, queued: int, dry_run: bool) -> None:
    if not preview.count:
        return
    typer.echo()
    if queued:
        jobs = f"{output.format_count(queued, 'job')} {'is' if queued == 1 else 'are'}"
        stats = f"`jobmill match stats --profile {preview.profile}`"
        output.print_wrapped(f"{jobs} queued for scoring; {stats} shows the progress.")
    elif not preview.changed_listings:
        typer.echo("Nothing would change.")
    else:
        command = f"`jobmill match rescore --profile {preview.profile}`"
        typer.echo(f"Nothing was changed.{f' To apply it: {command}' if dry_run else ''}")


def what_if(
    listing: Annotated[
        str | None,
        typer.Argument(metavar="LISTING", help="Number or URL of the job; not with --all."),
    ] = None,
    without: Annotated[
        list[str] | None, typer.Option(metavar="SKILL", help="Remove this skill.")
    ] = None,
    having: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="SKILL[:RANK]", help="Add a skill: Go, Go:strong."),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="FIELD=VALUE", help="Change a field: locations=[Porto]."),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="All open jobs instead of one.")
    ] = False,
    profile: ProfileName = None,
    as_json: AsJson = False,
) -> None:
    """Score a job, or all open jobs, with a changed profile; nothing is saved.

    `--set` takes the path of a field and its value as in a profile: rules.match.score=75
    """
    changes = {"without": without or [], "having": having or [], "settings": settings or []}
    if not any(changes.values()):
        raise Invalid(
            "name at least one change: --without SKILL, --with SKILL or --set FIELD=VALUE"
        )
    if everything == (listing is not None):
        raise Invalid("name one job, or use --all")

    async def act(database: Database) -> None:
        async with database.transaction() as tx:
            version = await lookups.choose_profile(tx, profile)
        other = _change_profile(version.profile(), changes)
        if listing is None:
            _warn_unknown_skills(changes["having"])
            preview = await _score_open_jobs(database, version, other, quiet=as_json)
            _show_preview(preview, as_json)
        else:
            await _show_one(database, version, other, listing, changes["having"], as_json)

    session.with_database(act)


def _warn_unknown_skills(having: list[str]) -> None:
    """Not an error: the text of some job may contain the skill literally."""
    for name in whatif.unknown_skills(having):
        typer.echo(
            output.printable(f"Unknown skill {name}: only its exact words are searched for."),
            err=True,
        )


def _change_profile(profile: Profile, changes: dict[str, list[str]]) -> Profile:
    """The changed profile; exits with code 2 and prints all problems if it is not valid."""
    try:
        return whatif.apply_changes(
            profile,
            without=changes["without"],
            having=changes["having"],
            settings=changes["settings"],
        )
    except profile_document.InvalidProfile as error:
        for problem in error.problems:
            typer.echo(
                output.printable(profile_document.format_problem("what-if", problem)), err=True
            )
        raise typer.Exit(2) from error


def _show_preview(preview: RescorePreview, as_json: bool) -> None:
    if as_json:
        output.print_json(preview.to_dict())
        return
    _print_preview(preview, f"{preview.profile} with these changes")
    typer.echo()
    typer.echo("Nothing was changed. To change the profile: `jobmill profile edit`")


async def _show_one(
    database: Database,
    version: ProfileVersion,
    other: Profile,
    name: str,
    having: list[str],
    as_json: bool,
) -> None:
    async with database.transaction() as tx:
        listing = await lookups.find_listing(tx, name)
        employer = await rescore.read_employer(tx, listing)
        summaries = await verdicts.read_summaries(tx, version.profile_id, [listing.id])
    saved, current = summaries.get(listing.id), version.profile()
    places = [location for location in other.locations if location not in current.locations]
    whatif.check_changes(listings.to_posting(listing), having=having, places=places)
    before, after = [
        await local_verdict.judge(profile, listing, employer, PLATFORM_RULES, score_rejected=True)
        for profile in (current, other)
    ]
    difference = whatif.compare_verdicts(before, after)
    by_model = saved is not None and saved.score != saved.local_score
    predicted = rescore.predict_outcome(saved, after) if by_model and after.filter.passed else None
    if as_json:
        output.print_json(
            {
                "listing_id": listing.id,
                **output.pick(listing, "url", "title", "company"),
                "profile": version.name,
                "version": version.version,
                "difference": _to_json(difference),
                # The estimated score of the model, if a model scored the listing.
                "predicted": predicted,
            }
        )
        return
    match_output.print_headline(listing)
    match_output.print_difference(difference)
    if predicted and saved:
        estimate = f"with these changes about {predicted.score}"
        output.print_wrapped(f"Score by a model: {saved.score}, {estimate}.")
    typer.echo("Scored with local rules. Nothing was saved.")


def _to_json(difference: whatif.VerdictDifference) -> dict[str, object]:
    """The difference with the keys that `--json` has always had."""
    return {
        "before": difference.before,
        "after": difference.after,
        "hurdles_before": difference.passing_before,
        "hurdles_after": difference.passing_after,
        "items": difference.items,
        "came": difference.added_reasons,
        "went": difference.removed_reasons,
    }
