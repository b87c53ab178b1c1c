"""Tests of answering an offer by the link in its letter: once, and only before it expires."""

from __future__ import annotations

import httpx2
import pytest

from jobmill.db import Database
from jobmill.hiring.messages.signed_links import LinkSigner
from jobmill.hiring.records import applications
from jobmill.people import secrets
from tests.web.api.helpers import apply, let_pass, make_job
from tests.web.helpers import status_and_code


async def offer(site: httpx2.AsyncClient, **terms: object) -> tuple[int, int]:
    """A job, and an application for it with an offer."""
    job = await make_job(site, requireAcknowledgement=True, **terms)
    return job, (await apply(site, job))["applicationId"]


async def token(database: Database, application: int) -> str:
    async with database.transaction() as tx:
        row = await applications.get(tx, application)
        assert row.acknowledge_deadline
        return LinkSigner(await secrets.get_signing_key(tx)).sign_offer(
            row.id, row.acknowledge_deadline
        )


@pytest.mark.parametrize(("answer", "status"), [("accept", "ACTIVE"), ("decline", "INACTIVE")])
async def test_an_offer_link_answers_once(
    site: httpx2.AsyncClient, database: Database, answer: str, status: str
) -> None:
    _, application = await offer(site)
    link = f"/api/offers/{await token(database, application)}"
    first = await site.post(link, json={"answer": answer})
    assert (first.status_code, first.json()["status"]) == (200, status)
    for again in ("accept", "decline"):
        assert status_and_code(await site.post(link, json={"answer": again})) == (409, "CONFLICT")


async def test_the_log_records_the_applicant_as_actor(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job, application = await offer(site)
    link = f"/api/offers/{await token(database, application)}"
    result = (await site.post(link, json={"answer": "accept"})).json()
    last = (await site.get(f"/api/jobs/{job}/events")).json()["items"][-1]
    assert (last["eventType"], last["actor"]) == (
        "ACKNOWLEDGED",
        f"applicant:{result['applicantId']}",
    )


async def test_an_expired_offer_link_answers_neither_its_offer_nor_a_later_one(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job, application = await offer(site)
    await let_pass(database, job, 301)
    link = f"/api/offers/{await token(database, application)}"
    # The only waiting applicant gets a new offer at once: that is another offer.
    assert status_and_code(await site.post(link, json={"answer": "accept"})) == (410, "GONE")
    assert status_and_code(await site.post(link, json={"answer": "accept"})) == (410, "GONE")
    detail = (await site.get(f"/api/jobs/{job}")).json()
    assert [row["status"] for row in detail["activeApplicants"]] == ["PENDING_ACKNOWLEDGMENT"]
    fresh = f"/api/offers/{await token(database, application)}"
    assert (await site.post(fresh, json={"answer": "accept"})).status_code == 200


async def test_a_foreign_link_is_refused(site: httpx2.AsyncClient, database: Database) -> None:
    _, application = await offer(site)
    good = await token(database, application)
    forged = LinkSigner(b"x" * 32).sign_offer(application, (await _deadline(database, application)))
    for bad in (good[:-2] + "AA", forged, "x", "%00"):
        answer = await site.post(f"/api/offers/{bad}", json={"answer": "accept"})
        assert status_and_code(answer) == (400, "VALIDATION_ERROR")
    assert (
        status_and_code(await site.post(f"/api/offers/{good}", json={"answer": "maybe"}))[0] == 400
    )


async def _deadline(database: Database, application: int):
    async with database.transaction() as tx:
        deadline = (await applications.get(tx, application)).acknowledge_deadline
    assert deadline
    return deadline
