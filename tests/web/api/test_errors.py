"""Tests of refused requests: status, code and message."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from jobmill.db import Database, connect
from jobmill.hiring.records import applications
from jobmill.web.middleware import MAX_BODY_BYTES
from tests.conftest import clone
from tests.web.api.helpers import apply, let_pass, make_job, make_person
from tests.web.helpers import site_with, status_and_code

JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
async def still(server: str, template: str) -> AsyncIterator[httpx2.AsyncClient]:
    """A site for tests that change nothing."""
    with clone(server, template) as url:
        async with connect(url) as database, site_with(database, local=True) as site:
            yield site


@pytest.mark.parametrize(
    "id", ["x", "1.5", "0", "-1", "1e3", "+1", "1000000000000", "9" * 40, "\u0661"]
)
@pytest.mark.parametrize(
    "path",
    [
        "/api/jobs/{}",
        "/api/applicants/{}",
        "/api/status/{}",
        "/api/timeline/{}",
        "/api/queue/{}",
        "/api/pipeline/{}/summary",
        "/api/pipeline/{}/replay",
    ],
)
async def test_an_id_in_a_path_is_a_positive_integer(
    still: httpx2.AsyncClient, path: str, id: str
) -> None:
    answer = await still.get(path.format(id))
    assert status_and_code(answer) == (400, "VALIDATION_ERROR")
    assert answer.json()["error"]["details"][0]["field"] in ("jobId", "applicantId")


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"",
        b"[]",
        b"null",
        b'"x"',
        b"{}",
        b'{"applicantId": "1", "jobId": 1}',
        b'{"applicantId": 1.5, "jobId": 1}',
        b'{"applicantId": 1.0, "jobId": 1}',
        b'{"applicantId": 1e12, "jobId": 1}',
        b'{"applicantId": 1000000000000, "jobId": 1}',
        b'{"applicantId": 0, "jobId": 1}',
        b'{"applicantId": true, "jobId": 1}',
        b'{"applicantId": null, "jobId": 1}',
        b'{"applicantId": [1], "jobId": 1}',
        b'{"applicantId": ' + b"9" * 5000 + b', "jobId": 1}',
        b"[" * 100_000,
        b"\xff\xfe",
    ],
)
async def test_an_invalid_body_is_refused(still: httpx2.AsyncClient, body: bytes) -> None:
    answer = await still.post("/api/apply", content=body, headers=JSON)
    assert status_and_code(answer) == (400, "VALIDATION_ERROR")


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/api/jobs", {"title": "", "capacity": 1}),
        ("/api/jobs", {"title": "  ", "capacity": 1}),
        ("/api/jobs", {"title": "x" * 201, "capacity": 1}),
        ("/api/jobs", {"title": "x", "capacity": 0}),
        ("/api/jobs", {"title": "x", "capacity": "2"}),
        ("/api/jobs", {"title": "x", "capacity": 2.5}),
        ("/api/jobs", {"title": "x", "capacity": 10**12}),
        ("/api/jobs", {"title": "x"}),
        ("/api/jobs", {"title": "x\0", "capacity": 1}),
        ("/api/jobs", {"title": "x", "capacity": 1, "description": "\0"}),
        ("/api/jobs", {"title": "x", "capacity": 1, "applyUntil": "tomorrow"}),
        ("/api/jobs", {"title": "x", "capacity": 1, "applyUntil": 5}),
        ("/api/jobs", {"title": "x", "capacity": 1, "applyUntil": "9999-12-31T23:59:59-14:00"}),
        ("/api/jobs", {"title": "x", "capacity": 1, "requireAcknowledgement": "yes"}),
        ("/api/jobs", {"title": "x", "capacity": 1, "acknowledgeWindowSeconds": 0}),
        ("/api/applicants", {"name": "", "email": "a@b.org"}),
        ("/api/applicants", {"name": "Ada", "email": "nobody"}),
        ("/api/applicants", {"name": "Ada", "email": "a@b"}),
        ("/api/applicants", {"name": "Ada"}),
        ("/api/apply-public", {"name": "Ada", "email": "a@b.org", "jobId": "1"}),
        ("/api/apply-public", {"name": "Ada", "email": "not one", "jobId": 1}),
        ("/api/withdraw", {"applicationId": "1"}),
        ("/api/acknowledge", {}),
    ],
)
async def test_an_invalid_field_is_refused(
    still: httpx2.AsyncClient, path: str, body: dict[str, Any]
) -> None:
    assert status_and_code(await still.post(path, json=body)) == (400, "VALIDATION_ERROR")


async def test_a_body_that_is_not_json_is_refused_with_a_hint(still: httpx2.AsyncClient) -> None:
    body = b'{"title": "x", "capacity": 1}'
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        answer = await still.post("/api/jobs", content=body, headers={"Content-Type": kind})
        assert status_and_code(answer) == (400, "VALIDATION_ERROR")
        assert "as application/json" in answer.json()["error"]["message"]


async def test_an_empty_text_is_refused_as_a_string(still: httpx2.AsyncClient) -> None:
    answer = await still.post("/api/jobs", json={"title": "", "capacity": 1})
    message = "title: String should have at least 1 character"
    assert answer.json()["error"]["message"] == message


async def test_half_a_surrogate_pair_is_refused(still: httpx2.AsyncClient) -> None:
    body = b'{"title": "x", "capacity": 1, "description": "\\ud800"}'
    answer = await still.post("/api/jobs", content=body, headers=JSON)
    assert status_and_code(answer) == (400, "VALIDATION_ERROR")


@pytest.mark.parametrize("query", ["asOf=yesterday", "asOf=", "seq=0", "seq=x", "limit=0"])
async def test_an_invalid_query_is_refused(still: httpx2.AsyncClient, query: str) -> None:
    job = await make_job(still)
    answer = await still.get(f"/api/pipeline/{job}/replay?{query}")
    assert status_and_code(answer) == (400, "VALIDATION_ERROR")


async def test_a_body_that_is_too_large_is_refused(still: httpx2.AsyncClient) -> None:
    body = b'{"title": "' + b"x" * MAX_BODY_BYTES + b'", "capacity": 1}'
    answer = await still.post("/api/jobs", content=body, headers=JSON)
    assert status_and_code(answer) == (413, "PAYLOAD_TOO_LARGE")


@pytest.mark.parametrize(
    ("method", "path", "body", "message"),
    [
        ("GET", "/api/jobs/999999", None, "Job with id 999999 not found"),
        ("GET", "/api/queue/999999", None, "Job with id 999999 not found"),
        ("GET", "/api/pipeline/999999/summary", None, "Job with id 999999 not found"),
        ("GET", "/api/pipeline/999999/replay", None, "Job with id 999999 not found"),
        ("GET", "/api/applicants/999999", None, "Applicant with id 999999 not found"),
        ("GET", "/api/status/999999", None, "Applicant with id 999999 not found"),
        ("GET", "/api/timeline/999999", None, "Applicant with id 999999 not found"),
        ("POST", "/api/apply", {"applicantId": 999999, "jobId": 999999},
         "Applicant with id 999999 not found"),
        ("POST", "/api/apply-public", {"name": "A", "email": "a@b.org", "jobId": 999999},
         "Job with id 999999 not found"),
        ("POST", "/api/withdraw", {"applicationId": 999999},
         "Application with id 999999 not found"),
        ("POST", "/api/acknowledge", {"applicationId": 999999},
         "Application with id 999999 not found"),
        ("GET", "/api/nothing", None, "No endpoint exists at this path."),
    ],
)  # fmt: skip
async def test_a_missing_resource_is_named(
    still: httpx2.AsyncClient, method: str, path: str, body: dict[str, Any] | None, message: str
) -> None:
    answer = await still.request(method, path, json=body)
    assert status_and_code(answer) == (404, "NOT_FOUND")
    assert answer.json()["error"]["message"] == message


async def test_a_conflict_is_explained(site: httpx2.AsyncClient) -> None:
    job, person = await make_job(site), await make_person(site)
    placed = await apply(site, job, person)
    again = await site.post("/api/apply", json={"applicantId": person, "jobId": job})
    assert status_and_code(again) == (409, "DUPLICATE_SUBMISSION")
    words = f"Applicant {person} already has an active application for job {job}"
    assert again.json()["error"] == {
        "code": "DUPLICATE_SUBMISSION",
        "message": words,
        "details": None,
        "applicationId": placed["applicationId"],
    }
    which = {"applicationId": placed["applicationId"]}
    assert status_and_code(await site.post("/api/acknowledge", json=which)) == (409, "CONFLICT")
    promote = f"/api/applications/{placed['applicationId']}/promote"
    early = await site.post(promote, json={"reason": "urgent"})
    assert status_and_code(early) == (422, "INVALID_TRANSITION")
    assert (await site.post("/api/withdraw", json=which)).status_code == 200
    assert status_and_code(await site.post("/api/withdraw", json=which)) == (409, "CONFLICT")


async def test_addresses_are_compared_without_regard_to_case(site: httpx2.AsyncClient) -> None:
    first = {"name": "Ada", "email": "Ada@Example.org"}
    assert (await site.post("/api/applicants", json=first)).status_code == 201
    second = {"name": "Ada", "email": "ada@example.ORG"}
    assert status_and_code(await site.post("/api/applicants", json=second)) == (409, "CONFLICT")


async def test_a_refused_public_application_leaves_no_applicant(site: httpx2.AsyncClient) -> None:
    job = await make_job(site)
    await site.post(f"/api/jobs/{job}/pause")
    before = (await site.get("/api/applicants")).json()
    body = {"name": "Eve", "email": "eve@example.org", "jobId": job}
    assert status_and_code(await site.post("/api/apply-public", json=body)) == (409, "CONFLICT")
    assert (await site.get("/api/applicants")).json() == before


async def miss_an_offer(
    site: httpx2.AsyncClient, database: Database
) -> tuple[int, dict[str, Any], dict[str, Any]]:
    """An opening, its applicant whose offer has just expired, and the next one in the waitlist."""
    job = await make_job(site)
    first, second, third = [await apply(site, job) for _ in range(3)]
    await site.post("/api/withdraw", json={"applicationId": first["applicationId"]})
    await let_pass(database, job, 301)
    return job, second, third


async def test_an_answer_after_the_deadline_gets_410_and_the_penalty_is_applied(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job, second, third = await miss_an_offer(site, database)
    late = await site.post("/api/acknowledge", json={"applicationId": second["applicationId"]})
    assert status_and_code(late) == (410, "GONE")
    assert late.json()["error"]["message"] == (
        "Acknowledgment window has expired. You have been returned to the waitlist with a penalty."
    )
    # Read from the table: reading over HTTP would expire the offer, too.
    async with database.transaction() as tx:
        assert (await applications.get(tx, second["applicationId"])).status == "WAITLIST"
    detail = (await site.get(f"/api/jobs/{job}")).json()
    assert [application["applicationId"] for application in detail["activeApplicants"]] == [
        third["applicationId"]
    ]
    queue = (await site.get(f"/api/queue/{job}")).json()["waitlistEntries"]
    assert [(entry["applicationId"], entry["penaltyCount"]) for entry in queue] == [
        (second["applicationId"], 1)
    ]


async def test_the_only_waiting_applicant_is_too_late_as_well(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site)
    first, second = [await apply(site, job) for _ in range(2)]
    await site.post("/api/withdraw", json={"applicationId": first["applicationId"]})
    await let_pass(database, job, 301)
    which = {"applicationId": second["applicationId"]}
    assert status_and_code(await site.post("/api/acknowledge", json=which)) == (410, "GONE")
    # The applicant gets a new offer, and may accept that one.
    assert (await site.post("/api/acknowledge", json=which)).json()["status"] == "ACTIVE"


async def test_missing_the_last_offer_ends_the_application(
    site: httpx2.AsyncClient, database: Database
) -> None:
    job = await make_job(site, requireAcknowledgement=True, maxMissed=1)
    placed = await apply(site, job)
    await let_pass(database, job, 301)
    late = await site.post("/api/acknowledge", json={"applicationId": placed["applicationId"]})
    assert status_and_code(late) == (410, "GONE")
    assert "your application has ended" in late.json()["error"]["message"]


async def test_reads_are_correct_without_a_worker(
    site: httpx2.AsyncClient, database: Database
) -> None:
    _, second, third = await miss_an_offer(site, database)
    status = (await site.get(f"/api/status/{third['applicantId']}")).json()["applications"][0]
    assert status["status"] == "PENDING_ACKNOWLEDGMENT"
    missed = (await site.get(f"/api/status/{second['applicantId']}")).json()["applications"][0]
    assert (missed["status"], missed["queuePosition"]) == ("WAITLIST", 1)


@pytest.mark.parametrize(
    ("path", "field", "accepted"),
    [
        ("/api/applicants?mail=ada@example.org", "mail", "it accepts email, after, limit"),
        ("/api/jobs/1/settings?limit=2", "limit", "it accepts none"),
        ("/api/healthz?a=1&limit=2", "a", "it accepts none"),
    ],
)
async def test_unknown_query_parameters_are_refused(
    still: httpx2.AsyncClient, path: str, field: str, accepted: str
) -> None:
    answer = await still.get(path)
    assert status_and_code(answer) == (400, "VALIDATION_ERROR")
    [problem, *_] = answer.json()["error"]["details"]
    assert problem["field"] == field
    assert problem["message"].endswith(accepted)
