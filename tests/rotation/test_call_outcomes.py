"""How an outcome changes its target: the rules of the interval policy as a table, and what yield
learns."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from jobmill.catalog.crawl_results import CrawlResult, RunCounts, SavedRun
from jobmill.catalog.source_health import FailureEffect
from jobmill.db import Tx
from jobmill.rotation import call_outcomes, calls, platform_state, targets
from jobmill.rotation.call_gaps import repeat_window
from jobmill.rotation.planner import RunRequest, start_run
from jobmill.rotation.policies import interval_policy, yield_model
from jobmill.rotation.policies.eligibility import after_outcome

from .helpers import DAY, HOUR, NOW, answer, failed, make_target, put


async def test_success_is_kept_with_what_was_truly_new(tx: Tx) -> None:
    id = await make_target(tx, queued_at=NOW, fail_count=3)
    target = await answer(tx, id, NOW, new=4, duplicates=3)
    assert (target.new_jobs_last, target.fail_count, target.queued_at) == (4, 0, None)
    assert (target.last_success_at, target.next_allowed_at) == (NOW, NOW + DAY)
    cursor = await tx.execute("SELECT answer, result_count, new, duplicates FROM rotation.call")
    assert await cursor.fetchall() == [("ok", 7, 4, 3)]


async def test_not_modified_is_a_success(tx: Tx) -> None:
    id = await make_target(tx, fail_count=2)
    target = await answer(tx, id, NOW, outcome="unchanged")
    assert (target.last_success_at, target.fail_count, target.new_jobs_last) == (NOW, 0, 0)


@pytest.mark.parametrize(
    ("before", "wait"), [(0, 2 * DAY), (1, 4 * DAY), (2, 7 * DAY), (4, 30 * DAY)]
)
async def test_failures_wait_twice_as_long_each_time(
    tx: Tx, before: int, wait: dt.timedelta
) -> None:
    id = await make_target(tx, fail_count=before, last_success_at=NOW - DAY)
    target = await answer(tx, id, NOW, **failed())
    assert (target.fail_count, target.next_allowed_at) == (before + 1, NOW + wait)
    assert target.last_success_at == NOW - DAY
    assert target.status == ("bad" if before == 4 else "active")


async def test_a_bad_target_that_answers_is_well_again(tx: Tx) -> None:
    id = await make_target(tx, status="bad", fail_count=7)
    target = await answer(tx, id, NOW, new=1)
    assert (target.status, target.fail_count) == ("active", 0)


async def test_a_paused_target_stays_so_whatever_its_last_call_brings(tx: Tx) -> None:
    id = await make_target(tx, status="paused", fail_count=4)
    assert (await answer(tx, id, NOW, **failed())).status == "paused"


async def test_a_request_for_patience_counts_for_the_platform_not_the_target(tx: Tx) -> None:
    id, other = await make_target(tx), await make_target(tx)
    before = await targets.get(tx, id)
    slow: Any = {"outcome": "held", "failure": "rate_limited", "detail": "429"}
    target = await answer(tx, id, NOW, retry_after=2 * HOUR, **slow)
    assert (target.fail_count, target.failures, target.health) == (0, 0, 1.0)
    assert target.next_allowed_at == before.next_allowed_at
    request = RunRequest(trigger="manual")
    assert (await start_run(tx, request, NOW + 2 * HOUR - DAY / 24 / 60, {})).claimed == []
    claimed = (await start_run(tx, request, NOW + 2 * HOUR, {})).claimed
    assert {claim.source_id for claim in claimed} == {id, other}


async def test_a_site_of_its_own_that_asks_for_patience_holds_no_other(tx: Tx) -> None:
    id, other = await make_target(tx, "html"), await make_target(tx, "html")
    slow: Any = {"outcome": "held", "failure": "rate_limited", "detail": "429", "vendor": None}
    target = await answer(tx, id, NOW, retry_after=2 * HOUR, **slow)
    assert target.blocked_until == target.next_allowed_at == NOW + 2 * HOUR
    for policy in ("seed", "yield"):
        await tx.execute("UPDATE rotation.target SET queued_at = NULL")
        claimed = (await start_run(tx, RunRequest(policy, "manual"), NOW + HOUR, {})).claimed
        assert [claim.source_id for claim in claimed] == [other]


async def test_a_vendors_trouble_is_not_its_targets(tx: Tx) -> None:
    id = await make_target(tx)
    verdict = FailureEffect(counted=False, incident=True)
    target = await answer(tx, id, NOW, verdict=verdict, **failed())
    assert (target.fail_count, target.failures, target.queued_at) == (0, 0, None)


@pytest.mark.parametrize("cause", ["server", "rate_limited"])
async def test_a_bad_target_stays_so_until_it_answers(tx: Tx, cause: str) -> None:
    # Its source was disabled for failures from before it took turns.
    id = await make_target(tx, status="bad", fail_count=1, enabled=False)
    assert (await answer(tx, id, NOW, **failed(cause))).status == "bad"


async def test_a_run_that_called_nobody_teaches_nothing(tx: Tx) -> None:
    id = await make_target(tx, queued_at=NOW)
    fields: Any = {"outcome": "held", "failure": "rate_limited", "calls": 0, "vendor": None}
    target = await answer(tx, id, NOW, **fields)
    assert (target.queued_at, target.last_called_at, target.new_jobs_last) == (None, None, None)
    cursor = await tx.execute("SELECT count(*) FROM rotation.call")
    assert await cursor.fetchone() == (0,)


@pytest.mark.parametrize(
    ("interval", "news", "then"),
    [
        (12, [0, 0], 12),
        (12, [0, 0, 0], 24),
        (12, [0, 0, 0, 0], 24),
        (12, [0, 0, 1], 6),
        (24, [5], 12),
        (6, [5], 6),
    ],
)
async def test_slices_cool_when_empty_and_warm_when_not(
    tx: Tx, interval: int, news: list[int], then: int
) -> None:
    id = await make_target(tx, "jooble", min_interval=interval * HOUR)
    for day, new in enumerate(news):
        target = await answer(tx, id, NOW + day * DAY, new=new, inventory=False)
    assert target.min_interval == then * HOUR
    assert target.next_allowed_at == NOW + (len(news) - 1) * DAY + then * HOUR


async def test_a_platform_that_wants_to_be_asked_rarely_is(tx: Tx) -> None:
    id = await make_target(tx, "remotive")
    target = await answer(tx, id, NOW, new=3)
    assert target.blocked_until == NOW + 6 * HOUR
    assert repeat_window(target, "yield") == 6 * HOUR


@pytest.mark.parametrize(
    ("platform", "story", "cap"),
    [
        # It says itself that there is more.
        ("jooble", [("truncated", 40, 40)], 40),
        ("jooble", [("truncated", 40, 40), ("truncated", 38, 2), ("complete", 7, 0)], 40),
        ("greenhouse", [("truncated", 40, 40)], 40),
        # A feed that always shows as many, and not the same ones, shows the newest.
        ("rss", [("complete", 40, 40), ("complete", 40, 3)], 40),
        ("rss", [("complete", 40, 40), ("complete", 40, 0)], None),
        ("rss", [("complete", 40, 40), ("complete", 41, 3)], None),
        ("rss", [("complete", 6, 6), ("complete", 6, 3)], None),
        ("rss", [("complete", 40, 40), ("failed", 0, 0), ("complete", 40, 3)], 40),
        # A board that shows as many as before has filled what it had to fill.
        ("greenhouse", [("complete", 40, 40), ("complete", 40, 3)], None),
        # It shows more: it was no limit.
        ("rss", [("complete", 40, 40), ("complete", 40, 3), ("complete", 50, 9)], None),
    ],
)
async def test_how_many_a_target_shows_at_most_is_learnt(
    tx: Tx, platform: str, story: list[tuple[str, int, int]], cap: int | None
) -> None:
    id = await make_target(tx, platform)
    for day, (outcome, shown, new) in enumerate(story):
        facts: Any = failed() if outcome == "failed" else {"outcome": outcome}
        target = await answer(tx, id, NOW + day * DAY, seen=shown, new=new, vendor=None, **facts)
    assert target.page_cap == cap


async def test_a_feed_at_its_limit_is_known_to_lose_what_is_not_fetched(tx: Tx) -> None:
    id = await make_target(tx, "rss")
    await answer(tx, id, NOW, seen=40, new=40, vendor=None)
    assert (await answer(tx, id, NOW + DAY, seen=30, new=20, vendor=None)).span is None
    await put(tx, id, page_cap=40)
    target = await answer(tx, id, NOW + 2 * DAY, seen=40, new=20, vendor=None)
    assert target.span is not None
    assert target.loss_rate is not None
    assert target.loss_rate > yield_model.YieldRules().closing


async def test_a_config_that_cannot_be_asked_with_is_the_targets_failure_alone(tx: Tx) -> None:
    id = await make_target(tx, queued_at=NOW)
    # As if others of its platform had failed: it is neither excused nor counted with them.
    await tx.execute("UPDATE rotation.platform SET streak = 3, open_count = 1")
    target = await answer(tx, id, NOW, **failed("unreadable", calls=0, vendor=None))
    assert (target.fail_count, target.failures, target.queued_at) == (1, 1, None)
    assert (await platform_state.load_all(tx))["greenhouse"].streak == 3
    # No request was made: the platform's hourly limit is not used up.
    await platform_state.set_limits(tx, "greenhouse", per_hour=1, per_day=1)
    await tx.execute("UPDATE rotation.platform SET streak = 0, open_count = 0")
    assert (await platform_state.remaining_calls(tx, NOW + HOUR / 2, {})).remaining == {
        "greenhouse": 1
    }


async def test_an_overtaken_run_only_gives_its_claim_back(tx: Tx) -> None:
    id = await make_target(tx, queued_at=NOW)
    crawl = CrawlResult(NOW, "complete", calls=1)
    saved = SavedRun(None, "complete", RunCounts(), FailureEffect(counted=False))
    await call_outcomes.record_outcome(tx, id, crawl, saved, at=NOW, item=1)
    target = await targets.get(tx, id)
    assert (target.queued_at, target.last_called_at) == (None, None)


@pytest.mark.parametrize(
    "facts",
    [
        {"new": 1},
        failed(),
        {"outcome": "held", "failure": "rate_limited", "calls": 0},
    ],
)
async def test_a_run_by_hand_leaves_the_claim_to_the_item_that_waits(
    tx: Tx, facts: dict[str, Any]
) -> None:
    id = await make_target(tx, queued_at=NOW)
    cursor = await tx.execute(
        """
        INSERT INTO rotation.run (trigger, policy, started_at, chosen, skipped)
        VALUES ('schedule', 'yield', %s, 1, '{}') RETURNING id
        """,
        [NOW],
    )
    [run] = await cursor.fetchone() or [None]
    await put(tx, id, run_id=run)
    target = await answer(tx, id, NOW, item=None, **facts)
    assert (target.queued_at, target.run_id) == (NOW, run)
    assert await calls.calls_of_run(tx, run) == []


async def test_an_overtaken_run_by_hand_leaves_the_claim_too(tx: Tx) -> None:
    id = await make_target(tx, queued_at=NOW)
    saved = SavedRun(None, "complete", RunCounts(), FailureEffect(counted=False))
    await call_outcomes.record_outcome(tx, id, CrawlResult(NOW, "complete", calls=1), saved, at=NOW)
    assert (await targets.get(tx, id)).queued_at == NOW


ANSWERS = some.sampled_from(["ok", "empty", "unchanged", "gone", "server", "limited"])


@settings(max_examples=25)
@given(
    kind=some.sampled_from(["greenhouse", "jooble"]),
    story=some.lists(some.tuples(ANSWERS, some.integers(1, 200)), min_size=1, max_size=12),
)
async def test_the_table_learns_what_the_policies_learn(
    tx: Tx, kind: str, story: list[tuple[str, int]]
) -> None:
    facts: dict[str, Any] = {
        "ok": {"new": 3},
        "empty": {},
        "unchanged": {"outcome": "unchanged"},
        "gone": failed("gone"),
        "server": failed(),
        "limited": {"outcome": "held", "failure": "rate_limited", "detail": "429"},
    }
    words = {
        "empty": "ok",
        "unchanged": "not_modified",
        "server": "error",
        "limited": "rate_limited",
    }
    async with tx.transaction(force_rollback=True):
        await tx.execute("DELETE FROM rotation.platform")
        id = await make_target(tx, kind)
        await platform_state.add_platforms(tx, [kind])
        target = await targets.get(tx, id)
        turn, state, average = (
            target.interval_state,
            target.yield_state,
            yield_model.PlatformAverage(),
        )
        trouble, at = platform_state.eligibility.BreakerState(), NOW
        for what, hours in story:
            at += hours * HOUR
            await put(tx, id, queued_at=at)
            target = await answer(tx, id, at, **facts[what])
            plain: dict[str, Any] = {"status": words.get(what, what), "truncated": False}
            plain |= {"new": 3, "returned": 3} if what == "ok" else {"new": 0, "returned": 0}
            excused, now = trouble.open_count > 0, at.timestamp()
            turn = interval_policy.learn(
                turn, plain, now, kind=target.kind, rules=interval_policy.IntervalRules()
            )
            state, average = yield_model.learn(
                state, plain, now, kind=target.kind, page_cap=None, platform=average,
                rules=yield_model.YieldRules(), excused=excused,
            )  # fmt: skip
            # The policy does not know which platforms meter their keys; the table does.
            if kind == "jooble" and state.called_at is not None:
                least = state.called_at + (12 * HOUR).total_seconds()
                state = replace(state, blocked_until=max(state.blocked_until, least))
            trouble = after_outcome(trouble, plain, now, yield_model.YieldRules().breaker)
            assert target.interval_state == turn
            assert target.yield_state == state
            assert target.blocked_until is None or target.due_at >= target.blocked_until
            assert target.queued_at is None
        standing = (await platform_state.load_all(tx))[kind]
        assert (standing.average, standing.breaker) == (average, trouble)
