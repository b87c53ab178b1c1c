"""Rules for a profile, proposed from the reasons that a person gave for dismissing matches.

A rule is proposed if several dismissals point to it and no match that the person kept speaks against
it. The person accepts or declines it; nothing changes by itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, LiteralString, get_args

from jobmill.catalog import listings
from jobmill.catalog.listings import ListingId
from jobmill.catalog.platform_rules import PlatformRules
from jobmill.catalog.posting import Arrangement, Period, Seniority
from jobmill.db import Database, Tx, fetch_all, fetch_value
from jobmill.errors import Conflict
from jobmill.matching import judging_feed, local_score, profiles, rescore, verdicts
from jobmill.matching.matches import DismissReason, Status
from jobmill.matching.profile import Profile, SalaryFloor
from jobmill.matching.profiles import ProfileVersion
from jobmill.queue.feed import notify_feeds

MIN_DISMISSALS = 3
MIN_OF_COMPANY = 2
DRY_RUN_SIZE = 200
MAX_READ = 500
"""Dismissals, and kept matches of each status, that proposals are made from, the newest first."""
KEPT: tuple[Status, ...] = ("saved", "applied", "interviewing", "offer")
WORD = re.compile(r"[^\W\d_]{4,}")
Decision = Literal["accepted", "declined"]


@dataclass(frozen=True, slots=True)
class DecidedMatch:
    """A match that the person kept, or dismissed with a reason."""

    status: Status
    reason: DismissReason | None
    title: str | None
    company: str | None
    location: str | None
    arrangement: Arrangement | None
    seniority: Seniority | None
    salary_max: float | None
    salary_currency: str | None
    salary_period: Period | None


@dataclass(frozen=True, slots=True)
class ProposedRule:
    key: str
    """Identifies the rule of a profile, such as `company:acme`."""
    text: str
    """What accepting it does, as a sentence."""
    dismissals: int
    """How many dismissals it rests on."""
    profile: Profile
    """The profile with the rule."""


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a rule would have done to the newest matches."""

    total: int
    hidden: tuple[ListingId, ...]
    hidden_kept: int
    """How many of the hidden ones the person kept."""


async def find(tx: Tx, version: ProfileVersion) -> list[ProposedRule]:
    """The rules that the person has not decided on."""
    dismissed = await _read_dismissed(tx, version.profile_id)
    if len(dismissed) < MIN_OF_COMPANY:
        return []
    decided = [*dismissed, *await _read_kept(tx, version.profile_id)]
    keys = await _read_decisions(tx, version.profile_id)
    return [rule for rule in propose(version.profile(), decided) if rule.key not in keys]


_DECIDED: LiteralString = """
    match.status, dismiss_reason AS reason, title, company, location, arrangement, seniority,
           salary_max::float8, salary_currency, salary_period
"""


async def _read_dismissed(tx: Tx, profile_id: int) -> list[DecidedMatch]:
    return await fetch_all(
        tx,
        DecidedMatch,
        f"""
        SELECT {_DECIDED}
          FROM matching.match JOIN catalog.listing ON listing.id = listing_id
         WHERE profile_id = %s AND dismiss_reason IS NOT NULL ORDER BY status_at DESC LIMIT %s
        """,
        [profile_id, MAX_READ],
    )


async def _read_kept(tx: Tx, profile_id: int) -> list[DecidedMatch]:
    return await fetch_all(
        tx,
        DecidedMatch,
        f"""
        SELECT {_DECIDED}
          FROM unnest(%(kept)s::matching.match_status[]) AS kept (status),
               LATERAL (SELECT * FROM matching.match
                         WHERE profile_id = %(profile)s AND match.status = kept.status
                           AND dropped_at IS NULL
                         ORDER BY created_at DESC, id DESC LIMIT %(limit)s) AS match
          JOIN catalog.listing ON listing.id = listing_id
        """,
        {"profile": profile_id, "kept": list(KEPT), "limit": MAX_READ},
    )


async def _read_decisions(tx: Tx, profile_id: int) -> set[str]:
    cursor = await tx.execute(
        "SELECT rule FROM matching.rule_decision WHERE profile_id = %s", [profile_id]
    )
    return {rule for (rule,) in await cursor.fetchall()}


