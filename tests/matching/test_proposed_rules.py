from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.db import Database
from jobmill.errors import ChangedMeanwhile
from jobmill.matching import matches, profiles, proposed_rules
from jobmill.matching.job_applications import csv_import
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
    "floor", [SalaryFloor(amount=9, currency="USD"), SalaryFloor(amount=9, currency="EUR", period="hour")]
)  # fmt: skip
def test_a_salary_floor_in_another_unit_is_not_replaced(floor: SalaryFloor) -> None:
    decided = dismissed("pay", salary_max=50_000)
    assert proposed_rules.propose(Profile(salary_floor=floor), decided) == []


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
    imported = await csv_import.read_file(b"title,company\nWard nurse,City Clinic\n")
    async with database.transaction() as tx:
        place = await judged.make(tx, postings=[*postings, *map(helpers.posting, (8, 9))])
        ids = [
            await matches.save_verdict(tx, place.word(90, listing, local_score=0))
            for listing in place.listings
        ]
        for id in ids[:2]:
            await matches.set_status(tx, id or 0, "dismissed")
            await matches.set_dismiss_reason(tx, id or 0, "company")
        # A saved job that does not fit since the last change, and one that has no score.
        await matches.set_status(tx, ids[3] or 0, "saved")
        await matches.save_verdict(tx, place.word(20, place.listings[3], local_score=100))
        version = await profiles.get(tx)
        await csv_import.import_rows(tx, version, imported, PLATFORM_RULES)
        (rule,) = await proposed_rules.find(tx, version)
    result = await proposed_rules.dry_run(database, version, rule, PLATFORM_RULES)
    assert (result.total, result.hidden_kept) == (6, 0)
    assert set(result.hidden) == set(place.listings[:3])

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
