"""Signatures: equal requests share one, and are made once within the window."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some
from psycopg.errors import UniqueViolation

from jobmill.catalog import sources
from jobmill.catalog.crawl_results import PageCall
from jobmill.catalog.sources import NewSource
from jobmill.db import Database, Tx
from jobmill.rotation import calls, targets

from .helpers import DAY, HOUR, NOW, answer, failed, put


def test_a_signature_is_sorted_and_normalised() -> None:
    signature = calls.build_signature(
        "jooble", {"location": " Remote", "keywords": "Software  Engineer", "x": None}
    )
    assert signature.text == "jooble:keywords=software engineer&location=remote"
    same = calls.build_signature("jooble", {"keywords": "software engineer", "location": "remote"})
    assert signature == same


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
        calls.build_signature("jooble", other).key
        != calls.build_signature("jooble", {"keywords": "a", "location": "b"}).key
    )


@given(
    some.dictionaries(some.text(), some.text(min_size=1).filter(str.strip)),
    some.dictionaries(some.text(), some.text(min_size=1).filter(str.strip)),
)
def test_keys_never_collide(first: dict[str, str], two: dict[str, str]) -> None:
    def plain(params: dict[str, str]) -> dict[str, str]:
        normalised = {name: " ".join(text.split()) for name, text in params.items()}
        return {
            name: text.casefold() if name in calls.FREE_TEXT_FIELDS else text
            for name, text in normalised.items()
        }

    same = plain(first) == plain(two)
    assert (calls.build_signature("x", first).key == calls.build_signature("x", two).key) is same


def test_a_page_is_part_of_the_signature() -> None:
    first = calls.build_signature("jooble", {"keywords": "cook"}, {})
    second = calls.build_signature("jooble", {"keywords": "cook"}, {"page": 2})
    assert first == calls.build_signature("jooble", {"keywords": "cook"})
    assert second.text == "jooble:keywords=cook&page=2"
    # A page number is not a search word.
    assert second.key != calls.build_signature("jooble", {"keywords": "cook", "page": 2}).key


def test_a_cursor_may_hold_anything() -> None:
    cursor = {"after": "\x00\ud800" + "x" * 5_000}
    signature = calls.build_signature("jooble", {}, cursor)
    assert signature.text.startswith("jooble:after=\ufffd\ufffdxx")
    assert len(signature.text) == calls.MAX_SIGNATURE_LENGTH
    assert (
        signature.key != calls.build_signature("jooble", {}, {"after": cursor["after"] + "y"}).key
    )


async def search(tx: Tx, keywords: str) -> int:
    config = {"keywords": keywords}
    new = NewSource(keywords, "jooble", f"keywords={keywords}", config)
    id, _ = await sources.add(tx, new, enabled=True)
    await targets.sync_changed_sources(tx)
    return id


async def test_the_same_question_is_asked_once_within_its_window(tx: Tx) -> None:
    first, two = await search(tx, "Cook"), await search(tx, "cook ")
    assert await calls.claim_signature(tx, first, item=1, window=DAY, at=NOW) is None
    earlier = await calls.claim_signature(tx, two, item=2, window=DAY, at=NOW + DAY - HOUR)
    assert earlier
    assert (earlier.source_id, earlier.called_at) == (first, NOW)
    assert await calls.claim_signature(tx, two, item=2, window=DAY, at=NOW + DAY) is None


async def test_an_item_that_is_tried_again_may_ask_again(tx: Tx) -> None:
    id = await search(tx, "cook")
    assert await calls.claim_signature(tx, id, item=1, window=DAY, at=NOW) is None
    assert await calls.claim_signature(tx, id, item=1, window=DAY, at=NOW + HOUR) is None


async def test_what_was_not_answered_may_be_asked_again(tx: Tx) -> None:
    id = await search(tx, "cook")
    await calls.claim_signature(tx, id, item=1, window=DAY, at=NOW)
    await answer(tx, id, NOW, **failed())
    assert await calls.claim_signature(tx, id, item=2, window=DAY, at=NOW + HOUR) is None
    await answer(tx, id, NOW + HOUR, item=2, new=1)
    assert await calls.claim_signature(tx, id, item=3, window=DAY, at=NOW + 2 * HOUR) is not None


@pytest.mark.parametrize(
    "facts", [failed(), {"outcome": "held", "failure": "rate_limited", "calls": 0}]
)
async def test_a_run_by_hand_that_fails_does_not_undo_an_answer(tx: Tx, facts: Any) -> None:
    id = await search(tx, "cook")
    assert await calls.claim_signature(tx, id, item=1, window=DAY, at=NOW) is None
    await answer(tx, id, NOW, new=1)
    await answer(tx, id, NOW + HOUR, item=None, **facts)
    assert await calls.claim_signature(tx, id, item=2, window=DAY, at=NOW + 2 * HOUR) is not None


@pytest.mark.parametrize(
    "facts", [failed(), {"outcome": "held", "failure": "rate_limited", "calls": 0}]
)
async def test_a_run_by_hand_that_fails_does_not_free_a_question_under_way(
    tx: Tx, facts: Any
) -> None:
    first, two = await search(tx, "Cook"), await search(tx, "cook ")
    assert await calls.claim_signature(tx, first, item=1, window=DAY, at=NOW) is None
    await answer(tx, first, NOW, item=None, **facts)
    assert await calls.claim_signature(tx, two, item=2, window=DAY, at=NOW + HOUR) is not None


async def test_of_many_who_ask_at_once_one_may(database: Database) -> None:
    async with database.transaction() as tx:
        ids = [await search(tx, "cook" + " " * n) for n in range(6)]

    async def ask(id: int) -> bool:
        async with database.transaction() as tx:
            return await calls.claim_signature(tx, id, item=id, window=DAY, at=NOW) is None

    assert sorted(await asyncio.gather(*map(ask, ids))) == [False] * 5 + [True]


PAGES = [PageCall({}, 100), PageCall({"page": 2}, 30)]


async def pages(tx: Tx) -> list[tuple[int, str, int | None]]:
    cursor = await tx.execute(
        "SELECT number, signature, result_count FROM rotation.call_page ORDER BY call_id, number"
    )
    return await cursor.fetchall()


async def test_each_page_is_kept_with_its_signature_and_result_count(tx: Tx) -> None:
    id = await search(tx, "cook")
    await answer(tx, id, NOW, new=3, pages=PAGES)
    assert await pages(tx) == [
        (1, "jooble:keywords=cook", 100),
        (2, "jooble:keywords=cook&page=2", 30),
    ]
    cursor = await tx.execute(
        """
        SELECT call.key = page.key FROM rotation.call JOIN rotation.call_page AS page
            ON call_id = call.id ORDER BY number
        """
    )
    assert await cursor.fetchall() == [(True,), (False,)]


async def test_a_run_asks_for_no_page_twice(tx: Tx) -> None:
    id = await search(tx, "cook")
    with pytest.raises(UniqueViolation):
        await answer(tx, id, NOW, new=3, pages=[PAGES[0], PAGES[0]])


@pytest.mark.parametrize(("count", "again"), [(None, True), (100, False)])
async def test_a_walk_that_was_answered_in_part_is_not_begun_again_within_its_window(
    tx: Tx, count: int | None, again: bool
) -> None:
    id = await search(tx, "cook")
    await calls.claim_signature(tx, id, item=1, window=DAY, at=NOW)
    pages = [PageCall({}, count), PageCall({"page": 2}, None)]
    await answer(tx, id, NOW, **failed(pages=pages))
    earlier = await calls.claim_signature(tx, id, item=2, window=DAY, at=NOW + HOUR)
    assert (earlier is None) is again


async def test_calls_leave_with_their_pages(tx: Tx) -> None:
    id = await search(tx, "cook")
    await answer(tx, id, NOW, new=3, pages=PAGES)
    await tx.execute("UPDATE rotation.call SET called_at = now() - interval '91 days'")
    assert await calls.prune_calls(tx) >= 1
    assert await pages(tx) == []


async def test_a_call_may_outlive_its_run(tx: Tx) -> None:
    id = await search(tx, "cook")
    await put(tx, id, queued_at=NOW, run_id=2**40)
    await answer(tx, id, NOW, new=3)
    cursor = await tx.execute("SELECT run_id, new FROM rotation.call WHERE source_id = %s", [id])
    assert await cursor.fetchall() == [(None, 3)]


async def test_the_calls_of_a_run_are_told_with_their_pages_and_failures(tx: Tx) -> None:
    run = await run_of(tx)
    first, two, three = [await search(tx, words) for words in ("cook", "diver", "smith")]
    for id in (first, two, three):
        await put(tx, id, queued_at=NOW, run_id=run)
    await answer(tx, first, NOW, new=3, pages=PAGES)
    await answer(tx, two, NOW, **failed("gone", detail="not found"))
    await targets.release(tx, ids=[three], why="set SMITH_KEY")
    reports = await calls.calls_of_run(tx, run)
    assert [(call.slug, call.new, len(call.pages)) for call in reports] == [
        ("keywords=cook", 3, 2),
        ("keywords=diver", 0, 0),
    ]
    assert reports[0].pages[1] == {"signature": "jooble:keywords=cook&page=2", "result_count": 30}
    (bad,) = await calls.failed_calls(tx, run)
    assert (bad.platform, bad.slug, bad.why) == ("jooble", "keywords=diver", "not found")
    (uncalled,) = await targets.uncalled_targets(tx, run)
    assert (uncalled.slug, uncalled.why) == ("keywords=smith", "set SMITH_KEY")
    # The next run may choose it: then it is that run's to tell of.
    await put(tx, three, queued_at=NOW)
    assert await targets.uncalled_targets(tx, run) == []


async def run_of(tx: Tx) -> int:
    cursor = await tx.execute(
        """
        INSERT INTO rotation.run (trigger, policy, chosen, skipped)
        VALUES ('manual', 'yield', 3, '{}') RETURNING id
        """
    )
    return (await cursor.fetchall())[0][0]
