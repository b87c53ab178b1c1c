"""Tests of the hiring pages for recruiters, used without scripts."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill.db import Database, fetch_value
from jobmill.errors import Invalid
from jobmill.hiring.audit_log import events
from jobmill.hiring.records.openings import OpeningTerms
from jobmill.web.pages.openings import terms_form
from tests.hiring.helpers import make_opening
from tests.people.helpers import bearer
from tests.web.api.helpers import apply, let_pass, make_job
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

TERMS = {**terms_form.to_fields(OpeningTerms("Baker")), "preset": "other", "capacity": "2"}


async def test_an_empty_list_of_openings_says_what_to_do(site: httpx2.AsyncClient) -> None:
    page = await look(site, "/hiring")
    assert "No openings yet." in text(page)
    assert page.css_first('main a[href="/hiring/new"]')
    assert texts(page, ".entries a[aria-current]") == ["Openings"]


async def test_the_list_shows_places_waiting_people_and_offers(
    site: httpx2.AsyncClient,
) -> None:
    job = await make_job(site, 2, title="Miller")
    first, *_ = await fill(site, job, "Ada Ben Cy Di")
    await post(site, f"/hiring/{job}/people/{first}/remove", {"reason": "late"})
    page = await look(site, "/hiring")
    line = text(page, ".cards li")
    for words in ("Miller", "Open", "2 of 2 places", "1 waiting", "1 offered", "next expires in"):
        assert words in line
    assert page.css_first(".cards [data-until]")
    label = page.css(".cards svg")[0].attributes["aria-label"]
    assert label == "2 of 2 places taken, including 1 offered"


async def test_an_expired_offer_takes_no_place_in_the_list(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site, requireAcknowledgement=True)
    await fill(site, job, "Ada")
    await let_pass(database, job, 301)
    line = text(await look(site, "/hiring"), ".cards li")
    assert "0 of 1 places 1 waiting 0 offered" in line


async def test_the_list_is_paged_and_filtered_by_status(
    site: httpx2.AsyncClient, database: Database
) -> None:
    async with database.transaction() as tx:
        made = [await make_opening(tx, title=f"Baker {n:02}") for n in range(52)]
    await post(site, f"/hiring/{made[7].id}/change/pause")
    page = await look(site, "/hiring")
    assert texts(page, ".cards strong") == [f"Baker {n:02}" for n in range(51, 1, -1)]
    [older] = [str(node.attributes["href"]) for node in page.css("main > p a")]
    assert texts(await look(site, older), ".cards strong") == ["Baker 01", "Baker 00"]
    assert texts(await look(site, "/hiring?status=paused"), ".cards strong") == ["Baker 07"]
    assert "No closed openings." in text(await look(site, "/hiring?status=closed"))


async def test_an_opening_is_created_with_the_form(
    site: httpx2.AsyncClient, database: Database
) -> None:
    form = await look(site, "/hiring/new")
    assert attribute(form, "[name=admission][checked]", "value") == "review"
    assert attribute(form, "select[name=preset] option[selected]", "value") == "172800"
    typed = {
        "title": "Night  baker",
        "capacity": "3",
        "employer": "Wells",
        "location": "Leiden",
        "remote": "yes",
        "description": "Bread.\r\nAll night.",
        "window": "2",
        "unit": "hours",
        "waitlist_limit": "0",
        "apply_until": "2030-01-02T03:04",
        "time_zone": "Europe/Berlin",
        "quiet_from": "21:00",
        "quiet_until": "08:00",
    }
    answer = await post(site, "/hiring/new", TERMS | typed)
    assert answer.status_code == 303, answer.text
    made = await the_opening(database, int(answer.headers["location"].split("/")[-1]))
    assert (made.title, made.capacity, made.location) == ("Night baker", 3, "Leiden")
    assert (made.remote, made.description) == (True, "Bread.\nAll night.")
    assert (made.acknowledge_window.total_seconds(), made.waitlist_limit) == (7200, 0)
    assert made.apply_until
    assert made.apply_until.isoformat() == "2030-01-02T02:04:00+00:00"
    assert (made.time_zone, made.quiet_from, made.quiet_until) == (
        "Europe/Berlin",
        dt.time(21),
        dt.time(8),
    )
    preset = await post(site, "/hiring/new", TERMS | typed | {"preset": "300"})
    made = await the_opening(database, int(preset.headers["location"].split("/")[-1]))
    assert made.acknowledge_window == dt.timedelta(minutes=5)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"max_missed": "2.5"}, "The number of missed offers should be a whole number"),
        ({"window": ""}, "The time to accept an offer should be a whole number"),
        ({"window": "9" * 30}, "The time to accept an offer should be a whole number"),
        ({"unit": "years"}, "should be in days, hours, minutes or seconds"),
        ({"apply_until": "soon"}, "should be a time such as"),
        ({"apply_until": "9999-12-31T23:59"}, "should be a time such as"),
        ({"keep_days": "-1"}, "The number of days to keep data should be a whole number"),
        ({"time_zone": "Eastern"}, "IANA name such as America/New_York"),
        ({"quiet_from": "late"}, "should look like 21:00"),
        ({"quiet_from": "25:00"}, "should look like 21:00"),
    ],
)
def test_invalid_terms_are_refused(wrong: dict[str, str], words: str) -> None:
    with pytest.raises(Invalid, match=words):
        terms_form.parse_terms(TERMS | wrong)


@pytest.mark.parametrize(
    "terms",
    [
        OpeningTerms("Baker"),
        OpeningTerms("Baker", "Two\n\nparts", "Mill & Co", "Leiden", remote=True, max_missed=9),
        OpeningTerms(
            "Baker", acknowledge_window=dt.timedelta(days=2), waitlist_limit=0, keep_days=30
        ),
        OpeningTerms(
            "Baker", acknowledge_window=dt.timedelta(seconds=61), require_acknowledgement=True
        ),
        OpeningTerms("Baker", apply_until=dt.datetime(2030, 1, 2, 3, 4, 5, tzinfo=dt.UTC)),
        OpeningTerms(
            "Baker",
            apply_until=dt.datetime(2030, 7, 2, 3, 4, 5, tzinfo=dt.UTC),
            time_zone="America/New_York",
            quiet_from=dt.time(21, 30),
            quiet_until=dt.time(0),
        ),
    ],
)
def test_form_fields_and_terms_convert_both_ways(terms: OpeningTerms) -> None:
    assert terms_form.parse_terms(terms_form.to_fields(terms)) == terms
    assert terms_form.find_changes(terms, terms_form.to_fields(terms)) == {}


async def test_an_invalid_form_is_shown_with_the_error_and_the_input(
    site: httpx2.AsyncClient,
) -> None:
    job = await make_job(site)
    for path, name, typed, words in (
        ("/hiring/new", "capacity", "0", "The number of places should be 1 to"),
        ("/hiring/new", "capacity", "2.5", "The number of places should be a whole number"),
        ("/hiring/new", "title", " ", "The title should have"),
        (f"/hiring/{job}/edit", "title", " ", "The title should have"),
        (f"/hiring/{job}/edit", "window", "999999999", "should be 1 second to 365 days"),
        (f"/hiring/{job}/edit", "apply_until", "soon", "should be a time such as"),
    ):
        answer = await post(site, path, TERMS | {"employer": "Mill & Co", name: typed})
        page = Html(answer.text)
        assert (answer.status_code, words in text(page, "[role=alert]")) == (400, True)
        for field, value in (("employer", "Mill & Co"), (name, typed)):
            assert attribute(page, f"input[name={field}]", "value") == value


async def test_an_empty_form_is_refused(site: httpx2.AsyncClient) -> None:
    job = await make_job(site)
    for path in ("/hiring/new", f"/hiring/{job}/edit"):
        assert (await post(site, path)).status_code == 400


async def test_only_edited_fields_are_changed(site: httpx2.AsyncClient, database: Database) -> None:
    job = await make_job(
        site, description="  Kept\r\nas it is ", applyUntil="2030-01-02T03:04:05.678Z"
    )
    typed = terms_form.to_fields(await the_opening(database, job))
    same = await post(site, f"/hiring/{job}/edit", typed)
    assert same.headers["location"] == f"/hiring/{job}"
    assert (await the_opening(database, job)).last_seq == 1
    answer = await post(site, f"/hiring/{job}/edit", typed | {"title": "Cook", "remote": "yes"})
    after = await the_opening(database, job)
    assert (after.title, after.remote, after.last_seq) == ("Cook", True, 2)
    assert after.description == "  Kept\r\nas it is "
    assert after.apply_until
    assert after.apply_until.microsecond == 678_000
    assert "Opening edited." in text(await look(site, answer.headers["location"]))


async def test_the_board_shows_places_with_countdowns_and_the_waitlist_in_order(
    site: httpx2.AsyncClient,
) -> None:
    job = await make_job(site, 2)
    first, *_ = await fill(site, job, "Ada Ben Cy Di Ed")
    await post(site, f"/hiring/{job}/people/{first}/remove", {"reason": "late"})
    page = await look(site, f"/hiring/{job}")
    assert texts(page, "ul.people .person-name a") == ["Ben", "Cy"]
    assert texts(page, "ol.people .position") == ["1", "2"]
    assert texts(page, "ol.people .person-name a") == ["Di", "Ed"]
    [left] = page.css("#board [data-until]")
    assert left.text() == "5 min"
    assert page.css_first(f'a[href="/openings/{job}"]')
    assert texts(page, ".log .what")[:2] == [
        "Cy was offered a place",
        "Ada was removed late",
    ]


async def test_both_columns_are_paged(site: httpx2.AsyncClient) -> None:
    job = await make_job(site, 53)
    await import_many(site, job, 106)
    page = await look(site, f"/hiring/{job}")
    assert (len(page.css("ul.people li")), len(page.css("ol.people li"))) == (50, 50)
    for column, total in (("slots", 3), ("waiting", 3)):
        [link] = [
            str(node.attributes["href"]) for node in page.css(".columns .pager a")
            if f"{column}=" in str(node.attributes["href"])
        ]  # fmt: skip
        rest = await look(site, link)
        tag = "ul" if column == "slots" else "ol"
        assert len(rest.css(f"{tag}.people li")) == total
        assert attribute(rest, "#board", "hx-get") == link
    assert texts(rest, "ol.people .position") == ["51", "52", "53"]


async def test_a_swapped_part_is_the_same_as_in_the_full_page(
    site: httpx2.AsyncClient,
) -> None:
    job = await make_job(site, 1)
    [ada, *_] = await fill(site, job, "Ada Ben Cy")
    for path in (f"/{job}", f"/{job}?waiting=1", f"/{job}/people/{ada}", f"/{job}/events", "",
                 "?status=open"):  # fmt: skip
        page = await look(site, f"/hiring{path}")
        assert attribute(page, "#live", "hx-sse:connect") == "/live?topic=hiring"
        parts = page.css('[hx-trigger="hiring from:#live"]')
        assert parts
        for shown in parts:
            again = await look(site, str(shown.attributes["hx-get"]))
            assert part(again, str(shown.attributes["hx-select"])).html == shown.html


@pytest.mark.parametrize(
    ("places", "words", "offered"),
    [
        (2, "1 person will be offered a place immediately: Ben.", 1),
        (3, "2 people will be offered a place immediately: Ben, Cy.", 2),
        (9, "2 people will be offered a place immediately: Ben, Cy.", 2),
        (1, "No place will be offered.", 0),
    ],
)
async def test_a_change_of_places_first_names_the_people_that_get_an_offer(
    site: httpx2.AsyncClient, database: Database, places: int, words: str, offered: int
) -> None:
    job = await make_job(site, 1)
    await fill(site, job, "Ada Ben Cy")
    before = await the_opening(database, job)
    page = await look(site, f"/hiring/{job}/change/capacity?capacity={places}")
    assert words in text(page, ".confirmation")
    assert await the_opening(database, job) == before
    sent = {
        str(node.attributes["name"]): node.attributes["value"]
        for node in page.css(".confirmation input")
    }
    answer = await post(site, str(attribute(page, ".confirmation form", "action")), sent)
    after = await the_opening(database, job)
    assert (after.capacity, after.occupied) == (places, 1 + offered)
    messages = texts(await look(site, answer.headers["location"]), ".message[role=status] li")
    assert len([message for message in messages if "was offered a place" in message]) == offered


async def test_with_fewer_places_everyone_keeps_theirs_and_the_board_says_so(
    site: httpx2.AsyncClient,
) -> None:
    job = await make_job(site, 3)
    await fill(site, job, "Ada Ben Cy Di")
    confirmation = text(
        await look(site, f"/hiring/{job}/change/capacity?capacity=1"), ".confirmation"
    )
    assert (
        "This is 2 places fewer than the number of people who have one. Nobody loses a place."
        in confirmation
    )
    await post(site, f"/hiring/{job}/change/capacity", {"capacity": "1"})
    page = await look(site, f"/hiring/{job}")
    assert "3 people have a place, but there is only 1 place now." in text(page, "#board .message")
    assert "The next one is offered after 3 people have left." in text(page, "#board .message")
    assert len(page.css("ul.people li")) == 3
    assert page.css_first(".bar .over")


async def test_added_places_of_a_paused_opening_are_not_offered_yet(
    site: httpx2.AsyncClient,
) -> None:
    job = await make_job(site, 1)
    await fill(site, job, "Ada Ben Cy Di")
    await post(site, f"/hiring/{job}/change/pause")
    confirmation = text(
        await look(site, f"/hiring/{job}/change/capacity?capacity=3"), ".confirmation"
    )
    assert "The opening is paused. No places are offered until it resumes." in confirmation
    await post(site, f"/hiring/{job}/change/capacity", {"capacity": "3"})
    confirmation = text(await look(site, f"/hiring/{job}/change/resume"), ".confirmation")
    assert "2 people will be offered a place immediately: Ben, Cy." in confirmation
    await post(site, f"/hiring/{job}/change/resume")
    assert len((await look(site, f"/hiring/{job}")).css("#board [data-until]")) == 2


async def test_an_invalid_number_of_places_is_shown_again(site: httpx2.AsyncClient) -> None:
    job = await make_job(site)
    path = f"/hiring/{job}/change/capacity"
    for typed in ("", "0", "x<y", "1000001"):
        for answer in (
            await site.get(path, params={"capacity": typed}, headers=HTML),
            await post(site, path, {"capacity": typed}),
        ):
            page = Html(answer.text)
            assert (answer.status_code, len(page.css("[role=alert]"))) == (400, 1)
            assert (attribute(page, ".confirmation input", "value") or "") == typed
            assert attribute(page, ".confirmation form", "method") == "get"


async def test_an_opening_is_paused_and_resumed_after_confirmation(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site)
    for change, status, words in (
        ("pause", "paused", "Applications are closed."),
        ("resume", "open", None),
    ):
        before = await the_opening(database, job)
        confirmation = await look(site, f"/hiring/{job}/change/{change}")
        assert text(confirmation, ".confirmation p")
        assert await the_opening(database, job) == before
        answer = await post(site, f"/hiring/{job}/change/{change}")
        assert answer.status_code == 303
        page = await look(site, answer.headers["location"])
        assert texts(page, "h1 .badge") == [status.capitalize()]
        assert [message[: len(words or "")] for message in texts(page, "#board .message")] == (
            [words] if words else []
        )
        assert len(page.css(".message[role=status] li")) == 1
        again = await post(site, f"/hiring/{job}/change/{change}")
        assert (again.status_code, 'role="alert"' in again.text) == (409, True)
        await look(site, f"/hiring/{job}/change/{change}", 409)


NASTY = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "' onmouseover='alert(1)",
    "</textarea><svg onload=alert(1)>",
    "{{ 7 * 7 }}",
    "javascript:alert(1)",
)


@pytest.mark.parametrize("words", NASTY)
async def test_no_title_name_or_reason_becomes_markup(site: httpx2.AsyncClient, words: str) -> None:
    job = await make_job(site, title=words, description=words, employer=words, location=words)
    body = {"name": words, "email": "a@example.org"}
    applicant = (await site.post("/api/applicants", json=body)).json()["id"]
    ada = (await apply(site, job, applicant))["applicationId"]
    other = {"name": words + "!", "email": "b@example.org"}
    ben = (await apply(site, job, (await site.post("/api/applicants", json=other)).json()["id"]))[
        "applicationId"
    ]
    promoted = {"reason": words, "add_slot": "yes"}
    await post(site, f"/hiring/{job}/people/{ben}/promote", promoted)
    await post(site, f"/hiring/{job}/people/{ada}/remove", {"reason": words})
    pages = [
        await site.get(path, headers=HTML)
        for path in (
            "/hiring", f"/hiring/{job}", f"/hiring/{job}?did=0-9", f"/hiring/{job}/edit",
            f"/hiring/{job}/events", f"/hiring/{job}/events/5", f"/hiring/{job}/replay",
            f"/hiring/{job}/people/{ada}", f"/hiring/{job}/people/{ben}",
            f"/hiring/{job}/summary", f"/hiring/{job}/close",
        )
    ]  # fmt: skip
    form = {"action": "message", "reason": words, "message": words, "selected": [ben]}
    pages.append(await post(site, f"/hiring/{job}/bulk", form))
    pages.append(await post(site, "/hiring/new", {"title": words, "description": words}))
    pages.append(await post(site, f"/hiring/{job}/change/capacity", {"capacity": words}))
    for answer in pages:
        page = Html(answer.text)
        assert answer.status_code in (200, 400)
        assert {node.attributes.get("src") for node in page.css("script")} <= SCRIPTS
        assert not page.css("main img, main svg[onload]")
        assert not re.search(r"<[^>]*\son\w+=", re.sub(r'"[^"]*"', '""', answer.text))
        assert not page.css('a[href^="javascript"]')
        if answer.url.path != f"/hiring/{job}/summary":
            assert (
                words in answer.text.replace("&amp;", "&")
                or words in page.text()
                or any(words == node.attributes.get("value") for node in page.css("input"))
            )


SCRIPTS = {
    "/static/vendor/htmx.min.js", "/static/vendor/hx-sse.min.js", "/static/app.js",
    "/static/time_zones.js",
    "/static/replay.js",
}  # fmt: skip


@pytest.fixture
async def far(database: Database) -> AsyncIterator[httpx2.AsyncClient]:
    """A site that requires signing in."""
    async with site_with(database) as client:
        yield client


CHANGES = (
    ("POST", "/hiring/new"),
    ("POST", "/hiring/{job}/edit"),
    ("POST", "/hiring/{job}/change/capacity"),
    ("POST", "/hiring/{job}/change/pause"),
    ("POST", "/hiring/{job}/close"),
    ("POST", "/hiring/{job}/people/{ada}/remove"),
    ("POST", "/hiring/{job}/people/{ada}/promote"),
    ("POST", "/hiring/{job}/bulk"),
    ("GET", "/hiring/new"),
    ("GET", "/hiring/{job}/edit"),
    ("GET", "/hiring/{job}/change/pause"),
)
READS = ("", "/events", "/events/1", "/replay", "/summary", "/people/{ada}")


async def test_a_viewer_reads_and_changes_nothing(
    far: httpx2.AsyncClient, site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site)
    [ada] = await fill(site, job, "Ada")
    before = await the_opening(database, job)
    viewer = await bearer(database, "viewer") | HTML
    for path in ("/hiring", *(f"/hiring/{job}{path_end}" for path_end in READS)):
        answer = await far.get(path.format(ada=ada), headers=viewer)
        assert answer.status_code == 200
        page = Html(answer.text)
        assert not page.css('main form[method="post"], main input[type=checkbox]')
        assert not page.css('main a[href*="/change/"], main a[href$="/edit"], main a[href$="/new"]')
        stranger = await far.get(path.format(ada=ada), headers=HTML)
        assert (stranger.status_code, stranger.headers["location"][:8]) == (303, "/sign-in")
    fields = {
        **TERMS,
        "reason": "x",
        "selected": str(ada),
        "action": "remove",
        "confirmed": "remove",
    }
    for method, path in CHANGES:
        url = path.format(job=job, ada=ada)
        sent: dict[str, Any] = {"data": fields} if method == "POST" else {}
        assert (await far.request(method, url, headers=viewer, **sent)).status_code == 403, url
        # A GET redirects to the sign-in page; a POST is refused.
        refused = 303 if method == "GET" else 401
        assert (await far.request(method, url, headers=HTML, **sent)).status_code == refused, url
    assert await the_opening(database, job) == before
    async with database.transaction() as tx:
        assert await fetch_value(tx, int, "SELECT count(*) FROM hiring.opening") == 1


async def test_a_recruiter_can_use_the_forms(
    far: httpx2.AsyncClient, site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site)
    [ada] = await fill(site, job, "Ada")
    recruiter = await bearer(database, "recruiter") | HTML
    page = Html((await far.get(f"/hiring/{job}/people/{ada}", headers=recruiter)).text)
    action = str(attribute(page, 'main form[action$="/remove"]', "action"))
    answer = await far.post(action, data={"reason": "x"}, headers=recruiter)
    assert answer.status_code == 303
    async with database.transaction() as tx:
        [*_, left] = await events.find_by_opening(tx, job)
    assert left.actor.startswith("key:")


async def test_a_request_from_another_site_changes_nothing(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site)
    headers = {**HTML, "Sec-Fetch-Site": "cross-site"}
    answer = await site.post(f"/hiring/{job}/change/pause", headers=headers)
    assert answer.status_code == 403
    assert (await the_opening(database, job)).status == "open"


async def test_a_missing_opening_is_not_found(site: httpx2.AsyncClient) -> None:
    for path in ("", "/replay", "/events", "/events/1", "/edit", "/change/pause", "/people/1"):
        await look(site, f"/hiring/999999{path}", 404)
    assert (await post(site, "/hiring/999999/change/pause")).status_code == 404
