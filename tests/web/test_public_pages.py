"""Tests of the public pages: openings, personal applications, offers."""

from __future__ import annotations

import asyncio
import datetime as dt
import json
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any
from xml.etree import ElementTree

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser as Html

from jobmill.catalog.posting import Posting
from jobmill.db import Database
from jobmill.db.clock import server_time
from jobmill.extract.page import page_reader
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.applications import withdrawals
from jobmill.hiring.audit_log import events
from jobmill.hiring.messages import personal_links
from jobmill.hiring.messages.signed_links import LinkSigner
from jobmill.hiring.records import applications
from jobmill.people import secrets
from jobmill.web import site as pages
from jobmill.web.site_settings import SiteSettings
from tests.boards.adapters import read
from tests.people.helpers import bearer
from tests.queue.helpers import fetch
from tests.web.api.helpers import apply, let_pass, make_job
from tests.web.conftest import served
from tests.web.helpers import site_with
from tests.web.hiring_helpers import HTML, attribute, look, text, texts
from tests.web.test_live_updates import words

NASTY = "Baker </script><script>alert(1)</script> & <b>co</b>"
BAKERY = {
    "title": NASTY,
    "employer": "Mill & Co",
    "location": "Leiden",
    "description": "Bake bread.\n\nAt night & day, \x0bwith care.",
    "applyUntil": "2030-01-02T03:04:05Z",
}


async def link_of(database: Database, person: int) -> str:
    async with database.transaction() as tx:
        signer = LinkSigner(await secrets.get_signing_key(tx))
        version = await personal_links.find_link_version(tx, person)
        assert version is not None
        return f"/my/{signer.sign_personal(person, version, await server_time(tx))}"


async def issued_link_of(database: Database, person: int) -> str:
    async with database.transaction() as tx:
        signer = LinkSigner(await secrets.get_signing_key(tx))
        return await personal_links.issue_path(tx, signer, person, "person:3")


async def offer_of(database: Database, application: int) -> str:
    async with database.transaction() as tx:
        row = await applications.get(tx, application)
        assert row.acknowledge_deadline
        signer = LinkSigner(await secrets.get_signing_key(tx))
        return "/offer/" + signer.sign_offer(application, row.acknowledge_deadline)


async def post(site: httpx2.AsyncClient, path: str, **fields: str) -> httpx2.Response:
    return await site.post(path, data=fields, headers=HTML)


async def send_message(site: httpx2.AsyncClient, job: int, application: int, text: str) -> None:
    body = {"action": "message", "applicationIds": [application], "reason": "secret"}
    answer = await site.post(f"/api/jobs/{job}/bulk", json=body | {"message": text})
    assert answer.status_code == 200, answer.text


async def test_openings_that_take_applications_are_listed(site: httpx2.AsyncClient) -> None:
    await make_job(site, title="Baker", employer="Mill & Co")
    paused, over = await make_job(site, title="Cook"), {"applyUntil": "2020-01-01T00:00:00Z"}
    await make_job(site, title="Late", **over)
    await site.post(f"/api/jobs/{paused}/pause")
    shown = (await site.get("/openings")).text
    assert "Baker" in shown
    assert "Mill &amp; Co" in shown
    assert "Cook" not in shown
    assert "Late" not in shown


async def test_a_closed_opening_is_gone_and_an_unknown_one_is_not_found(
    site: httpx2.AsyncClient,
) -> None:
    job = await make_job(site)
    await site.post(f"/api/jobs/{job}/close")
    assert (await site.get(f"/openings/{job}", headers=HTML)).status_code == 410
    assert (await site.get("/openings/999999", headers=HTML)).status_code == 404


async def test_another_jobmill_reads_the_feed(site: httpx2.AsyncClient) -> None:
    job = await make_job(site, **BAKERY)
    url = str(site.base_url.join("/openings/feed.xml"))
    answer = await site.get(url)
    assert answer.headers["content-type"].startswith("application/rss+xml")
    # Our reader is lenient; others are not.
    assert ElementTree.fromstring(answer.content).tag == "rss"
    [posting] = read("rss", answer.content, {"url": url}).postings
    _check(posting, site, job)


