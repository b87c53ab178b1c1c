"""Tests of what recruiters do with one application or with many, without scripts."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import httpx2
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill.db import Database, fetch_value
from jobmill.hiring.audit_log import events
from tests.people.helpers import bearer
from tests.web.api.helpers import make_job
from tests.web.helpers import site_with
from tests.web.hiring_helpers import (
    HTML,
    attribute,
    fill,
    import_many,
    look,
    part,
    post,
    text,
    texts,
    the_opening,
)
from tests.web.test_interview_pages import find_page


async def test_an_applicant_is_removed_with_a_reason_and_the_next_gets_the_place(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site)
    ada, ben = await fill(site, job, "Ada Ben")
    for reason in ("", "  ", "x" * 2_001):
        refused = await post(site, f"/hiring/{job}/people/{ada}/remove", {"reason": reason})
        page = Html(refused.text)
        assert (refused.status_code, len(page.css("[role=alert]"))) == (400, 1)
        typed = attribute(page, 'form[action$="remove"] input', "value")
        assert (typed or "") == reason
    answer = await post(site, f"/hiring/{job}/people/{ada}/remove", {"reason": "Moved away"})
    messages = texts(await look(site, answer.headers["location"]), ".message[role=status] li")
    assert messages == ["Ada was removed.", "Ben was offered a place."]
    story = text(await look(site, f"/hiring/{job}/people/{ada}"), ".log")
    assert "Ada was removed Moved away" in story
    again = await post(site, f"/hiring/{job}/people/{ada}/remove", {"reason": "Moved away"})
    assert (again.status_code, "has ended already" in again.text) == (409, True)
    async with database.transaction() as tx:
        [_, _, _, left, _] = await events.find_by_opening(tx, job)
    assert (left.note, left.actor) == ("Moved away", "local")
    assert "Has been offered a place." in text(await look(site, f"/hiring/{job}/people/{ben}"))


async def test_the_newest_events_of_a_long_history_are_shown(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site)
    [ada] = await fill(site, job, "Ada")
    async with database.transaction() as tx:
        await tx.execute(
            """
            INSERT INTO hiring.event OVERRIDING SYSTEM VALUE
            SELECT (jsonb_populate_record(event, jsonb_build_object(
                       'id', 1000 + n, 'seq', 1000 + n, 'created_at', created_at - interval '1 hour'))).*
              FROM hiring.event, generate_series(1, 1000) AS n
             WHERE application_id = %s AND type = 'APPLIED'
            """,
            [ada],
        )
    await post(site, f"/hiring/{job}/people/{ada}/remove", {"reason": "Moved away"})
    newest = texts(await look(site, f"/hiring/{job}/people/{ada}"), ".log li")[0]
    assert "Ada was removed Moved away" in newest
    mine = await find_page(database, ada)
    shown = text(await look(site, f"{mine}/applications/{ada}"), ".events li")
    assert shown.startswith("The company ended your application.")


async def test_a_recruiter_with_a_key_sees_what_is_missing(
    site: httpx2.AsyncClient, database: Database
) -> None:
    """A change locks the key before anything else; the page with the error is read in a snapshot."""
    job = await make_job(site)
    [ada] = await fill(site, job, "Ada")
    async with site_with(database) as client:
        client.headers.update(await bearer(database, "recruiter"))
        refused = await post(client, f"/hiring/{job}/people/{ada}/remove", {"reason": ""})
    assert (refused.status_code, "Enter a reason" in refused.text) == (400, True)


async def test_an_applicant_is_offered_an_added_place_out_of_turn_with_a_reason(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site)
    _, _, cy = await fill(site, job, "Ada Ben Cy")
    page = await look(site, f"/hiring/{job}/people/{cy}")
    assert "This passes over 1 person." in text(page)
    path = f"/hiring/{job}/people/{cy}/promote"
    full = await post(site, path, {"reason": "Knows the oven"})
    assert (full.status_code, "no free place" in full.text) == (409, True)
    shown = part(Html(full.text), 'form[action$="promote"] input[name=reason]')
    assert shown.attributes["value"] == "Knows the oven"
    mute = Html((await post(site, path, {"reason": "", "add_slot": "yes"})).text)
    assert "checked" in part(mute, "input[name=add_slot]").attributes
    answer = await post(site, path, {"reason": "Knows the oven", "add_slot": "yes"})
    messages = texts(await look(site, answer.headers["location"]), ".message[role=status] li")
    assert messages == [
        "Places changed from 1 to 2.",
        "Cy was offered a place out of turn.",
    ]
    assert (await the_opening(database, job)).capacity == 2


async def test_an_application_of_another_opening_is_not_found_here(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job, other = await make_job(site), await make_job(site)
    [ada] = await fill(site, other, "Ada")
    await look(site, f"/hiring/{job}/people/{ada}", 404)
    for step in ("remove", "promote"):
        answer = await post(site, f"/hiring/{job}/people/{ada}/{step}", {"reason": "x"})
        assert answer.status_code == 404
    assert (await the_opening(database, other)).occupied == 1


async def test_a_bulk_removal_shows_a_preview_first(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site)
    ada, ben, _, di = await fill(site, job, "Ada Ben Cy Di")
    before = await the_opening(database, job)
    form = {"action": "remove", "reason": "Season is over", "selected": [ada, ben]}
    dry = await post(site, f"/hiring/{job}/bulk", form)
    assert dry.status_code == 200
    assert texts(Html(dry.text), ".outcome li") == [
        "Ada Will be removed had a place",
        "Ben Will be removed was waiting",
        "Cy Will be offered a place next in line",
    ]
    assert await the_opening(database, job) == before
    sent = [str(node.attributes["value"]) for node in Html(dry.text).css("input[name=selected]")]
    assert sent == [str(ada), str(ben)]
    # The preview of a message is no confirmation of a removal.
    other = await post(site, f"/hiring/{job}/bulk", form | {"confirmed": "message"})
    assert other.status_code == 200
    assert await the_opening(database, job) == before
    done = await post(site, f"/hiring/{job}/bulk", form | {"confirmed": "remove"})
    page = await look(site, done.headers["location"])
    assert texts(page, "ul.people .person-name a") == ["Cy"]
    assert texts(page, "ol.people .person-name a") == ["Di"]
    assert len(page.css(".message[role=status] li")) == 3
    gone = await post(site, f"/hiring/{job}/bulk", form | {"selected": [ada, di, 10**11]})
    assert texts(Html(gone.text), ".outcome li .badge") == [
        "No change",
        "Will be removed",
        "No change",
    ]


async def test_a_bulk_message_is_sent(site: httpx2.AsyncClient, database: Database) -> None:
    job = await make_job(site)
    picked = await fill(site, job, "Ada Ben")
    form = {
        "action": "message",
        "reason": "News",
        "message": "We move.\r\nSoon.",
        "selected": picked,
    }
    dry = await post(site, f"/hiring/{job}/bulk", form)
    assert texts(Html(dry.text), ".outcome .badge") == ["Will get your message"] * 2
    assert part(Html(dry.text), "textarea").text().strip() == "We move.\r\nSoon.".replace("\r", "")
    done = await post(site, f"/hiring/{job}/bulk", form | {"confirmed": "message"})
    # Without email, the personal page is the only place to read it.
    assert "It is not emailed, because emails are off." in text(Html(dry.text))
    assert "on the personal pages of 2 people. It is not emailed." in text(
        await look(site, done.headers["location"])
    )
    async with database.transaction() as tx:
        written = await fetch_value(
            tx, int, "SELECT count(*) FROM hiring.notice WHERE data->>'text' = E'We move.\\nSoon.'"
        )
    assert written == 2


async def test_an_invalid_bulk_action_is_shown_with_the_input(
    site: httpx2.AsyncClient,
) -> None:
    job = await make_job(site)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"reason": "x", "action": "remove"}, "Select at least one person"),
        (
            {"reason": "x", "action": "remove", "selected": ["no", "-1"]},
            "Select at least one person",
        ),
        ({"reason": " ", "action": "remove", "selected": [1]}, "Enter a reason"),
        ({"reason": "typed", "action": "message", "selected": [1]}, "Enter the message to send"),
        ({"reason": "typed", "action": "rename", "selected": [1]}, "Choose an action"),
        ({"reason": "typed", "selected": [1], "confirmed": ""}, "Choose an action"),
    ]
    for form, words in cases:
        answer = await post(site, f"/hiring/{job}/bulk", form)
        page = Html(answer.text)
        assert (answer.status_code, words in text(page, "[role=alert]")) == (400, True)
        assert attribute(page, "input[name=reason]", "value") == form["reason"]


async def test_a_full_page_of_people_can_be_selected(site: httpx2.AsyncClient) -> None:
    job = await make_job(site, 50)
    await import_many(site, job, 100)
    page = await look(site, f"/hiring/{job}")
    ticks = [str(node.attributes["value"]) for node in page.css("input[name=selected]")]
    assert len(ticks) == 100
    form = {"action": "remove", "reason": "All", "selected": ticks}
    dry = Html((await post(site, f"/hiring/{job}/bulk", form)).text)
    assert len(dry.css(".outcome li")) == 100


async def test_a_recruiter_can_show_an_applicants_personal_link(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site, capacity=1)
    [ada] = await fill(site, job, "Ada")
    answer = await post(site, f"/hiring/{job}/people/{ada}/link")
    assert answer.headers["cache-control"] == "no-store"
    link = attribute(Html(answer.text), "#link", "value")
    assert "Ada" in text(await look(site, urlsplit(link).path))
    async with site_with(database) as strangers:
        headers = {**HTML, **await bearer(database, "viewer")}
        path = f"/hiring/{job}/people/{ada}"
        assert (await strangers.post(f"{path}/link", headers=headers)).status_code == 403
        assert "/link" not in (await strangers.get(path, headers=headers)).text
