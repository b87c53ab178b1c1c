"""Random requests to every endpoint: each response must match the OpenAPI description."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import httpx2
import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from jobmill.db import Database
from jobmill.rotation import searches
from jobmill.web.api import router
from tests.web.api.helpers import apply, make_job, make_person
from tests.web.api.search_world import fill_search

EXAMPLES = 5
"""Of operations on openings and applications."""
OTHER_EXAMPLES = 2
OTHER_TAGS = {
    "listings",
    "matches",
    "saved views",
    "documents",
    "notifications",
    "tracked applications",
    "profiles",
    "companies",
    "sources",
    "approvals",
    "searches",
    "rotation",
    "tasks",
    "system",
    "people",
}
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
IDS = ("jobId", "applicantId", "applicationId", "webhookId", "deliveryId")


class Known:
    """Existing ids and names: random ones would always be missing."""

    def __init__(self, by_name: Mapping[str, Sequence[Any]]) -> None:
        self.by_name = by_name

    def put_into(self, values: Any, draw: st.DataObject, names: Iterable[str]) -> None:
        if not isinstance(values, dict):
            return
        for name in names:
            if name in values and name in self.by_name and draw.draw(st.integers(0, 3)):
                values[name] = draw.draw(st.sampled_from(self.by_name[name]))
        if "applicationIds" in values and isinstance(values["applicationIds"], list):
            values["applicationIds"] = list(self.by_name["applicationId"])[:2]


async def known(site: httpx2.AsyncClient, database: Database) -> Known:
    jobs = [await make_job(site, 1, requireAcknowledgement=n == 0) for n in range(3)]
    people = [await make_person(site) for _ in range(4)]
    hook = {"url": "https://example.org/hook"}
    assert (await site.post("/api/webhooks", json=hook)).status_code == 201
    placed = [await apply(site, job, person) for job in jobs for person in people]
    return Known(
        {
            "jobId": jobs,
            "applicantId": people,
            "applicationId": [placement["applicationId"] for placement in placed],
            "webhookId": [1],
            "deliveryId": [1, 2, 3],
            **await known_of_search(site, database),
            **await known_of_hiring(site, jobs[0], placed[0]["applicationId"]),
        }
    )


async def known_of_search(site: httpx2.AsyncClient, database: Database) -> dict[str, list[Any]]:
    """Rows of the job search and of the system."""
    search = await fill_search(database)
    match = search.match_ids[0]
    path = f"/api/tracked-applications/{match}"
    note = (await site.post(f"{path}/notes", json={"body": "x"})).json()["notes"][0]["id"]
    file = await site.post(f"{path}/files?name=cv.txt", content=b"Ada")
    status = {"name": "Phone", "countsAs": "applied", "shownAfter": "applied"}
    custom = await site.post("/api/tracked-applications/statuses", json=status)
    view = await site.post("/api/saved-views", json={"name": "Good"})
    [source] = (await site.get("/api/sources")).json()["items"]
    task = await site.post(f"/api/sources/{source['id']}/run")
    added = await site.post("/api/submissions", json={"input": "https://jobs.example.com/a"})
    company = await site.post("/api/companies", json={"name": "Springs"})
    platform = searches.searchable_platforms()[0].name
    body = {"platform": platform, "keywords": ["pump"]}
    saved = await site.post("/api/searches", json=body)
    return {
        "match_id": list(search.match_ids),
        "listing_id": list(search.listing_ids),
        "note_id": [note],
        "entry_id": [note],
        "file_id": [file.json()["files"][0]["id"]],
        "custom_status_id": [custom.json()["id"]],
        "view_id": [view.json()["id"]],
        "source_id": [source["id"]],
        "item_id": [task.json()["taskId"]],
        "submission_id": [added.json()["id"]],
        "company_id": [company.json()["companyId"]],
        "search_id": [saved.json()["id"]],
        "ref": [f"source:{source['id']}", f"board:{company.json()['companyId']}"],
        "name": ["main", "greenhouse"],
        "version": [1],
        "entry_path": ["notes", "files"],
        "document_id": [
            (await make(site, "documents", matchId=match, kind=kind))["id"]
            for kind in ("resume", "letter")
        ],
    }


async def make(site: httpx2.AsyncClient, path: str, **body: Any) -> Any:
    answer = await site.post(f"/api/{path}", json=body)
    assert answer.is_success, answer.text
    return answer.json()


async def known_of_hiring(
    site: httpx2.AsyncClient, job: int, application: int
) -> dict[str, list[Any]]:
    """What the company's people work with, besides openings and applications."""
    note = await make(site, f"applications/{application}/notes", text="Good answers.")
    times = {"firstDay": "2030-01-14", "fromTime": "09:00", "untilTime": "10:00"}
    series = {**times, "lengthMinutes": 30, "timeZone": "Europe/Berlin"}
    interviews = await make(site, f"jobs/{job}/interviews", **series)
    reports = [await make(site, "reports", url=f"https://{n}.example", prompts=1) for n in "ab"]
    channels = [await make(site, "notifications/channels", kind="feed") for _ in range(2)]
    person = {"name": "Bo", "role": "viewer", "password": "seven lanterns walk to Bergen"}
    people = [await make(site, "people", email=f"{n}@example.org", **person) for n in "ab"]
    keys = [await make(site, "keys", name="script", scope="search") for _ in range(2)]
    return {
        "noteId": [note["id"]],
        "interviewId": [interview["id"] for interview in interviews["interviews"]],
        "report_id": [report["id"] for report in reports],
        "channel_id": [channel["id"] for channel in channels],
        "person_id": [person["id"] for person in people],
        "key_id": [key["id"] for key in keys],
        "letter": ["promoted", "applied"],
        "tag": ["senior"],
    }


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
async def test_every_response_matches_the_openapi_description(
    site: httpx2.AsyncClient, database: Database, mode: GenerationMode
) -> None:
    there = await known(site, database)
    by_operation = await asyncio.to_thread(ask, str(site.base_url), dict(site.cookies), there, mode)
    statuses = sum(by_operation.values(), Counter[int]())
    # Without the cookie of the local user every response would be 401, which is described, too.
    assert statuses[401] < sum(statuses.values()) / 10
    if mode == GenerationMode.POSITIVE:
        assert statuses[200] > sum(statuses.values()) / 4
        missing = {name for name, seen in by_operation.items() if seen.keys() <= {404}}
        assert len(missing) < len(by_operation) / 10, missing


