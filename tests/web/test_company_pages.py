"""The pages about the company: identity, letters, closing, and the posting that others read."""

from __future__ import annotations

import asyncio
import json
import re
from typing import Any

import httpx2
import pytest

from jobmill.db import Database
from jobmill.hiring.applications import closing
from jobmill.web.site_settings import SiteSettings
from tests.hiring.test_company import make_png
from tests.outside.mailbox import Mailbox, open_mailbox, text_of
from tests.web.api.helpers import make_job
from tests.web.helpers import site_with
from tests.web.hiring_helpers import HTML, attribute, fill, look, post, text, texts, the_opening
from tests.web.test_interview_pages import find_page

NEW = {"title": "Baker", "capacity": "1", "window": "5", "unit": "minutes", "max_missed": "3"}


def posting(page: str) -> dict[str, Any]:
    [data] = re.findall(r'<script type="application/ld\+json">(.*?)</script>', page, re.DOTALL)
    return json.loads(data)


async def test_from_nothing_to_a_posting_with_the_companys_own_name(
    site: httpx2.AsyncClient, database: Database
) -> None:
    assert "Company name" in text(await look(site, "/hiring/new"))
    refused = await post(site, "/hiring/new", NEW)
    assert refused.status_code == 400
    assert "Enter the name of your company" in refused.text
    terms = NEW | {
        "company_name": "Wells & Co", "employment_type": "FULL_TIME", "pay_min": "45,000", "pay_max": "52000",
        "pay_currency": "eur", "pay_period": "YEAR", "remote": "yes", "countries": "Germany, France",
        "apply_until": "2030-01-02T03:04",
    }  # fmt: skip
    terms["key"] = attribute(await look(site, "/hiring/new"), "[name=key]", "value")
    # A second tap leads to the opening of the first one.
    created, again = await asyncio.gather(*[post(site, "/hiring/new", terms) for _ in range(2)])
    assert created.status_code == 303, created.text
    assert again.headers["location"] == created.headers["location"]
    job = int(created.headers["location"].rpartition("/")[2])
    public = await site.get(f"/openings/{job}", headers=HTML)
    assert "EUR 45,000 to 52,000 per year" in public.text
    assert "Full-time" in public.text
    assert "Jobmill" not in text(await look(site, f"/openings/{job}"), "header")
    node = posting(public.text)
    assert node["hiringOrganization"] == {"@type": "Organization", "name": "Wells & Co"}
    assert node["baseSalary"]["value"] == {
        "@type": "QuantitativeValue", "minValue": 45_000.0, "maxValue": 52_000.0, "unitText": "YEAR",
    }  # fmt: skip
    assert node["employmentType"] == "FULL_TIME"
    assert node["validThrough"].startswith("2030-01-02T03:04")
    assert [place["name"] for place in node["applicantLocationRequirements"]] == [
        "Germany", "France",
    ]  # fmt: skip
    assert "Company name" not in text(await look(site, "/hiring/new"))
    # A form that was changed after going back is another one.
    other = await post(site, "/hiring/new", terms | {"title": "Cook"})
    assert other.headers["location"] != created.headers["location"]
    edited = await look(site, f"/hiring/{job}/edit")
    assert attribute(edited, "input[name=pay_max]", "value") == "52,000"
    wrong = await post(site, f"/hiring/{job}/edit", terms | {"pay_currency": "Euros"})
    assert (wrong.status_code, "three letters" in wrong.text) == (400, True)
    assert (await the_opening(database, job)).last_seq == 2


async def test_a_posting_without_a_company_names_nobody_as_the_employer(
    site: httpx2.AsyncClient,
) -> None:
    job = await make_job(site)
    node = posting((await site.get(f"/openings/{job}")).text)
    assert "hiringOrganization" not in node
    assert "Jobmill" not in json.dumps(node)


async def test_the_company_has_a_name_a_logo_and_a_readable_color(
    site: httpx2.AsyncClient,
) -> None:
    identity = {"name": "Wells", "website": "https://wells.example", "accent": "#ffff00"}
    assert (await post(site, "/hiring/company", identity)).status_code == 303
    shown = await look(site, "/hiring/company")
    assert "was adjusted" in text(shown)
    assert (await site.get("/openings/logo")).status_code == 404
    files = {"file": ("logo.png", make_png(), "image/png")}
    assert (await site.post("/hiring/company/logo", files=files, headers=HTML)).status_code == 303
    svg = {"file": ("logo.png", b"<svg onload=alert(1)>", "image/png")}
    refused = await site.post("/hiring/company/logo", files=svg, headers=HTML)
    assert (refused.status_code, "PNG or JPEG" in refused.text) == (400, True)
    public = await look(site, "/openings")
    logo = await site.get(attribute(public, ".brand img", "src"))
    assert (logo.headers["content-type"], logo.content[:4]) == ("image/png", b"\x89PNG")
    assert texts(public, "title") == ["Openings · Wells"]
    css = (await site.get(attribute(public, "link[href^='/openings/company.css']", "href"))).text
    assert "--busy" in css
    assert "#ffff00; --accent" not in css.partition("@media")[0]
    bad = await post(site, "/hiring/company", identity | {"website": "javascript:alert(1)"})
    assert (bad.status_code, "https://www.example.org" in bad.text) == (400, True)
    assert (await post(site, "/hiring/company/logo/remove")).status_code == 303
    assert (await site.get("/openings/logo")).status_code == 404
    api = (await site.get("/api/company")).json()
    assert api == {**identity, "logoUrl": None}


