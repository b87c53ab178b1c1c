"""Pauses, priorities, intervals, windows and quotas: what a person sets, and what applies otherwise."""

from __future__ import annotations

import asyncio
import datetime as dt
from typing import Any

import pytest

from jobmill.boards.adapters import find_platform
from jobmill.boards.quotas import QUOTAS
from jobmill.catalog import sources
from jobmill.db import Database, Tx
from jobmill.errors import Conflict, Invalid
from jobmill.pipelines.rotation import request_from_settings
from jobmill.rotation import call_gaps, platform_state, searches, target_settings, targets
from jobmill.rotation.planner import RunRequest, start_run
from jobmill.rotation.searches import SearchSettings
from jobmill.rotation.target_settings import TargetTiming
from jobmill.settings import Settings

from .helpers import DAY, HOUR, KEYS, NOW, answer, failed, make_target, put

POLICIES = pytest.mark.parametrize("policy", ["seed", "yield"])


async def slice_ids(tx: Tx) -> list[int]:
    cursor = await tx.execute("SELECT source_id FROM rotation.target ORDER BY source_id")
    return [id for (id,) in await cursor.fetchall()]


async def test_a_persons_pause_survives_everything_but_their_resume(tx: Tx) -> None:
    search = await searches.add(tx, "jooble", ["cook"], [""])
    (id,) = await slice_ids(tx)
    await targets.pause(tx, id)
    await searches.update_search(tx, search.id, priority=80)
    await searches.update_search(tx, search.id, enabled=False)
    await searches.update_search(tx, search.id, enabled=True)
    await searches.add(tx, "jooble", ["cook", "diver"], [""])
    await sources.disable(tx, id, "for a while")
    await targets.sync_changed_sources(tx)
    await sources.enable(tx, id)
    await targets.sync_changed_sources(tx)
    assert (await answer(tx, id, NOW, new=3)).status == "paused"
    for _ in range(6):
        assert (await answer(tx, id, NOW, **failed())).status == "paused"
    with pytest.raises(Conflict, match="rotate resume"):
        await targets.revive(tx, id)
    for policy in ("seed", "yield"):
        request = RunRequest(policy, "manual", sources=[id])
        assert (await start_run(tx, request, NOW + 60 * DAY, KEYS)).claimed == []
    assert (await targets.resume(tx, id)).status == "active"


async def test_a_search_on_a_disabled_platform_can_only_be_switched_off(tx: Tx) -> None:
    search = await searches.add(tx, "jooble", ["cook"], [""])
    await tx.execute("UPDATE rotation.search SET platform = 'careerjet'")
    with pytest.raises(Invalid, match="Careerjet is disabled"):
        await searches.update_search(tx, search.id, priority=9)
    assert not (await searches.update_search(tx, search.id, enabled=False)).enabled
    with pytest.raises(Invalid, match="Careerjet is disabled"):
        await searches.update_search(tx, search.id, enabled=True)


async def test_an_unused_slice_that_a_person_pauses_stays_paused(tx: Tx) -> None:
    search = await searches.add(tx, "jooble", ["cook"], [""])
    (id,) = await slice_ids(tx)
    await searches.update_search(tx, search.id, enabled=False)
    assert (await targets.pause(tx, id)).paused_by_person
    await searches.update_search(tx, search.id, enabled=True)
    assert (await targets.get(tx, id)).status == "paused"


async def test_a_pause_and_a_run_at_once_leave_the_target_paused_and_claimed_at_most_once(
    database: Database,
) -> None:
    for _ in range(5):
        async with database.transaction() as tx:
            await tx.execute("DELETE FROM rotation.target")
            id = await make_target(tx)

        async def pause(id: int = id) -> None:
            async with database.transaction() as tx:
                await targets.pause(tx, id)

        async def claim() -> int:
            async with database.transaction() as tx:
                return len((await start_run(tx, RunRequest(trigger="manual"), NOW, {})).claimed)

        _, *claims = await asyncio.gather(pause(), claim(), claim())
        assert sum(claims) <= 1
        async with database.transaction() as tx:
            target = await targets.get(tx, id)
            assert (target.status, target.queued_at is not None) == ("paused", sum(claims) == 1)
            saved = await answer(tx, id, NOW, new=1)
            assert (saved.status, saved.queued_at) == ("paused", None)
            assert (await start_run(tx, RunRequest(trigger="manual"), NOW + DAY, {})).claimed == []


