"""Tests of an opening's audit log, explanations, summary and replay pages."""

from __future__ import annotations

import datetime as dt
from typing import Any

import httpx2
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill.db import Database
from jobmill.hiring.audit_log import events, replay, replay_preview
from jobmill.hiring.records import openings
from jobmill.web.dependencies import format_moment
from tests.web.api.helpers import let_pass, make_job
from tests.web.hiring_helpers import (
    attribute,
    fill,
    import_many,
    look,
    post,
    text,
    texts,
    the_opening,
)


async def test_the_activity_is_newest_first_and_paged(site: httpx2.AsyncClient) -> None:
    job = await make_job(site)
    await import_many(site, job, 120)
    page = await look(site, f"/hiring/{job}/events")
    assert texts(page, ".log .seq") == [str(n) for n in range(121, 21, -1)]
    [older] = [str(node.attributes["href"]) for node in page.css(".pager a")]
    rest = await look(site, older)
    assert texts(rest, ".log .seq") == [str(n) for n in range(21, 0, -1)]
    assert texts(rest, ".pager a") == ["Newer"]
    # An older page does not change.
    assert not rest.css("#live")


async def test_every_event_has_an_explanation(site: httpx2.AsyncClient) -> None:
    job = await make_job(site)
    ada, ben, _ = await fill(site, job, "Ada Ben Cy")
    await post(site, f"/hiring/{job}/people/{ada}/remove", {"reason": "Moved away"})
    page = await look(site, f"/hiring/{job}/events/6")
    assert "Ben was offered a place." in text(page)
    assert "Ben was next in line, with nobody ahead." in texts(page, ".message li")
    assert "Event 5 freed it: Ada left (removed by the company)." in texts(page, ".message li")
    assert page.css_first(f'.message li a[href="/hiring/{job}/people/{ben}"]')
    [until, at] = [
        str(node.attributes["datetime"]) for node in page.css(".message time[data-exact]")
    ]
    assert f"The offer is open until {format_moment(dt.datetime.fromisoformat(until))}." in text(
        page
    )
    # The offer is made by a rule, not by Ada or the recruiter.
    assert f"Event 6, {format_moment(dt.datetime.fromisoformat(at))}, Jobmill (automatic)" in text(
        page
    )
    assert page.css_first(f'.message a[href="/hiring/{job}/events/5"]')
    assert "Reason: Moved away" in text(await look(site, f"/hiring/{job}/events/5"))
    assert texts(page, ".pager a") == ["Previous event", "Opening at this time"]
    await look(site, f"/hiring/{job}/events/7", 404)


async def test_the_summary_shows_counts_from_the_log(site: httpx2.AsyncClient) -> None:
    job = await make_job(site)
    ada, *_ = await fill(site, job, "Ada Ben Cy")
    await post(site, f"/hiring/{job}/people/{ada}/remove", {"reason": "x"})
    page = await look(site, f"/hiring/{job}/summary")
    counts = "3 applied · 1 of 1 places taken · 1 waiting · 1 ended · 0 missed offers"
    assert texts(page, "#summary p") == [counts]
    averages = dict(zip(texts(page, "#summary dt"), texts(page, "#summary dd"), strict=True))
    assert averages["Average time to accept"] == "\N{EN DASH}"


def seen(page: Html) -> tuple[list[str], list[str], list[str]]:
    return (
        texts(page, "ul.people .person-name a"),
        texts(page, "ol.people .person-name a"),
        texts(page, ".columns .n"),
    )


async def test_the_replay_of_each_event_shows_what_the_board_showed(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site, 2)
    boards: dict[int, Any] = {}

    async def remember() -> None:
        last = (await the_opening(database, job)).last_seq
        boards[last] = seen(await look(site, f"/hiring/{job}"))

    ids: list[int] = []
    for name in ("Ada", "Ben", "Cy", "Di", "Ed"):
        ids += await fill(site, job, name)
        await remember()
    await post(site, f"/hiring/{job}/people/{ids[0]}/remove", {"reason": "x"})
    await remember()
    form = {"reason": "y", "add_slot": "yes"}
    await post(site, f"/hiring/{job}/people/{ids[4]}/promote", form)
    await remember()
    await post(site, f"/hiring/{job}/change/capacity", {"capacity": "1"})
    await remember()
    assert len(boards) == 8
    for seq, shown in boards.items():
        page = await look(site, f"/hiring/{job}/replay?seq={seq}")
        # People with a place are listed without an address there.
        assert seen(page) == shown, seq
        assert attribute(page, "#seq", "value") == str(seq)
        why = texts(await look(site, f"/hiring/{job}/events/{seq}"), ".message li")
        assert texts(page, ".message li") == why
    last = await look(site, f"/hiring/{job}/replay")
    assert texts(last, ".moment strong") == [str(max(boards))]


async def test_the_replay_goes_to_a_time_and_to_before_the_opening_existed(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site)
    await fill(site, job, "Ada Ben")
    async with database.transaction() as tx:
        log = await events.find_by_opening(tx, job)
    page = await look(site, f"/hiring/{job}/replay?at={log[1].created_at:%Y-%m-%dT%H:%M:%S.%fZ}")
    assert seen(page)[:2] == (["Ada"], [])
    for early in ("seq=0", "at=2001-01-01T00:00"):
        page = await look(site, f"/hiring/{job}/replay?{early}")
        assert "The opening did not exist yet." in text(page)
        assert attribute(page, "#next", "href") == f"/hiring/{job}/replay?seq=1"
        assert not page.css("#previous[href]")
    wrong = await look(site, f"/hiring/{job}/replay?at=soon%22", 400)
    assert attribute(wrong, "input[name=at]", "value") == 'soon"'
    await look(site, f"/hiring/{job}/replay?seq=99", 404)


async def test_the_replay_preview_agrees_with_the_full_replay(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site, 2, maxMissed=2)
    first, *_ = await fill(site, job, "Ada Ben Cy Di Ed")
    await post(site, f"/hiring/{job}/people/{first}/remove", {"reason": "x"})
    for _ in range(3):
        await let_pass(database, job, 301)
        await look(site, f"/hiring/{job}")
    async with database.transaction() as tx:
        last = (await openings.get(tx, job)).last_seq
        assert last > 10
        for seq in range(1, last + 1):
            full = await replay.replay_at(tx, job, seq=seq)
            for limit in (1, 100):
                part = await replay_preview.preview_at(tx, job, seq, full.as_of, limit=limit)
                assert (part.active_count, part.waiting_count) == (
                    len(full.active),
                    len(full.waiting),
                )
                assert part.active == full.active[:limit]
                assert part.waiting == full.waiting[:limit]
        # The offer had expired before its event was written.
        offered = next(
            event for event in await events.find_by_opening(tx, job) if event.type == "PROMOTED"
        )
        late = offered.created_at.replace(year=offered.created_at.year + 1)
        part = await replay_preview.preview_at(tx, job, offered.seq, late, limit=100)
        whole_active, whole_waiting = replay.split_by_slot(
            (await replay.replay_at(tx, job, seq=offered.seq)).active
            + (await replay.replay_at(tx, job, seq=offered.seq)).waiting,
            late,
        )
    assert part.active == whole_active
    assert part.waiting == whole_waiting
    assert part.waiting[-1].position is None
