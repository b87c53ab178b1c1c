"""Describe matches and jobs on pages: rows, reasons, scores and history lines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple
from uuid import UUID

from jobmill.catalog import history
from jobmill.catalog.listing_search import ListingHit
from jobmill.catalog.listings import Listing
from jobmill.catalog.posting import format_salary
from jobmill.db import Tx
from jobmill.errors import NotFound
from jobmill.matching import matches, profiles
from jobmill.matching.duplicate_matches import MatchDuplicate
from jobmill.matching.match_reasons import MatchReasons
from jobmill.matching.matches import Match
from jobmill.matching.profiles import ProfileVersion
from jobmill.matching.rescore import ScoredOutcome
from jobmill.matching.verdict import FilterResult, MatchResult
from jobmill.matching.verdicts import Verdict
from jobmill.people.persons import Owner
from jobmill.queue import lineage
from jobmill.queue.items import ItemId
from jobmill.web.translations import say, say_many


async def find_profile(tx: Tx, name: str | None, owner: Owner) -> ProfileVersion | None:
    """The named or the default profile of the owner; None if they have no profile yet."""
    try:
        return await profiles.get(tx, name, owner=owner)
    except NotFound:
        if name is not None:
            raise
        return None


async def find_lineage(tx: Tx, verdict: Verdict | None) -> UUID | None:
    """The lineage of the item that judged; None if the queue no longer has it."""
    if verdict is None or verdict.item is None:
        return None
    try:
        return await lineage.get_tracking_id(tx, ItemId(verdict.item))
    except NotFound:
        return None


def describe_place(job: Listing | ListingHit | Match) -> str:
    """Location and arrangement; `Remote, US` already says both."""
    included = job.arrangement and job.arrangement in (job.location or "").lower()
    arrangement = None if included else (job.arrangement or "").capitalize()
    return join_parts([job.location, arrangement])


def describe_salary(job: Listing | ListingHit | Match) -> str | None:
    return format_salary(job.salary_min, job.salary_max, job.salary_currency, job.salary_period)


def web_url(url: str | None) -> str | None:
    """The URL if it is http(s): other schemes could run a script."""
    return url if url and url.lower().startswith(("https://", "http://")) else None


class MatchRow(NamedTuple):
    """A match in a list."""

    match: Match
    place: str
    salary: str | None
    reasons: MatchReasons
    duplicates: Sequence[MatchDuplicate]

    @classmethod
    def of(cls, match: Match, duplicates: Sequence[MatchDuplicate] = ()) -> MatchRow:
        return cls(
            match,
            describe_place(match),
            describe_salary(match),
            match.find_reasons(),
            duplicates,
        )


def format_capped(count: int, limit: int) -> str:
    """A number that was counted up to `limit`: `1,000+`."""
    return f"{count:,}+" if count >= limit else f"{count:,}"


def join_parts(parts: Iterable[str | None]) -> str:
    return " · ".join(part for part in parts if part)


def describe_filter(result: FilterResult, threshold: int) -> str:
    """How the filter decided: strikes against the limit, and hard rejections."""
    strikes = say_many(
        "%(n)s strike (limit %(limit)s)",
        "%(n)s strikes (limit %(limit)s)",
        result.total_strikes,
        limit=threshold,
    )
    if not result.hard_rejections:
        return strikes
    rejections = say_many("%(n)s dealbreaker", "%(n)s dealbreakers", len(result.hard_rejections))
    return f"{rejections}, {strikes}" if result.total_strikes else rejections


def describe_threshold(result: MatchResult | None) -> str:
    """The score that a match needs, and why it is that score."""
    if result is None:
        return ""
    return say("needs %(n)s: %(why)s", n=result.threshold, why=result.threshold_why)


def describe_outcome(scored: ScoredOutcome) -> str:
    """`matched 84`; a filtered job shows in brackets the score that it would have."""
    if scored.score is None:
        return scored.outcome or say("not scored")
    score = f"({scored.score})" if scored.outcome == "filtered" else scored.score
    return f"{scored.outcome} {score}"


class ScoreBar(NamedTuple):
    """A part of a score, drawn in proportion to its maximum."""

    name: str
    points: int
    most: int
    why: str
    words: Sequence[str]

    @property
    def length(self) -> int:
        """Percent of the maximum, for gains and penalties alike."""
        most = max(abs(self.most), abs(self.points), 1)
        return round(100 * abs(self.points) / most)


def score_bars(items: Iterable[Mapping[str, Any]]) -> list[ScoreBar]:
    return [
        ScoreBar(item["name"], item["points"], item["most"], item["why"], item.get("words") or ())
        for item in items
    ]


def describe_losses(reasons: MatchReasons) -> str:
    """What is missing from the 100 points: `9 points missing: skills 6, salary 3 (not known)`."""
    if not reasons.losses:
        return ""
    parts = [
        say("%(part)s (not known)", part=f"{item.name} {item.lost}")
        if item.state == "unknown"
        else f"{item.name} {item.lost}"
        for item in reasons.losses
    ]
    total = sum(item.lost for item in reasons.losses)
    return say_many(
        "%(n)s point missing: %(parts)s",
        "%(n)s points missing: %(parts)s",
        total,
        parts=", ".join(parts),
    )


def describe_match_event(event: matches.MatchEvent) -> str:
    data = event.data
    if event.what == "status":
        before, after = (
            data.get(f"custom_{side}") or data.get(side) for side in ("before", "after")
        )
        return join_parts([f"{before} → {after}", by(event.actor), data.get("note")])
    if "score" not in data and "version" not in data:
        return join_parts([_describe_application_event(event), by(event.actor)])
    before = f"{data['before']} → " if "before" in data else ""
    score = (
        say("score %(n)s", n=f"{before}{data['score']}") if data.get("score") is not None else ""
    )
    version = say("profile version %(n)s", n=data.get("version"))
    return ", ".join(filter(None, [event.what, score, version]))


def _describe_application_event(event: matches.MatchEvent) -> str:
    data = event.data
    match event.what:
        case "details":
            names = ", ".join(str(name).replace("_", " ") for name in data.get("fields", ()))
            return say("changed: %(fields)s", fields=names)
        case "step done":
            return say("done: %(step)s", step=data.get("step"))
        case "dismiss reason":
            return say("dismissed because of: %(reason)s", reason=data.get("reason"))
        case "custom status removed":
            return say("status %(name)s removed", name=data.get("name"))
        case _:
            return event.what


def by(actor: str | None) -> str | None:
    return actor and say("by %(name)s", name=actor)


def describe_listing_event(event: history.CatalogEvent) -> str:
    fields = ", ".join(name.replace("_", " ") for name in event.data)
    if event.what == "changed":
        changed = say("changed: %(fields)s", fields=fields) if fields else say("changed")
        return join_parts([changed, event.actor])
    if event.what == "completed" and event.data.get("fields"):
        names = ", ".join(str(name).replace("_", " ") for name in event.data["fields"])
        return say("added from the job's own page: %(fields)s", fields=names)
    is_link = event.what == "linked" and "to" in event.data
    what = say("linked to job %(id)s", id=event.data["to"]) if is_link else event.what
    why = str(event.data["why"]) if "why" in event.data else None
    return join_parts([what, why, by(event.actor)])


def _intake_headings() -> dict[str, str]:
    return {
        "professional_summary": say("Summary"),
        "prioritized_skills": say("Skills"),
        "experience_highlights": say("Experience"),
        "projects_to_include": say("Projects"),
        "achievement_angles": say("Achievements"),
        "ats_keywords": say("Keywords"),
    }


def format_resume_intake(intake: Mapping[str, Any]) -> str:
    """What to stress in a resume, as plain text to copy."""
    sections = ((heading, intake.get(name)) for name, heading in _intake_headings().items())
    return "\n\n".join(f"{heading}\n{_as_lines(body)}" for heading, body in sections if body)


def _as_lines(body: str | Sequence[str]) -> str:
    return body if isinstance(body, str) else "\n".join(f"- {line}" for line in body)
