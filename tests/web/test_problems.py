from __future__ import annotations

import json

import httpx2
import pytest
from fastapi import APIRouter
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from jobmill import errors
from jobmill.db import Database
from jobmill.hiring.transitions import InvalidTransition
from jobmill.web import problems
from jobmill.web.guard import MOST_BYTES
from tests.web.kit import site_with, told

router = APIRouter(prefix="/api/try")
HTML = {"Accept": "text/html"}


class Duplicate(errors.Conflict):
    code = "DUPLICATE_SUBMISSION"


class Wish(BaseModel):
    title: str = Field(min_length=1)
    places: list[int] = []


@router.post("/{id}")
async def wish(id: int, body: Wish, page: int = 1) -> int:
    return id + page


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (errors.Invalid("x"), 400, "VALIDATION_ERROR"),
        (errors.Unauthenticated("x"), 401, "UNAUTHENTICATED"),
        (errors.Forbidden("x"), 403, "FORBIDDEN"),
        (errors.NotFound("opening", 7), 404, "NOT_FOUND"),
        (errors.Conflict("x"), 409, "CONFLICT"),
        (Duplicate("x"), 409, "DUPLICATE_SUBMISSION"),
        (errors.Gone("x"), 410, "GONE"),
        (InvalidTransition("INACTIVE", "ACTIVE"), 422, "INVALID_TRANSITION"),
        (errors.RateLimited(7), 429, "RATE_LIMITED"),
        (errors.OutsideError("x"), 502, "BAD_GATEWAY"),
        (errors.Unavailable("x"), 503, "UNAVAILABLE"),
        (errors.AppError("x"), 500, "INTERNAL_ERROR"),
        (ValueError("secret"), 500, "INTERNAL_ERROR"),
        (HTTPException(418, "tea"), 418, "HTTP_ERROR"),
    ],
)
def test_every_error_has_a_status_and_a_code(error: Exception, status: int, code: str) -> None:
    answer = problems.answer(error)
    told = json.loads(bytes(answer.body))["error"]
    assert (answer.status_code, told["code"]) == (status, code)
    assert told["message"]
    assert "secret" not in told["message"]
    assert told["details"] is None


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("opening", "Job with id 7 not found"),
        ("applicant", "Applicant with id 7 not found"),
        ("application", "Application with id 7 not found"),
    ],
)
def test_what_is_not_there_is_told_in_the_words_of_the_contract(what: str, words: str) -> None:
    answer = problems.answer(errors.NotFound(what, 7))
    assert json.loads(bytes(answer.body))["error"]["message"] == words


@pytest.mark.parametrize(
    ("path", "body", "fields"),
    [
        ("1", "{", ["body"]),
        ("1", "", ["body"]),
        ("1", "[]", ["body"]),
        ("1", "{}", ["title"]),
        ("1", '{"title": ""}', ["title"]),
        ("1", '{"title": "x", "places": [1, "y", 2.5]}', ["places.1", "places.2"]),
        ("x", '{"title": "x"}', ["id"]),
        ("1.5", '{"title": 5}', ["id", "title"]),
        ("1?page=x", '{"title": "x"}', ["page"]),
    ],
)
async def test_what_is_wrong_is_told_field_by_field(
    database: Database, path: str, body: str, fields: list[str]
) -> None:
    async with site_with(database, router) as client:
        # Also to whoever would rather have a page.
        headers = {**HTML, "Content-Type": "application/json"}
        answer = await client.post(f"/api/try/{path}", content=body, headers=headers)
    assert told(answer) == (400, "VALIDATION_ERROR")
    assert [one["field"] for one in answer.json()["error"]["details"]] == fields
    assert all(one["message"] for one in answer.json()["error"]["details"])


async def test_what_the_framework_refuses_is_told_the_same_way(database: Database) -> None:
    async with site_with(database, router) as client:

        async def ask(method: str, path: str, **more: object) -> httpx2.Response:
            return await client.request(method, path, headers=HTML, **more)  # pyright: ignore[reportArgumentType]

        for path in ("/api", "/api/", "/api/nowhere", "/api/try/1/2"):
            assert told(await ask("GET", path)) == (404, "NOT_FOUND"), path
        wrong = await ask("PUT", "/api/try/1")
        assert told(wrong) == (405, "METHOD_NOT_ALLOWED")
        assert wrong.headers["allow"] == "POST"
        large = await ask("POST", "/api/try/1", content=b"x" * (MOST_BYTES + 1))
        assert told(large) == (413, "PAYLOAD_TOO_LARGE")
        garbled = await client.post(
            "/api/try/1", content=b"\xff\xfe{", headers={"Content-Type": "application/json"}
        )
        assert told(garbled) == (400, "VALIDATION_ERROR")
        stranger = await client.get("/api/session", headers={"Host": "evil.example"})
        assert told(stranger) == (400, "VALIDATION_ERROR")
        # A page is a page, even with such a name.
        assert "There is no such page." in (await ask("GET", "/apis")).text


async def test_a_database_that_is_away_is_503_with_a_time_to_come_back(database: Database) -> None:
    async with site_with(database, patience=0.2) as client, database.transaction() as tx:
        await tx.execute("LOCK TABLE people.api_key IN ACCESS EXCLUSIVE MODE")
        answer = await client.get("/api/session", headers={"Authorization": "Bearer jm_x"})
    assert told(answer) == (503, "UNAVAILABLE")
    assert answer.headers["retry-after"] == "5"