async def test_another_jobmill_reads_the_page(site: httpx2.AsyncClient) -> None:
    job = await make_job(site, **BAKERY)
    url = str(site.base_url.join(f"/openings/{job}"))
    page = (await site.get(url)).text
    # Applicants read the employer, not the name of the software, if the company has set no name.
    assert "Mill & Co" in text(Html(page), "header")
    assert "Jobmill" not in text(Html(page))
    result = page_reader.read_posting(page, url)
    assert result.method == "json-ld"
    assert result.posting is not None
    _check(result.posting, site, job)
    assert result.posting.requisition_id == str(job)


def _check(posting: Posting, site: httpx2.AsyncClient, job: int) -> None:
    assert posting.url == str(site.base_url.join(f"/openings/{job}"))
    assert posting.company == "Mill & Co"
    assert posting.location == "Leiden"
    assert posting.description is not None
    assert "Bake bread." in posting.description
    assert "At night & day, with care." in posting.description
    assert posting.valid_through == dt.datetime(2030, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
    assert posting.posted_at is not None
    assert posting.title.startswith("Baker")


async def test_no_title_escapes_from_the_structured_data(site: httpx2.AsyncClient) -> None:
    job = await make_job(site, title=NASTY, remote=True)
    text = (await site.get(f"/openings/{job}")).text
    assert text.count("<script") == 1
    assert "alert(1)" in text
    [data] = re.findall(r'<script type="application/ld\+json">(.*?)</script>', text, re.DOTALL)
    node: dict[str, Any] = json.loads(data)
    assert node["title"] == NASTY
    assert node["jobLocationType"] == "TELECOMMUTE"
    assert (node["directApply"], node["identifier"]["value"]) == (True, str(job))
    assert "validThrough" not in node


async def test_applying_takes_one_step(site: httpx2.AsyncClient) -> None:
    job = await make_job(site)
    first = await post(site, f"/openings/{job}", name="Ada", email="ada@example.org")
    assert first.status_code == 303
    assert "You have a place." in (await site.get(first.headers["location"])).text
    again = await post(site, f"/openings/{job}", name="Ada", email="ADA@example.org")
    assert again.status_code == 409
    assert "was already used to apply" in again.text
    second = await post(site, f"/openings/{job}", name="Bob", email="bob@example.org")
    assert "number 1 on the waitlist" in (await site.get(second.headers["location"])).text


async def test_a_form_that_is_sent_twice_leads_to_the_same_page(database: Database) -> None:
    async with site_with(database, local=True) as company:
        job = await make_job(company, 3)
    path, ada = f"/openings/{job}", {"name": "Ada", "email": "ada@example.org"}
    async with site_with(database) as browser:
        keys = [attribute(await look(browser, path), "[name=key]", "value") for _ in range(2)]
        assert keys[0] != keys[1]
        double_tap = [post(browser, path, **ada, key=keys[0]) for _ in range(3)]
        applied = [
            *await asyncio.gather(*double_tap),
            await post(browser, path, **ada, key=keys[0]),
        ]
        assert {answer.status_code for answer in applied} == {303}
        for answer in applied:
            page = await look(browser, answer.headers["location"])
            assert "ada@example.org" in text(page)
            assert len(page.css(".mine > li")) == 1
        # Neither another form nor the key of a form for another address opens the page.
        for other in ({"key": keys[1]}, {"key": ""}, {}):
            refused = await post(browser, path, **ada, **other)
            assert (refused.status_code, "was already used to apply" in refused.text) == (409, True)
        ben = await post(browser, path, name="Ben", email="ben@example.org", key=keys[0])
        assert "ada@example.org" not in text(await look(browser, ben.headers["location"]))
        assert (await post(browser, path, **ada, key=keys[0])).status_code == 303
        # The id of the request does not open it either: it is in logs and responses.
        cy = {"name": "Cy", "email": "cy@example.org"}
        headers = HTML | {"X-Request-ID": "r-1"}
        by_request_id = [await browser.post(path, data=cy, headers=headers) for _ in range(2)]
        assert [answer.status_code for answer in by_request_id] == [303, 409]
        async with database.transaction() as tx:
            assert await fetch(tx, "SELECT count(*) FROM hiring.application") == [3]
            await tx.execute("SET LOCAL session_replication_role = replica")
            await tx.execute("UPDATE hiring.event SET created_at = created_at - interval '3 days'")
        assert (await post(browser, path, **ada, key=keys[0])).status_code == 409


async def test_an_applicant_who_exists_learns_where_their_link_is(database: Database) -> None:
    ada = {"name": "Ada", "email": "ada@example.org"}
    async with served(pages.create_app(database, local=True)) as site:
        jobs = [await make_job(site) for _ in range(3)]
        await post(site, f"/openings/{jobs[0]}", **ada)
        again = await post(site, f"/openings/{jobs[0]}", **ada)
    assert "Ask the company for a link" in again.text
    async with served(pages.create_app(database)) as site:
        silent = await post(site, f"/openings/{jobs[1]}", **ada)
        headers = HTML | await bearer(database, "recruiter")
        new = {"name": "Cy", "email": "cy@example.org"}
        staff = await site.post(f"/openings/{jobs[1]}", data=new, headers=headers)
        person = attribute(Html(staff.text), ".notice a", "href")
        assert "cy@example.org" in (await site.get(person, headers=headers)).text
    assert "Use the personal link that you saved then" in silent.text
    # A member of the company is not told that about an address that is new.
    assert "personal link" not in staff.text
    async with served(
        pages.create_app(database, site_settings=SiteSettings(sends_mail=True))
    ) as site:
        far = await post(site, f"/openings/{jobs[2]}", **ada)
        again = await post(site, f"/openings/{jobs[2]}", **ada)
        ben = {"name": "Ben", "email": "ben@example.org"}
        staff = await site.post(f"/openings/{jobs[2]}", data=ben, headers=headers)
    assert "a link to the status of their application." in staff.text
    assert "your application" not in staff.text
    assert "We have sent an email to ada@example.org" in far.text
    assert "Use the link in our email to see the status." in again.text


@pytest.mark.parametrize(
    ("waiting", "expected"),
    [(0, "The waitlist is empty."), (1, "1 person is waiting."), (2, "2 people are waiting.")],
)
async def test_a_full_opening_shows_the_number_of_waiting_people(
    site: httpx2.AsyncClient, waiting: int, expected: str
) -> None:
    job = await make_job(site)
    for _ in range(1 + waiting):
        await apply(site, job)
    assert expected in (await site.get(f"/openings/{job}")).text


@pytest.mark.parametrize(
    "fields", [{}, {"name": "Ada"}, {"name": "Ada", "email": "no"}, {"name": " ", "email": "a@b.c"}]
)
async def test_an_invalid_form_is_shown_with_the_error_and_the_input(
    site: httpx2.AsyncClient, fields: dict[str, str]
) -> None:
    job = await make_job(site)
    answer = await post(site, f"/openings/{job}", **fields)
    assert answer.status_code == 400
    assert 'role="alert"' in answer.text
    assert f'value="{fields.get("email", "")}"' in answer.text
    assert (await site.get("/api/applicants")).json() == []


async def test_a_personal_link_shows_the_standing_and_withdraws(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site)
    await apply(site, job)
    application = await apply(site, job)
    link = await link_of(database, application["applicantId"])
    assert "number 1 on the waitlist" in (await site.get(link)).text
    step = f"{link}/applications/{application['applicationId']}/withdraw"
    assert (await site.get(step)).status_code == 405
    done = await post(site, step)
    assert (done.status_code, done.headers["location"]) == (303, link)
    assert "You have no open applications." in (await site.get(link)).text


async def test_a_personal_link_answers_its_own_offers_only(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site, requireAcknowledgement=True, capacity=2)
    application, theirs = [await apply(site, job) for _ in range(2)]
    link = await link_of(database, application["applicantId"])
    page = await look(site, link)
    assert "Time left: 5 min." in text(page)
    assert "If you decline, your application ends." in text(page)
    assert (
        await post(site, f"{link}/applications/{theirs['applicationId']}/accept")
    ).status_code == 403
    own = f"{link}/applications/{application['applicationId']}"
    shown = {"offer": attribute(page, "[action$=accept] [name=offer]", "value")}
    assert (await post(site, f"{own}/accept", offer="soon")).status_code == 400
    for _ in range(2):
        assert (await post(site, f"{own}/accept", **shown)).status_code == 303
        assert "You have a place." in (await site.get(link)).text
    refused = Html((await post(site, f"{own}/decline", **shown)).text)
    assert text(refused, "[role=alert]") == "This offer was already answered or has ended."
    for _ in range(2):
        assert (await post(site, f"{own}/withdraw")).status_code == 303
    assert text(Html((await post(site, f"{own}/accept")).text), "[role=alert]") == (
        "This offer was already answered or has ended."
    )
    async with database.transaction() as tx:
        log = await events.find_by_applicant(tx, application["applicantId"])
    assert [event.type for event in log] == ["APPLIED", "ACKNOWLEDGED", "WITHDRAWN"]


async def test_a_page_that_was_open_too_long_answers_no_later_offer(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site, requireAcknowledgement=True, maxMissed=3)
    application = await apply(site, job)
    link = await link_of(database, application["applicantId"])
    await let_pass(database, job, 200)
    stale = attribute(await look(site, link), "[action$=accept] [name=offer]", "value")
    await let_pass(database, job, 101)
    for step in ("accept", "decline"):
        answer = await post(
            site, f"{link}/applications/{application['applicationId']}/{step}", offer=stale
        )
        assert answer.status_code == 410
        # Nobody else waits, so that the place was offered again.
        assert "You have been offered a place." in answer.text


async def test_a_missed_offer_is_told_in_the_openings_time_zone(
    site: httpx2.AsyncClient, database: Database
) -> None:
    terms = {"requireAcknowledgement": True, "maxMissed": 3, "timeZone": "Asia/Kolkata"}
    job = await make_job(site, **terms)
    application = await apply(site, job)
    link = await link_of(database, application["applicantId"])
    for sentence in (
        r"You missed an offer at \w{3} \d+ \w{3} \d{4}, \d\d:\d\d \(Asia/Kolkata\); 2 more end",
        r"You missed 2 offers, the last at .+ \(Asia/Kolkata\); one more ends your application\.",
    ):
        await let_pass(database, job, 301)
        shown = text(await look(site, link), "#mine")
        assert re.search(sentence, shown), shown
        assert "You have been offered a place." in shown
    await let_pass(database, job, 301)
    shown = text(await look(site, link), "#mine")
    assert "You did not answer 3 offers in time. Your application has ended." in shown
    assert "one more ends" not in shown


async def test_an_applicant_saves_the_link_as_text_or_picture(database: Database) -> None:
    async with site_with(database, local=True) as company:
        job = await make_job(company)
    async with site_with(database) as browser:
        applied = await post(browser, f"/openings/{job}", name="Ada", email="ada@example.org")
        assert applied.status_code == 303
        page = await look(browser, applied.headers["location"])
        assert "Save this link" in texts(page, "h2")
        saved = str(page.css("#link")[0].attributes["value"])
        assert saved.endswith(applied.headers["location"])
        assert page.css(".qr-frame svg.qr path")
        # The standing comes first, and live updates do not draw the code again.
        assert text(page, "main").index("You have a place.") < text(page, "main").index("Save this")
        update = await browser.get(f"{applied.headers['location']}?digest=old")
        assert "<svg" not in update.text
        # Without email Ben must look for an offer; Ada needs none.
        assert "Come back to this page to check for an offer." not in text(page, "main")
    async with site_with(database) as browser:
        applied = await post(browser, f"/openings/{job}", name="Ben", email="ben@example.org")
        page = await look(browser, applied.headers["location"])
        assert "Come back to this page to check for an offer." in text(page, "main")


@pytest.mark.server_clock(dt.timedelta(hours=1))
async def test_the_remaining_time_is_measured_by_the_databases_clock(
    site: httpx2.AsyncClient, database: Database
) -> None:
    applied = await apply(site, await make_job(site, requireAcknowledgement=True))
    link = await link_of(database, applied["applicantId"])
    application = f"{link}/applications/{applied['applicationId']}"
    for path in (link, application, await offer_of(database, applied["applicationId"])):
        assert "Time left: 5 min." in text(await look(site, path))


async def test_an_applicant_exports_and_erases_their_data(
    site: httpx2.AsyncClient, database: Database
) -> None:
    application = await apply(site, await make_job(site))
    link = await link_of(database, application["applicantId"])
    data = await site.get(f"{link}/export")
    assert data.json()["applicant"]["id"] == application["applicantId"]
    assert (await post(site, f"{link}/erase")).status_code == 400
    assert (await post(site, f"{link}/erase", confirmed="yes")).status_code == 200
    assert (await site.get(link, headers=HTML)).status_code == 401


async def test_a_link_that_the_company_issued_acts_visibly_and_neither_exports_nor_erases(
    site: httpx2.AsyncClient, database: Database
) -> None:
    application = await apply(site, await make_job(site))
    link = await issued_link_of(database, application["applicantId"])
    assert (await site.get(link, headers=HTML)).status_code == 200
    assert (await site.get(f"{link}/export")).status_code == 403
    assert (await post(site, f"{link}/erase", confirmed="yes")).status_code == 403
    token, id = link.removeprefix("/my/"), application["applicantId"]
    async with site_with(database) as remote:
        headers = {"Authorization": f"Link {token}"}
        for method, path in (("GET", "export"), ("POST", "erase")):
            url = f"/api/applicants/{id}/{path}"
            assert (await remote.request(method, url, headers=headers)).status_code == 403
    done = await post(site, f"{link}/applications/{application['applicationId']}/withdraw")
    assert done.status_code == 303
    async with database.transaction() as tx:
        logged = await events.find_by_applicant(tx, id)
        cursor = await tx.execute("SELECT subject_type, subject, after FROM people.change")
        changes = await cursor.fetchall()
    assert f"applicant:{id} link:person:3" in [event.actor for event in logged]
    assert "ended with a link that the company issued" in text(await look(site, link), "main")
    assert ("personal link", str(id), {"issuer": "person:3", "applicant_id": id}) in changes


@pytest.mark.parametrize("path", ["/my/nonsense", "/offer/nonsense", "/my/" + "x" * 300])
async def test_an_invalid_link_opens_nothing(site: httpx2.AsyncClient, path: str) -> None:
    assert (await site.get(path, headers=HTML)).status_code == 400


async def test_opening_an_offer_answers_nothing_and_its_buttons_answer_once(
    site: httpx2.AsyncClient, database: Database
) -> None:
    application = await apply(site, await make_job(site, requireAcknowledgement=True))
    link = await offer_of(database, application["applicationId"])
    for query in ("", "?answer=accept", "?answer=decline"):
        assert "Accept" in (await site.get(link + query)).text
    assert (await post(site, link, answer="perhaps")).status_code == 400
    for _ in range(2):
        # A second tap finds that it is done.
        taken = await post(site, link, answer="accept")
        assert (taken.status_code, "You accepted the offer." in taken.text) == (200, True)
    refused = await post(site, link, answer="decline")
    assert (refused.status_code, "already answered or has ended" in refused.text) == (409, True)
    assert "already answered" in (await site.get(link)).text


async def test_an_expired_offer_says_so(site: httpx2.AsyncClient, database: Database) -> None:
    job = await make_job(site, requireAcknowledgement=True, maxMissed=1)
    application = await apply(site, job)
    await let_pass(database, job, 301)
    link = await offer_of(database, application["applicationId"])
    assert "This offer has expired or is no longer open." in (await site.get(link)).text
    late = await post(site, link, answer="accept")
    assert (late.status_code, "Your application has ended" in late.text) == (410, True)


HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "javascript:alert(1)",
    "{{7*7}}",
)


