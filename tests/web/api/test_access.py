"""Tests of access to the API from other machines."""

from __future__ import annotations

import datetime as dt
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest

from jobmill.db import Database
from jobmill.hiring.actor import LOCAL
from jobmill.hiring.admission import decisions
from jobmill.hiring.applications import applicant_applications, submissions
from jobmill.hiring.applications.offers import answer_offer
from jobmill.hiring.messages.signed_links import LinkSigner
from jobmill.hiring.stages.stage_moves import move_to_stage
from jobmill.people import keys, secrets
from jobmill.people.persons import Role
from tests.hiring.helpers import make_applicant, make_opening
from tests.people.helpers import SCOPES
from tests.web.helpers import site_with, status_and_code

RANKS: list[Role] = ["viewer", "recruiter", "admin"]

ENDPOINTS: list[tuple[str, str, Any, Role]] = [
    ("POST", "/api/jobs", {"title": "Cook", "capacity": 1}, "recruiter"),
    ("GET", "/api/jobs/{job}", None, "viewer"),
    ("GET", "/api/jobs/{job}/settings", None, "viewer"),
    ("PATCH", "/api/jobs/{job}/settings", {"maxMissed": 2}, "recruiter"),
    ("POST", "/api/jobs/{job}/capacity", {"capacity": 3}, "recruiter"),
    ("POST", "/api/jobs/{job}/pause", None, "recruiter"),
    ("GET", "/api/jobs/{job}/applications", None, "viewer"),
    ("GET", "/api/jobs/{job}/applications.csv", None, "viewer"),
    ("GET", "/api/jobs/{job}/events", None, "viewer"),
    ("GET", "/api/jobs/{job}/verify", None, "viewer"),
    ("POST", "/api/jobs/{job}/bulk",
     {"action": "withdraw", "applicationIds": [999_999], "reason": "x"}, "recruiter"),
    ("GET", "/api/applicants", None, "viewer"),
    ("POST", "/api/applicants", {"name": "New", "email": "new@example.org"}, "recruiter"),
    ("GET", "/api/applicants/{other}", None, "viewer"),
    ("GET", "/api/status/{other}", None, "viewer"),
    ("GET", "/api/timeline/{other}", None, "viewer"),
    ("POST", "/api/applicants/{other}/link", None, "recruiter"),
    ("GET", "/api/applicants/{other}/export", None, "admin"),
    ("POST", "/api/applicants/{other}/erase", None, "admin"),
    ("POST", "/api/apply", {"applicantId": "{other}", "jobId": "{job}"}, "recruiter"),
    ("POST", "/api/withdraw", {"applicationId": "{theirs}"}, "recruiter"),
    ("POST", "/api/acknowledge", {"applicationId": "{theirs}"}, "recruiter"),
    ("POST", "/api/applications/{theirs}/decline", None, "recruiter"),
    ("POST", "/api/applications/{theirs}/remove", {"reason": "x"}, "recruiter"),
    ("POST", "/api/applications/{theirs}/promote", {"reason": "x"}, "recruiter"),
    ("GET", "/api/queue/{job}", None, "viewer"),
    ("GET", "/api/pipeline/{job}/summary", None, "viewer"),
    ("GET", "/api/pipeline/{job}/replay", None, "viewer"),
    ("GET", "/api/webhooks", None, "admin"),
    ("POST", "/api/webhooks", {"url": "https://example.org/hook"}, "admin"),
    ("GET", "/api/blocklist", None, "viewer"),
    ("POST", "/api/blocklist", {"address": "@bad.example", "reason": "x"}, "recruiter"),
    ("DELETE", "/api/blocklist/@bad.example", None, "recruiter"),
]  # fmt: skip


@dataclass
class ApiClient:
    site: httpx2.AsyncClient
    ids: dict[str, int]
    keys: dict[str, str]
    link: str

    async def ask(self, method: str, path: str, body: Any, auth: str = "") -> httpx2.Response:
        headers = {"Authorization": auth} if auth else {}
        filled = {name: self._fill(value) for name, value in (body or {}).items()}
        where = path.format(**self.ids)
        return await self.site.request(method, where, json=filled or None, headers=headers)

    def _fill(self, value: Any) -> Any:
        if isinstance(value, str) and value.startswith("{"):
            return self.ids[value.strip("{}")]
        return value


