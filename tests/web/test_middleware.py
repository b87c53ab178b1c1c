from __future__ import annotations

import asyncio
import datetime as dt
import logging
from collections.abc import AsyncIterator

import httpx2
import pytest
from fastapi import FastAPI, Request, Response
from starlette.datastructures import Headers

from jobmill.db import Database
from jobmill.errors import Forbidden
from jobmill.hiring.messages.signed_links import LinkSigner
from jobmill.web import dependencies, html_errors, middleware, server
from jobmill.web import site as pages
from jobmill.web.middleware import MAX_BODY_BYTES, RequestMiddleware
from tests.web.conftest import served


async def test_requests_for_other_host_names_are_refused(empty_site: httpx2.AsyncClient) -> None:
    for host, status in (
        ("localhost", 200),
        ("LOCALHOST:80", 200),
        ("127.0.0.1:8000", 200),
        ("[::1]:8000", 200),
        ("localhost.", 200),
        ("evil.example", 400),
        ("evil.example:8000", 400),
        ("localhost.evil.example", 400),
        ("127.0.0.1.evil.example", 400),
        ("[::1", 400),
        ("", 400),
    ):
        answer = await empty_site.get("/healthz", headers={"Host": host})
        assert answer.status_code == status, host


async def test_a_configured_host_name_is_accepted() -> None:
    async def app(scope: object, receive: object, send: object) -> None:
        await Response("hello")(scope, receive, send)  # pyright: ignore[reportArgumentType]

    async def refuse(*_: object) -> Response:
        return Response("no", 400)

    async with served(RequestMiddleware(app, ["Mill.local"], refuse)) as client:
        assert (await client.get("/", headers={"Host": "mill.local:80"})).text == "hello"
        assert (await client.get("/", headers={"Host": "mill.example"})).text == "no"


async def test_every_response_has_the_security_headers(empty_site: httpx2.AsyncClient) -> None:
    for path in ("/", "/healthz", "/metrics", "/nowhere", "/static/app.css"):
        answer = await empty_site.get(path)
        assert answer.headers["content-security-policy"].startswith("default-src 'self'"), path
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert "server" not in answer.headers


@pytest.mark.parametrize(("proto", "sent"), [("https", True), ("http", False)])
async def test_browsers_are_told_to_stay_with_https(
    database: Database, proto: str, sent: bool
) -> None:
    async with served(pages.create_app(database, proxies=["127.0.0.1"])) as client:
        answer = await client.get("/healthz", headers={"X-Forwarded-Proto": proto})
        assert ("strict-transport-security" in answer.headers) is sent