@pytest.mark.parametrize("words", HOSTILE)
async def test_no_title_reason_or_search_becomes_markup(
    site: httpx2.AsyncClient, database: Database, words: str
) -> None:
    job = await make_job(site, title=words, employer=words, location=words, description=words)
    removed, more = await apply(site, job), await apply(site, job)
    async with database.transaction() as tx:
        await withdrawals.withdraw(tx, removed["applicationId"], LOCAL, reason=words)
    link, other = [
        await link_of(database, application["applicantId"]) for application in (removed, more)
    ]
    offer = await offer_of(database, more["applicationId"])
    for path in (
        "/openings", f"/openings/{job}", link, f"{link}/applications/{removed['applicationId']}", other, offer,
    ):  # fmt: skip
        page = await look(site, path)
        assert not page.css("main script, main img, main [onerror], a[href^=javascript]")
        assert words in text(page)
    search = await site.get("/openings", params={"q": words + "!"}, headers=HTML)
    assert "No matching openings." in search.text
    assert "<script>alert" not in search.text


async def test_a_waiting_applicants_page_updates_and_shows_the_offer(database: Database) -> None:
    async with site_with(database, local=True) as company, site_with(database) as browser:
        job = await make_job(company)
        ada, ben = await apply(company, job), await apply(company, job)
        own_link, theirs = [
            await link_of(database, application["applicantId"]) for application in (ada, ben)
        ]
        page = await look(browser, theirs)
        again = str(page.css("#mine")[0].attributes["hx-get"])
        assert page.css("#live")[0].attributes["hx-sse:connect"] == f"{theirs}/live"
        async with browser.stream("GET", f"{theirs}/live") as stream:
            heard = words(stream)
            await anext(heard)
            # Nothing changed for this applicant: the page stays as it is.
            assert (await browser.get(again)).status_code == 204
            async with httpx2.AsyncClient(base_url=browser.base_url) as other:
                await post(other, f"{own_link}/applications/{ada['applicationId']}/withdraw")
            assert await anext(heard) == "hiring"
            part = await look(browser, again)
            assert "You have been offered a place." in text(part, "#mine")
            again = attribute(part, "#mine", "hx-get")
            await send_message(company, job, ben["applicationId"], "Bring\nbread.")
            assert await anext(heard) == "hiring"
        for path in (again, f"{theirs}/applications/{ben['applicationId']}"):
            part = await look(browser, path)
            assert part.css(".received .text")[0].text() == "Bring\nbread."
            # Only the company reads why the message was sent, and by whom.
            assert "secret" not in text(part, "#mine")
        assert texts(part, "#mine button") == ["Accept", "Decline"]
        assert "You withdrew your application." in text(await look(browser, own_link))