async def test_other_sites_may_frame_the_list_and_read_the_feed_and_nothing_else(
    site: httpx2.AsyncClient,
) -> None:
    job = await make_job(site, title="Baker", employer="Mill & Co")
    framed = await site.get("/openings/embed", headers={"Sec-Fetch-Site": "cross-site", **HTML})
    assert "x-frame-options" not in framed.headers
    assert "frame-ancestors *" in framed.headers["content-security-policy"]
    assert f'href="/openings/{job}" target="_top"' in framed.text
    assert "<form" not in framed.text
    feed = await site.get("/openings/feed.json", headers={"Sec-Fetch-Site": "cross-site"})
    assert feed.headers["access-control-allow-origin"] == "*"
    assert feed.json()["version"] == "https://jsonfeed.org/version/1.1"
    [item] = feed.json()["items"]
    assert (item["title"], item["_job"]["company"]) == ("Baker", "Mill & Co")
    # An opening without an employer is of the company.
    await make_job(site, title="Miller")
    assert (await site.put("/api/company", json={"name": "Wells Bakery"})).status_code == 200
    rss = (await site.get("/openings/feed.xml")).text
    assert "Wells Bakery</job:company>" in rss
    assert "Mill &amp; Co</job:company>" in rss
    for path in ("/openings", f"/openings/{job}", "/hiring/company/website"):
        answer = await site.get(path, headers=HTML)
        assert answer.headers["x-frame-options"] == "DENY"
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert "/openings/embed" in (await site.get("/hiring/company/website", headers=HTML)).text


async def test_a_letter_is_previewed_saved_tested_and_reset(database: Database) -> None:
    async with (
        open_mailbox() as mailbox,
        site_with(
            database, local=True, site_settings=SiteSettings.from_settings(mailbox.settings())
        ) as site,
    ):
        await _edit_letter(site, mailbox)


async def _edit_letter(site: httpx2.AsyncClient, mailbox: Mailbox) -> None:
    path = "/hiring/company/email-templates/applied"
    assert path in (await site.get("/hiring/company/email-templates", headers=HTML)).text
    letter = {"subject": "Welcome, $name", "body": "$company <b>likes</b> you.", "version": "0"}
    unknown = await post(site, path, letter | {"body": "$nmae", "action": "save"})
    assert (unknown.status_code, "uses $nmae" in unknown.text) == (400, True)
    preview = await post(site, path, letter | {"action": "preview"})
    assert "Welcome, Ada Okafor" in preview.text
    assert "the company &lt;b&gt;likes" in preview.text
    test = await post(site, path, letter | {"action": "test", "address": "me@example.org"})
    assert "was sent to me@example.org" in test.text
    [sent] = mailbox.letters
    assert sent["subject"] == "Welcome, Ada Okafor"
    assert text_of(sent).strip() == "the company <b>likes</b> you."
    assert "&lt;b&gt;" in str(sent.get_body(("html",)))
    assert (await post(site, path, letter | {"action": "save"})).status_code == 303
    assert "Your text" in text(await look(site, path))
    stale = await post(site, path, letter | {"action": "save", "subject": "Mine"})
    assert (stale.status_code, "changed since you opened it" in stale.text) == (409, True)
    listed = {item["letter"]: item for item in (await site.get("/api/letters")).json()}
    assert (listed["applied"]["subject"], listed["applied"]["isDefault"]) == (
        "Welcome, $name", False,
    )  # fmt: skip
    await post(site, path, letter | {"action": "reset", "version": "1"})
    assert "Version 2" in text(await look(site, path))
    assert "It is yours." in text(await look(site, path))


