"""Importing boards, searches and their slices, and targets that people pause and resume."""

from __future__ import annotations

import json
from typing import Any

import pytest

from jobmill.catalog import sources
from jobmill.db import Tx
from jobmill.errors import Conflict, Invalid, NotFound
from jobmill.rotation import board_import, rotation_status, searches, targets
from jobmill.rotation.due_targets import list_due
from jobmill.rotation.planner import RunRequest, start_run
from jobmill.rotation.searches import SearchSettings
from jobmill.rotation.targets import PolicyName
from tests.catalog.helpers import make_source

from .helpers import DAY, HOUR, KEYS, NOW, answer, failed, make_target, put


@pytest.mark.parametrize(
    "text",
    [
        "greenhouse,wells\nlever,pumps,5\n",
        "platform,slug,priority\r\nGreenhouse,wells,\r\n\r\nlever,pumps,5\r\n",
        "\ufeffplatform,slug\ngreenhouse, wells\nlever,pumps,5",
        '{"platform": "greenhouse", "slug": "wells"}\n\n{"platform": "lever", "slug": "pumps", "priority": 5}\n',
    ],
    ids=["csv", "heading", "mark", "json"],
)
async def test_lines_become_sources_and_targets(tx: Tx, text: str) -> None:
    done = await board_import.import_boards(tx, board_import.parse_boards(text))
    assert (done.boards, done.new, done.known) == (2, 2, 0)
    source = await sources.find_by_board(tx, "lever", "pumps")
    assert source
    assert (source.status, source.discovered_via) == ("active", "import")
    target = await targets.get(tx, source.id)
    assert (target.priority, target.kind, target.min_interval) == (5, "company", DAY)
    again = await board_import.import_boards(tx, board_import.parse_boards(text))
    assert (again.new, again.known) == (0, 2)


def test_wrong_lines_are_named_and_nothing_is_read() -> None:
    text = "greenhouse,wells\ngrenhouse,x\nlever\njooble,x\nlever,a b\nlever,x,soon\n"
    with pytest.raises(Invalid) as caught:
        board_import.parse_boards(text)
    message = str(caught.value)
    assert "line 2: there is no platform grenhouse: did you mean greenhouse?" in message
    assert "line 3: wants a platform and a slug" in message
    assert "line 4: Jooble has no boards" in message
    assert "line 5: 'a b' cannot be" in message
    assert "line 6: priority is a whole number" in message
    with pytest.raises(Invalid, match=r"line 2: not JSON.*line 3: not an object"):
        board_import.parse_boards('{"platform": "lever", "slug": "x"}\n{\n[1]\n')


async def test_a_board_that_stands_twice_in_a_file_is_one(tx: Tx) -> None:
    done = await board_import.import_boards(
        tx, board_import.parse_boards("lever,pumps\nlever,pumps\n")
    )
    assert (done.boards, done.new) == (1, 1)


async def test_a_source_that_is_disabled_rests_and_one_enabled_again_begins_anew(tx: Tx) -> None:
    id = await make_target(tx)
    await sources.disable(tx, id, "by hand")
    await targets.sync_changed_sources(tx)
    assert not (await targets.get(tx, id)).enabled
    await put(tx, id, status="bad", fail_count=5)
    await sources.enable(tx, id)
    await targets.sync_changed_sources(tx)
    target = await targets.get(tx, id)
    assert (target.enabled, target.status, target.fail_count) == (True, "active", 0)
    assert await targets.sync_changed_sources(tx) == 0


@pytest.mark.parametrize("policy", ["seed", "yield"])
async def test_a_bad_target_whose_source_is_enabled_need_not_rest_first(
    tx: Tx, policy: PolicyName
) -> None:
    rests: Any = {
        "next_allowed_at": NOW + 30 * DAY,
        "blocked_until": NOW + 30 * DAY,
        "health": 1e-5,
    }
    id = await make_target(tx, status="bad", fail_count=5, **rests)
    await sources.disable(tx, id, "it fails")
    await targets.sync_changed_sources(tx)
    await sources.enable(tx, id)
    planned = await start_run(tx, RunRequest(policy, "manual"), NOW, {})
    assert [target.source_id for target in planned.claimed] == [id]
    assert (await targets.get(tx, id)).health == 1


async def test_a_source_that_waits_for_approval_takes_no_turn(tx: Tx) -> None:
    id = await make_source(tx, enabled=False)
    await targets.sync_changed_sources(tx)
    assert await targets.find(tx, id) is None
    await sources.enable(tx, id)
    await targets.sync_changed_sources(tx)
    assert await targets.find(tx, id) is not None


async def test_people_pause_resume_and_revive(tx: Tx) -> None:
    id = await make_target(tx)
    assert (await targets.pause(tx, id)).status == "paused"
    with pytest.raises(Conflict, match="paused in the rotation already"):
        await targets.pause(tx, id)
    with pytest.raises(Conflict, match="rotate resume"):
        await targets.revive(tx, id)
    assert (await targets.resume(tx, id)).status == "active"
    await put(
        tx, id, status="bad", fail_count=9, next_allowed_at=NOW + DAY, blocked_until=NOW + DAY
    )
    with pytest.raises(Conflict, match="rotate revive"):
        await targets.pause(tx, id)
    target = await targets.revive(tx, id)
    assert (target.status, target.fail_count, target.blocked_until) == ("active", 0, None)
    with pytest.raises(NotFound):
        await targets.pause(tx, 999_999)


