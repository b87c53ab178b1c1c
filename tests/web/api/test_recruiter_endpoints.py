"""Tests of the endpoints for recruiters."""

from __future__ import annotations

from typing import Any

import httpx2
from pydantic import SecretStr

from jobmill.client.models import ApiPersonData
from jobmill.db import Database
from jobmill.hiring.records.apply_limits import PublicApplyLimits
from jobmill.settings import Settings
from jobmill.web.api import router
from jobmill.web.site_settings import SiteSettings
from tests.web.api.helpers import apply, make_job, make_person
from tests.web.helpers import site_with, status_and_code


async def test_removing_and_promoting_keep_their_reasons_in_the_log(
    site: httpx2.AsyncClient,
) -> None:
    job = await make_job(site)
    first, _, third = [await apply(site, job) for _ in range(3)]
    promote = f"/api/applications/{third['applicationId']}/promote"
    assert status_and_code(await site.post(promote, json={"reason": "urgent"})) == (409, "CONFLICT")
    done = await site.post(promote, json={"reason": "urgent", "addSlot": True})
    assert done.json()["status"] == "PENDING_ACKNOWLEDGMENT"
    gone = await site.post(
        f"/api/applications/{first['applicationId']}/remove", json={"reason": "no show"}
    )
    assert gone.json()["status"] == "INACTIVE"
    log = (await site.get(f"/api/jobs/{job}/events")).json()["items"]
    notes = {event["eventType"]: event["note"] for event in log if event["note"]}
    assert notes == {"CAPACITY_CHANGED": "urgent", "PROMOTED": "urgent", "WITHDRAWN": "no show"}


async def test_a_declined_offer_goes_to_the_next(site: httpx2.AsyncClient) -> None:
    job = await make_job(site, requireAcknowledgement=True)
    first, second = [await apply(site, job) for _ in range(2)]
    answer = await site.post(f"/api/applications/{first['applicationId']}/decline")
    assert answer.json()["status"] == "INACTIVE"
    status = (await site.get(f"/api/status/{second['applicantId']}")).json()
    assert status["applications"][0]["status"] == "PENDING_ACKNOWLEDGMENT"


async def test_a_bulk_withdrawal_has_a_dry_run(
    site: httpx2.AsyncClient,
) -> None:
    job = await make_job(site, 2)
    placed = [await apply(site, job) for _ in range(4)]
    ids = [placement["applicationId"] for placement in placed[:2]]
    body = {"action": "withdraw", "applicationIds": ids, "reason": "season over"}
    before = (await site.get(f"/api/jobs/{job}")).json()
    dry = await site.post(f"/api/jobs/{job}/bulk", json={**body, "dryRun": True})
    assert (await site.get(f"/api/jobs/{job}")).json() == before
    wet = await site.post(f"/api/jobs/{job}/bulk", json=body)
    assert dry.json()["lines"] == wet.json()["lines"]
    outcomes = [line["outcome"] for line in wet.json()["lines"]]
    assert outcomes == ["withdrawn", "withdrawn", "offered", "offered"]


async def test_an_import_applies_for_each_person_once(site: httpx2.AsyncClient) -> None:
    job = await make_job(site)
    table = "name,email\nAda,ada@example.org\nBob,bob@example.org\nAda,ADA@example.org\n"
    headers = {"content-type": "text/csv"}
    url = f"/api/jobs/{job}/import"
    dry = await site.post(f"{url}?dryRun=true", content=table, headers=headers)
    assert [line["outcome"] for line in dry.json()["lines"]] == ["applied", "applied", "repeated"]
    assert (await site.get("/api/applicants")).json() == []
    wet = await site.post(url, content=table, headers=headers)
    assert [line["queuePosition"] for line in wet.json()["lines"]] == [None, 1, None]
    again = await site.post(url, content=table, headers=headers)
    assert [line["outcome"] for line in again.json()["lines"]] == ["known", "known", "repeated"]
    bad = await site.post(url, content="name\nAda\n", headers=headers)
    assert status_and_code(bad) == (400, "VALIDATION_ERROR")