def propose(profile: Profile, decided: Sequence[DecidedMatch]) -> list[ProposedRule]:
    """The rules that the dismissals suggest, those with the most dismissals first."""
    kept = [match for match in decided if match.status in KEPT]
    makers: list[tuple[tuple[DismissReason, ...], Callable[..., Iterable[ProposedRule]]]] = [
        (("company",), _propose_companies),
        (("pay",), _propose_salary_floor),
        (("arrangement",), _propose_arrangements),
        (("seniority",), _propose_seniority),
        (("location",), _propose_locations),
        (("work", "skills"), _propose_keywords),
    ]
    rules = [
        rule
        for reasons, make in makers
        for rule in make(profile, [match for match in decided if match.reason in reasons], kept)
    ]
    return sorted(rules, key=lambda rule: -rule.dismissals)


def _changed(profile: Profile, **changes: Any) -> Profile:
    return Profile.model_validate(profile.model_dump() | changes)


def _often(values: Iterable[str | None], least: int) -> list[tuple[str, int]]:
    counts = Counter(value for value in values if value)
    return [(value, count) for value, count in counts.most_common() if count >= least]


def _propose_companies(
    profile: Profile, dismissed: Sequence[DecidedMatch], kept: Sequence[DecidedMatch]
) -> Iterable[ProposedRule]:
    excluded = {name.casefold() for name in profile.stop_lists.companies}
    excluded |= {match.company.casefold() for match in kept if match.company}
    for company, count in _often((match.company for match in dismissed), MIN_OF_COMPANY):
        if company.casefold() not in excluded:
            stop_lists = profile.stop_lists.model_dump()
            stop_lists["companies"] = [*profile.stop_lists.companies, company]
            yield ProposedRule(
                f"company:{company.casefold()}",
                f"Hide all jobs at {company}.",
                count,
                _changed(profile, stop_lists=stop_lists),
            )


def _propose_salary_floor(
    profile: Profile, dismissed: Sequence[DecidedMatch], kept: Sequence[DecidedMatch]
) -> Iterable[ProposedRule]:
    """The highest salary that was too low, unless the person kept a job with that salary."""
    units = Counter(_unit(match) for match in dismissed)
    units.pop(None, None)
    for unit, count in units.most_common(1):
        if count < MIN_DISMISSALS or unit is None:
            return
        refused = [match.salary_max for match in dismissed if _unit(match) == unit]
        amount = max(salary for salary in refused if salary is not None)
        lowest_kept = min(
            (match.salary_max or amount for match in kept if _unit(match) == unit), default=None
        )
        floor = profile.salary_floor
        is_covered = floor and (floor.currency, floor.period) == unit and floor.amount > amount
        if is_covered or (lowest_kept is not None and lowest_kept <= amount):
            return
        currency, period = unit
        floor = SalaryFloor(amount=amount + 1, currency=currency, period=period)
        yield ProposedRule(
            f"pay:{currency}:{period}:{amount:.0f}",
            f"Ask for more than {currency} {amount:,.0f} a {period}.",
            count,
            _changed(profile, salary_floor=floor.model_dump()),
        )


def _unit(match: DecidedMatch) -> tuple[str, Period] | None:
    if match.salary_max and match.salary_currency and match.salary_period:
        return match.salary_currency, match.salary_period
    return None


def _propose_arrangements(
    profile: Profile, dismissed: Sequence[DecidedMatch], kept: Sequence[DecidedMatch]
) -> Iterable[ProposedRule]:
    accepted = profile.arrangements or get_args(Arrangement)
    kept_arrangements = {match.arrangement for match in kept}
    for arrangement, count in _often((match.arrangement for match in dismissed), MIN_DISMISSALS):
        accepted_then = [other for other in accepted if other != arrangement]
        if arrangement in accepted and accepted_then and arrangement not in kept_arrangements:
            yield ProposedRule(
                f"arrangement:{arrangement}",
                f"Hide {arrangement} jobs.",
                count,
                _changed(profile, arrangements=accepted_then),
            )


def _propose_seniority(
    profile: Profile, dismissed: Sequence[DecidedMatch], kept: Sequence[DecidedMatch]
) -> Iterable[ProposedRule]:
    accepted = profile.seniority or get_args(Seniority)
    kept_levels = {match.seniority for match in kept}
    for level, count in _often((match.seniority for match in dismissed), MIN_DISMISSALS):
        accepted_then = [other for other in accepted if other != level]
        if level in accepted and accepted_then and level not in kept_levels:
            yield ProposedRule(
                f"seniority:{level}",
                f"Do not look for {level} positions.",
                count,
                _changed(profile, seniority=accepted_then),
            )


