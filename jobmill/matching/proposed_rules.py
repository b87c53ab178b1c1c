"""Rules for a profile, proposed from the reasons that a person gave for dismissing matches.

A rule is proposed if several dismissals point to it and no match that the person kept speaks against
it. The person accepts or declines it; nothing changes by itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, LiteralString, get_args

from jobmill.catalog import listings
from jobmill.catalog.listings import ListingId
from jobmill.catalog.platform_rules import PlatformRules
from jobmill.catalog.posting import Arrangement, Period, Seniority
from jobmill.db import Database, Tx, fetch_all
from jobmill.errors import Conflict
from jobmill.matching import judging_feed, local_verdict, profiles, rescore, verdicts
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
          FROM unnest(%(statuses)s::matching.match_status[]) AS list (status),
               LATERAL (SELECT * FROM matching.match
                         WHERE profile_id = %(profile)s AND match.status = list.status
                           AND dropped_at IS NULL
                         ORDER BY created_at DESC, id DESC LIMIT %(limit)s) AS match
          JOIN catalog.listing ON listing.id = listing_id
        """,
        {"profile": profile_id, "statuses": list(KEPT), "limit": MAX_READ},
    )


async def _read_decisions(tx: Tx, profile_id: int) -> set[str]:
    cursor = await tx.execute(
        "SELECT rule FROM matching.rule_decision WHERE profile_id = %s", [profile_id]
    )
    return {rule for (rule,) in await cursor.fetchall()}


def propose(profile: Profile, decided: Sequence[DecidedMatch]) -> list[ProposedRule]:
    """The rules that the dismissals suggest, those with the most dismissals first."""
    kept = [match for match in decided if match.status in KEPT]
    rules: list[ProposedRule] = []
    for proposer in _PROPOSERS:
        dismissed = [match for match in decided if match.reason in proposer.reasons]
        rules += _propose(profile, proposer, dismissed, kept)
    pay = [match for match in decided if match.reason == "pay"]
    rules += _propose_salary_floor(profile, pay, kept)
    return sorted(rules, key=lambda rule: -rule.dismissals)


def _changed(profile: Profile, changes: Mapping[str, Any]) -> Profile:
    return Profile.model_validate({**profile.model_dump(), **changes})


@dataclass(frozen=True, slots=True)
class _Proposer:
    """Proposes a rule for each value that several dismissed matches share and no kept one has."""

    noun: str
    reasons: tuple[DismissReason, ...]
    text: str
    find_values: Callable[[Profile, DecidedMatch], Iterable[str]]
    """The values of a match that a rule can be about."""
    change: Callable[[Profile, str], Mapping[str, Any] | None]
    """The changed fields of the profile; None if the profile has the rule, or cannot have it."""
    least: int = MIN_DISMISSALS


def _propose(
    profile: Profile,
    proposer: _Proposer,
    dismissed: Sequence[DecidedMatch],
    kept: Sequence[DecidedMatch],
) -> Iterable[ProposedRule]:
    kept_values = {
        value.casefold() for match in kept for value in proposer.find_values(profile, match)
    }
    counts = Counter(
        value for match in dismissed for value in set(proposer.find_values(profile, match))
    )
    for value, count in counts.most_common():
        if count < proposer.least or value.casefold() in kept_values:
            continue
        if changes := proposer.change(profile, value):
            yield ProposedRule(
                f"{proposer.noun}:{value.casefold()}",
                proposer.text.format(value),
                count,
                _changed(profile, changes),
            )


def _without(values: Sequence[str], value: str) -> list[str] | None:
    """The other values; None if the value is not among them or is the last: an empty list means any."""
    return [other for other in values if other != value] or None if value in values else None


def _change_accepted(
    field: str, choices: Sequence[str]
) -> Callable[[Profile, str], Mapping[str, Any] | None]:
    """Removes a value from those that a field accepts; an empty field accepts all choices."""

    def change(profile: Profile, value: str) -> Mapping[str, Any] | None:
        rest = _without(getattr(profile, field) or choices, value)
        return {field: rest} if rest else None

    return change


def _stop(
    profile: Profile, field: Literal["companies", "keywords"], value: str
) -> Mapping[str, Any] | None:
    excluded: Sequence[str] = getattr(profile.stop_lists, field)
    if value.casefold() in map(str.casefold, excluded):
        return None
    return {"stop_lists": profile.stop_lists.model_dump() | {field: [*excluded, value]}}


