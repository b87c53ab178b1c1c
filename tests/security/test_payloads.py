"""Attacks in every text field of every form and JSON body, and then on every page."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import AsyncIterator, Iterable
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx2
import pytest
from selectolax.lexbor import LexborHTMLParser

from bench.pages.sample_database import Sizes
from jobmill.db import Database
from tests.people.helpers import PASSWORD, make_applicant, make_person
from tests.security.json_bodies import JsonBody, json_bodies
from tests.security.site_forms import HTML, LEFT_OUT, SiteForm, walk_site
from tests.web.api.helpers import apply, make_job
from tests.web.helpers import site_with
from tests.web.test_every_route import Route, routes
from tests.web.test_page_plans import fill_sample

PAYLOADS = (
    # Markup and attributes.
    "\"'><xss-probe xssprobe=1 onload=x></textarea></title></script><xss-probe>",
    # Templates: a result of 1787569 shows that one was evaluated.
    "{{1337*1337}}${1337*1337}{%raw%}#{1337*1337}<%=1337*1337%>xss-text",
    # SQL.
    "xss-text'; DROP TABLE queue.item; --\\' OR 1=1 %s %(x)s $1",
    # Formulas, and directions and controls of terminals.
    '=HYPERLINK("http://evil.example";"xss-text")\u202e\x1b[2J',
)
SIZES = Sizes(
    listings=6, companies=4, sources=4, verdicts=6, matches=4, items=20, live=6, lineage=4, calls=8,
    runs=2, ran=2, openings=3, applications=700, hot=600, left=410, budget=4, people=2,
)  # fmt: skip
FORMULA = ("=", "+", "@", "\t", "\r")


class AttackedSite(NamedTuple):
    client: httpx2.AsyncClient
    start: list[str]
    ids: dict[str, int]


@pytest.fixture
async def attacked(database: Database, url: str) -> AsyncIterator[AttackedSite]:
    await fill_sample(url, SIZES)
    async with site_with(database, public_per_minute=100_000) as client:
        await make_person(database, "ada@example.org", "admin")
        login = {"email": "ada@example.org", "password": PASSWORD}
        assert (await client.post("/sign-in", data=login)).status_code == 303
        job = await make_job(client)
        application = await apply(client, job)
        applicant, link = await make_applicant(database)
        ids = {
            "jobId": job,
            "opening_id": job,
            "applicationId": application["applicationId"],
            "applicantId": applicant,
        }
        # Routes with ids are found by links; the personal page is linked from letters only.
        plain = [route.path for route in routes() if "{" not in route.path]
        yield AttackedSite(client, [*dict.fromkeys(plain), f"/my/{link}"], ids)


async def test_no_text_field_is_a_way_in(attacked: AttackedSite, database: Database) -> None:
    client = attacked.client
    walk = await walk_site(client, attacked.start)
    faults = [fault for answer in walk.pages.values() for fault in check(answer)]
    attempts = 0
    document = (await client.get("/api/openapi.json")).json()
    for body in json_bodies(document):
        for name in body.texts:
            # One payload for each field, and all payloads for each body.
            attempts += 1
            value = PAYLOADS[attempts % len(PAYLOADS)]
            faults += check(await send_json(attacked, body, {name: value}))
        for payload in PAYLOADS if body.texts else ():
            attempts += 1
            faults += check(await send_json(attacked, body, dict.fromkeys(body.texts, payload)))
    forms = [form for form in walk.forms.values() if form.texts]
    for form in forms:
        for name in form.texts:
            # One payload for each field, and all payloads for each form.
            attempts += 1
            faults += check(await send(client, form, {name: PAYLOADS[attempts % len(PAYLOADS)]}))
        for payload in PAYLOADS:
            attempts += 1
            faults += check(await send(client, form, dict.fromkeys(form.texts, payload)))
    # Forms that only some states show: their fields have names that other forms have, too.
    names = {name for form in walk.forms.values() for name in form.texts}
    for path in unseen_routes(routes(), walk.forms.values()):
        for payload in PAYLOADS:
            attempts += 1
            action = re.sub(r"\{[^}]+\}", "1", path)
            faults += check(
                await client.post(action, data=dict.fromkeys(names, payload), headers=HTML)
            )
    after = await walk_site(client, attacked.start)
    for answer in after.pages.values():
        faults += check(answer)
    carrying = sum("xss-text" in answer.text for answer in after.pages.values())
    assert not faults, "\n".join(dict.fromkeys(faults))
    # The attacks must be stored and shown, or this proves nothing.
    counts = {"forms": len(forms), "attempts": attempts, "pages": carrying}
    assert counts["forms"] >= 30, counts
    assert counts["attempts"] >= 400, counts
    assert counts["pages"] >= 10, counts


def unseen_routes(all_routes: list[Route], forms: Iterable[SiteForm]) -> set[str]:
    """Routes that take a form which no page of the walk has shown."""
    actions = {urlsplit(form.action).path for form in forms if form.method == "POST"}
    return {
        route.path
        for route in all_routes
        if route.method == "POST"
        and not route.path.startswith("/api/")
        and not LEFT_OUT.search(route.path)
        and not any(
            re.fullmatch(re.sub(r"\{[^}]+\}", "[^/]+", route.path), path) for path in actions
        )
    }


async def send(
    client: httpx2.AsyncClient, form: SiteForm, values: dict[str, str]
) -> httpx2.Response:
    fields = {**form.values, **values}
    if form.method == "GET":
        return await client.get(form.action, params=fields, headers=HTML)
    return await client.post(form.action, data=fields, headers=HTML)


async def send_json(
    attacked: AttackedSite, body: JsonBody, values: dict[str, object]
) -> httpx2.Response:
    path = body.path
    for name, id in attacked.ids.items():
        path = path.replace(f"{{{name}}}", str(id))
    path = path.replace("{", "").replace("}", "")
    sample = {**body.sample, **{name: attacked.ids.get(name, 1) for name in body.ids}, **values}
    return await attacked.client.request(body.method, path, json=sample)


def check(answer: httpx2.Response) -> list[str]:
    where = f"{answer.request.method} {answer.request.url.path}"
    kind = answer.headers.get("content-type", "")
    faults: list[str] = []
    if answer.status_code >= 500 and answer.status_code != 503:
        faults.append(f"{where}: status {answer.status_code}")
    if "1787569" in answer.text:
        faults.append(f"{where}: a template was evaluated")
    if "html" in kind:
        tree = LexborHTMLParser(answer.text)
        if tree.css("xss-probe, [xssprobe]"):
            faults.append(f"{where}: markup was not escaped")
    elif "csv" in kind:
        cells = [cell for row in csv.reader(io.StringIO(answer.text)) for cell in row]
        faults += [f"{where}: a formula: {cell[:40]}" for cell in cells if cell.startswith(FORMULA)]
    elif "xss-probe" in answer.text and "json" not in kind and "xml" not in kind:
        faults.append(f"{where}: markup as {kind}")
    return faults