async def test_a_search_becomes_slices_the_most_wanted_first(tx: Tx) -> None:
    low = await searches.add(tx, "jooble", ["cook"], ["Porto"], SearchSettings(20))
    high = await searches.add(tx, "Jooble", ["diver", "pilot"], ["Porto", ""], SearchSettings(80))
    assert (low.slices, high.slices) == (1, 4)
    for policy in ("seed", "yield"):
        await tx.execute("UPDATE rotation.target SET queued_at = NULL")
        planned = await start_run(tx, RunRequest(policy, "manual"), NOW, KEYS)
        slices = await targets.by_ids(tx, [target.source_id for target in planned.claimed])
        turns = {target.source_id: target.priority for target in slices}
        assert [turns[target.source_id] for target in planned.claimed] == [80, 80, 80, 80, 20]
        assert {target.min_interval for target in slices} == {DAY}


async def test_slices_that_no_search_wants_rest(tx: Tx) -> None:
    first = await searches.add(tx, "jooble", ["cook", "diver"], [""])
    two = await searches.add(tx, "jooble", ["cook"], [""])
    await searches.update_search(tx, first.id, enabled=False)

    async def active() -> list[str]:
        cursor = await tx.execute(
            "SELECT config ->> 'keywords' FROM rotation.target JOIN catalog.source ON id = source_id "
            "WHERE target.status = 'active' ORDER BY 1"
        )
        return [words for (words,) in await cursor.fetchall()]

    assert await active() == ["cook"]
    await searches.remove(tx, two.id)
    assert await active() == []
    await searches.update_search(tx, first.id, enabled=True)
    assert await active() == ["cook", "diver"]
    assert [search.id for search in await searches.list_all(tx)] == [first.id]


async def test_a_search_that_cannot_be_is_refused(tx: Tx) -> None:
    with pytest.raises(Invalid, match="cannot be searched"):
        await searches.add(tx, "greenhouse", ["cook"], [])
    await searches.add(tx, "jooble", ["cook "], ["Porto"])
    with pytest.raises(Conflict, match="the same search"):
        await searches.add(tx, "jooble", [" cook"], ["Porto"])


async def test_monitoring_tells_what_calls_brought_and_what_stands_still(tx: Tx) -> None:
    first, two, bad = [await make_target(tx) for _ in range(3)]
    await answer(tx, first, NOW - HOUR, new=4, duplicates=1)
    await answer(tx, first, NOW - 3 * DAY, new=9)
    await answer(tx, two, NOW - HOUR, **failed())
    await put(tx, bad, status="bad")
    await make_target(tx, "jooble")
    [platform] = await rotation_status.yield_by_platform(tx, NOW, DAY)
    assert (platform.platform, platform.calls, platform.results, platform.new) == (
        "greenhouse",
        2,
        5,
        4,
    )
    assert (platform.wasted, platform.failed, platform.duplicates, platform.new_per_call) == (
        1,
        1,
        1,
        2.0,
    )
    days = await rotation_status.calls_by_day(tx, NOW)
    assert [(day.calls, day.new) for day in days] == [(2, 4), (1, 9)]
    ages = {first.age: first.targets for first in await rotation_status.target_ages(tx, NOW)}
    assert sum(ages.values()) == 3
    assert ages["never"] == 2
    still = {first.what: first.why for first in await rotation_status.blocked_targets(tx, NOW, {})}
    assert still["targets"] == "bad"
    assert "JOOBLE_API_KEY" in still["jooble"]
    assert "subscription" in still["jobdatafeeds"]


@pytest.mark.parametrize("policy", ["seed", "yield"])
async def test_what_is_due_is_listed_in_its_order(tx: Tx, policy: Any) -> None:
    late = await make_target(tx, due_at=NOW - DAY, next_allowed_at=NOW - DAY)
    coming = NOW + HOUR
    soon = await make_target(tx, due_at=coming, blocked_until=coming, next_allowed_at=coming)
    await make_target(tx, status="paused")
    request = RunRequest(policy)
    due = await list_due(tx, request, NOW, {})
    assert [target.source for target in due.targets] == [late]
    ahead = await list_due(tx, request, NOW, {}, ahead=2 * HOUR)
    assert [target.source for target in ahead.targets] == [late, soon]


async def test_a_run_tells_what_came_of_it(tx: Tx) -> None:
    with pytest.raises(Conflict):
        await rotation_status.run_report(tx)
    first, two = await make_target(tx), await make_target(tx)
    planned = await start_run(tx, RunRequest(trigger="manual"), NOW, {})
    await answer(tx, first, NOW, new=3)
    report = await rotation_status.run_report(tx, planned.run_id)
    assert (report.chosen, report.called, report.waiting, report.new) == (2, 1, 1, 3)
    await answer(tx, two, NOW, **failed())
    report = await rotation_status.run_report(tx)
    assert (report.called, report.waiting, report.failures) == (2, 0, 1)
    assert json.dumps(report.skipped) == "{}"
