"""/sources/rotation: due reads, yield, scheduled reads, searches and platforms."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import AsyncIterator

import httpx2
import pytest
from psycopg.types.json import Jsonb

from jobmill import queue
from jobmill.catalog import history
from jobmill.db import Database, Tx, fetch_value
from jobmill.pipelines import rotation
from jobmill.queue import Finish, Stage, Work
from jobmill.rotation import platform_state, searches, target_settings, targets
from jobmill.rotation.target_settings import TargetTiming
from jobmill.settings import Settings
from jobmill.web.pages.rotation import labels
from tests.people.helpers import bearer
from tests.rotation.helpers import answer, failed, make_target, put
from tests.web.helpers import site_with

HTML = {"accept": "text/html"}
EVIL = '"><img src=x onerror=alert(1)> <script>alert(1)</script> {{7*7}}'
ALL = ("", "/yield", "/reads", "/searches", "/platforms")


def now() -> dt.datetime:
    return dt.datetime.now(dt.UTC)


async def make(database: Database, platform: str = "greenhouse", **columns: object) -> int:
    async with database.transaction() as tx:
        return await make_target(tx, platform, **columns)


async def look(site: httpx2.AsyncClient, path: str = "", status: int = 200) -> str:
    response = await site.get(f"/sources/rotation{path}", headers=HTML)
    assert response.status_code == status
    return response.text


async def send(
    site: httpx2.AsyncClient, path: str, status: int = 303, **form: str
) -> httpx2.Response:
    response = await site.post(
        f"/sources/rotation{path}",
        data=form,
        headers={**HTML, "origin": str(site.base_url).rstrip("/")},
    )
    assert response.status_code == status
    return response


async def make_run(tx: Tx, **skipped: str) -> int:
    id = await fetch_value(
        tx,
        int,
        """
        INSERT INTO rotation.run (trigger, policy, chosen, skipped)
        VALUES ('manual', 'yield', 2, %s) RETURNING id
        """,
        [Jsonb(skipped)],
    )
    assert id
    return id


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "almost none"),
        (0.001, "almost none"),
        (0.2, "1 job in 5 reads"),
        (0.74, "1 job in 2 reads"),
        (0.8, "1 job"),
        (1_234.2, "1,234 jobs"),
    ],
)
def test_expected_new_jobs_are_described(value: float | None, text: str) -> None:
    assert labels.describe_expected(value) == text


@pytest.mark.parametrize("path", ALL)
async def test_an_empty_rotation_says_what_to_do_next(site: httpx2.AsyncClient, path: str) -> None:
    text = await look(site, path)
    assert 'class="empty"' in text
    assert text.count("<h1") == 1


async def test_due_reads_are_shown_with_expected_new_jobs(
    site: httpx2.AsyncClient, database: Database
) -> None:
    estimate = {"new_per_day": 3.0, "loss_rate": 0.05, "last_ok_at": now() - dt.timedelta(days=60)}
    rich = await make(database, **estimate)
    soon = now() + dt.timedelta(hours=5)
    later = await make(database, "lever", due_at=soon, blocked_until=soon)
    text = await look(site)
    assert f"/sources/rotation/reads/{rich}" in text
    assert f"/sources/rotation/reads/{later}" not in text
    assert "48 jobs" in text
    assert f"/sources/rotation/reads/{later}" in await look(site, "?ahead=day")
    assert f"/sources/rotation/reads/{rich}" not in await look(site, "?ahead=day&platform=lever")


async def test_the_last_run_lists_skipped_reads_with_reasons(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        run = await make_run(tx, reed="it needs a key: set REED_API_KEY")
        bad = await make_target(tx, run_id=run, queued_at=now())
        await answer(tx, bad, now(), **failed(detail="the board fell over"))
        skipped = await make_target(tx)
        await put(tx, skipped, run_id=run, skip_reason="the queue has no room")
    text = await look(site)
    for reason in ("REED_API_KEY", "the board fell over", "the queue has no room"):
        assert reason in text
    assert "Nothing failed or was skipped" not in text


async def test_repeated_run_requests_share_one_task(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        await queue.declare_stages(tx, {(rotation.KIND, "run"): Stage(_nothing)})
    first = (await send(site, "/run")).headers["location"]
    again = (await send(site, "/run")).headers["location"]
    item = first.rpartition("=")[2]
    assert first == f"/sources/rotation?did=started&item={item}"
    assert again == f"/sources/rotation?did=running&item={item}"
    assert f'href="/activity/tasks/{item}"' in await look(site, f"?did=started&item={item}")


async def _nothing(work: Work) -> Finish:
    return Finish("")


@pytest.mark.parametrize(("by_hand", "claimed"), [(True, 1), (False, 0)])
async def test_a_manual_run_ignores_the_daily_limit(
    database: Database, by_hand: bool, claimed: int
) -> None:
    await make(database)
    new = rotation.new_item() if by_hand else queue.NewItem(rotation.KIND, "run", "what is due")
    request = rotation.request_from_settings(Settings(rotation_calls_per_day=0))
    run = Stage(lambda work: rotation.rotate(request, work))
    stages = {(rotation.KIND, "run"): run, ("source", "scrape"): Stage(_nothing)}
    async with database.transaction() as tx:
        await queue.declare_stages(tx, stages)
        await queue.submit(tx, new)
    await queue.Worker(database, stages, only=[(rotation.KIND, "run")]).drain()
    async with database.transaction() as tx:
        count = await fetch_value(tx, int, "SELECT count(*) FROM rotation.target WHERE run_id > 0")
    assert count == claimed


async def test_the_yield_page_has_a_chart_table_and_sortable_tables(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        target = await make_target(tx)
        await answer(tx, target, now(), new=7)
    for of in ("day", "week", "month"):
        text = await look(site, f"/yield?of={of}")
        table = text[text.index("<table id=") : text.index("</table>")]
        assert "data-series=" in table
        assert 'data-value="7">7<' in table
        assert table.count('scope="row" data-value=') == 2
        assert f'<a href="/sources/rotation/reads/{target}">' in text
        assert "/static/series.js" in text
        assert "/static/vendor/uPlot.min.css" in text
    assert "under 6 hours: 1" in text


async def test_a_scheduled_read_can_be_paused_resumed_and_prioritized(
    site: httpx2.AsyncClient, database: Database
) -> None:
    id = await make(database)
    for change, status in (("pause", "paused"), ("resume", "active")):
        await send(site, f"/reads/{id}/{change}")
        async with database.transaction() as tx:
            assert (await targets.get(tx, id)).status == status
    await send(site, f"/reads/{id}/settings", priority="5", interval="12", window="24")
    async with database.transaction() as tx:
        target = await targets.get(tx, id)
        assert target.priority == 5
        assert (target.own_interval, target.own_window) == (
            dt.timedelta(hours=12),
            dt.timedelta(hours=24),
        )
        happened = [
            (event.what, event.actor) for event in await history.find_events(tx, "source", id)
        ]
    assert happened[-4:] == [
        ("paused", "local"),
        ("resumed", "local"),
        ("prioritised", "local"),
        ("timed", "local"),
    ]
    assert 'value="12"' in await look(site, f"/reads/{id}")


async def test_the_form_accepts_the_hours_that_it_shows(
    site: httpx2.AsyncClient, database: Database
) -> None:
    """A command may have set an interval such as 20 minutes: 0.333333 hours."""
    id = await make(database)
    timing = TargetTiming(dt.timedelta(minutes=20), None)
    async with database.transaction() as tx:
        await target_settings.set_timing(tx, id, timing, actor="local")
    page = await look(site, f"/reads/{id}")
    [shown] = re.findall(r'name="interval"[^>]* value="([^"]+)"', page)
    await send(site, f"/reads/{id}/settings", priority="5", interval=shown, window="")
    async with database.transaction() as tx:
        kept = (await targets.get(tx, id)).own_interval
    assert kept
    assert round(kept / dt.timedelta(minutes=1)) == 20


async def test_invalid_changes_of_a_scheduled_read_are_refused_and_values_are_kept(
    site: httpx2.AsyncClient, database: Database
) -> None:
    id = await make(database)
    assert 'role="alert"' in (await send(site, f"/reads/{id}/resume", 409)).text
    refused = await send(site, f"/reads/{id}/settings", 400, priority="7x")
    assert 'role="alert"' in refused.text
    assert 'value="7x"' in refused.text
    for form, message in (
        ({"priority": "101"}, "0 to 100"),
        ({"priority": "5", "interval": "x"}, "Enter hours"),
        ({"priority": "5", "interval": "0.1"}, "10 minutes"),
        ({"priority": "5", "window": "721"}, "30 days"),
    ):
        assert message in (await send(site, f"/reads/{id}/settings", 400, **form)).text
    await look(site, f"/reads/{id + 1_000_000}", 404)


async def test_the_failures_of_a_scheduled_read_can_be_reset(
    site: httpx2.AsyncClient, database: Database
) -> None:
    id = await make(database, status="bad", fail_count=5)
    assert f"/reads/{id}/revive" in await look(site, f"/reads/{id}")
    assert "1 scheduled read" in await look(site)
    await send(site, f"/reads/{id}/revive")
    async with database.transaction() as tx:
        target = await targets.get(tx, id)
    assert (target.status, target.fail_count) == ("active", 0)


async def test_scheduled_reads_are_paged_and_filtered(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        ids = [await make_target(tx) for _ in range(51)]
        paused = await make_target(tx, "lever", status="paused")
    text = await look(site, "/reads")
    assert f"after={ids[49]}" in text
    assert f"/reads/{ids[50]}" not in text
    assert f"/reads/{ids[50]}" in await look(site, f"/reads?after={ids[49]}")
    for query in ("status=paused", "platform=lever"):
        text = await look(site, f"/reads?{query}")
        assert f"/reads/{paused}" in text
        assert f"/reads/{ids[0]}" not in text


async def test_a_search_can_be_added_edited_disabled_and_removed(
    site: httpx2.AsyncClient, database: Database
) -> None:
    form = {"platform": "remotive", "priority": "80", "locations": "", "interval": "36"}
    await send(site, "/searches/new", keywords="pump engineer\r\n driller ", **form)
    async with database.transaction() as tx:
        [search] = await searches.list_all(tx)
    assert (search.keywords, search.priority, search.slices) == (
        ["driller", "pump engineer"],
        80,
        2,
    )
    assert search.min_interval == dt.timedelta(hours=36)
    assert 'value="36"' in await look(site, f"/searches/{search.id}")
    refused = await send(site, "/searches/new", 409, keywords="driller\npump engineer", **form)
    assert "driller\npump engineer</textarea>" in refused.text
    await send(site, f"/searches/{search.id}", keywords="cook", **form)
    async with database.transaction() as tx:
        assert (await searches.get(tx, search.id)).keywords == ["cook"]
        resting = await fetch_value(
            tx, int, "SELECT count(*) FROM rotation.target WHERE status = 'paused'"
        )
    assert resting == 2
    assert "1 scheduled read stops, because no other search needs it." in await look(
        site, f"/searches/{search.id}/remove"
    )
    await send(site, f"/searches/{search.id}/off")
    async with database.transaction() as tx:
        assert not (await searches.get(tx, search.id)).enabled
    await send(site, f"/searches/{search.id}/remove")
    assert "No searches" in await look(site, "/searches")


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"platform": "remotive", "keywords": " ", "priority": "5"}, "Enter at least one search"),
        ({"platform": "remotive", "keywords": "cook", "priority": "101"}, "0 to 100"),
        ({"keywords": "cook", "priority": "5"}, "Choose a platform"),
        ({"platform": "lever", "keywords": "cook", "priority": "5"}, "cannot be searched"),
        ({"platform": "remotive", "keywords": "x" * 201, "priority": "5"}, "up to 200"),
        (
            {"platform": "remotive", "keywords": "cook", "priority": "5", "days_back": "7"},
            "cannot exclude old jobs by days_back",
        ),
        (
            {"platform": "jooble", "keywords": "cook", "priority": "5", "since": "x"},
            "year-month-day",
        ),
    ],
)
async def test_an_invalid_search_is_refused(
    empty_site: httpx2.AsyncClient, empty_database: Database, form: dict[str, str], message: str
) -> None:
    assert message in (await send(empty_site, "/searches/new", 400, **form)).text
    async with empty_database.transaction() as tx:
        assert await searches.list_all(tx) == []


async def test_an_edit_that_makes_two_searches_the_same_is_refused(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        await searches.add(tx, "remotive", ["cook"], [""])
        other = await searches.add(tx, "remotive", ["baker"], [""])
    form = {"platform": "remotive", "keywords": "cook", "priority": "50"}
    assert "the same search" in (await send(site, f"/searches/{other.id}", 409, **form)).text


async def test_a_search_of_a_million_pairs_is_refused(tx: Tx) -> None:
    many = [str(n) for n in range(1_001)]
    with pytest.raises(searches.Invalid, match="1,000 pairs"):
        await searches.add(tx, "remotive", many, [""])


async def test_platform_limits_can_be_set_and_removed(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await make(database)
    await make(database, "jooble")
    assert "about 8 requests" in await look(site, "/platforms")
    await send(site, "/platforms/greenhouse", per_hour="20", per_day="")
    text = await look(site, "/platforms")
    assert "<td>20</td>" in text
    assert "no limit" in text
    assert 'value="20"' in await look(site, "/platforms/greenhouse")
    wrong = await send(site, "/platforms/greenhouse", 400, per_hour="-1", per_day="9")
    assert 'value="-1"' in wrong.text
    assert 'value="9"' in wrong.text
    await send(site, "/platforms/greenhouse", per_hour="", per_day="0")
    assert "used up" in await look(site, "/platforms")
    async with database.transaction() as tx:
        standing = (await platform_state.load_all(tx))["greenhouse"]
        events = await history.find_events(tx, "vendor", "greenhouse")
    assert (standing.per_hour, standing.per_day) == (None, 0)
    assert [event.what for event in events] == ["limited", "limited"]
    await look(site, "/platforms/nowhere", 404)


@pytest.fixture
async def far(database: Database) -> AsyncIterator[httpx2.AsyncClient]:
    async with site_with(database) as client:
        client.headers.update(await bearer(database, "viewer"))
        yield client


async def test_viewers_see_and_change_nothing(far: httpx2.AsyncClient, database: Database) -> None:
    id = await make(database)
    async with database.transaction() as tx:
        search = await searches.add(tx, "remotive", ["cook"], [""])
    for path in (*ALL, f"/reads/{id}"):
        await look(far, path, 403)
    for path in ("/searches/new", f"/searches/{search.id}", "/platforms/greenhouse"):
        await look(far, path, 403)
    changes = (
        "/run",
        f"/reads/{id}/pause",
        f"/reads/{id}/settings",
        "/searches/new",
        f"/searches/{search.id}",
        f"/searches/{search.id}/off",
        f"/searches/{search.id}/remove",
        "/platforms/greenhouse",
    )
    for path in changes:
        await send(far, path, 403)


async def test_external_names_and_errors_are_escaped(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        run = await make_run(tx, **{EVIL: EVIL})
        id = await make_target(tx, run_id=run)
        await tx.execute("UPDATE catalog.source SET name = %s WHERE id = %s", [EVIL, id])
        await answer(tx, id, now(), **failed(detail=EVIL))
        await put(tx, id, due_at=now(), skip_reason=EVIL)
        search = await searches.add(tx, "jooble", [EVIL], [EVIL])
    paths = (*ALL, f"/reads/{id}", f"/searches/{search.id}", f"/searches/{search.id}/remove")
    for path in paths:
        text = await look(site, path)
        assert "<img src=x" not in text
        assert "<script>alert" not in text