def _propose_locations(
    profile: Profile, dismissed: Sequence[DecidedMatch], kept: Sequence[DecidedMatch]
) -> Iterable[ProposedRule]:
    kept_places = " ".join(match.location or "" for match in kept).casefold()
    for place in profile.locations:
        named = place.partition(",")[0].casefold()
        count = sum(named in (match.location or "").casefold() for match in dismissed)
        if count >= MIN_DISMISSALS and named not in kept_places:
            yield ProposedRule(
                f"location:{place.casefold()}",
                f"Do not look for jobs in {place}.",
                count,
                _changed(
                    profile, locations=[other for other in profile.locations if other != place]
                ),
            )


def _propose_keywords(
    profile: Profile, dismissed: Sequence[DecidedMatch], kept: Sequence[DecidedMatch]
) -> Iterable[ProposedRule]:
    """Words that several dismissed titles share, and no kept or wanted title contains."""
    wanted = " ".join(
        [*profile.titles, *profile.stop_lists.keywords, *(match.title or "" for match in kept)]
    )
    known = set(WORD.findall(wanted.casefold()))
    words = (
        word for match in dismissed for word in set(WORD.findall((match.title or "").casefold()))
    )
    for word, count in _often(words, MIN_DISMISSALS):
        if word not in known:
            stop_lists = profile.stop_lists.model_dump()
            stop_lists["keywords"] = [*profile.stop_lists.keywords, word]
            yield ProposedRule(
                f"keyword:{word}",
                f"Hide jobs with “{word}” in the title.",
                count,
                _changed(profile, stop_lists=stop_lists),
            )


async def dry_run(
    database: Database, profile_id: int, profile: Profile, platforms: PlatformRules
) -> DryRun:
    """Judge the newest matches with a changed profile. Nothing is stored."""
    async with database.transaction() as tx:
        newest = await _read_newest(tx, profile_id)
        stored = await verdicts.read_summaries(
            tx, profile_id, [match.listing_id for match in newest]
        )
        listed = {
            row.id: row for row in await listings.by_ids(tx, [match.listing_id for match in newest])
        }
        employers = {id: await rescore.read_employer(tx, row) for id, row in listed.items()}
    hidden: list[_NewestMatch] = []
    for match in newest:
        local = await local_score.judge(
            database, profile, listed[match.listing_id], employers[match.listing_id], platforms
        )
        after = rescore.predict_outcome(stored.get(match.listing_id), local)
        if after.outcome != "matched":
            hidden.append(match)
    return DryRun(
        len(newest),
        tuple(match.listing_id for match in hidden),
        sum(match.status in KEPT for match in hidden),
    )


@dataclass(frozen=True, slots=True)
class _NewestMatch:
    listing_id: ListingId
    status: Status


async def _read_newest(tx: Tx, profile_id: int) -> list[_NewestMatch]:
    return await fetch_all(
        tx,
        _NewestMatch,
        """
        SELECT listing_id, status FROM matching.match
         WHERE profile_id = %s AND dropped_at IS NULL ORDER BY created_at DESC, id DESC LIMIT %s
        """,
        [profile_id, DRY_RUN_SIZE],
    )


async def accept(
    tx: Tx, version: ProfileVersion, rule: ProposedRule, hidden: Sequence[int], *, by: str
) -> None:
    """Save the profile with the rule, and judge what it hides again. Conflict if the profile changed
    or the rule was decided on meanwhile."""
    await profiles.save(
        tx,
        version.name,
        rule.profile,
        owner=version.owner_id,
        by=by,
        note=rule.text,
        based_on=version.version,
    )
    await decide(tx, version.profile_id, rule.key, "accepted", by=by)
    await judging_feed.add(tx, hidden, profile_id=version.profile_id)
    await notify_feeds(tx)


async def decide(tx: Tx, profile_id: int, key: str, decision: Decision, *, by: str) -> None:
    """Store the decision, so that the rule is not proposed again. Conflict if there is one."""
    stored = await fetch_value(
        tx,
        str,
        """
        INSERT INTO matching.rule_decision (profile_id, rule, decision, decided_by)
        VALUES (%(profile)s, %(key)s, %(decision)s, %(by)s)
        ON CONFLICT DO NOTHING RETURNING rule
        """,
        {"profile": profile_id, "key": key, "decision": decision, "by": by},
    )
    if stored is None:
        raise Conflict("You have already decided on this rule.")
