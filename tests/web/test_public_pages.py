"""What applicants see: openings, their own applications, an offer."""

from __future__ import annotations

import datetime as dt
import json
import re
from typing import Any
from xml.etree import ElementTree

import httpx2
import pytest

from jobmill.catalog.posting import Posting
from jobmill.db import Database
from jobmill.hiring import applicants, applications
from jobmill.hiring.links import Signer
from jobmill.ingest import page
from jobmill.people import secrets
from jobmill.web import site as pages
from jobmill.web.house import House
from tests.ingest.adapters import read
from tests.web.api.kit import apply, let_pass, make_job
from tests.web.conftest import served

HTML = {"Accept": "text/html"}
NASTY = "Baker </script><script>alert(1)</script> & <b>co</b>"


async def link_of(database: Database, person: int) -> str:
    async with database.transaction() as tx:
        one = await applicants.get(tx, person)
        return "/my/" + Signer(await secrets.secret(tx)).personal(person, one.link_version)


async def offer_of(database: Database, application: int) -> str:
    async with database.transaction() as tx:
        one = await applications.get(tx, application)
        assert one.acknowledge_deadline
        signer = Signer(await secrets.secret(tx))
        return "/offer/" + signer.offer(application, one.acknowledge_deadline)


async def post(site: httpx2.AsyncClient, path: str, **fields: str) -> httpx2.Response:
    return await site.post(path, data=fields, headers=HTML)


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


async def test_a_closed_opening_is_gone_and_an_unknown_one_is_not_there(
    site: httpx2.AsyncClient,
) -> None:
    job = await make_job(site)
    await site.post(f"/api/jobs/{job}/close")
    assert (await site.get(f"/openings/{job}", headers=HTML)).status_code == 410
    assert (await site.get("/openings/999999", headers=HTML)).status_code == 404


async def test_a_jobmill_elsewhere_reads_the_feed(site: httpx2.AsyncClient) -> None:
    job = await make_job(
        site,
        title=NASTY,
        employer="Mill & Co",
        location="Leiden",
        description="Bake bread.\n\nAt night & day, \x0bwith care.",
        applyUntil="2030-01-02T03:04:05Z",
    )
    url = str(site.base_url.join("/openings/feed.xml"))
    answer = await site.get(url)
    assert answer.headers["content-type"].startswith("application/rss+xml")
    # Ours forgives much; others do not.
    assert ElementTree.fromstring(answer.content).tag == "rss"
    [one] = read("rss", answer.content, {"url": url}).postings
    _check(one, site, job)


async def test_a_jobmill_elsewhere_reads_the_page(site: httpx2.AsyncClient) -> None:
    job = await make_job(
        site,
        title=NASTY,
        employer="Mill & Co",
        location="Leiden",
        description="Bake bread.\n\nAt night & day, \x0bwith care.",
        applyUntil="2030-01-02T03:04:05Z",
    )
    url = str(site.base_url.join(f"/openings/{job}"))
    found = page.read((await site.get(url)).text, url)
    assert found.method == "json-ld"
    assert found.posting is not None
    _check(found.posting, site, job)
    assert found.posting.requisition_id == str(job)