def _stop_keyword(profile: Profile, word: str) -> Mapping[str, Any] | None:
    """Not for a word of a title that the person wants."""
    wanted = WORD.findall(" ".join(profile.titles).casefold())
    return None if word in wanted else _stop(profile, "keywords", word)


def _named_places(profile: Profile, match: DecidedMatch) -> list[str]:
    """The places of the profile that the match names."""
    location = (match.location or "").casefold()
    return [place for place in profile.locations if place.partition(",")[0].casefold() in location]


_PROPOSERS = (
    _Proposer(
        "company",
        ("company",),
        "Hide all jobs at {}.",
        lambda _, match: [match.company] if match.company else [],
        lambda profile, company: _stop(profile, "companies", company),
        MIN_OF_COMPANY,
    ),
    _Proposer(
        "arrangement",
        ("arrangement",),
        "Hide {} jobs.",
        lambda _, match: [match.arrangement] if match.arrangement else [],
        _change_accepted("arrangements", get_args(Arrangement)),
    ),
    _Proposer(
        "seniority",
        ("seniority",),
        "Do not look for {} positions.",
        lambda _, match: [match.seniority] if match.seniority else [],
        _change_accepted("seniority", get_args(Seniority)),
    ),
    _Proposer(
        "location",
        ("location",),
        "Do not look for jobs in {}.",
        _named_places,
        lambda profile, place: {
            "locations": [other for other in profile.locations if other != place]
        },
    ),
    _Proposer(
        "keyword",
        ("work", "skills"),
        "Hide jobs with “{}” in the title.",
        lambda _, match: WORD.findall((match.title or "").casefold()),
        _stop_keyword,
    ),
)


def _propose_salary_floor(
    profile: Profile, dismissed: Sequence[DecidedMatch], kept: Sequence[DecidedMatch]
) -> Iterable[ProposedRule]:
    """The highest salary that was too low, unless the person kept a job with that salary."""
    units = Counter(unit for match in dismissed if (unit := _unit(match)))
    floor = profile.salary_floor
    for unit, count in units.most_common(1):
        refused = [match.salary_max or 0 for match in dismissed if _unit(match) == unit]
        amount = max(refused)
        kept_salaries = [match.salary_max or 0 for match in kept if _unit(match) == unit]
        # A floor in another currency or period cannot be compared, and must not be replaced.
        is_settled = floor and ((floor.currency, floor.period) != unit or floor.amount > amount)
        if count < MIN_DISMISSALS or is_settled or min(kept_salaries, default=amount + 1) <= amount:
            return
        currency, period = unit
        floor = SalaryFloor(amount=amount + 1, currency=currency, period=period)
        yield ProposedRule(
            f"pay:{currency}:{period}:{amount:.0f}",
            f"Ask for more than {currency} {amount:,.0f} a {period}.",
            count,
            _changed(profile, {"salary_floor": floor.model_dump()}),
        )


def _unit(match: DecidedMatch) -> tuple[str, Period] | None:
    if match.salary_max and match.salary_currency and match.salary_period:
        return match.salary_currency, match.salary_period
    return None


async def dry_run(
    database: Database, version: ProfileVersion, rule: ProposedRule, platforms: PlatformRules
) -> DryRun:
    """Judge the newest matches with the rule, and those that it rejects also without it: what does
    not fit the profile anyway is not hidden by the rule. Nothing is stored."""
    async with database.transaction() as tx:
        newest = await _read_newest(tx, version.profile_id)
        ids = [match.listing_id for match in newest]
        stored = await verdicts.read_summaries(tx, version.profile_id, ids)
        listed = {row.id: row for row in await listings.by_ids(tx, ids)}
        employers = {id: await rescore.read_employer(tx, row) for id, row in listed.items()}

    async def fits(profile: Profile, id: ListingId) -> bool:
        verdict = stored.get(id)
        if verdict and verdict.forced:
            return True
        local = await local_verdict.judge(profile, listed[id], employers[id], platforms)
        return rescore.predict_outcome(verdict, local).outcome == "matched"

    current = version.profile()
    hidden = [
        match
        for match in newest
        if not await fits(rule.profile, match.listing_id) and await fits(current, match.listing_id)
    ]
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
    stored = await tx.execute(
        """
        INSERT INTO matching.rule_decision (profile_id, rule, decision, decided_by)
        VALUES (%(profile)s, %(key)s, %(decision)s, %(by)s)
        ON CONFLICT DO NOTHING
        """,
        {"profile": profile_id, "key": key, "decision": decision, "by": by},
    )
    if not stored.rowcount:
        raise Conflict("You have already decided on this rule.")
