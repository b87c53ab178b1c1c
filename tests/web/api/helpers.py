"""Jobs and applicants, made over HTTP."""

from __future__ import annotations

import datetime as dt
from itertools import count
from typing import Any

import httpx2

from jobmill.db import Database

_numbers = count(1)


async def make_job(site: httpx2.AsyncClient, capacity: int = 1, **terms: Any) -> int:
    """An opening with five minutes to accept an offer, unless the terms say otherwise."""
    body = {"title": "Baker", "capacity": capacity, "acknowledgeWindowSeconds": 300, **terms}
    answer = await site.post("/api/jobs", json=body)
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


async def make_person(site: httpx2.AsyncClient, name: str = "Ada") -> int:
    email = f"{name.lower()}.{next(_numbers)}@example.org"
    answer = await site.post("/api/applicants", json={"name": name, "email": email})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


async def apply(site: httpx2.AsyncClient, job: int, person: int | None = None) -> dict[str, Any]:
    """Apply with a new applicant, or with the given one."""
    id = person or await make_person(site)
    answer = await site.post("/api/apply", json={"applicantId": id, "jobId": job})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def let_pass(database: Database, job: int, seconds: float) -> None:
    """Move the offer deadlines back, as if the time had passed."""
    span = dt.timedelta(seconds=seconds)
    async with database.transaction() as tx:
        await tx.execute(
            """
            UPDATE hiring.application SET acknowledge_deadline = acknowledge_deadline - %s
             WHERE opening_id = %s AND acknowledge_deadline IS NOT NULL
            """,
            [span, job],
        )
        await tx.execute(
            "UPDATE hiring.opening SET next_deadline_at = next_deadline_at - %s WHERE id = %s",
            [span, job],
        )
