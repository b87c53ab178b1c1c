from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.db import Database
from jobmill.errors import ChangedMeanwhile
from jobmill.matching import matches, profiles, proposed_rules
from jobmill.matching.matches import DismissReason
from jobmill.matching.profile import Profile, SalaryFloor, StopLists
from jobmill.matching.proposed_rules import DecidedMatch
from tests.catalog import helpers
from tests.matching import judged

KEPT = DecidedMatch(
    "saved", None, "Pump Engineer", "Wells & Co", "Porto", "remote", "senior", 90_000, "EUR", "year"
)


def dismissed(reason: DismissReason, count: int = 3, **facts: Any) -> list[DecidedMatch]:
    match = replace(
        KEPT, status="dismissed", reason=reason, company="Mill Ltd", title="Clerk", **facts
    )
    return [match] * count


def propose(profile: Profile, *decided: DecidedMatch) -> list[proposed_rules.ProposedRule]:
    return proposed_rules.propose(profile, decided)


@pytest.mark.parametrize(
    ("profile", "reason", "facts", "key", "changed"),
    [
        (Profile(), "company", {}, "company:mill ltd", lambda p: p.stop_lists.companies == ("Mill Ltd",)),
        (Profile(), "pay", {"salary_max": 50_000}, "pay:EUR:year:50000",
         lambda p: p.salary_floor == SalaryFloor(amount=50_001, currency="EUR")),
        (Profile(), "arrangement", {"arrangement": "hybrid"}, "arrangement:hybrid",
         lambda p: p.arrangements == ("remote",)),
        (Profile(seniority=("junior", "senior")), "seniority", {"seniority": "junior"}, "seniority:junior",
         lambda p: p.seniority == ("senior",)),
        (Profile(locations=("Madrid, Spain", "Porto")), "location", {"location": "Madrid"}, "location:madrid, spain",
         lambda p: p.locations == ("Porto",)),
        (Profile(), "work", {}, "keyword:clerk", lambda p: p.stop_lists.keywords == ("clerk",)),
    ],
)  # fmt: skip
def test_three_dismissals_with_a_reason_propose_its_rule(
    profile: Profile, reason: DismissReason, facts: dict[str, Any], key: str, changed: Any
) -> None:
    (rule,) = propose(profile, KEPT, *dismissed(reason, **facts))
    assert (rule.key, rule.dismissals) == (key, 3)
    assert changed(rule.profile)
    # Two dismissals are enough for a company only, and an accepted rule is not proposed again.
    fewer = 1 if reason == "company" else 2
    assert propose(profile, KEPT, *dismissed(reason, fewer, **facts)) == []
    assert propose(rule.profile, KEPT, *dismissed(reason, **facts)) == []


@pytest.mark.parametrize(
    ("reason", "facts", "kept"),
    [
        ("company", {}, {"company": "Mill Ltd"}),
        ("pay", {"salary_max": 95_000}, {}),
        ("arrangement", {"arrangement": "remote"}, {}),
        ("seniority", {"seniority": "senior"}, {}),
        ("work", {}, {"title": "Head Clerk"}),
    ],
)
def test_no_rule_is_proposed_that_would_hide_what_the_person_kept(
    reason: DismissReason, facts: dict[str, Any], kept: dict[str, Any]
) -> None:
    decided = [replace(KEPT, **kept), *dismissed(reason, **facts)]
    assert proposed_rules.propose(Profile(), decided) == []


async def test_a_rule_is_tried_accepted_once_and_applies(database: Database) -> None:
    postings = [helpers.posting(n, f"Clerk {n}", company="Mill Ltd") for n in range(3)]
    async with database.transaction() as tx:
        place = await judged.make(tx, postings=[*postings, helpers.posting(9)])
        ids = [
            await matches.save_verdict(tx, place.word(90, listing)) for listing in place.listings
        ]
        for id in ids[:2]:
            await matches.set_status(tx, id or 0, "dismissed")
            await matches.set_dismiss_reason(tx, id or 0, "company")
        version = await profiles.get(tx)
        (rule,) = await proposed_rules.find(tx, version)
    result = await proposed_rules.dry_run(
        database, version.profile_id, rule.profile, PLATFORM_RULES
    )
    assert result.total == 4
    assert set(place.listings[:3]) <= set(result.hidden)
    assert result.hidden_kept == 0

    async def accept() -> None:
        async with database.transaction() as tx:
            await proposed_rules.accept(tx, version, rule, result.hidden, by="ada")

    outcomes = await asyncio.gather(accept(), accept(), return_exceptions=True)
    assert sorted(type(outcome) for outcome in outcomes if outcome) == [ChangedMeanwhile]
    async with database.transaction() as tx:
        newest = await profiles.get(tx)
        assert newest.version == version.version + 1
        assert newest.profile().stop_lists == StopLists(companies=("Mill Ltd",))
        assert await proposed_rules.find(tx, newest) == []


async def test_a_declined_rule_is_not_proposed_again(database: Database) -> None:
    postings = [helpers.posting(n, f"Clerk {n}", company="Mill Ltd") for n in range(2)]
    async with database.transaction() as tx:
        place = await judged.make(tx, postings=postings)
        for listing in place.listings:
            id = await matches.save_verdict(tx, place.word(90, listing))
            await matches.set_status(tx, id or 0, "dismissed")
            await matches.set_dismiss_reason(tx, id or 0, "company")
        version = await profiles.get(tx)
        (rule,) = await proposed_rules.find(tx, version)
        await proposed_rules.decide(tx, version.profile_id, rule.key, "declined", by="ada")
        assert await proposed_rules.find(tx, version) == []
        assert (await profiles.get(tx)).version == version.version