async def test_closing_asks_what_to_tell_those_who_wait(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site)
    await fill(site, job, "Ada Ben Cy")
    # Without emails there is no letter to write, but a reason for the personal page.
    silent = await look(site, f"/hiring/{job}/close")
    assert not silent.css("[name=waiting][value=tell], [name=body]")
    assert attribute(silent, "[name=waiting][checked]", "value") == "end"
    async with (
        open_mailbox() as mailbox,
        site_with(
            database, local=True, site_settings=SiteSettings.from_settings(mailbox.settings())
        ) as with_mail,
    ):
        await _close_and_tell(with_mail, database, job)

    other = await make_job(site)
    await fill(site, other, "Di Ed")
    await post(site, f"/hiring/{other}/close", {"waiting": "keep"})
    shown = await look(site, f"/hiring/{other}")
    assert "This opening is closed and not published." in text(shown)
    assert "End waiting applications" in text(shown)
    long = await post(site, f"/hiring/{other}/close", {"waiting": "end", "reason": "x" * 2_001})
    assert (long.status_code, "at most 2,000 characters" in long.text) == (400, True)
    third = await make_job(site)
    _, fay = await fill(site, third, "Eve Fay")
    form = {"waiting": "end", "reason": "The shop burnt down."}
    assert (await post(site, f"/hiring/{third}/close", form)).status_code == 303
    shown = await look(site, await find_page(database, fay))
    assert "Your application has ended." in text(shown)
    assert "Reason: The shop burnt down." in text(shown)
    dry = {"tell": False, "dryRun": True}
    counts = {"jobId": other, "ended": 1, "offers": 0, "letters": 0, "kept": 1}
    for body in (dry, {"tell": False}):
        answer = await site.post(f"/api/jobs/{other}/close-and-tell", json=body)
        assert answer.json() == counts
    again = await site.post(f"/api/jobs/{other}/close-and-tell", json={"tell": False})
    assert again.status_code == 409
    fourth = await make_job(site)
    _, guy = await fill(site, fourth, "Fox Guy")
    path = f"/api/jobs/{fourth}/close-and-tell"
    for wrong in ("", "x" * 2_001, "a\x00b"):
        refused = await site.post(path, json={"tell": False, "reason": wrong})
        assert refused.status_code == 400
    closed = await site.post(path, json={"tell": False, "reason": " The roof leaks. "})
    assert closed.json()["ended"] == 1
    assert "Reason: The roof leaks." in text(await look(site, await find_page(database, guy)))
    await look(site, f"/hiring/{other}/change/reopen")
    assert (await post(site, f"/hiring/{other}/change/reopen")).status_code == 303
    assert (await the_opening(database, other)).status == "open"


async def _close_and_tell(site: httpx2.AsyncClient, database: Database, job: int) -> None:
    shown = await look(site, f"/hiring/{job}/close")
    assert "1 person with a place keeps it." in text(shown)
    assert "2 people without a place" in text(shown)
    form = {
        "waiting": "tell",
        "subject": "Sorry",
        "body": "$greeting\n\n$title is closed. $text",
        "reason": "No flour.",
    }
    preview = await post(site, f"/hiring/{job}/close", form | {"action": "preview"})
    assert "Hello Ada Okafor," in preview.text
    assert "is closed. No flour." in preview.text
    for wrong in ({"waiting": ""}, {"body": "$nmae"}):
        assert (await post(site, f"/hiring/{job}/close", form | wrong)).status_code == 400
    assert (await the_opening(database, job)).status == "open"
    closed = await post(site, f"/hiring/{job}/close", form | {"action": "close"})
    assert closed.status_code == 303
    after = await look(site, closed.headers["location"])
    assert "Ben did not get a place: the opening was closed." in text(after)
    assert (await post(site, f"/hiring/{job}/close", form)).status_code == 409
    assert (await the_opening(database, job)).occupied == 1


async def test_closing_is_shown_without_the_lock_and_for_very_many_people(
    site: httpx2.AsyncClient, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = await make_job(site, 1, admission="review")
    await fill(site, job, "Ada Ben")
    async with database.transaction() as tx, asyncio.timeout(20):
        await tx.execute("SELECT FROM hiring.opening WHERE id = %s FOR UPDATE", [job])
        shown = await look(site, f"/hiring/{job}/close")
    assert "2 people without a place" in text(shown)
    monkeypatch.setattr(closing, "MAX_ENDED", 1)
    shown = await look(site, f"/hiring/{job}/close")
    assert "too many to end in one step" in text(shown)
    assert attribute(shown, "[name=waiting]", "value") == "keep"
    refused = await post(site, f"/hiring/{job}/close", {"waiting": "end"})
    assert (refused.status_code, "jobmill hiring" in refused.text) == (400, False)
    assert (await post(site, f"/hiring/{job}/close", {"waiting": "keep"})).status_code == 303
    # People in review can be ended later, so that their data is not kept for ever.
    assert "End waiting applications" in text(await look(site, f"/hiring/{job}"))


@pytest.mark.parametrize("method", ["PUT", "DELETE"])
async def test_letters_and_postings_have_an_api(site: httpx2.AsyncClient, method: str) -> None:
    job = await make_job(site)
    body = {"subject": "Hi", "body": "Hi"} if method == "PUT" else None
    for path in ("/api/letters/applied", f"/api/letters/applied?jobId={job}"):
        assert (await site.request(method, path, json=body)).status_code == 204
    assert (await site.request(method, "/api/letters/none", json=body)).status_code == 400
    posting_body = {
        "employmentType": "INTERN",
        "payMin": 12.5,
        "payCurrency": "EUR",
        "payPeriod": "HOUR",
    }
    saved = await site.put(f"/api/jobs/{job}/posting", json=posting_body)
    assert saved.json() == (await site.get(f"/api/jobs/{job}/posting")).json()
    assert (saved.json()["payMax"], saved.json()["countries"]) == (12.5, [])
