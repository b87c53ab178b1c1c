"""Every response of the contract has exactly its fields."""

from __future__ import annotations

import re
from typing import Any

import httpx2
import pytest

from tests.web.api.helpers import apply, make_job, make_person

STAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")

JOB = {"id", "title", "description", "capacity", "activeCount", "waitlistCount", "createdAt"}
ROW = {
    "applicationId", "applicantId", "applicantName", "applicantEmail", "status", "queuePosition",
    "appliedAt", "promotedAt", "acknowledgeDeadline",
}  # fmt: skip
EVENT = {
    "id", "applicationId", "eventType", "fromStatus", "toStatus", "metadata", "createdAt",
}  # fmt: skip
RESULT = {"applicationId", "applicantId", "jobId", "status", "queuePosition", "message"}
PLACED = {"applicationId", "applicantId", "applicantName", "status", "queuePosition"}


@pytest.fixture
async def world(site: httpx2.AsyncClient) -> dict[str, int]:
    """A job with an active, a waiting and an offered application."""
    job = await make_job(site, 2)
    first, *_, last = [await make_person(site, name) for name in ("Ada", "Bob", "Cy", "Dee")]
    placed = [await apply(site, job, first + n) for n in range(4)]
    gone = await site.post("/api/withdraw", json={"applicationId": placed[0]["applicationId"]})
    assert gone.status_code == 200
    return {"job": job, "first": first, "last": last}


@pytest.mark.parametrize(
    ("path", "fields", "inner"),
    [
        ("/api/healthz", {"status"}, {}),
        ("/api/jobs/{job}", JOB | {"activeApplicants", "waitlistApplicants"},
         {"activeApplicants": ROW, "waitlistApplicants": ROW}),
        ("/api/applicants/{first}", {"id", "name", "email", "createdAt"}, {}),
        ("/api/status/{last}", {"applicantId", "applicantName", "applicantEmail", "applications"},
         {"applications": {"applicationId", "jobId", "jobTitle", "status", "queuePosition",
                           "appliedAt", "promotedAt", "acknowledgeDeadline",
                           "timeInCurrentStateSeconds"}}),
        ("/api/queue/{job}", {"jobId", "jobTitle", "capacity", "activeCount", "waitlistEntries"},
         {"waitlistEntries": {"applicationId", "applicantId", "applicantName", "position",
                              "appliedAt", "penaltyCount"}}),
        ("/api/pipeline/{job}/summary",
         {"jobId", "jobTitle", "capacity", "activeCount", "waitlistCount", "inactiveCount",
          "totalApplications", "avgTimeToPromotionSeconds", "avgAcknowledgmentTimeSeconds",
          "decayEvents"}, {}),
        ("/api/pipeline/{job}/replay",
         {"jobId", "asOf", "activeApplicants", "waitlistApplicants", "events"},
         {"activeApplicants": PLACED, "waitlistApplicants": PLACED, "events": EVENT}),
    ],
)  # fmt: skip
async def test_a_read_has_exactly_the_fields_of_the_contract(
    site: httpx2.AsyncClient,
    world: dict[str, int],
    path: str,
    fields: set[str],
    inner: dict[str, set[str]],
) -> None:
    answer = await site.get(path.format(**world))
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert set(answer.json()) == fields
    for name, fields_of_row in inner.items():
        assert [set(row) for row in answer.json()[name]] == [fields_of_row] * len(
            answer.json()[name]
        )
        assert answer.json()[name]
    _check_times(answer.json())


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/api/jobs", JOB),
        ("/api/applicants", {"id", "name", "email", "createdAt"}),
        ("/api/timeline/{last}", EVENT),
    ],
)
async def test_a_list_is_an_array_of_the_contracts_objects(
    site: httpx2.AsyncClient, world: dict[str, int], path: str, fields: set[str]
) -> None:
    answer = await site.get(path.format(**world))
    assert answer.status_code == 200
    assert answer.json()
    assert all(set(row) == fields for row in answer.json())
    _check_times(answer.json())


