from __future__ import annotations

import json
import re

import httpx2
import pytest
from fastapi import APIRouter
from pydantic import BaseModel, Field
from selectolax.lexbor import LexborHTMLParser as Html
from starlette.exceptions import HTTPException

from jobmill import errors
from jobmill.db import Database
from jobmill.hiring.transitions import InvalidTransition
from jobmill.web import api_errors
from jobmill.web.middleware import MAX_BODY_BYTES
from tests.web.helpers import site_with, status_and_code
from tests.web.test_every_route import routes

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
    answer = api_errors.error_response(error)
    body = json.loads(bytes(answer.body))["error"]
    assert (answer.status_code, body["code"]) == (status, code)
    assert body["message"]
    assert "secret" not in body["message"]
    assert body["details"] is None


@pytest.mark.parametrize(
    ("what", "words"),
    [
        ("opening", "Job with id 7 not found"),
        ("applicant", "Applicant with id 7 not found"),
        ("application", "Application with id 7 not found"),
    ],
)
def test_not_found_messages_follow_the_api_contract(what: str, words: str) -> None:
    answer = api_errors.error_response(errors.NotFound(what, 7))
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
async def test_validation_errors_are_listed_by_field(
    empty_database: Database, path: str, body: str, fields: list[str]
) -> None:
    async with site_with(empty_database, router) as client:
        # Also for clients that accept HTML.
        headers = {**HTML, "Content-Type": "application/json"}
        answer = await client.post(f"/api/try/{path}", content=body, headers=headers)
    assert status_and_code(answer) == (400, "VALIDATION_ERROR")
    assert [detail["field"] for detail in answer.json()["error"]["details"]] == fields
    assert all(detail["message"] for detail in answer.json()["error"]["details"])


async def test_errors_of_the_framework_have_the_same_format(database: Database) -> None:
    async with site_with(database, router) as client:

        async def ask(method: str, path: str, **more: object) -> httpx2.Response:
            return await client.request(method, path, headers=HTML, **more)  # pyright: ignore[reportArgumentType]

        for path in ("/api", "/api/", "/api/nowhere", "/api/try/1/2"):
            assert status_and_code(await ask("GET", path)) == (404, "NOT_FOUND"), path
        wrong = await ask("PUT", "/api/try/1")
        assert status_and_code(wrong) == (405, "METHOD_NOT_ALLOWED")
        assert wrong.headers["allow"] == "POST"
        large = await ask("POST", "/api/try/1", content=b"x" * (MAX_BODY_BYTES + 1))
        assert status_and_code(large) == (413, "PAYLOAD_TOO_LARGE")
        garbled = await client.post(
            "/api/try/1", content=b"\xff\xfe{", headers={"Content-Type": "application/json"}
        )
        assert status_and_code(garbled) == (400, "VALIDATION_ERROR")
        stranger = await client.get("/api/session", headers={"Host": "evil.example"})
        assert status_and_code(stranger) == (400, "VALIDATION_ERROR")
        # /apis is not below /api, so it is an HTML page.
        assert "This page does not exist." in (await ask("GET", "/apis")).text


NO_NUMBERS = ("abc", "0", "-1", "1.5", "9" * 13, "9" * 30, "%00")


async def test_pages_with_invalid_ids_are_not_found(database: Database) -> None:
    paths = [
        route.path
        for route in routes()
        if route.method == "GET"
        and "_id}" in route.path
        and not route.path.startswith(("/api", "/my"))
    ]
    assert len(paths) > 15
    async with site_with(database, local=True) as client:
        for wrong in NO_NUMBERS:
            for path in paths:
                answer = await client.get(re.sub(r"\{\w+\}", wrong, path), headers=HTML)
                outcome = (answer.status_code, "This page does not exist." in answer.text)
                assert outcome == (404, True), (path, wrong)
            posted = await client.post(f"/matches/{wrong}/status", headers=HTML)
            assert posted.status_code == 404


NO_FILTERS = {
    "/matches?least=abc&status=saved": "“least” in the address must be a number.",
    "/matches?least=101": "“least” in the address must be at most 100.",
    "/matches?after=0": "“after” in the address must be at least 1.",
    f"/matches?q={'x' * 201}": "“q” in the address can have up to 200 characters.",
    "/jobs?state=lost": "“state” in the address must be open, closed or all.",
    "/jobs?q=%00": "“q” in the address is not valid.",
    "/jobs?days=x&state=lost": "“days” in the address must be a number. “state” in",
    "/activity/tasks?status=%3Cscript%3E": "“status” in the address must be ",
    "/activity/pause": "The address needs the parameter “phase”.",
}


async def test_an_invalid_filter_is_named_and_the_page_links_to_itself_without_it(
    database: Database,
) -> None:
    async with site_with(database, local=True) as client:
        for url, words in NO_FILTERS.items():
            answer = await client.get(url, headers=HTML)
            assert answer.status_code == 422
            assert words in answer.text, url
            assert "<script>" not in answer.text
            path, query, _ = url.partition("?")
            # The page without the filter works.
            links = [link.attributes["href"] for link in Html(answer.text).css("main .actions a")]
            assert links[:-1] == ([path] if query else [])
            assert links[-1] in ("/today", "/hiring", "/health")
        line = await client.get("/matches?least=abc")
        assert line.json() == {"error": "“least” in the address must be a number."}


async def test_an_unreachable_database_is_503_with_retry_after(database: Database) -> None:
    async with site_with(database, database_timeout=0.2) as client, database.transaction() as tx:
        await tx.execute("LOCK TABLE people.api_key IN ACCESS EXCLUSIVE MODE")
        answer = await client.get("/api/session", headers={"Authorization": "Bearer jm_x"})
    assert status_and_code(answer) == (503, "UNAVAILABLE")
    assert answer.headers["retry-after"] == "5"
