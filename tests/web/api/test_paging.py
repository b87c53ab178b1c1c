"""Tests of paged lists: all pages together are the complete list."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from jobmill.db import Database
from tests.web.api.helpers import apply, make_job, make_person

Cut = Callable[[Any], list[Any]]


async def walk(site: httpx2.AsyncClient, path: str, cut: Cut) -> tuple[list[Any], int]:
    """All rows by following the links, and the number of pages."""
    rows: list[Any] = []
    pages, next = 0, path
    while next:
        answer = await site.get(next)
        assert answer.status_code == 200, answer.text
        rows += cut(answer.json())
        link = re.fullmatch(r'<([^>]+)>; rel="next"', answer.headers.get("link", ""))
        pages, next = pages + 1, link[1] if link else ""
    return rows, pages


def both(detail: Any) -> list[Any]:
    return detail["activeApplicants"] + detail["waitlistApplicants"]


@pytest.fixture
async def job(site: httpx2.AsyncClient) -> int:
    """A job with two active and five waiting applicants."""
    job = await make_job(site, 2)
    for _ in range(7):
        await apply(site, job)
    return job


@pytest.mark.parametrize(
    ("path", "cut", "pages"),
    [
        ("/api/applicants", lambda body: body, 4),
        ("/api/jobs/{job}", both, 4),
        ("/api/queue/{job}", lambda body: body["waitlistEntries"], 3),
        ("/api/pipeline/{job}/replay", lambda body: body["events"], 4),
    ],
)
async def test_following_the_links_gives_the_complete_list(
    site: httpx2.AsyncClient, job: int, path: str, cut: Cut, pages: int
) -> None:
    path = path.format(job=job)
    rows, page_count = await walk(site, path, cut)
    parts, many = await walk(site, f"{path}?limit=2", cut)
    assert (parts, page_count, many) == (rows, 1, pages)
    assert rows


async def test_jobs_and_applications_of_a_person_are_paged(site: httpx2.AsyncClient) -> None:
    person = await make_person(site)
    jobs = [await make_job(site) for _ in range(3)]
    for job_id in jobs:
        await apply(site, job_id, person)
    rows, pages = await walk(site, "/api/jobs?limit=2", lambda body: body)
    assert ([row["id"] for row in rows], pages) == (jobs, 2)
    applications, pages = await walk(
        site, f"/api/status/{person}?limit=1", lambda body: body["applications"]
    )
    assert ([row["jobId"] for row in applications], pages) == (jobs, 3)
    events, pages = await walk(site, f"/api/timeline/{person}?limit=2", lambda body: body)
    assert ([event["metadata"]["jobId"] for event in events], pages) == (jobs, 2)


async def test_applications_in_review_are_paged(site: httpx2.AsyncClient) -> None:
    job_id = await make_job(site, admission="review")
    for _ in range(3):
        await apply(site, job_id)
    rows, pages = await walk(site, f"/api/jobs/{job_id}/review?limit=2", lambda body: body["items"])
    assert (len(rows), pages) == (3, 2)


async def test_positions_continue_on_the_next_page(site: httpx2.AsyncClient, job: int) -> None:
    rows, _ = await walk(site, f"/api/jobs/{job}?limit=3", both)
    assert [row["queuePosition"] for row in rows] == [None, None, 1, 2, 3, 4, 5]


@pytest.mark.parametrize("path", ["/api/jobs/{job}?after=x", "/api/timeline/{person}?after=1"])
async def test_an_invalid_cursor_is_refused(site: httpx2.AsyncClient, path: str) -> None:
    ids = {"job": await make_job(site), "person": await make_person(site)}
    assert (await site.get(path.format(**ids))).status_code == 400


@pytest.mark.parametrize(
    ("path", "expected"), [("applications", 7), ("applications?status=WAITLIST", 5), ("events", 8)]
)
async def test_lists_beyond_the_contract_have_a_cursor(
    site: httpx2.AsyncClient, job: int, path: str, expected: int
) -> None:
    rows: list[Any] = []
    after: int | None = 0
    while after is not None:
        params = httpx2.URL(f"/api/jobs/{job}/{path}").copy_merge_params(
            {"after": after, "limit": 2}
        )
        page = (await site.get(params)).json()
        assert len(page["items"]) <= 2
        rows += page["items"]
        after = page["next"]
    assert len(rows) == expected
    keys = [row.get("seq") or row["applicationId"] for row in rows]
    assert keys == sorted(set(keys))


async def test_lists_beyond_the_contract_have_links_as_well(
    site: httpx2.AsyncClient, job: int
) -> None:
    for path in (f"/api/jobs/{job}/applications", f"/api/jobs/{job}/events"):
        rows, pages = await walk(site, f"{path}?limit=3", lambda body: body["items"])
        assert pages == 3
        assert rows == (await site.get(path)).json()["items"]


async def test_all_applicants_are_listed_and_one_is_found_by_address(
    site: httpx2.AsyncClient, database: Database
) -> None:
    assert (await site.get("/api/applicants")).content == b"[]"
    async with database.transaction() as tx:
        await tx.execute(
            """
            INSERT INTO hiring.applicant (name, email, email_key)
            SELECT 'Person ' || n, 'P' || n || '@example.org', 'p' || n || '@example.org'
              FROM generate_series(1, 11000) AS n
            """
        )
    answer = await site.get("/api/applicants")
    assert [row["email"] for row in answer.json()] == [f"P{n}@example.org" for n in range(1, 11001)]
    assert "link" not in answer.headers
    rest = await site.get("/api/applicants", params={"after": answer.json()[-2]["id"]})
    assert rest.json() == answer.json()[-1:]
    found = await site.get("/api/applicants", params={"email": "p10500@Example.org"})
    assert found.json() == [answer.json()[10_499]]
    assert (await site.get("/api/applicants?email=x@example.org")).json() == []