def _check_times(value: Any) -> None:
    match value:
        case dict():
            for name, element in value.items():
                if name.endswith(("At", "Deadline", "asOf")) and element is not None:
                    assert STAMP.fullmatch(element), name
                _check_times(element)
        case list():
            for element in value:
                _check_times(element)
        case _:
            pass


async def test_a_slot_from_applying_to_acknowledging_in_the_words_of_the_contract(
    site: httpx2.AsyncClient,
) -> None:
    job = await make_job(site, 1)
    first = await apply(site, job)
    assert set(first) == RESULT
    assert (first["status"], first["queuePosition"]) == ("ACTIVE", None)
    second = await apply(site, job)
    assert (second["status"], second["queuePosition"]) == ("WAITLIST", 1)
    assert second["message"] == "You have been added to the waitlist at position 1."
    left = await site.post("/api/withdraw", json={"applicationId": first["applicationId"]})
    assert (left.json()["status"], left.json()["message"]) == (
        "INACTIVE",
        "Application withdrawn successfully.",
    )
    sure = await site.post("/api/acknowledge", json={"applicationId": second["applicationId"]})
    assert set(sure.json()) == RESULT
    assert (sure.json()["status"], sure.json()["message"]) == (
        "ACTIVE",
        "Promotion acknowledged. You are now ACTIVE.",
    )
    events = (await site.get(f"/api/timeline/{second['applicantId']}")).json()
    assert [(event["eventType"], event["fromStatus"], event["toStatus"]) for event in events] == [
        ("APPLIED", None, "WAITLIST"),
        ("PROMOTED", "WAITLIST", "PENDING_ACKNOWLEDGMENT"),
        ("ACKNOWLEDGED", "PENDING_ACKNOWLEDGMENT", "ACTIVE"),
    ]


async def test_a_job_accepts_and_shows_settings_beyond_the_contract(
    site: httpx2.AsyncClient,
) -> None:
    terms = {
        "acknowledgeWindowSeconds": 60,
        "maxMissed": 5,
        "requireAcknowledgement": True,
        "waitlistLimit": 7,
        "applyUntil": "2030-01-01T02:00:00+02:00",
        "keepDays": 90,
        "timeZone": "Europe/Berlin",
        "quietFrom": "21:00",
        "quietUntil": "08:00",
        "employer": "Mill & Co",
        "location": "Leiden",
        "remote": True,
    }
    job = await make_job(site, 2, **terms, unknown="ignored")
    shown = (await site.get(f"/api/jobs/{job}/settings")).json()
    assert {name: shown[name] for name in terms} == {
        **terms,
        "applyUntil": "2030-01-01T00:00:00.000Z",
    }
    changed = await site.patch(
        f"/api/jobs/{job}/settings", json={"waitlistLimit": None, "maxMissed": 2}
    )
    assert changed.status_code == 200
    assert (changed.json()["waitlistLimit"], changed.json()["maxMissed"]) == (None, 2)
    assert changed.json()["employer"] == "Mill & Co"


async def test_more_capacity_makes_offers_and_status_changes_return_the_settings(
    site: httpx2.AsyncClient,
) -> None:
    job = await make_job(site, 1)
    placed = [await apply(site, job) for _ in range(3)]
    grown = await site.post(f"/api/jobs/{job}/capacity", json={"capacity": 2})
    assert grown.json()["capacity"] == 2
    detail = (await site.get(f"/api/jobs/{job}")).json()
    assert [applicant["status"] for applicant in detail["activeApplicants"]] == [
        "ACTIVE",
        "PENDING_ACKNOWLEDGMENT",
    ]
    assert detail["waitlistApplicants"][0]["applicationId"] == placed[2]["applicationId"]
    for turn, status in (
        ("pause", "paused"), ("resume", "open"), ("close", "closed"), ("reopen", "open"),
    ):  # fmt: skip
        answer = await site.post(f"/api/jobs/{job}/{turn}")
        assert (answer.status_code, answer.json()["status"]) == (200, status)