async def test_a_body_that_does_not_arrive_in_time_ends_the_request(
    site: httpx2.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(middleware, "BODY_SECONDS", 0.2)
    reader, writer = await asyncio.open_connection("127.0.0.1", site.base_url.port)
    writer.write(b"POST /api/session HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n")
    writer.write(b"Content-Type: application/json\r\n\r\n{")
    assert b" 408 " in await reader.readline()
    writer.close()


@pytest.mark.parametrize("begin", [b"", b"GET /healthz HT", b"GET /healthz HTTP/1.1\r\nA: b\r\n"])
@pytest.mark.parametrize("before", [b"", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"])
async def test_a_header_that_does_not_arrive_in_time_ends_the_connection(
    database: Database, monkeypatch: pytest.MonkeyPatch, before: bytes, begin: bytes
) -> None:
    monkeypatch.setattr(server, "HEADER_SECONDS", 0.2)
    async with served(pages.create_app(database, local=True)) as client:
        reader, writer = await asyncio.open_connection("127.0.0.1", client.base_url.port)
        writer.write(before + begin)
        answer = await reader.read()
        assert answer.startswith(b"HTTP/1.1 200") is bool(before)
        writer.close()
        assert (await client.get("/healthz")).status_code == 200


async def test_a_valid_request_id_is_kept_and_others_are_replaced(
    empty_site: httpx2.AsyncClient,
) -> None:
    for request_id in ("abc-123", "0f.9:z/+=@", "x" * 64):
        answer = await empty_site.get("/healthz", headers={"X-Request-ID": request_id})
        assert answer.headers["x-request-id"] == request_id
    for request_id in ("", "x" * 65, "two words", "tab\there", "é"):
        answer = await empty_site.get(
            "/healthz", headers={"X-Request-ID": request_id.encode("latin-1")}
        )
        assert answer.headers["x-request-id"] != request_id
        assert len(answer.headers["x-request-id"]) == 32


@pytest.fixture
async def reader() -> AsyncIterator[httpx2.AsyncClient]:
    """A route that reads its body, and one that fails."""
    app = FastAPI()
    render = dependencies.Render(dependencies.make_environment())

    async def tell(request: Request, error: Exception) -> Response:
        return await html_errors.error_response(request, render, error)

    @app.post("/")
    async def read(request: Request) -> int:
        return len(await request.body())

    @app.get("/broken")
    async def broken() -> None:
        logging.getLogger("shop").warning("about to break")
        raise ValueError("secret")

    app.add_exception_handler(Exception, tell)
    app.add_exception_handler(middleware.HTTPException, tell)
    async with served(RequestMiddleware(app, [], tell)) as client:
        yield client


async def test_a_body_over_the_limit_is_refused_with_or_without_content_length(
    reader: httpx2.AsyncClient,
) -> None:
    async def chunks(n: int) -> AsyncIterator[bytes]:
        for _ in range(n):
            yield b"x" * (MAX_BODY_BYTES // 4)

    assert (await reader.post("/", content=b"x" * MAX_BODY_BYTES)).json() == MAX_BODY_BYTES
    assert (await reader.post("/", content=chunks(4))).json() == MAX_BODY_BYTES
    assert (await reader.post("/", content=b"x" * (MAX_BODY_BYTES + 1))).status_code == 413
    assert (await reader.post("/", content=chunks(5))).status_code == 413


async def test_an_unexpected_error_is_logged_but_not_shown_to_the_client(
    reader: httpx2.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    answer = await reader.get("/broken", headers={"X-Request-ID": "r-1"})
    assert answer.status_code == 500
    assert answer.headers["x-frame-options"] == "DENY"
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text
    failed = next(record for record in caplog.records if record.message == "request failed")
    assert failed.exc_info
    assert isinstance(failed.exc_info[1], ValueError)


async def test_every_log_line_of_a_request_has_its_id(
    reader: httpx2.AsyncClient, capsys: pytest.CaptureFixture[str]
) -> None:
    from jobmill import log

    handler = logging.StreamHandler()
    handler.setFormatter(log.TextFormat())
    logging.getLogger().addHandler(handler)
    try:
        await reader.get("/broken", headers={"X-Request-ID": "r-2"})
    finally:
        logging.getLogger().removeHandler(handler)
    lines = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("    ")]
    assert [line.split()[2] for line in lines] == ["shop", *["jobmill.web.middleware"] * 2]
    assert all("request=r-2" in line for line in lines)


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        # Not a browser.
        ({}, True),
        ({"Sec-Fetch-Site": "same-origin"}, True),
        ({"Sec-Fetch-Site": "none"}, True),
        ({"Sec-Fetch-Site": "same-site"}, False),
        ({"Sec-Fetch-Site": "cross-site"}, False),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "http://mill.local"}, False),
        # Older browsers, and browsers that omit Sec-Fetch-Site on http.
        ({"Origin": "http://mill.local"}, True),
        ({"Origin": "https://mill.local"}, True),
        ({"Origin": "https://MILL.local:443"}, True),
        ({"Origin": "http://mill.local:8080", "Host": "mill.local:8080"}, True),
        ({"Origin": "http://mill.local", "Host": "mill.local:80"}, True),
        ({"Origin": "http://mill.local:8081", "Host": "mill.local:8080"}, False),
        ({"Origin": "http://evil.example"}, False),
        ({"Origin": "http://mill.local.evil.example"}, False),
        ({"Origin": "null"}, False),
        ({"Origin": ""}, False),
        ({"Origin": "ftp://mill.local"}, False),
        # Headers that another site cannot make a browser send.
        ({"Sec-Fetch-Site": "cross-site", "Authorization": "Bearer jm_x"}, True),
        ({"Origin": "http://evil.example", "Authorization": "Link x"}, True),
        # Credentials that a browser sends on its own.
        ({"Sec-Fetch-Site": "cross-site", "Authorization": "Basic eDp5"}, False),
        ({"Sec-Fetch-Site": "cross-site", "Authorization": ""}, False),
    ],
)
def test_requests_from_pages_of_other_sites_are_refused(
    headers: dict[str, str], allowed: bool
) -> None:
    request_headers = Headers({"Host": "mill.local"} | headers)
    if allowed:
        middleware.check_origin(request_headers)
    else:
        with pytest.raises(Forbidden):
            middleware.check_origin(request_headers)


async def test_other_sites_may_link_to_pages_but_not_submit_forms(site: httpx2.AsyncClient) -> None:
    foreign = {"Sec-Fetch-Site": "cross-site", "Origin": "http://evil.example"}
    link = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    assert (await site.get("/today", headers=foreign | link)).status_code == 200
    for method in ("POST", "PUT", "PATCH", "DELETE"):
        # Also for local requests, which need no sign-in.
        answer = await site.request(method, "/api/session", headers=foreign)
        assert (answer.status_code, answer.json()["error"]["code"]) == (403, "FORBIDDEN")
    page = await site.post("/", headers={**foreign, "Accept": "text/html"})
    assert page.status_code == 403
    assert "a page of another site" in page.text


async def test_personal_links_are_not_logged(
    reader: httpx2.AsyncClient, caplog: pytest.LogCaptureFixture
) -> None:
    token = LinkSigner(b"s" * 32).sign_personal(1, 1, dt.datetime.now(dt.UTC))
    caplog.set_level(logging.DEBUG, "jobmill")
    await reader.get(f"/my/{token}/applications?key={token}")
    [logged] = [record for record in caplog.records if record.message == "request"]
    assert logged.__dict__["path"] == "/my/…/applications"
    assert token not in str(logged.__dict__)


async def test_every_page_supports_head_requests(empty_site: httpx2.AsyncClient) -> None:
    for path in (
        "/today",
        "/healthz",
        "/openings",
        "/openings/feed.xml",
        "/api/jobs",
        "/api/healthz",
    ):
        head = await empty_site.head(path)
        full = await empty_site.get(path)
        assert (head.status_code, head.content) == (200, b""), path
        assert head.headers["content-type"] == full.headers["content-type"]