async def test_only_a_link_holder_gets_live_updates_and_on_few_pages(database: Database) -> None:
    async with site_with(database, local=True) as company, site_with(database) as far:
        application = await apply(company, await make_job(company))
        link = await link_of(database, application["applicantId"])
        assert (await far.get("/my/nonsense/live")).status_code == 400
        async with AsyncExitStack() as open_pages:
            heard: list[AsyncIterator[str]] = []
            for _ in range(5):
                stream = await open_pages.enter_async_context(far.stream("GET", f"{link}/live"))
                # The first bytes of the stream come without any event.
                heard.append(stream.aiter_lines())
                await anext(heard[-1])
            assert (await far.get(f"{link}/live")).status_code == 429


async def test_an_ended_application_shows_how_it_ended_and_its_history(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site, maxMissed=1)
    first, missed, removed = [await apply(site, job) for _ in range(3)]
    async with database.transaction() as tx:
        await withdrawals.withdraw(tx, first["applicationId"], LOCAL, reason="Budget <b>cut</b>")
    await let_pass(database, job, 301)
    story = [
        await look(site, await link_of(database, application["applicantId"]))
        for application in (first, missed)
    ]
    assert "The company ended your application." in text(story[0], "#mine")
    assert "Reason: Budget <b>cut</b>" in text(story[0], "#mine")
    assert "You did not answer the offer in time. Your application has ended." in text(
        story[1], "#mine"
    )
    theirs = f"{await link_of(database, missed['applicantId'])}/applications"
    path = f"{theirs}/{missed['applicationId']}"
    assert [line.split(".")[0] for line in texts(await look(site, path), ".events li")] == [
        "You did not answer the offer in time",
        "You were offered a place",
        "You applied and joined the waitlist",
    ]
    await look(site, f"{theirs}/{removed['applicationId']}", 404)


