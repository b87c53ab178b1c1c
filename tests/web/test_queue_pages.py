from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill.db import Database
from jobmill.errors import Invalid
from jobmill.queue import (
    Block,
    Finish,
    ItemId,
    Move,
    Stage,
    Stages,
    WaitFor,
    Work,
    inspect,
    lineage,
    operator_actions,
    search,
)
from jobmill.queue.inspect import Item, ItemEvent, RunCounter
from jobmill.queue.overview import RATE_WINDOW, RateTracker
from jobmill.queue.search import ItemFilter
from jobmill.web.pages.queue import detail_page as item_page
from jobmill.web.pages.queue import lineage_page
from tests.cli.test_queue_tables import ITEM, THEN
from tests.people.helpers import bearer
from tests.queue.helpers import drain, fetch, happened, item, new, put, stages
from tests.web.helpers import site_with

HTML = {"Accept": "text/html"}
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)",
    "{{7*6691}}",
    "\u202egnp.exe",
)


async def end(work: Work) -> Move:
    return Finish()


async def fail(work: Work) -> Move:
    raise Invalid("no water")


async def block(work: Work) -> Move:
    return Block("kettle", "the kettle is away")


async def spawn_twice(work: Work) -> Move:
    """Spawns the same item twice; the second is refused."""
    return Finish(spawn=[new("cup", "blue"), new("cup", "blue"), new("tea", work.key)])


async def wait(work: Work) -> Move:
    return Finish() if work.waited_for else WaitFor(ItemId(work.data["for"]))


async def page(site: httpx2.AsyncClient, path: str, status: int = 200) -> Html:
    answer = await site.get(path, headers=HTML)
    assert answer.status_code == status, answer.text
    return Html(answer.text)


def texts(page: Html, css: str) -> list[str]:
    return [" ".join(node.text().split()) for node in page.css(css)]


async def send(
    site: httpx2.AsyncClient, path: str, status: int = 303, **fields: str
) -> httpx2.Response:
    answer = await site.post(path, data=fields, headers=HTML)
    assert answer.status_code == status, answer.text
    return answer