@pytest.fixture
async def world(database: Database) -> AsyncIterator[ApiClient]:
    async with database.transaction() as tx:
        opening = await make_opening(tx, 2)
        me, other = await make_applicant(tx), await make_applicant(tx)
        placement = await submissions.apply(tx, opening.id, me.id, LOCAL)
        theirs = await submissions.apply(tx, opening.id, other.id, LOCAL)
        made = {role: (await keys.add(tx, role, SCOPES[role])).key for role in RANKS}
        signer = LinkSigner(await secrets.get_signing_key(tx))
    ids = {
        "job": opening.id,
        "me": me.id,
        "other": other.id,
        "mine": placement.application.id,
        "theirs": theirs.application.id,
    }
    async with site_with(database) as site:
        yield ApiClient(
            site, ids, made, signer.sign_personal(me.id, me.link_version, dt.datetime.now(dt.UTC))
        )


async def test_each_endpoint_requires_its_role(world: ApiClient) -> None:
    for method, path, body, role in ENDPOINTS:
        where = f"{method} {path}"
        answer = await world.ask(method, path, body)
        assert status_and_code(answer) == (401, "UNAUTHENTICATED"), where
        answer = await world.ask(method, path, body, f"Link {world.link}")
        assert status_and_code(answer) == (403, "FORBIDDEN"), where
        for lower in RANKS[: RANKS.index(role)]:
            answer = await world.ask(method, path, body, f"Bearer {world.keys[lower]}")
            assert status_and_code(answer) == (403, "FORBIDDEN"), f"{where} as {lower}"
        answer = await world.ask(method, path, body, f"Bearer {world.keys[role]}")
        assert answer.status_code not in (401, 403), f"{where} as {role}"


async def test_an_applicant_sees_and_ends_only_own_applications(world: ApiClient) -> None:
    auth = f"Link {world.link}"
    for path in ("/api/status/{me}", "/api/timeline/{me}", "/api/applicants/{me}",
                 "/api/applicants/{me}/export"):  # fmt: skip
        assert (await world.ask("GET", path, None, auth)).status_code == 200
    body = {"applicationId": "{mine}"}
    left = await world.ask("POST", "/api/withdraw", body, auth)
    assert left.json()["status"] == "INACTIVE"
    again = await world.ask("POST", "/api/apply", {"applicantId": "{me}", "jobId": "{job}"}, auth)
    assert again.status_code == 201
    gone = await world.ask("POST", "/api/applicants/{me}/erase", None, auth)
    assert gone.json() == {"applicantId": world.ids["me"], "erased": True}
    assert status_and_code(await world.ask("GET", "/api/status/{me}", None, auth))[0] == 401


async def test_an_applicant_does_not_read_scores_and_stages(
    world: ApiClient, database: Database
) -> None:
    async with database.transaction() as tx:
        opening = await make_opening(tx, 1, admission="review")
        entry = (await submissions.apply(tx, opening.id, world.ids["me"], LOCAL)).application.id
        await decisions.score(tx, entry, 40, LOCAL)
        await decisions.accept(tx, entry, LOCAL)
        await answer_offer(tx, entry, "accept", LOCAL)
        await move_to_stage(tx, entry, "interview", LOCAL, seen=None)
        await move_to_stage(tx, entry, "rejected", LOCAL, seen=None, reason="Weak")
    own = (await world.ask("GET", "/api/timeline/{me}", None, f"Link {world.link}")).json()
    company = f"Bearer {world.keys['viewer']}"
    full = (await world.ask("GET", "/api/timeline/{me}", None, company)).json()
    steps = [event for event in own if event["applicationId"] == entry]
    assert [event["eventType"] for event in steps] == [
        "APPLIED", "ACCEPTED", "PROMOTED", "ACKNOWLEDGED", "STAGE_CHANGED"
    ]  # fmt: skip
    assert set(steps[-1]["metadata"]) == {"actor", "jobId", "reasonTold"}
    assert len(full) == len(own) + 2
    # Pages are as long as their limit, also if events between them are left out.
    first = await world.site.get(
        f"/api/timeline/{world.ids['me']}?limit=3", headers={"Authorization": f"Link {world.link}"}
    )
    assert len(first.json()) == 3