async def test_a_wait_is_estimated_from_offers_but_not_while_paused(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site)
    *leave, last = [await apply(site, job) for _ in range(6)]
    link = await link_of(database, last["applicantId"])
    assert "No estimate yet" in text(await look(site, link))
    for application in leave[:3]:
        await site.post("/api/withdraw", json={"applicationId": application["applicationId"]})
    shown = text(await look(site, link), ".wait")
    assert re.fullmatch(
        r"Estimated wait: (\d+ to|up to) \d+ minutes, based on the last 1 minute "
        r"\(3 places offered\)\.",
        shown,
    )
    for change, expected in (("pause", "is paused"), ("close", "is closed")):
        await site.post(f"/api/jobs/{job}/{change}")
        assert expected in text(await look(site, link), ".wait")


async def test_a_browser_remembers_a_link_until_the_applicant_forgets_it(
    database: Database,
) -> None:
    async with site_with(database, local=True) as company, site_with(database) as browser:
        first, second = await make_job(company), await make_job(company, title="Cook")
        await apply(company, first)
        ada = await apply(company, first)
        link = await link_of(database, ada["applicantId"])
        assert "Your page opens with a personal link." in text(await look(browser, "/my"))
        cookie = (await browser.get(link)).headers["set-cookie"].lower()
        assert "httponly" in cookie
        assert "samesite=lax" in cookie
        assert (await browser.get("/my")).headers["location"] == link
        page = await look(browser, f"/openings/{first}")
        assert "You have applied. You are number 1 on the waitlist." in text(page)
        assert not page.css("main form")
        assert "You are applying as Ada" in text(await look(browser, f"/openings/{second}"))
        assert (await post(browser, f"/openings/{second}", **{"as": "me"})).status_code == 303
        assert "Cook" in text(await look(browser, link), "#mine")
        assert (await post(browser, "/my/forget")).status_code == 303
        assert "Your page opens with a personal link." in text(await look(browser, "/my"))
        assert (await post(browser, f"/openings/{first}", **{"as": "me"})).status_code == 400


