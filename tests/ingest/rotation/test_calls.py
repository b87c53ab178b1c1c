"""Signatures: the same question has one, and is asked once within its window."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as some

from jobmill.catalog import sources
from jobmill.catalog.sources import NewSource
from jobmill.db import Database, Tx
from jobmill.ingest.rotation import calls, targets

from .kit import DAY, HOUR, NOW, answer, failed


def test_a_signature_is_sorted_and_normalised() -> None:
    told = calls.sign(
        "jooble", {"location": " Remote", "keywords": "Software  Engineer", "x": None}
    )
    assert told.text == "jooble:keywords=software engineer&location=remote"
    same = calls.sign("jooble", {"keywords": "software engineer", "location": "remote"})
    assert told == same


@pytest.mark.parametrize(
    "other",
    [
        {"keywords": "a", "location": "b", "page": 2},
        {"keywords": "a", "location": "b", "since": "2026-03-01"},
        {"keywords": "a&location=b"},
        {"keywords": "a"},
    ],
)
def test_another_page_window_or_word_is_another_question(other: dict[str, object]) -> None:
    assert (
        calls.sign("jooble", other).key
        != calls.sign("jooble", {"keywords": "a", "location": "b"}).key
    )


@given(
    some.dictionaries(some.text(), some.text(min_size=1).filter(str.strip)),
    some.dictionaries(some.text(), some.text(min_size=1).filter(str.strip)),
)
def test_keys_never_collide(one: dict[str, str], two: dict[str, str]) -> None:
    def plain(params: dict[str, str]) -> dict[str, str]:
        kept = {name: " ".join(text.split()) for name, text in params.items()}
        return {
            name: text.casefold() if name in calls.FREE_TEXT else text
            for name, text in kept.items()
        }

    same = plain(one) == plain(two)
    assert (calls.sign("x", one).key == calls.sign("x", two).key) is same


async def search(tx: Tx, keywords: str) -> int:
    config = {"keywords": keywords}
    new = NewSource(keywords, "jooble", f"keywords={keywords}", config)
    id, _ = await sources.add(tx, new, enabled=True)
    await targets.sync(tx)
    return id


async def test_the_same_question_is_asked_once_within_its_window(tx: Tx) -> None:
    one, two = await search(tx, "Cook"), await search(tx, "cook ")
    assert await calls.claim(tx, one, item=1, window=DAY, at=NOW) is None
    asked = await calls.claim(tx, two, item=2, window=DAY, at=NOW + DAY - HOUR)
    assert asked
    assert (asked.source_id, asked.called_at) == (one, NOW)
    assert await calls.claim(tx, two, item=2, window=DAY, at=NOW + DAY) is None


async def test_an_item_that_is_tried_again_may_ask_again(tx: Tx) -> None:
    id = await search(tx, "cook")
    assert await calls.claim(tx, id, item=1, window=DAY, at=NOW) is None
    assert await calls.claim(tx, id, item=1, window=DAY, at=NOW + HOUR) is None


async def test_what_was_not_answered_may_be_asked_again(tx: Tx) -> None:
    id = await search(tx, "cook")
    await calls.claim(tx, id, item=1, window=DAY, at=NOW)
    await answer(tx, id, NOW, **failed())
    assert await calls.claim(tx, id, item=2, window=DAY, at=NOW + HOUR) is None
    await answer(tx, id, NOW + HOUR, new=1)
    assert await calls.claim(tx, id, item=3, window=DAY, at=NOW + 2 * HOUR) is not None


async def test_of_many_who_ask_at_once_one_may(database: Database) -> None:
    async with database.transaction() as tx:
        ids = [await search(tx, "cook" + " " * n) for n in range(6)]

    async def ask(id: int) -> bool:
        async with database.transaction() as tx:
            return await calls.claim(tx, id, item=id, window=DAY, at=NOW) is None

    assert sorted(await asyncio.gather(*map(ask, ids))) == [False] * 5 + [True]