def ask(
    url: str, cookies: dict[str, str], there: Known, mode: GenerationMode
) -> dict[str, Counter[int]]:
    """The status codes of each operation."""
    schema = schemathesis.openapi.from_dict(dict(router.description()))
    statuses = defaultdict[str, Counter[int]](Counter[int])
    with requests.Session() as session:
        session.cookies.update(cookies)
        for operation in (result.ok() for result in schema.get_all_operations()):
            # An operation without input cannot get invalid input.
            takes = operation.definition.raw.keys() & {"parameters", "requestBody"}
            if takes or mode == GenerationMode.POSITIVE:
                ask_one(operation, url, there, mode, session, statuses[operation.label])
    return statuses


def ask_one(
    operation: Any,
    url: str,
    there: Known,
    mode: GenerationMode,
    session: requests.Session,
    statuses: Counter[int],
) -> None:
    @settings(
        max_examples=OTHER_EXAMPLES if set(operation.tags or ()) & OTHER_TAGS else EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(mode), draw=st.data())
    def run(case: Any, draw: st.DataObject) -> None:
        there.put_into(case.path_parameters, draw, there.by_name)
        there.put_into(case.body, draw, IDS)
        response = case.call_and_validate(base_url=url, session=session, checks=CHECKS, timeout=20)
        statuses[response.status_code] += 1

    run()