async def test_a_lost_link_is_sent_to_the_applicants_address_once_an_hour(
    database: Database,
) -> None:
    async with site_with(database, local=True, site_settings=SiteSettings(sends_mail=True)) as site:
        job = await make_job(site)
        await post(site, f"/openings/{job}", name="Ada", email="ada@example.org")
        answers = [
            await post(site, "/my", email=address)
            for address in ("ADA@example.org", "ada@example.org", "nobody@example.org")
        ]
        assert {answer.headers["location"] for answer in answers} == {"/my?sent=true"}
        assert (await post(site, "/my", email="no")).status_code == 400
        assert "we have sent an email" in text(await look(site, "/my?sent=true"))
    async with database.transaction() as tx:
        cursor = await tx.execute("SELECT count(*) FROM hiring.notice WHERE kind = 'message'")
        assert await cursor.fetchone() == (1,)


async def test_an_applicant_sees_the_stored_data_and_its_retention(
    site: httpx2.AsyncClient, database: Database
) -> None:
    application = await apply(site, await make_job(site, keepDays=90))
    link = await link_of(database, application["applicantId"])
    assert "90 days after your last application has ended" in text(
        await look(site, link), ".details"
    )
    await post(site, f"{link}/applications/{application['applicationId']}/withdraw")
    page = await look(site, link)
    assert "then erased" in text(page, ".details")
    # The day on which data are erased is a time that the browser shows in the reader's zone.
    assert len(page.css(".details time")) == 2
    await apply(site, await make_job(site), application["applicantId"])
    assert "You erase it" in text(await look(site, link), ".details")


async def test_openings_are_found_by_title_employer_or_location(site: httpx2.AsyncClient) -> None:
    await make_job(site, title="Baker", employer="Mill 100%")
    await make_job(site, title="Cook", location="Leiden")
    for query, titles in (
        ("bak", ["Baker"]),
        ("LEID", ["Cook"]),
        ("100%", ["Baker"]),
        ("%", ["Baker"]),
    ):
        page = await site.get("/openings", params={"q": query}, headers=HTML)
        assert re.findall(r"<strong>(.*?)</strong>", page.text) == titles, query
    assert (await site.get("/openings?q=&before=", headers=HTML)).status_code == 200
