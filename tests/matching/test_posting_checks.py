from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest

from jobmill.catalog import listings
from jobmill.catalog.listings import Listing
from jobmill.db import Tx
from jobmill.matching.posting_checks import check_posting, count_reposts
from tests.catalog import helpers
from tests.matching import judged

NOW = dt.datetime(2026, 6, 30, 12, tzinfo=dt.UTC)


@pytest.fixture
async def listing(tx: Tx) -> Listing:
    place = await judged.make(tx, postings=[helpers.posting(1, arrangement="onsite")])
    return replace(await listings.get(tx, place.listing), first_seen_at=NOW, posted_at=None)


def texts(listing: Listing, reposts: int = 0) -> list[str]:
    return [check.text for check in check_posting(listing, reposts, NOW)]


def ago(days: int) -> dt.datetime:
    return NOW - dt.timedelta(days=days)


async def test_the_age_and_the_reposts_are_told(listing: Listing) -> None:
    assert texts(listing) == ["First seen today."]
    old = replace(listing, posted_at=ago(12))
    assert texts(old, 1) == ["Open for 12 days (posted June 18).", "Reposted once."]
    assert texts(replace(old, closed_at=NOW)) == ["The posting is closed."]


@pytest.mark.parametrize(
    ("facts", "reposts", "is_doubtful"),
    [
        ({"posted_at": ago(200)}, 0, False),
        ({"posted_at": ago(10)}, 5, False),
        ({"posted_at": ago(200)}, 5, True),
        ({"posted_at": ago(200), "valid_through": ago(1)}, 0, True),
        ({"posted_at": ago(200), "closed_at": ago(1)}, 5, False),
    ],
)
async def test_only_two_signs_together_suggest_that_nobody_is_hired(
    listing: Listing, facts: dict[str, Any], reposts: int, is_doubtful: bool
) -> None:
    first, *_ = texts(replace(listing, **facts), reposts)
    assert first.startswith("It may not be hiring") is is_doubtful


@pytest.mark.parametrize(
    ("facts", "contradiction"),
    [
        ({"title": "Pump Engineer (Remote)"}, "The title says remote"),
        ({"description": "This role is fully remote."}, "the text says “fully remote”"),
        ({"arrangement": "remote", "description": "There is no remote work."}, "the text says “no remote”"),
        ({"valid_through": ago(3)}, "Still listed after its closing date, 2026-06-27."),
        ({"salary_min": 9.0, "salary_max": 5.0}, "The lowest salary is above the highest one."),
    ],
)  # fmt: skip
async def test_contradictions_within_a_posting_are_told(
    listing: Listing, facts: dict[str, Any], contradiction: str
) -> None:
    contradictory = replace(listing, **facts)
    assert any(contradiction in text for text in texts(contradictory))
    assert not any(contradiction in text for text in texts(listing))


async def test_reposts_of_the_same_vacancy_are_counted(tx: Tx) -> None:
    place = await judged.make(tx, listings=3)
    original, *others = place.listings
    for other in others:
        await tx.execute(
            "UPDATE catalog.listing SET duplicate_of = %s, duplicate_kind = 'repost' WHERE id = %s",
            [original, other],
        )
    for id in place.listings:
        assert await count_reposts(tx, await listings.get(tx, id)) == 2