async def test_a_slice_of_two_searches_takes_the_higher_priority(tx: Tx) -> None:
    high = await searches.add(tx, "jooble", ["cook"], [""], SearchSettings(90))
    low = await searches.add(tx, "jooble", ["cook", "diver"], [""], SearchSettings(10))
    cook = (await slice_ids(tx))[0]

    async def priority() -> int:
        return (await targets.get(tx, cook)).priority

    assert await priority() == 90
    await searches.update_search(tx, low.id, priority=95)
    assert await priority() == 95
    await searches.update_search(tx, low.id, priority=20)
    assert await priority() == 90
    await searches.remove(tx, high.id)
    assert await priority() == 20
    await target_settings.set_priority(tx, cook, 33)
    await searches.update_search(tx, low.id, priority=70)
    assert await priority() == 33


@POLICIES
async def test_a_higher_priority_is_called_first_whatever_it_belongs_to(
    tx: Tx, policy: Any
) -> None:
    for platform in ("greenhouse", "rss"):
        ids = [await make_target(tx, platform, priority=n) for n in (10, 90, 50)]
        planned = await start_run(tx, RunRequest(policy, "manual", platforms=[platform]), NOW, KEYS)
        order = [ids.index(target.source_id) for target in planned.claimed]
        assert order == [1, 2, 0]


@POLICIES
async def test_the_maximum_of_company_targets_holds_for_every_platform(tx: Tx, policy: Any) -> None:
    for platform in ("greenhouse", "lever", "ashby"):
        for _ in range(4):
            await make_target(tx, platform)
    for _ in range(5):
        await make_target(tx, "rss")
    request = request_from_settings(
        Settings(
            max_company_targets_per_run=2,
            lever_max_companies_per_run=3,
            max_search_slices_per_run=4,
            rotation_policy=policy,
        )
    )
    planned = await start_run(tx, RunRequest(policy, "manual", request.limits), NOW, {})
    claimed = await targets.by_ids(tx, [target.source_id for target in planned.claimed])
    counts = {
        name: sum(target.platform == name for target in claimed)
        for name in ("greenhouse", "lever", "ashby", "rss")
    }
    assert counts == {"greenhouse": 2, "lever": 3, "ashby": 2, "rss": 4}


@pytest.mark.parametrize("platform", ["jooble", "adzuna", "reed", "usajobs"])
async def test_metered_searches_keep_their_interval_under_yield(tx: Tx, platform: str) -> None:
    """However much they find; a free feed is called as soon as it deserves."""
    bare = await make_target(tx, platform)
    assert (await answer(tx, bare, NOW, new=90)).blocked_until == NOW + 12 * HOUR
    await searches.add(tx, platform, ["cook"], [""])
    of_search = (await slice_ids(tx))[-1]
    target = await answer(tx, of_search, NOW, new=90)
    assert target.blocked_until == NOW + 24 * HOUR
    assert call_gaps.repeat_window(target, "yield") == 24 * HOUR
    free = await make_target(tx, "rss")
    assert (await answer(tx, free, NOW, new=90)).blocked_until == NOW + HOUR * 24 / 60
    board = await make_target(tx, "greenhouse")
    assert (await answer(tx, board, NOW, new=90)).blocked_until == NOW + 6 * HOUR


async def test_a_metered_key_has_a_default_quota_of_requests(tx: Tx) -> None:
    for _ in range(20):
        await make_target(tx, "jooble")

    async def left(at: dt.datetime = NOW) -> int:
        capacity = await platform_state.remaining_calls(tx, at, KEYS)
        return capacity.remaining.get("jooble", 0)

    # 50 requests a day, five pages a call.
    assert await left() == 10
    (first, *_) = await slice_ids(tx)
    await answer(tx, first, NOW, new=3, calls=20)
    assert await left() == 1
    await answer(tx, first, NOW, new=3, calls=20)
    assert await left() == 0
    assert await left(NOW + 2 * DAY) == 10
    await platform_state.set_limits(tx, "jooble", per_hour=None, per_day=7)
    assert await left() == 5
    await platform_state.set_limits(tx, "jooble", per_hour=None, per_day=None)
    assert await left() > 1_000_000
    await platform_state.reset_limits(tx, "jooble")
    assert await left() == 0