async def test_a_step_is_paused_with_a_reason_and_resumed(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await put(database, stages({"tea/boil": Stage(end), "tea/steep": Stage(end)}))
    confirmation = await page(site, "/activity/pause?phase=tea/steep")
    assert "Pause tea/steep?" in texts(confirmation, "#confirmation-title")
    assert [node.attributes["value"] for node in confirmation.css("[name=phase]")] == [
        "tea/steep",
        "tea",
    ]
    answer = await send(site, "/activity/pause", phase="tea/steep", reason="guests")
    assert answer.headers["location"] == "/activity?did=paused"
    shown = await page(site, "/activity?did=paused")
    assert texts(shown, ".message") == ["Paused. Running tasks finish, and no new ones start."]
    [row] = [node for node in texts(shown, ".phases tbody th") if "paused" in node]
    assert "guests" in row
    assert row.startswith("tea/steep")
    assert (
        "guests"
        in texts(await page(site, "/activity/resume?phase=tea/steep"), ".confirmation p")[0]
    )
    assert (await send(site, "/activity/resume", phase="tea/steep")).headers["location"] == (
        "/activity?did=resumed"
    )
    assert await fetch(database, "SELECT kind FROM queue.pause") == []


async def test_the_health_line_reports_paused_steps(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await put(database, stages({"tea/boil": Stage(end), "tea/steep": Stage(end)}), new("tea/boil"))
    async with database.transaction() as tx:
        await tx.execute(
            "INSERT INTO queue.worker (name, lease, processors) VALUES ('here:1', '1 hour', '[]')"
        )

    async def verdict() -> tuple[list[str], bool]:
        shown = await page(site, "/activity")
        return texts(shown, ".verdict"), bool(shown.css(".needs .calm"))

    assert await verdict() == (["Queue: all working"], False)
    await send(site, "/activity/pause", phase="tea/steep", reason="guests")
    assert await verdict() == (["Queue: 1 warning"], True)
    await send(site, "/activity/pause", phase="tea", reason="guests")
    assert await verdict() == (["Queue: 1 warning"], True)
    await send(site, "/activity/resume", phase="tea")
    await send(site, "/activity/resume", phase="tea/steep")
    assert await verdict() == (["Queue: all working"], False)


async def test_all_steps_of_a_type_are_paused_and_resumed_together(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await put(database, stages({"tea/boil": Stage(end), "tea/steep": Stage(end)}))
    await send(site, "/activity/pause", phase="tea", reason="guests")
    links = [link.attributes["href"] for link in (await page(site, "/activity")).css(".act a")]
    assert links == ["/activity/resume?phase=tea"] * 2


async def test_a_pause_needs_a_reason(site: httpx2.AsyncClient, database: Database) -> None:
    await put(database, stages(tea=end))
    answer = await send(site, "/activity/pause", 400, phase="tea/run", reason=" ")
    assert "Enter a reason. It is kept in the history." in answer.text
    assert Html(answer.text).css_first(".confirmation")
    answer = await send(site, "/activity/pause", 400, phase="tea/run", reason="x" * 501)
    assert Html(answer.text).css_first("[name=reason]").attributes["value"] == "x" * 501
    assert await fetch(database, "SELECT kind FROM queue.pause") == []


async def test_pausing_an_unknown_step_or_resuming_an_active_one_is_refused(
    site: httpx2.AsyncClient, database: Database
) -> None:
    await put(database, stages(tea=end))
    await page(site, "/activity/pause?phase=coffee/run", 404)
    await page(site, "/activity/pause?phase=tea/cold", 404)
    await page(site, "/activity/pause", 422)
    await page(site, "/activity/resume?phase=tea/run", 409)
    await send(site, "/activity/resume", 409, phase="tea/run")
    await send(site, "/activity/resume", 400, phase="coffee")


async def test_blocked_tasks_are_unblocked_by_resource_name(
    site: httpx2.AsyncClient, database: Database
) -> None:
    table = stages(tea=block)
    [id] = await put(database, table, new("tea"))
    await drain(database, table)
    shown = await page(site, "/activity")
    assert "kettle 1 task is waiting for it Unblock kettle" in texts(shown, ".acted")
    assert not shown.css("#queue .empty")
    assert "1 task continues." in texts(
        await page(site, "/activity/unblock?on=kettle"), ".confirmation p"
    )
    assert "the kettle is away" in texts(await page(site, f"/activity/tasks/{id}"), ".message")
    await send(site, "/activity/unblock", on="kettle")
    assert (await item(database, id)).status == "PENDING"
    await send(site, "/activity/unblock", 409, on="kettle")
    await page(site, "/activity/unblock?on=kettle", 409)


async def test_an_alert_is_cleared_once(site: httpx2.AsyncClient, database: Database) -> None:
    [id] = await fetch(
        database,
        "INSERT INTO queue.alert (rule, subject, detail) VALUES ('deep', 'x', 'far') RETURNING id",
    )
    shown = await page(site, "/activity")
    assert shown.css_first(f'.alerts a[href="/activity/alerts/{id}/clear"]')
    assert "deep: far" in texts(await page(site, f"/activity/alerts/{id}/clear"), ".confirmation p")
    await send(site, f"/activity/alerts/{id}/clear")
    assert not (await page(site, "/activity")).css(".alerts")
    await send(site, f"/activity/alerts/{id}/clear", 404)
    await page(site, f"/activity/alerts/{id}/clear", 404)


async def test_processors_are_tiles_with_links_to_their_tasks(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        await tx.execute(
            """
            INSERT INTO queue.worker (name, lease, processors) VALUES ('here:1', '1 hour',
            '[{"kind":"tea","stage":"run","number":1,"state":"idle","item":null,"since":"2026-01-01"},
              {"kind":"tea","stage":"run","number":2,"state":"busy","item":77,"since":"2026-01-01"},
              {"kind":"tea","stage":"run","number":3,"state":"error","item":null,"since":"2026-01-01"}]')
            """
        )
    shown = await page(site, "/activity")
    assert texts(shown, ".tile") == ["idle", "busy 77", "error"]
    assert [link.attributes["href"] for link in shown.css(".tile a")] == ["/activity/tasks/77"]


@pytest.mark.parametrize(
    "due",
    [
        pytest.param(True, marks=pytest.mark.server_clock(dt.timedelta(hours=1))),
        pytest.param(False, marks=pytest.mark.server_clock(dt.timedelta(hours=-1))),
    ],
)
async def test_the_database_clock_decides_whether_a_schedule_is_due(
    site: httpx2.AsyncClient, database: Database, due: bool
) -> None:
    async with database.transaction() as tx:
        await tx.execute(
            "INSERT INTO queue.schedule (name, every, next_at) VALUES ('sweep', '1 day', now() + %s)",
            [dt.timedelta(minutes=-30 if due else 30)],
        )
    shown = await page(site, "/activity")
    [row] = [row for row in texts(shown, "tr") if "sweep" in row]
    assert ("due" in row) is due


async def test_live_updates_replace_no_form(site: httpx2.AsyncClient, database: Database) -> None:
    [id] = await put(database, stages(tea=end), new("tea"))
    for path in ("/activity/pause?phase=tea/run", f"/activity/tasks/{id}/cancel"):
        shown = await page(site, path)
        assert shown.css("form")
        assert not shown.css("[hx-trigger] form")
    assert 'http-equiv="refresh"' in (await site.get("/activity")).text
    assert 'http-equiv="refresh"' not in (await site.get("/activity/pause?phase=tea/run")).text


def test_rates_are_measured_between_page_views() -> None:
    def counted(runs: int) -> Sequence[RunCounter]:
        return [RunCounter("tea", "run", outcome, runs, 0.0, []) for outcome in ("finish", "retry")]

    rates = RateTracker()
    assert rates.add(0.0, counted(100)).seconds == 0
    pace = rates.add(30.0, counted(110))
    assert (pace.seconds, pace.per_minute["tea", "run"]) == (30.0, 40.0)
    pace = rates.add(RATE_WINDOW + 20, counted(110))
    assert (pace.seconds, pace.per_minute["tea", "run"]) == (RATE_WINDOW - 10, 0.0)
    assert rates.add(3 * RATE_WINDOW, counted(500)).seconds == 0, "nobody looked for long"


async def test_tasks_are_listed_newest_first_and_filtered(
    site: httpx2.AsyncClient, database: Database
) -> None:
    table = stages(tea=end, cup=fail)
    first, second, third = await put(
        database, table, new("tea", "green"), new("cup", "green"), new("tea", "black")
    )
    await drain(database, table)
    [late] = await put(database, table, new("tea", "white"))

    async def listed(query: str) -> list[str]:
        html = await page(site, f"/activity/tasks{query}")
        return [str(link.attributes["href"]).split("/")[-1] for link in html.css(".work a")]

    assert await listed("") == [str(id) for id in (late, third, second, first)]
    assert await listed("?status=FAILED") == [str(second)]
    assert await listed("?status=PENDING&kind=") == [str(late)]
    assert await listed("?kind=tea&about=green") == [str(first)]
    assert await listed("?status=SUCCESS&kind=cup") == []
    assert await listed(f"?before={third}") == [str(second), str(first)]
    for wrong in ("status=ODD", "before=0", "before=x", "about=%00"):
        await page(site, f"/activity/tasks?{wrong}", 422)


async def test_pages_of_tasks_have_no_gaps(database: Database) -> None:
    ids = await put(database, stages(tea=end), *(new("tea", str(n)) for n in range(5)))
    async with database.transaction() as tx:
        top = await search.search_items(tx, ItemFilter(), limit=2)
        rest = await search.search_items(tx, ItemFilter(), limit=3, before=top.next)
    assert [row.id for row in (*top.items, *rest.items)] == ids[::-1]
    assert rest.next is None


async def test_a_search_for_a_rare_type_stops_at_the_scan_limit_and_can_continue(
    database: Database,
) -> None:
    table = stages(tea=end, cup=end)
    [rare] = await put(database, table, new("cup", "rare"))
    await put(database, table, *(new("tea", str(n)) for n in range(5)))
    async with database.transaction() as tx:
        result = await search.search_items(tx, ItemFilter(kind="cup"), reach=3)
        assert (result.items, result.next) == ([], rare + 3)
        result = await search.search_items(tx, ItemFilter(kind="cup"), reach=3, before=result.next)
        assert [row.id for row in result.items] == [rare]
        live = await search.search_items(tx, ItemFilter("PENDING", "cup"), reach=1)
        assert [row.id for row in live.items] == [rare], "what is alive is few, and all looked at"


async def test_a_task_page_shows_error_links_and_data(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async def stumble(work: Work) -> Move:
        raise RuntimeError("the cup fell")

    table: Stages = {("tea", "run"): Stage(stumble, max_retries=0)}
    data: dict[str, Any] = {"listing_id": 7, "source": 8, "company": "Acme", "opening_id": True}
    [id] = await put(database, table, new("tea", "https://tea.example/green", data=data))
    await drain(database, table)
    shown = await page(site, f"/activity/tasks/{id}")
    text = texts(shown, "main")[0]
    for words in (
        "Failed",
        "transient",
        "RuntimeError: the cup fell",
        "Fingerprint",
        "Started",
        "0 of 0",
    ):
        assert words in text
    links = [link.attributes["href"] for link in shown.css(".row-actions a")]
    assert links[1:] == [
        f"/activity/tasks/{id}/retry",
        "/jobs/7",
        "/sources/8",
        "https://tea.example/green",
    ]
    assert '"company": "Acme"' in shown.css_first("pre").text()


async def test_a_failed_task_can_be_retried(site: httpx2.AsyncClient, database: Database) -> None:
    table = stages(tea=fail)
    [id] = await put(database, table, new("tea"))
    await drain(database, table)
    await page(site, f"/activity/tasks/{id}/cancel", 409)
    assert "Retry this task?" in texts(
        await page(site, f"/activity/tasks/{id}/retry"), "#confirmation-title"
    )
    answer = await send(site, f"/activity/tasks/{id}/retry")
    assert answer.headers["location"] == f"/activity/tasks/{id}?did=retry"
    assert texts(await page(site, answer.headers["location"]), ".message[role=status]")
    assert (await item(database, id)).status == "PENDING"
    assert await fetch(database, "SELECT note FROM queue.event WHERE type = 'put back'") == [
        "by local"
    ]
    await send(site, f"/activity/tasks/{id}/retry", 409)


async def test_cancelling_a_task_names_consequences_and_needs_a_reason(
    site: httpx2.AsyncClient, database: Database
) -> None:
    table = stages(tea=wait, cup=end)
    [cup] = await put(database, table, new("cup"))
    [tea] = await put(database, table, new("tea", data={"for": cup}))
    await drain(database, table, only=[("tea", "run")])
    assert (await item(database, tea)).waits_for == cup
    assert await page(site, f"/activity/tasks/{tea}"), "what it waits for is a link"
    shown = await page(site, f"/activity/tasks/{tea}")
    assert shown.css_first(f'dd a[href="/activity/tasks/{cup}"]')
    consequences = texts(await page(site, f"/activity/tasks/{cup}/cancel"), ".confirmation p")
    assert "1 task that is waiting for it continues without it." in consequences
    answer = await send(site, f"/activity/tasks/{cup}/cancel", 400, reason="")
    assert Html(answer.text).css_first(".confirmation")
    await send(site, f"/activity/tasks/{cup}/cancel", reason="broken")
    assert (await item(database, cup)).message == "Cancelled: broken"
    assert (await happened(database, cup))[-1] == "cancelled"


async def test_only_admins_see_and_change_the_queue(database: Database) -> None:
    [id] = await put(database, stages(tea=end), new("tea"))
    [alert] = await fetch(
        database,
        "INSERT INTO queue.alert (rule, subject, detail) VALUES ('deep', 'x', 'far') RETURNING id",
    )
    acts = ("pause", "resume", "unblock", f"alerts/{alert}/clear", f"tasks/{id}/cancel")
    async with site_with(database) as far:
        headers = HTML | await bearer(database, "viewer")
        [tracking] = await fetch(database, "SELECT tracking_id FROM queue.item")
        for path in ("", "/tasks", f"/tasks/{id}", f"/lineage/{tracking}"):
            assert (await far.get(f"/activity{path}", headers=headers)).status_code == 403
            assert (await far.get(f"/activity{path}")).status_code == 401
        for path in acts:
            answer = await far.post(f"/activity/{path}", headers=headers, data={"phase": "tea"})
            assert answer.status_code == 403, path
        headers = await bearer(database, "admin")
        answer = await far.post(
            "/activity/pause", headers=headers, data={"phase": "tea", "reason": "guests"}
        )
        assert answer.status_code == 303
    async with database.transaction() as tx:
        [pause] = await inspect.list_pauses(tx)
    assert pause.reason == "guests (for a admin)"


async def test_a_lineage_is_a_tree_with_refused_tasks(
    site: httpx2.AsyncClient, database: Database
) -> None:
    table = stages(tea=spawn_twice, cup=end)
    [id] = await put(database, table, new("tea", "green"))
    await drain(database, table)
    [cup] = await fetch(database, "SELECT id FROM queue.item WHERE kind = 'cup'")
    tracking = (await item(database, id)).tracking_id
    shown = await page(site, f"/activity/lineage/{tracking}?item={cup}")
    root = shown.css_first(".lineage > li")
    assert len(shown.css(".lineage > li")) == 1
    assert root.css_first(f'.node a[href="/activity/tasks/{id}"]')
    below = root.css_first("ul")
    refused = [" ".join(node.text().split()) for node in below.css(".refused")]
    assert refused == [
        "Refused already running elsewhere cup/run blue",
        "Refused would be its own ancestor tea/run green",
    ]
    here = shown.css_first("#here")
    assert here.css_first("a").attributes["href"] == f"/activity/tasks/{cup}"
    assert here.parent is not None
    assert here.parent.parent is not None
    assert here.parent.parent.html == below.html


async def test_unknown_tasks_and_lineages_are_not_found(site: httpx2.AsyncClient) -> None:
    await page(site, "/activity/tasks/999999999", 404)
    await page(site, f"/activity/lineage/{UUID(int=5)}", 404)
    await page(site, "/activity/lineage/5", 404)
    await page(site, "/activity/tasks/x", 404)
    await page(site, "/activity/tasks/0", 404)
    await page(site, "/activity/tasks/5/eat", 404)


async def test_a_large_lineage_is_truncated(site: httpx2.AsyncClient, database: Database) -> None:
    await put(database, stages(tea=end))
    tracking = UUID(int=7)
    await fetch(
        database,
        """
        INSERT INTO queue.item (kind, stage, key, key_hash, data, priority, tracking_id, ancestry,
            ancestor_keys, spawn_depth, max_spawn_depth, handed_over, max_retries)
        SELECT 'tea', 'run', 'k' || n, md5('k' || n)::uuid, '{}', 100, %s, '{}', '{}', 0, 10, false, 3
          FROM generate_series(1, 1001) AS n RETURNING id
        """,
        [tracking],
    )
    await fetch(
        database,
        """
        INSERT INTO queue.ending (item_id, status, stage, final, retry_count, attempts)
        SELECT id, 'SUCCESS', 'run', true, 0, 1 FROM queue.item RETURNING item_id
        """,
    )
    [last] = await fetch(database, "SELECT max(id) FROM queue.item")
    shown = await page(site, f"/activity/lineage/{tracking}?item={last}")
    assert len(shown.css(".lineage > li")) == 500
    assert "Showing the first 500 tasks" in texts(shown, ".message")[0]
    assert f"Task {last} is not among them." in texts(shown, ".message")[0]


def chain(length: int) -> list[Item]:
    return [replace(ITEM, id=n, parent_id=n - 1 or None) for n in range(1, length + 1)]


def test_a_chain_longer_than_the_stack_is_drawn_with_closed_lists() -> None:
    rows = lineage_page.tree_rows(lineage.build_trees(chain(3_000), []))
    assert len(rows) == 3_000
    assert (
        sum(row.opens for row in rows) == sum(row.closes for row in rows) == lineage_page.MAX_INDENT
    )


def test_children_are_listed_below_their_parent_in_order() -> None:
    items = [
        replace(ITEM, id=n, parent_id=parent)
        for n, parent in ((1, None), (2, 1), (3, 1), (4, 2), (5, 9))
    ]
    refused = ItemEvent(1, 2, THEN, "spawn refused", None, None, "run", None, "depth: cup/run x")
    roots = lineage.build_trees(items, [refused])
    drawn = [(level, node.item.id) for level, node in lineage.walk_trees(roots)]
    assert drawn == [(0, 1), (1, 2), (2, 4), (1, 3), (0, 5)]
    assert [node.is_orphan for node in roots] == [False, True]
    assert roots[0].children[0].refused == [refused]


@pytest.mark.parametrize("words", HOSTILE)
async def test_external_text_in_the_queue_is_escaped(
    site: httpx2.AsyncClient, database: Database, words: str
) -> None:
    async def run(work: Work) -> Move:
        if work.kind == "tea":
            return Finish(spawn=[new("cup", words, data={words: words, "url": words})] * 2)
        raise Invalid(words)

    table = stages(tea=run, cup=run)
    await put(database, table, new("tea"))
    await drain(database, table)
    [cup, tracking] = (
        await fetch(database, "SELECT id, tracking_id FROM queue.item WHERE kind = 'cup'")
    )[0]
    async with database.transaction() as tx:
        await operator_actions.pause_phase(tx, "tea", None, words)
        await tx.execute(
            "INSERT INTO queue.alert (rule, subject, detail) VALUES (%(w)s, 'x', %(w)s)",
            {"w": words},
        )
    for path in ("", "/tasks", f"/tasks/{cup}", f"/tasks/{cup}/retry", f"/lineage/{tracking}",
                 "/resume?phase=tea"):  # fmt: skip
        shown = await page(site, f"/activity{path}")
        assert not shown.css("main script, main img, main [onerror]")
        assert not shown.css('a[href^="javascript"]')
        assert "46837" not in " ".join(texts(shown, "bdi"))
    assert words in texts(await page(site, f"/activity/tasks/{cup}"), ".facts bdi")


def test_data_escapes_direction_marks() -> None:
    assert item_page.format_data({"a": "x\u202ey\u0000"}) == '{\n  "a": "x\\u202ey\\u0000"\n}'


async def test_an_empty_list_says_when_finished_tasks_are_deleted(
    site: httpx2.AsyncClient,
) -> None:
    empty = await page(site, "/activity/tasks?about=nothing")
    assert "Finished tasks are deleted after 30 days." in texts(empty, ".empty")[0]