def _check(one: Posting, site: httpx2.AsyncClient, job: int) -> None:
    assert one.url == str(site.base_url.join(f"/openings/{job}"))
    assert one.company == "Mill & Co"
    assert one.location == "Leiden"
    assert one.description is not None
    assert "Bake bread." in one.description
    assert "At night & day, with care." in one.description
    assert one.valid_through == dt.datetime(2030, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
    assert one.posted_at is not None
    assert one.title.startswith("Baker")


async def test_no_title_breaks_out_of_the_data_in_the_page(site: httpx2.AsyncClient) -> None:
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


async def test_one_applies_in_one_step(site: httpx2.AsyncClient) -> None:
    job = await make_job(site)
    first = await post(site, f"/openings/{job}", name="Ada", email="ada@example.org")
    assert first.status_code == 201
    assert "you are now ACTIVE" in first.text
    again = await post(site, f"/openings/{job}", name="Ada", email="ADA@example.org")
    assert again.status_code == 409
    assert "has applied already" in again.text
    second = await post(site, f"/openings/{job}", name="Bob", email="bob@example.org")
    assert "waitlist at position 1" in second.text


async def test_who_gets_no_letter_is_told_how_to_get_their_link(database: Database) -> None:
    ada = {"name": "Ada", "email": "ada@example.org"}
    async with served(pages.make(database, local=True)) as site:
        job = await make_job(site)
        near = await post(site, f"/openings/{job}", **ada)
        again = await post(site, f"/openings/{job}", **ada)
    person = re.search(r"jobmill hiring link (\d+)", near.text)
    assert person
    assert "We write to" not in near.text
    assert "Ask us for a link" in again.text
    async with served(pages.make(database, house=House(writes=True))) as site:
        far = await post(site, f"/openings/{job}", name="Bob", email="bob@example.org")
        again = await post(site, f"/openings/{job}", name="Bob", email="bob@example.org")
    assert "We write to bob@example.org" in far.text
    assert "jobmill hiring link" not in far.text
    assert "The letter about it holds a link" in again.text


@pytest.mark.parametrize(
    ("waiting", "said"), [(0, "nobody waits yet"), (1, "one person waits"), (2, "2 people wait")]
)
async def test_a_full_opening_says_how_many_wait(
    site: httpx2.AsyncClient, waiting: int, said: str
) -> None:
    job = await make_job(site)
    for _ in range(1 + waiting):
        await apply(site, job)
    assert said in (await site.get(f"/openings/{job}")).text


@pytest.mark.parametrize(
    "fields", [{}, {"name": "Ada"}, {"name": "Ada", "email": "no"}, {"name": " ", "email": "a@b.c"}]
)
async def test_what_is_wrong_is_said_beside_what_was_typed(
    site: httpx2.AsyncClient, fields: dict[str, str]
) -> None:
    job = await make_job(site)
    answer = await post(site, f"/openings/{job}", **fields)
    assert answer.status_code == 400
    assert 'role="alert"' in answer.text
    assert f'value="{fields.get("email", "")}"' in answer.text
    assert (await site.get("/api/applicants")).json() == []


async def test_a_personal_link_shows_where_one_stands_and_withdraws(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site)
    await apply(site, job)
    mine = await apply(site, job)
    link = await link_of(database, mine["applicantId"])
    assert "number 1 on the waitlist" in (await site.get(link)).text
    step = f"{link}/applications/{mine['applicationId']}/withdraw"
    assert (await site.get(step)).status_code == 405
    done = await post(site, step)
    assert (done.status_code, done.headers["location"]) == (303, link)
    assert "You are in no opening now." in (await site.get(link)).text


async def test_a_personal_link_answers_its_own_offers_only(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site, requireAcknowledgement=True, capacity=2)
    mine, theirs = [await apply(site, job) for _ in range(2)]
    link = await link_of(database, mine["applicantId"])
    assert ">5 min</span> left)" in (await site.get(link)).text
    assert (
        await post(site, f"{link}/applications/{theirs['applicationId']}/accept")
    ).status_code == 403
    assert (
        await post(site, f"{link}/applications/{mine['applicationId']}/accept")
    ).status_code == 303
    assert "You have a slot." in (await site.get(link)).text


async def test_one_takes_ones_data_along_and_erases_them(
    site: httpx2.AsyncClient, database: Database
) -> None:
    mine = await apply(site, await make_job(site))
    link = await link_of(database, mine["applicantId"])
    data = await site.get(f"{link}/export")
    assert data.json()["applicant"]["id"] == mine["applicantId"]
    assert (await post(site, f"{link}/erase")).status_code == 400
    assert (await post(site, f"{link}/erase", sure="yes")).status_code == 200
    assert (await site.get(link, headers=HTML)).status_code == 401


@pytest.mark.parametrize("path", ["/my/nonsense", "/offer/nonsense", "/my/" + "x" * 300])
async def test_a_link_that_is_not_ours_opens_nothing(site: httpx2.AsyncClient, path: str) -> None:
    assert (await site.get(path, headers=HTML)).status_code == 400


async def test_looking_at_an_offer_answers_nothing_and_its_buttons_answer_once(
    site: httpx2.AsyncClient, database: Database
) -> None:
    one = await apply(site, await make_job(site, requireAcknowledgement=True))
    link = await offer_of(database, one["applicationId"])
    for query in ("", "?answer=accept", "?answer=decline"):
        assert "Accept" in (await site.get(link + query)).text
    assert (await post(site, link, answer="perhaps")).status_code == 400
    taken = await post(site, link, answer="accept")
    assert (taken.status_code, "You are now ACTIVE." in taken.text) == (200, True)
    assert (await post(site, link, answer="decline")).status_code == 409
    assert "answered already" in (await site.get(link)).text


async def test_an_offer_that_has_ended_says_so(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site, requireAcknowledgement=True, maxMissed=1)
    one = await apply(site, job)
    await let_pass(database, job, 301)
    link = await offer_of(database, one["applicationId"])
    assert "This offer has ended." in (await site.get(link)).text
    late = await post(site, link, answer="accept")
    assert (late.status_code, "your application has ended" in late.text) == (410, True)