async def test_the_interview_of_an_unknown_application_is_told_to_its_company_only(
    world: ApiClient,
) -> None:
    for id in ("{theirs}", "999999"):
        path = f"/api/applications/{id}/interview"
        assert (await world.ask("GET", path, None)).status_code == 401
    other = await world.ask(
        "GET", "/api/applications/{theirs}/interview", None, f"Link {world.link}"
    )
    assert status_and_code(other) == (403, "FORBIDDEN")
    company = f"Bearer {world.keys['viewer']}"
    missing = await world.ask("GET", "/api/applications/999999/interview", None, company)
    assert missing.status_code == 404


async def test_anonymous_clients_see_open_jobs_and_may_apply(
    world: ApiClient, database: Database
) -> None:
    async with database.transaction() as tx:
        closed = await make_opening(tx)
    key = f"Bearer {world.keys['recruiter']}"
    assert (await world.ask("POST", f"/api/jobs/{closed.id}/close", None, key)).status_code == 200
    jobs = (await world.site.get("/api/jobs")).json()
    assert world.ids["job"] in [job["id"] for job in jobs]
    assert closed.id not in [job["id"] for job in jobs]
    everything = await world.ask("GET", "/api/jobs", None, key)
    assert closed.id in [job["id"] for job in everything.json()]
    body = {"name": "Eve", "email": "eve@example.org", "jobId": "{job}"}
    assert (await world.ask("POST", "/api/apply-public", body)).status_code == 201


async def test_anonymous_clients_are_rate_limited(database: Database) -> None:
    async with database.transaction() as tx:
        opening = await make_opening(tx)
    async with site_with(database, public_per_minute=2) as site:
        bodies = [
            {"name": "Eve", "email": f"eve{n}@example.org", "jobId": opening.id} for n in range(3)
        ]
        answers = [await site.post("/api/apply-public", json=body) for body in bodies]
    assert [answer.status_code for answer in answers] == [201, 201, 429]
    assert int(answers[2].headers["retry-after"]) > 0


async def test_a_withdrawal_is_the_applicants_unless_a_member_of_the_company_makes_it(
    world: ApiClient, database: Database
) -> None:
    recruiter = f"Bearer {world.keys['recruiter']}"
    body = {"applicantId": "{other}", "jobId": "{job}"}

    async def withdraw(site: httpx2.AsyncClient, auth: str, **extra: bool) -> tuple[str, ...]:
        """The side in the log, the rule and the kind of the letter."""
        async with database.transaction() as tx:
            opening_id, other = world.ids["job"], world.ids["other"]
            standing = await applicant_applications.find_live(tx, opening_id, other)
        if standing is None or standing.status == "INACTIVE":
            made = await world.ask("POST", "/api/apply", body, recruiter)
            id = made.json()["applicationId"]
        else:
            id = world.ids["theirs"]
        headers = {"Authorization": auth} if auth else {}
        json = {"applicationId": id, **extra}
        assert (await site.post("/api/withdraw", json=json, headers=headers)).status_code == 200
        async with database.transaction() as tx:
            cursor = await tx.execute(
                """
                SELECT metadata->>'actor', why->>'rule', kind FROM hiring.event
                  JOIN hiring.notice USING (opening_id, application_id, seq)
                 WHERE application_id = %s AND type = 'WITHDRAWN'
                """,
                [id],
            )
            [row] = await cursor.fetchall()
            return row

    by_applicant = ("applicant", "withdrawn", "withdrawn")
    assert await withdraw(world.site, recruiter) == (
        "company",
        "removed by the company",
        "removed",
    )
    assert await withdraw(world.site, recruiter, forApplicant=True) == by_applicant
    # The original front end sends no credentials and runs on the same machine.
    async with site_with(database, local=True) as local:
        assert await withdraw(local, "") == by_applicant
