"""Random requests to every endpoint: each response must match the OpenAPI description."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
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

from jobmill.web.api import router
from tests.web.api.helpers import apply, make_job, make_person

EXAMPLES = 20
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
IDS = ("jobId", "applicantId", "applicationId", "webhookId", "deliveryId")


class Known:
    """Existing ids: random ids would always be missing."""

    def __init__(self, jobs: Sequence[int], people: Sequence[int], applications: Sequence[int]):
        self.by_name = {
            "jobId": jobs,
            "applicantId": people,
            "applicationId": applications,
            "webhookId": [1],
            "deliveryId": [1, 2, 3],
        }

    def put_into(self, values: Any, draw: st.DataObject) -> None:
        if not isinstance(values, dict):
            return
        for name in IDS:
            if name in values and isinstance(values[name], int) and draw.draw(st.integers(0, 3)):
                values[name] = draw.draw(st.sampled_from(self.by_name[name]))
        if "applicationIds" in values and isinstance(values["applicationIds"], list):
            values["applicationIds"] = list(self.by_name["applicationId"])[:2]


async def known(site: httpx2.AsyncClient) -> Known:
    jobs = [await make_job(site, 1, requireAcknowledgement=n == 0) for n in range(3)]
    people = [await make_person(site) for _ in range(4)]
    hook = {"url": "https://example.org/hook"}
    assert (await site.post("/api/webhooks", json=hook)).status_code == 201
    placed = [await apply(site, job, person) for job in jobs for person in people]
    return Known(jobs, people, [placement["applicationId"] for placement in placed])


@pytest.mark.parametrize("mode", [GenerationMode.POSITIVE, GenerationMode.NEGATIVE])
async def test_every_response_matches_the_openapi_description(
    site: httpx2.AsyncClient, mode: GenerationMode
) -> None:
    there = await known(site)
    await asyncio.to_thread(ask, str(site.base_url), there, mode)


def ask(url: str, there: Known, mode: GenerationMode) -> None:
    schema = schemathesis.openapi.from_dict(dict(router.description()))
    with requests.Session() as session:
        for operation in (result.ok() for result in schema.get_all_operations()):
            # An operation without input cannot get invalid input.
            takes = operation.definition.raw.keys() & {"parameters", "requestBody"}
            if takes or mode == GenerationMode.POSITIVE:
                ask_one(operation, url, there, mode, session)


def ask_one(
    operation: Any, url: str, there: Known, mode: GenerationMode, session: requests.Session
) -> None:
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(mode), draw=st.data())
    def run(case: Any, draw: st.DataObject) -> None:
        for part in (case.path_parameters, case.body):
            there.put_into(part, draw)
        case.call_and_validate(base_url=url, session=session, checks=CHECKS, timeout=20)

    run()