async def test_the_csv_export_contains_no_formula(site: httpx2.AsyncClient) -> None:
    job = await make_job(site)
    body = {"name": "=1+1", "email": "eve@example.org", "jobId": job}
    assert (await site.post("/api/apply-public", json=body)).status_code == 201
    table = await site.get(f"/api/jobs/{job}/applications.csv")
    assert table.headers["content-type"].startswith("text/csv")
    assert "attachment" in table.headers["content-disposition"]
    header, line = table.text.splitlines()
    assert header.startswith("applicationId,applicantId,applicantName")
    assert ",'=1+1,eve@example.org,ACTIVE," in line


async def test_an_event_is_explained_and_the_log_is_verified(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site)
    await apply(site, job)
    why = (await site.get(f"/api/jobs/{job}/events/2/why")).json()
    assert (why["eventType"], why["rule"]) == ("APPLIED", "a slot is free and nobody waits")
    assert why["sentences"]
    assert status_and_code(await site.get(f"/api/jobs/{job}/events/99/why")) == (404, "NOT_FOUND")
    good = (await site.get(f"/api/jobs/{job}/verify")).json()
    assert (good["ok"], good["events"], good["head"]["seq"], good["faults"]) == (True, 2, 2, [])
    async with database.transaction() as tx:
        await tx.execute("ALTER TABLE hiring.event DISABLE TRIGGER USER")
        await tx.execute("UPDATE hiring.event SET actor = 'nobody' WHERE seq = 2")
    bad = (await site.get(f"/api/jobs/{job}/verify")).json()
    assert (bad["ok"], bad["faults"][0]["seq"]) == (False, 2)


async def test_a_replay_by_number_shows_the_opening_right_after_that_event(
    site: httpx2.AsyncClient,
) -> None:
    job = await make_job(site)
    first, second = [await apply(site, job) for _ in range(2)]
    then = (await site.get(f"/api/pipeline/{job}/replay?seq=2")).json()
    assert [application["applicationId"] for application in then["activeApplicants"]] == [
        first["applicationId"]
    ]
    assert then["waitlistApplicants"] == []
    now = (await site.get(f"/api/pipeline/{job}/replay")).json()
    assert [application["applicationId"] for application in now["waitlistApplicants"]] == [
        second["applicationId"]
    ]
    both = await site.get(f"/api/pipeline/{job}/replay?seq=2&asOf=2026-01-01T00:00:00Z")
    assert status_and_code(both) == (400, "VALIDATION_ERROR")


async def test_webhooks_are_added_disabled_replayed_and_removed(
    site: httpx2.AsyncClient,
) -> None:
    bad = await site.post("/api/webhooks", json={"url": "http://127.0.0.1/x"})
    assert status_and_code(bad) == (400, "VALIDATION_ERROR")
    body = {"url": "https://example.org/hook", "events": ["APPLIED"]}
    made = (await site.post("/api/webhooks", json=body)).json()
    assert set(made) == {"id", "url", "secret"}
    await apply(site, await make_job(site))
    hook = f"/api/webhooks/{made['id']}"
    assert "secret" not in (await site.get(hook)).json()
    told_of = (await site.get(f"{hook}/deliveries")).json()["items"]
    assert [(delivery["eventType"], delivery["state"]) for delivery in told_of] == [
        ("APPLIED", "waiting")
    ]
    replay = await site.post(f"/api/webhooks/deliveries/{told_of[0]['id']}/replay")
    assert replay.status_code == 201
    assert len((await site.get(f"{hook}/deliveries")).json()["items"]) == 2
    off = await site.patch(hook, json={"enabled": False})
    assert off.json()["enabled"] is False
    assert (await site.delete(hook)).status_code == 204
    assert status_and_code(await site.get(hook)) == (404, "NOT_FOUND")


async def test_a_blocked_address_cannot_apply_and_leaves_nothing(site: httpx2.AsyncClient) -> None:
    job = await make_job(site)
    entry = {"address": "@Bad.example", "reason": "spam"}
    assert (await site.post("/api/blocklist", json=entry)).json()["address"] == "@bad.example"
    body = {"name": "Eve", "email": "eve@bad.example", "jobId": job}
    assert status_and_code(await site.post("/api/apply-public", json=body)) == (403, "FORBIDDEN")
    assert (await site.get("/api/applicants")).json() == []
    assert [blocked["reason"] for blocked in (await site.get("/api/blocklist")).json()] == ["spam"]
    assert (await site.delete("/api/blocklist/@bad.example")).status_code == 204
    assert (await site.post("/api/apply-public", json=body)).status_code == 201