def test_every_quota_names_its_source_and_every_metered_search_has_one() -> None:
    for name, quota in QUOTAS.items():
        assert find_platform(name).key_names
        assert quota.source
        assert quota.checked_on or "our own" in quota.source
        assert quota.per_day >= 1
    keyed = {name for name in ("jooble", "adzuna", "reed", "usajobs")}
    assert keyed <= QUOTAS.keys()


async def test_an_interval_and_a_window_apply_to_the_next_call(tx: Tx) -> None:
    id = await make_target(tx)
    await answer(tx, id, NOW, new=1)
    target = await target_settings.set_timing(tx, id, TargetTiming(2 * DAY, None))
    assert (target.blocked_until, target.next_allowed_at) == (NOW + 2 * DAY, NOW + 2 * DAY)
    assert call_gaps.repeat_window(target, "yield") == DAY
    target = await target_settings.set_timing(tx, id, TargetTiming(HOUR, None))
    assert (target.blocked_until, target.next_allowed_at) == (NOW + HOUR, NOW + HOUR)
    target = await answer(tx, id, NOW + 3 * HOUR, new=1)
    assert (target.blocked_until, target.next_allowed_at) == (NOW + 4 * HOUR, NOW + 4 * HOUR)
    target = await target_settings.set_timing(tx, id, TargetTiming(None, 3 * DAY))
    assert target.blocked_until == NOW + 3 * HOUR + 3 * DAY
    for policy in ("seed", "yield"):
        assert call_gaps.repeat_window(target, policy) == 3 * DAY
    await put(tx, id, failures=3, fail_count=3, blocked_until=NOW + 9 * DAY)
    target = await target_settings.set_timing(tx, id, TargetTiming(HOUR, None))
    assert target.blocked_until == NOW + 9 * DAY
    with pytest.raises(Invalid, match="30 days"):
        await target_settings.set_timing(tx, id, TargetTiming(31 * DAY, None))


async def test_slices_follow_the_settings_of_their_searches(tx: Tx) -> None:
    search = await searches.add(tx, "jooble", ["cook"], [""], SearchSettings(days_back=7))
    (id,) = await slice_ids(tx)
    source = await sources.get(tx, id)
    assert source.config == {"keywords": "cook", "days_back": 7}
    await answer(tx, id, NOW, new=1)
    await searches.update_search(tx, search.id, min_interval=3 * DAY, call_window=4 * DAY)
    target = await targets.get(tx, id)
    assert (target.interval, target.call_window) == (3 * DAY, 4 * DAY)
    assert target.blocked_until == NOW + 4 * DAY
    await searches.update_search(tx, search.id, days_back=None, since=dt.date(2026, 3, 1))
    assert (await targets.get(tx, id)).status == "paused"
    newest = await sources.get(tx, (await slice_ids(tx))[-1])
    assert newest.config == {"keywords": "cook", "since": "2026-03-01"}
    with pytest.raises(Invalid, match="Reed cannot exclude old jobs by days_back"):
        await searches.add(tx, "reed", ["cook"], [""], SearchSettings(days_back=7))
    with pytest.raises(Invalid, match="Careerjet is disabled: 403 Forbidden"):
        await searches.add(tx, "careerjet", ["cook"], [""])


@pytest.mark.parametrize(
    ("platform", "sent"),
    [("jooble", '"datecreatedfrom": "2026-02-23"'), ("adzuna", "max_days_old=7"), ("usajobs", "DatePosted=7")],
)  # fmt: skip
def test_a_search_of_the_last_days_asks_for_them(platform: str, sent: str) -> None:
    import json

    from jobmill.boards.readable_board import open_board

    environ = dict.fromkeys(find_platform(platform).key_names, "x")
    board = open_board(find_platform(platform), {"keywords": "cook", "days_back": 7}, environ)
    request = board.on_day(NOW.date()).first_request()
    assert sent in request.url + json.dumps(request.json)
