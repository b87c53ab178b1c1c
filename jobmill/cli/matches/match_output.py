"""Print matches, verdicts and their reasons."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

import typer

from jobmill.catalog.listings import Listing
from jobmill.catalog.posting import format_salary
from jobmill.cli.support import output, times
from jobmill.matching import match_json, match_reasons
from jobmill.matching.duplicate_matches import MatchDuplicate
from jobmill.matching.match_reasons import MatchReasons
from jobmill.matching.matches import Match, MatchEvent
from jobmill.matching.rescore import ScoredOutcome
from jobmill.matching.verdict import (
    FilterResult,
    MatchResult,
    Rejection,
    ScoreItem,
    Strike,
    parse_score_items,
)
from jobmill.matching.what_if import PassingState, VerdictDifference

SHOWN_CHARACTERS = 600
INDENT = 7
RESUME_LABELS = {
    "professional_summary": "summary",
    "prioritized_skills": "skills",
    "experience_highlights": "experience",
    "projects_to_include": "projects",
    "achievement_angles": "achievements",
    "ats_keywords": "keywords",
}


def print_matches(
    matches: Sequence[Match], duplicates: Mapping[int, Sequence[MatchDuplicate]], *, as_json: bool
) -> None:
    """Print a list of matches; `duplicates` has those of each match by its id."""
    for match in matches:
        if as_json:
            output.print_json(match_json.to_dict(match))
        else:
            _print_match_entry(match, duplicates.get(match.id, ()))


def _print_match_entry(match: Match, duplicates: Sequence[MatchDuplicate]) -> None:
    """Print a match in a list: its score and title, the reasons, and the terms."""
    lead = f"{match.id:>5}  {match.match_score:>3} {match.application_priority:<6}  "
    output.print_wrapped(output.format_title(match.title, match.company), lead, bold=True)
    _print_reasons(match.find_reasons(), " " * INDENT)
    terms = output.join([_terms(match), format_duplicates(duplicates)])
    output.print_wrapped(terms, " " * INDENT)


def _print_reasons(reasons: MatchReasons, lead: str) -> None:
    for dealbreaker in reasons.dealbreakers:
        output.print_wrapped(dealbreaker, f"{lead}dealbreaker: ")
    output.print_wrapped(reasons.reason_for or "no part of the score", f"{lead}for: ")
    if not reasons.dealbreakers:
        against = reasons.reason_against or "nothing: all 100 points"
        output.print_wrapped(against, f"{lead}against: ")


def _terms(match: Match) -> str:
    at, verb = (match.posted_at, "posted") if match.posted_at else (match.first_seen_at, "found")
    days = (dt.datetime.now(dt.UTC) - at).days
    return output.join(
        [
            match.status,
            _salary(match),
            _location(match),
            f"{verb} {'today' if days < 1 else output.format_count(days, 'day') + ' ago'}",
            "closed" if match.closed_at else None,
            f"job {match.listing_id}",
        ]
    )


def format_duplicates(duplicates: Sequence[MatchDuplicate]) -> str | None:
    """The other sources of the same vacancy, each with its match and status."""
    sources = [
        f"{duplicate.source_name} (match {duplicate.match_id}, {duplicate.status})"
        if duplicate.match_id
        else f"{duplicate.source_name} (job {duplicate.listing_id})"
        for duplicate in duplicates
    ]
    return f"also at {', '.join(sources)}" if sources else None


def _location(match: Match) -> str:
    """Location and arrangement; `Remote, US` already says both."""
    is_included = match.arrangement and match.arrangement in (match.location or "").lower()
    return output.join([None if is_included else match.arrangement, match.location])


def _salary(match: Match) -> str | None:
    return format_salary(
        match.salary_min, match.salary_max, match.salary_currency, match.salary_period
    )


def print_match(
    match: Match, events: Sequence[MatchEvent], duplicates: Sequence[MatchDuplicate], *, text: bool
) -> None:
    """Print all details of a match; `text`: including the full description."""
    output.print_wrapped(output.format_title(match.title, match.company), bold=True)
    _print_facts(
        {
            "score": f"{match.match_score} of 100, {match.application_priority} priority",
            "scored": f"by {format_scorer(match.scored_by)} for version {match.profile_version} of {match.profile}",
            "status": _format_status(match),
            "note": match.note,
            "url": match.url,
            "apply": match.apply_url if match.apply_url != match.url else None,
            "location": _location(match),
            "salary": _salary(match),
            "company": match.company_id
            and f"{match.company_id} (jobmill company show {match.company_id})",
            "job": f"{match.listing_id} (jobmill match why {match.listing_id})",
            "duplicates": format_duplicates(duplicates),
            "read with": output.join([match.scrape_method, match.via and f"via {match.via}"]),
            "created": f"{times.format_minute(match.created_at)}",
            "closed": match.closed_at and f"{times.format_day(match.closed_at)}",
            "matched": ", ".join(match.matched_skills),
            "missing": ", ".join(match.skill_gaps),
        }
    )
    _print_score_items(parse_score_items(match.items), match.skill_gaps, evidence=False)
    if any(match.resume_intake.values()):
        output.print_heading("for your resume")
        _print_facts(
            {
                label: _join_values(match.resume_intake.get(name))
                for name, label in RESUME_LABELS.items()
            }
        )
    output.print_heading("history")
    for event in events:
        output.print_wrapped(f"{times.format_minute(event.at)}  {_format_event(event)}", "  ")
    _print_description(match.description or "", full=text)


def _print_facts(facts: dict[str, Any]) -> None:
    for label, value in facts.items():
        if value:
            output.print_wrapped(str(value), f"  {label:<13}")


def _join_values(value: Any) -> str:
    return "; ".join(value) if isinstance(value, list | tuple) else value or ""  # pyright: ignore[reportUnknownArgumentType]


def _format_status(match: Match) -> str:
    dropped = ", no longer a match" if match.dropped_at else ""
    by = f" by {match.status_by}" if match.status_by else ""
    return f"{match.status} since {times.format_day(match.status_at)}{by}{dropped}"


def _format_event(event: MatchEvent) -> str:
    data = dict(event.data)
    if event.what == "status":
        change = f"{data.get('before')} → {data.get('after')}"
        return output.join([change, event.actor and f"by {event.actor}", data.get("note")])
    before = f"{data['before']} → " if "before" in data else ""
    score = f" with score {before}{data['score']}" if "score" in data else ""
    return f"{event.what}{score} for version {data.get('version')}"


def _print_description(text: str, *, full: bool) -> None:
    if not text:
        return
    output.print_heading("text")
    shown = text if full else text[:SHOWN_CHARACTERS]
    for line in shown.split("\n"):
        output.print_wrapped(line)
    if len(shown) < len(text):
        typer.echo(f"… and {len(text) - len(shown):,} more characters: --text")


def format_scorer(scorer: str | None) -> str:
    return "local rules" if scorer in (None, "local") else str(scorer)


def _print_score_items(
    items: Sequence[ScoreItem], skill_gaps: Sequence[str], *, evidence: bool
) -> None:
    """Print the reasons, the parts of a score, their sum, and what is missing from 100."""
    output.print_heading("score")
    reasons = match_reasons.find_reasons(items, skill_gaps)
    _print_reasons(reasons, "  ")
    for item in items:
        output.print_wrapped(item.why, f"  {item.points:>4} of {item.most:<4} {item.name:<12} ")
        if evidence:
            for words in item.words:
                output.print_wrapped(f"“{words}”", " " * 28)
    total = f"  {sum(item.points for item in items):>4} of {sum(item.most for item in items)}"
    losses = (
        f"{item.name} {item.lost}" + (" (not known)" if item.state == "unknown" else "")
        for item in reasons.losses
    )
    missing = f"missing: {', '.join(losses)}" if reasons.losses else "in total"
    output.print_wrapped(missing, f"{total}  ")


def print_filter_result(result: FilterResult, limit: int) -> None:
    """Print the decision of the filter with its reasons and their evidence."""
    output.print_heading("filter")
    strikes = output.format_count(result.total_strikes, "strike")
    if result.hard_rejections:
        reasons = f"a dealbreaker and {strikes}" if result.total_strikes else "a dealbreaker"
        output.print_wrapped(f"rejected by {reasons}", "  ")
    else:
        decision = "passed" if result.passed else "rejected"
        output.print_wrapped(f"{decision} with {strikes} (limit {limit})", "  ")
    for reason in (*result.hard_rejections, *result.strikes):
        _print_reason(reason)


def _print_reason(reason: Rejection | Strike) -> None:
    strikes = getattr(reason, "strikes", None)
    weight = "reject" if strikes is None else f"{strikes:>4}  "
    output.print_wrapped(reason.reason, f"  {weight}  {reason.rule.replace('_', ' '):<14} ")
    if reason.words:
        output.print_wrapped(f"“{reason.words}”", " " * 25)


def print_score(result: MatchResult) -> None:
    """Print the parts of a score with their evidence, and the score that a match needs."""
    _print_score_items(result.items, result.skill_gaps, evidence=True)
    output.print_wrapped(f"needs {result.threshold}: {result.threshold_why}", "  ")
    _print_facts(
        {
            "matched": ", ".join(result.matched_skills),
            "missing": ", ".join(result.skill_gaps),
        }
    )
    if result.dropped_claims:
        output.print_heading("claims of the model that neither text supports")
        for claim in result.dropped_claims:
            output.print_wrapped(claim, "  ")


def format_outcome(outcome: ScoredOutcome) -> str:
    """`matched 84`, `filtered (84)` with the score it would have, or `not scored`."""
    if outcome.outcome is None:
        return "not scored"
    if outcome.score is None:
        return outcome.outcome
    score = f"({outcome.score})" if outcome.outcome == "filtered" else f"{outcome.score}"
    return f"{outcome.outcome} {score}"


def print_difference(difference: VerdictDifference) -> None:
    """Print what changes between two verdicts."""
    change = f"{format_outcome(difference.before)} → {format_outcome(difference.after)}"
    output.print_wrapped(change, bold=True)
    old, new = difference.passing_before, difference.passing_after
    if old.passed != new.passed:
        output.print_wrapped(f"filter: {_format_passing(old)} → {_format_passing(new)}")
    if old.threshold != new.threshold:
        output.print_wrapped(f"score needed: {old.threshold} → {new.threshold}")
    elif new.threshold is not None:
        output.print_wrapped(f"score needed: {new.threshold}")
    if not (difference.items or difference.added_reasons or difference.removed_reasons):
        output.print_wrapped("No part of the score and no rule would change.")
    if difference.items:
        output.print_heading("score")
        for item in difference.items:
            output.print_wrapped(item.why, f"  {item.before:>4} → {item.after:<4} {item.name:<12} ")
    for heading, reasons in (
        ("added", difference.added_reasons),
        ("removed", difference.removed_reasons),
    ):
        if reasons:
            output.print_heading(heading)
            for reason in reasons:
                _print_reason(reason)


def _format_passing(state: PassingState) -> str:
    decision = "passed" if state.passed else "rejected"
    return f"{decision} with {output.format_count(state.strikes, 'strike')}"


def print_headline(listing: Listing) -> None:
    output.print_wrapped(output.format_title(listing.title, listing.company), bold=True)
    output.print_wrapped(
        output.join([f"job {listing.id}", "closed" if listing.closed_at else None, listing.url])
    )