async def test_a_personal_link_is_returned_and_renewed(site: httpx2.AsyncClient) -> None:
    person = await make_person(site, "Zoe")
    path = f"/api/applicants/{person}/link"
    answer = await site.post(path)
    assert answer.headers["cache-control"] == "no-store"
    assert set(answer.json()) == {"url"}
    first = answer.json()["url"]
    assert first.startswith(f"{site.base_url}/my/")
    assert "Zoe" in (await site.get(first)).text
    assert (await site.post(path, json={"renew": False})).status_code == 200
    assert (await site.get(first)).status_code == 200
    second = (await site.post(path, json={"renew": True})).json()["url"]
    assert (await site.get(first)).status_code == 401
    assert "Zoe" in (await site.get(second)).text
    await site.post(f"/api/applicants/{person}/erase")
    for body in (None, {"renew": True}):
        assert status_and_code(await site.post(path, json=body)) == (404, "NOT_FOUND")


async def test_a_person_is_exported_and_erased(site: httpx2.AsyncClient) -> None:
    job, person = await make_job(site), await make_person(site, "Zoe")
    await apply(site, job, person)
    data = (await site.get(f"/api/applicants/{person}/export")).json()
    assert data["applicant"]["name"] == "Zoe"
    assert len(data["applications"]) == 1
    # The description of the API and its client know all parts.
    schemas: Any = router.description()["components"]
    assert schemas["schemas"]["PersonData"]["properties"].keys() == data.keys()
    assert ApiPersonData.model_validate(data).model_dump(by_alias=True) == data
    assert (await site.post(f"/api/applicants/{person}/erase")).status_code == 200
    assert "Zoe" not in (await site.get(f"/api/applicants/{person}")).text
    assert (await site.get(f"/api/jobs/{job}")).json()["activeCount"] == 0
    assert (await site.get(f"/api/jobs/{job}/verify")).json()["ok"]


async def test_a_request_sent_twice_with_one_key_is_done_once(site: httpx2.AsyncClient) -> None:
    body, headers = {"title": "Baker", "capacity": 1}, {"Idempotency-Key": "k1"}
    first = await site.post("/api/jobs", json=body, headers=headers)
    again = await site.post("/api/jobs", json=body, headers=headers)
    assert (again.status_code, again.json()) == (201, first.json())
    other = await site.post("/api/jobs", json={**body, "capacity": 2}, headers=headers)
    assert status_and_code(other) == (422, "IDEMPOTENCY_KEY_REUSED")
    assert len((await site.get("/api/jobs")).json()) == 1


async def test_settings_fold_aliases_and_limit_applications_per_day(
    database: Database,
) -> None:
    site_settings = SiteSettings(fold_aliases=True, applications_per_day=1)
    async with site_with(database, local=True, site_settings=site_settings) as site:
        first, second = await make_job(site), await make_job(site)
        bodies = [
            {"name": "Ada", "email": "ada@example.org", "jobId": first},
            {"name": "Ada", "email": "ada+jobs@example.org", "jobId": first},
            {"name": "Ada", "email": "ada+more@example.org", "jobId": second},
        ]
        answers = [await site.post("/api/apply-public", json=body) for body in bodies]
        people = (await site.get("/api/applicants")).json()
    assert [answer.status_code for answer in answers] == [201, 429, 429]
    assert int(answers[2].headers["retry-after"]) > 0
    assert len(people) == 1


def test_site_settings_come_from_the_settings() -> None:
    limits = PublicApplyLimits(opening=600, network=60, domain=60)
    local = Settings()
    assert SiteSettings.from_settings(local) == SiteSettings(
        public_apply_limits=limits, bundled_data_dir=local.data_dir
    )
    settings = Settings(fold_email_aliases=True, applications_per_person_per_day=3)
    assert SiteSettings.from_settings(settings) == SiteSettings(
        fold_aliases=True,
        applications_per_day=3,
        public_apply_limits=limits,
        settings=settings,
        bundled_data_dir=settings.data_dir,
    )


def test_email_is_sent_with_a_mail_server_and_a_sender() -> None:
    server = SecretStr("smtp://mail.example.org")
    assert not SiteSettings.from_settings(Settings(smtp_url=server)).sends_mail
    assert SiteSettings.from_settings(
        Settings(smtp_url=server, mail_from="hiring@example.org")
    ).sends_mail
