"""Matches, verdicts and their reasons as people see them in a terminal."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import Any

import typer

from jobmill.catalog.listings import Listing
from jobmill.catalog.posting import format_salary
from jobmill.cli.support import output, times
from jobmill.matching.duplicate_matches import MatchDuplicate
from jobmill.matching.matches import Match, MatchEvent
from jobmill.matching.rescore import ScoredOutcome
from jobmill.matching.verdict import SCORE_CAP, FilterResult, MatchResult, Rejection, Strike
from jobmill.matching.what_if import PassingState, VerdictDifference

BEST = 3
CUT = 600
INDENT = 7
INTAKE = {
    "professional_summary": "summary",
    "prioritized_skills": "skills",
    "experience_highlights": "experience",
    "projects_to_include": "projects",
    "achievement_angles": "achievements",
    "ats_keywords": "keywords",
}


def age(at: dt.datetime, word: str) -> str:
    """`posted 3 days ago`."""
    days = (dt.datetime.now(dt.UTC) - at).days
    return f"{word} {'today' if days < 1 else output.format_count(days, 'day') + ' ago'}"


def print_match_entry(match: Match, also: Sequence[MatchDuplicate] = ()) -> None:
    """A match in a list: its score and name, why, and what it offers."""
    lead = f"{match.id:>5}  {match.match_score:>3} {match.application_priority:<6}  "
    output.print_wrapped(output.format_title(match.title, match.company), lead, bold=True)
    for line in (_why(match), output.join([_offer(match), format_copies(also)])):
        output.print_wrapped(line, " " * INDENT)


def _why(match: Match) -> str:
    gains = [item for item in match.items if item["points"] > 0]
    best = sorted(gains, key=lambda item: -item["points"])[:BEST]
    return output.join(
        [
            ", ".join(f"{item['name']} {item['points']}/{item['most']}" for item in best),
            _some(match.matched_skills),
            f"lacks {_some(match.skill_gaps)}" if match.skill_gaps else None,
        ]
    )


def _some(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def _offer(match: Match) -> str:
    at, word = (match.posted_at, "posted") if match.posted_at else (match.first_seen_at, "found")
    return output.join(
        [
            match.status,
            _pay(match),
            _place(match),
            age(at, word),
            "closed" if match.closed_at else None,
            f"listing {match.listing_id}",
        ]
    )


def format_copies(others: Sequence[MatchDuplicate]) -> str | None:
    """Where else the same vacancy stands, and what one made of it there."""
    told = [
        f"{one.source_name} (match {one.match_id}, {one.status})"
        if one.match_id
        else f"{one.source_name} (listing {one.listing_id})"
        for one in others
    ]
    return f"also at {', '.join(told)}" if told else None


def _place(match: Match) -> str:
    """Where the work is done; `Remote, US` says it all."""
    said = match.arrangement and match.arrangement in (match.location or "").lower()
    return output.join([None if said else match.arrangement, match.location])


def _pay(match: Match) -> str | None:
    return format_salary(
        match.salary_min, match.salary_max, match.salary_currency, match.salary_period
    )


def print_match(
    match: Match, events: Sequence[MatchEvent], also: Sequence[MatchDuplicate], *, text: bool
) -> None:
    """A match with all that is known of it."""
    output.print_wrapped(output.format_title(match.title, match.company), bold=True)
    _facts(
        {
            "score": f"{match.match_score} of 100, {match.application_priority} priority",
            "judged": f"by {format_scorer(match.scored_by)}, version {match.profile_version} of {match.profile}",
            "status": _status(match),
            "note": match.note,
            "url": match.url,
            "apply": match.apply_url if match.apply_url != match.url else None,
            "place": _place(match),
            "pay": _pay(match),
            "company": match.company_id
            and f"{match.company_id} (jobmill company show {match.company_id})",
            "listing": f"{match.listing_id} (jobmill match why {match.listing_id})",
            "copies": format_copies(also),
            "read by": output.join([match.scrape_method, match.via and f"via {match.via}"]),
            "created": f"{times.format_minute(match.created_at)}",
            "closed": match.closed_at and f"{times.format_day(match.closed_at)}",
            "matched": ", ".join(match.matched_skills),
            "lacks": ", ".join(match.skill_gaps),
        }
    )
    output.print_heading("score")
    print_score_items(match.items, evidence=False)
    if any(match.resume_intake.values()):
        output.print_heading("for your resume")
        _facts({word: _shown(match.resume_intake.get(name)) for name, word in INTAKE.items()})
    output.print_heading("what happened")
    for event in events:
        output.print_wrapped(f"{times.format_minute(event.at)}  {_event(event)}", "  ")
    _description(match.description or "", text)


def _facts(named: dict[str, Any]) -> None:
    for label, value in named.items():
        if value:
            output.print_wrapped(str(value), f"  {label:<13}")


def _shown(value: Any) -> str:
    return "; ".join(value) if isinstance(value, list | tuple) else value or ""  # pyright: ignore[reportUnknownArgumentType]


def _status(match: Match) -> str:
    dropped = ", but it fits no longer" if match.dropped_at else ""
    by = f" by {match.status_by}" if match.status_by else ""
    return f"{match.status} since {times.format_day(match.status_at)}{by}{dropped}"


def _event(event: MatchEvent) -> str:
    data = dict(event.data)
    if event.what == "status":
        words = f"{data.get('before')} → {data.get('after')}"
        return output.join([words, event.actor and f"by {event.actor}", data.get("note")])
    before = f"{data['before']} → " if "before" in data else ""
    score = f" {before}{data['score']}" if "score" in data else ""
    return f"{event.what}{score} by version {data.get('version')}"


def _description(text: str, is_whole: bool) -> None:
    if not text:
        return
    output.print_heading("text")
    shown = text if is_whole else text[:CUT]
    for line in shown.split("\n"):
        output.print_wrapped(line)
    if len(shown) < len(text):
        typer.echo(f"… and {len(text) - len(shown):,} more letters: --text")


def format_scorer(scorer: str | None) -> str:
    return "local rules" if scorer in (None, "local") else str(scorer)


def print_score_items(found: Iterable[dict[str, Any]], *, evidence: bool) -> None:
    """The parts of a score, their sum, and what becomes of it where it leaves 0 to 100."""
    parts = list(found)
    total = sum(item["points"] for item in parts if item["name"] != SCORE_CAP)
    score = sum(item["points"] for item in parts)
    for item in parts:
        if item["name"] == SCORE_CAP:
            continue
        output.print_wrapped(
            item["why"], f"  {item['points']:>4} of {item['most']:<4} {item['name']:<12} "
        )
        if evidence:
            for words in item["words"]:
                output.print_wrapped(f"“{words}”", " " * 28)
    change = "" if score == total else f", {'cut' if score < total else 'raised'} to {score}"
    typer.echo(f"  {total:>4} in all{change}")


def print_filter_result(found: FilterResult, threshold: int) -> None:
    """What the filter said, with the words it saw."""
    output.print_heading("filter")
    strikes = output.format_count(found.total_strikes, "strike")
    if found.hard_rejections:
        also = f", and {strikes} besides" if found.total_strikes else ""
        output.print_wrapped(f"turned down by what is enough by itself{also}", "  ")
    else:
        verdict = "passed" if found.passed else "turned down"
        output.print_wrapped(f"{verdict} with {strikes}; {threshold} are too many", "  ")
    for reason in (*found.hard_rejections, *found.strikes):
        _reason(reason, "  ")


def _reason(reason: Rejection | Strike, lead: str) -> None:
    count = getattr(reason, "strikes", None)
    weight = "enough" if count is None else f"{count:>4}  "
    output.print_wrapped(reason.reason, f"{lead}{weight}  {reason.rule.replace('_', ' '):<14} ")
    if reason.words:
        output.print_wrapped(f"“{reason.words}”", " " * (len(lead) + 23))


def print_score(found: MatchResult) -> None:
    """What the score is made of, with the words that were seen."""
    output.print_heading("score")
    print_score_items(map(asdict, found.items), evidence=True)
    output.print_wrapped(f"it takes {found.threshold}: {found.threshold_why}", "  ")
    _facts(
        {
            "matched": ", ".join(found.matched_skills),
            "lacks": ", ".join(found.skill_gaps),
        }
    )
    if found.dropped_claims:
        output.print_heading("claimed by the model, and held by neither text")
        for claim in found.dropped_claims:
            output.print_wrapped(claim, "  ")


def format_standing(standing: ScoredOutcome) -> str:
    """`matched 84`, `never judged`."""
    if standing.outcome is None:
        return "never judged"
    if standing.score is None:
        return standing.outcome
    # What is filtered out has no score, but may be told what it would have.
    would = standing.outcome == "filtered"
    return (
        f"{standing.outcome} ({standing.score})"
        if would
        else f"{standing.outcome} {standing.score}"
    )


def print_difference(found: VerdictDifference) -> None:
    """What would be other than it is."""
    output.print_wrapped(
        f"{format_standing(found.before)} → {format_standing(found.after)}", bold=True
    )
    old, new = found.hurdles_before, found.hurdles_after
    if old.passed != new.passed:
        output.print_wrapped(f"filter: {_passing(old)} → {_passing(new)}")
    if old.threshold != new.threshold:
        output.print_wrapped(f"a match takes {old.threshold} → {new.threshold}")
    elif new.threshold is not None:
        output.print_wrapped(f"a match takes {new.threshold}")
    if not (found.items or found.came or found.went):
        output.print_wrapped("No rule and no part of the score says anything else.")
    if found.items:
        output.print_heading("score")
        for item in found.items:
            output.print_wrapped(item.why, f"  {item.before:>4} → {item.after:<4} {item.name:<12} ")
    for words, reasons in (("comes", found.came), ("goes", found.went)):
        if reasons:
            output.print_heading(words)
            for reason in reasons:
                _reason(reason, "  ")


def _passing(hurdles: PassingState) -> str:
    verdict = "passed" if hurdles.passed else "turned down"
    return f"{verdict} with {output.format_count(hurdles.strikes, 'strike')}"


def print_headline(listing: Listing) -> None:
    output.print_wrapped(output.format_title(listing.title, listing.company), bold=True)
    output.print_wrapped(
        output.join([f"listing {listing.id}", "closed" if listing.closed_at else None, listing.url])
    )
