"""All kinds of responses, from real servers."""

from __future__ import annotations

import asyncio
import datetime as dt
import gzip
import logging
import ssl
import subprocess
import zlib
from collections.abc import Sequence
from email.utils import format_datetime
from pathlib import Path

import pytest

from jobmill.db import Database
from jobmill.outside.fetch import open_fetch
from jobmill.outside.guarded_transport import AddressGuard
from jobmill.outside.public_addresses import parse_private_hosts
from jobmill.outside.request import (
    Fetch,
    FetchCause,
    FetchFailure,
    NotModified,
    Ok,
    PageGone,
    Request,
    Truncated,
    Validators,
)
from jobmill.settings import Settings

from .conftest import QUICK
from .site import (
    Handler,
    LoopbackSite,
    ReceivedRequest,
    ResponseWriter,
    in_turn,
    open_site,
    raw,
    redirect,
    reply,
)

SHORT = b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"


def unknown(answer: object, cause: FetchCause) -> FetchFailure:
    assert isinstance(answer, FetchFailure), answer
    assert answer.cause == cause, answer
    return answer


async def get(fetch: Fetch, site: LoopbackSite, handler: Handler, path: str = "/jobs/1") -> object:
    site.on(path, handler)
    return await fetch(Request(site.url(path)))


async def test_a_result_has_body_type_and_validators(fetch: Fetch, site: LoopbackSite) -> None:
    plain = reply(b"hello", content_type="text/plain", ETag='"1"', Last_Modified="yesterday")
    answer = await get(fetch, site, plain)
    url = site.url("/jobs/1")
    valid = Validators('"1"', "yesterday", url)
    assert answer == Ok(url, b"hello", "text/plain", "utf-8", valid)


async def test_requests_carry_the_user_agent_and_the_given_headers(
    fetch: Fetch, site: LoopbackSite
) -> None:
    site.on("/search", reply(b"{}"))
    headers = {"X-One": "1", "Host": "evil.example.com", "Accept": "application/json"}
    await fetch(Request(site.url("/search?q=a b"), "POST", json={"a": 1}, headers=headers))
    (request,) = site.requests
    assert (request.method, request.path, request.body) == ("POST", "/search?q=a%20b", b'{"a": 1}')
    agent = "jobmill (self-hosted job search) (+https://example.org/us)"
    assert request.headers == {
        "host": site.place,
        "user-agent": agent,
        "accept": "application/json",
        "accept-encoding": "gzip, deflate",
        "connection": "close",
        "x-one": "1",
        "content-type": "application/json",
        "content-length": "8",
    }


async def test_host_overrides_replace_only_the_configured_hosts(
    database: Database, site: LoopbackSite
) -> None:
    site.on("/jobs", reply(b"[]"))
    host_overrides = {"boards.acme.example": site.place, "*.fake.example": site.place}
    async with open_fetch(
        database, Settings(host_overrides=host_overrides), rate_limit=QUICK
    ) as fetch:
        for host in ("boards.acme.example", "a.fake.example", "a.b.fake.example"):
            answer = await fetch(Request(f"https://{host}/jobs?q=1"))
            assert isinstance(answer, Ok)
            assert answer.url == f"https://{host}/jobs?q=1"
            assert site.requests[-1].headers["host"] == host
        unknown(await fetch(Request("https://fake.invalid/jobs")), "unresolved")
        unknown(await fetch(Request("http://127.0.0.1/jobs")), "refused")
    assert len(site.requests) == 3


@pytest.mark.parametrize(
    "headers", [{"X": "a\r\nEvil: 1"}, {"X\n": "a"}, {"X": "ключ"}, {"": "a"}, {"X": "a\0b"}]
)
async def test_an_invalid_header_is_refused_without_logging_its_value(
    fetch: Fetch, site: LoopbackSite, headers: dict[str, str]
) -> None:
    answer = unknown(await fetch(Request(site.url(), secret=headers)), "refused")
    assert "Evil" not in answer.detail
    assert site.requests == []


# Statuses


STATUSES: list[tuple[int, FetchCause]] = [
    (401, "auth"),
    (403, "forbidden"),
    (429, "rate_limited"),
    (500, "server"),
    (502, "server"),
    (503, "server"),
    (408, "timeout"),
    (999, "forbidden"),
    (400, "status"),
    (418, "status"),
    (204, "status"),
    (206, "status"),
    (202, "status"),
    (304, "status"),
    (300, "status"),
]


@pytest.mark.parametrize(("status", "cause"), STATUSES)
async def test_error_statuses_become_failures_with_a_cause(
    fetch: Fetch, site: LoopbackSite, status: int, cause: FetchCause
) -> None:
    answer = unknown(await get(fetch, site, reply(status=status)), cause)
    assert answer.status == status


@pytest.mark.parametrize("status", [404, 410])
async def test_404_and_410_mean_the_page_is_gone(
    fetch: Fetch, site: LoopbackSite, status: int
) -> None:
    assert await get(fetch, site, reply(status=status)) == PageGone(site.url("/jobs/1"), status)


async def test_retry_after_is_passed_on(fetch: Fetch, site: LoopbackSite) -> None:
    answer = await get(fetch, site, reply(status=429, retry_after="120"))
    assert unknown(answer, "rate_limited").retry_after == dt.timedelta(seconds=120)


async def test_a_failure_says_whether_a_request_was_sent(
    fetch: Fetch, site: LoopbackSite, database: Database
) -> None:
    assert unknown(
        await get(fetch, site, reply(status=429, retry_after="120")), "rate_limited"
    ).sent
    # The host is on hold now.
    held = unknown(await get(fetch, site, reply(b"too early")), "rate_limited")
    assert not held.sent
    assert len(site.requests) == 1
    assert not unknown(await fetch(Request("http://10.0.0.1/")), "refused").sent

    async def no_name_server(host: str, port: int) -> Sequence[str]:
        raise OSError("no name server")

    guard = AddressGuard(resolve=no_name_server)
    async with open_fetch(database, Settings(), guard=guard) as offline:
        for _ in range(3):
            answer = unknown(await offline(Request("https://wells.example/")), "offline")
            assert not answer.sent


async def test_retry_after_may_be_a_date_and_go_with_a_503(
    fetch: Fetch, site: LoopbackSite
) -> None:
    then = format_datetime(dt.datetime.now(dt.UTC) + dt.timedelta(minutes=30), usegmt=True)
    answer = unknown(await get(fetch, site, reply(status=503, retry_after=then)), "rate_limited")
    assert answer.retry_after
    assert dt.timedelta(minutes=28) < answer.retry_after <= dt.timedelta(minutes=30)


# Validators


@pytest.mark.parametrize(
    ("validators", "sent"),
    [
        (Validators(etag='W/"7"'), {"if-none-match": 'W/"7"'}),
        (Validators(last_modified="Sun"), {"if-modified-since": "Sun"}),
        (Validators('"7"', "Sun"), {"if-none-match": '"7"', "if-modified-since": "Sun"}),
    ],
)
async def test_validators_are_sent_and_304_is_not_modified(
    fetch: Fetch, site: LoopbackSite, validators: Validators, sent: dict[str, str]
) -> None:
    site.on("/feed", reply(status=304))
    assert await fetch(Request(site.url("/feed")), validators) == NotModified(site.url("/feed"))
    conditions = {n: text for n, text in site.requests[0].headers.items() if n.startswith("if-")}
    assert conditions == sent


async def test_validators_are_sent_only_to_the_url_that_issued_them(
    fetch: Fetch, site: LoopbackSite
) -> None:
    """Otherwise an old page after a new redirect would count as not modified."""
    site.on("/feed", redirect("/closed-feed"))
    site.on("/closed-feed", reply(b"nothing here"))
    before = Validators('"7"', "Sun", url=site.url("/feed"))
    assert isinstance(await fetch(Request(site.url("/feed")), before), Ok)
    moved = Validators('"8"', url=site.url("/closed-feed"))
    site.on("/closed-feed", reply(status=304))
    assert isinstance(await fetch(Request(site.url("/feed")), moved), NotModified)
    sent = [(request.path, request.headers.get("if-none-match")) for request in site.requests]
    assert sent == [
        ("/feed", '"7"'),
        ("/closed-feed", None),
        ("/feed", None),
        ("/closed-feed", '"8"'),
    ]


# Redirects


async def test_redirects_are_followed_and_the_final_url_is_returned(
    fetch: Fetch, site: LoopbackSite
) -> None:
    site.on("/1", redirect("2?x=y", 301))
    site.on("/2", redirect(site.url("/3#part"), 307))
    site.on("/3", reply(b"here"))
    answer = await fetch(Request(site.url("/1")))
    assert isinstance(answer, Ok)
    assert (answer.url, answer.body) == (site.url("/3"), b"here")


async def test_five_redirects_are_followed_and_six_are_too_many(
    fetch: Fetch, site: LoopbackSite
) -> None:
    for n in range(6):
        site.on(f"/{n}", redirect(f"/{n + 1}"))
    site.on("/6", reply(b"here"))
    assert isinstance(await fetch(Request(site.url("/1"))), Ok)
    unknown(await fetch(Request(site.url("/0"))), "redirects")
    assert len(site.requests_to("/6")) == 1


async def test_a_redirect_loop_is_detected_immediately(fetch: Fetch, site: LoopbackSite) -> None:
    site.on("/a", redirect("/b"))
    site.on("/b", redirect("/a"))
    unknown(await fetch(Request(site.url("/a"))), "redirects")
    assert [request.path for request in site.requests] == ["/a", "/b"]


@pytest.mark.parametrize(
    "to",
    [
        "http://127.0.0.1:1/",
        "http://169.254.169.254/latest/",
        "http://[::1]/",
        "http://localhost/",
        "file:///etc/passwd",
        "http://me:pw@example.com/",
        "//2130706433/",
        "http://exa mple.com:x/",
        "gopher:x",
    ],
)
async def test_a_redirect_to_a_private_address_is_refused(
    fetch: Fetch, site: LoopbackSite, to: str
) -> None:
    unknown(await get(fetch, site, redirect(to)), "refused")
    assert len(site.requests) == 1


async def test_a_redirect_without_location_is_a_loop(fetch: Fetch, site: LoopbackSite) -> None:
    unknown(await get(fetch, site, reply(status=302)), "redirects")


@pytest.mark.parametrize(
    ("status", "method", "body"),
    [(301, "GET", b""), (302, "GET", b""), (303, "GET", b""), (307, "POST", b"[1]"), (308, "POST", b"[1]")],
)  # fmt: skip
async def test_a_post_is_repeated_only_for_307_and_308(
    fetch: Fetch, site: LoopbackSite, status: int, method: str, body: bytes
) -> None:
    site.on("/1", redirect("/2", status))
    site.on("/2", reply(b"ok"))
    assert isinstance(await fetch(Request(site.url("/1"), "POST", json=[1])), Ok)
    assert (site.requests[1].method, site.requests[1].body) == (method, body)


async def test_secret_headers_are_sent_only_to_their_host(
    database: Database, site: LoopbackSite
) -> None:
    async with open_site() as other:
        settings = Settings(private_hosts=f"{site.place},{other.place}")
        site.on("/1", redirect("/2"))
        site.on("/2", redirect(other.url("/3")))
        other.on("/3", redirect(site.url("/4")))
        site.on("/4", reply(b"ok"))
        async with open_fetch(database, settings, rate_limit=QUICK) as fetch:
            request = Request(site.url("/1"), headers={"X-A": "1"}, secret={"X-Key": "k3y"})
            assert isinstance(await fetch(request), Ok)
        sent = [
            (received.path, received.headers.get("x-key"))
            for received in site.requests + other.requests
        ]
        assert sent == [("/1", "k3y"), ("/2", "k3y"), ("/4", "k3y"), ("/3", None)]
        assert {received.headers["x-a"] for received in site.requests + other.requests} == {"1"}


async def test_a_404_after_a_redirect_counts_only_for_the_same_page(
    fetch: Fetch, site: LoopbackSite
) -> None:
    site.on("/jobs/1", redirect("/en/jobs/1/"))
    assert isinstance(await fetch(Request(site.url("/jobs/1"))), PageGone)
    site.on("/jobs/2", redirect("/login-is-broken"))
    assert unknown(await fetch(Request(site.url("/jobs/2"))), "status").status == 404
    site.on("/jobs/3", redirect("/"))
    assert unknown(await fetch(Request(site.url("/jobs/3"))), "status").status == 404


async def test_a_redirect_to_the_front_page_is_a_failure(fetch: Fetch, site: LoopbackSite) -> None:
    site.on("/", reply(b"Welcome!"))
    unknown(await get(fetch, site, redirect("/")), "redirects")
    site.on("/en", redirect("/"))
    assert isinstance(await fetch(Request(site.url("/en"))), Ok)


async def test_a_redirect_to_a_login_is_forbidden(fetch: Fetch, site: LoopbackSite) -> None:
    site.on("/users/sign_in", reply(b"Who are you?"))
    unknown(await get(fetch, site, redirect("/users/sign_in?next=/jobs/1")), "forbidden")


# Bodies


async def test_a_body_shorter_than_its_length_is_a_failure(
    fetch: Fetch, site: LoopbackSite
) -> None:
    unknown(await get(fetch, site, raw(SHORT)), "network")
    unknown(await get(fetch, site, raw(CHUNKED + b"5\r\nhello\r\n")), "network")


async def test_bytes_after_the_content_length_are_ignored(fetch: Fetch, site: LoopbackSite) -> None:
    """The bytes do not reach the next request either: connections are not reused."""

    async def generous(request: ReceivedRequest, out: ResponseWriter) -> None:
        forged = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
        await out.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" + forged)
        await asyncio.sleep(60)  # The connection stays open for more.

    site.on("/a", generous)
    site.on("/b", reply(b"own"))
    bodies = [await fetch(Request(site.url(path))) for path in ("/a", "/b", "/a", "/b")]
    assert [result.body for result in bodies if isinstance(result, Ok)] == [
        b"ok",
        b"own",
        b"ok",
        b"own",
    ]


@pytest.mark.parametrize("lengths", ["-5", "1e3", "5\r\nContent-Length: 6"])
async def test_an_invalid_content_length_is_a_failure(
    fetch: Fetch, site: LoopbackSite, lengths: str
) -> None:
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {lengths}\r\n\r\nhello".encode()
    unknown(await get(fetch, site, raw(head)), "network")


async def reset_at_once(request: ReceivedRequest, out: ResponseWriter) -> None:
    out.reset()


async def reset_within(request: ReceivedRequest, out: ResponseWriter) -> None:
    await out.send(SHORT)
    out.reset()


@pytest.mark.parametrize("handler", [reset_at_once, reset_within, raw(b""), raw(b"What?\r\n\r\n")])
async def test_a_broken_connection_is_a_failure(
    fetch: Fetch, site: LoopbackSite, handler: Handler
) -> None:
    unknown(await get(fetch, site, handler), "network")


async def test_a_refused_connection_is_a_failure(database: Database) -> None:
    async with open_site() as site:
        place, url = site.place, site.url()
    async with open_fetch(database, Settings(private_hosts=place), rate_limit=QUICK) as fetch:
        unknown(await fetch(Request(url)), "network")


async def test_endless_headers_are_a_failure(fetch: Fetch, site: LoopbackSite) -> None:
    async def handle(request: ReceivedRequest, out: ResponseWriter) -> None:
        await out.send(b"HTTP/1.1 200 OK\r\n")
        for n in range(100_000):
            await out.send(f"X-{n}: {'x' * 1000}\r\n".encode())

    unknown(await get(fetch, site, handle), "network")


async def silent(request: ReceivedRequest, out: ResponseWriter) -> None:
    await asyncio.sleep(60)


async def dripping(request: ReceivedRequest, out: ResponseWriter) -> None:
    await out.send(CHUNKED)
    while True:  # Always faster than the timeout of a single read.
        await out.send(b"1\r\nx\r\n")
        await asyncio.sleep(0.05)


async def hesitating(request: ReceivedRequest, out: ResponseWriter) -> None:
    while True:
        await out.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("handler", [silent, dripping, hesitating])
async def test_the_total_time_of_a_request_is_limited(
    impatient_fetch: Fetch, site: LoopbackSite, handler: Handler
) -> None:
    unknown(await get(impatient_fetch, site, handler), "timeout")


async def test_a_body_over_the_limit_is_truncated(fetch: Fetch, site: LoopbackSite) -> None:
    answer = await get(fetch, site, reply(b"x" * 60_001))
    assert isinstance(answer, Truncated)
    assert answer.limit == 60_000
    assert isinstance(await get(fetch, site, reply(b"x" * 60_000)), Ok)


async def test_a_request_can_lower_the_size_limit(fetch: Fetch, site: LoopbackSite) -> None:
    site.on("/", reply(b"0123456789"))
    answer = await fetch(Request(site.url(), max_bytes=4))
    assert answer == Truncated(site.url(), b"0123", 4, "text/html", "utf-8")
    assert isinstance(await fetch(Request(site.url(), max_bytes=10)), Ok)


def raw_deflate(data: bytes) -> bytes:
    squeeze = zlib.compressobj(wbits=-15)
    return squeeze.compress(data) + squeeze.flush()


PACKED = {
    "gzip": gzip.compress(b"hello"),
    "x-gzip": gzip.compress(b"hello"),
    "deflate": zlib.compress(b"hello"),
    "DEFLATE": raw_deflate(b"hello"),
    "gzip, gzip": gzip.compress(gzip.compress(b"hello")),
    "deflate, gzip": gzip.compress(zlib.compress(b"hello")),
    "identity": b"hello",
    "gzip,identity": gzip.compress(b"hel") + gzip.compress(b"lo"),
    "GZIP": gzip.compress(b"hello") + b"\0\0",
}


@pytest.mark.parametrize("encoding", PACKED)
async def test_compressed_bodies_are_decoded(
    fetch: Fetch, site: LoopbackSite, encoding: str
) -> None:
    answer = await get(fetch, site, reply(PACKED[encoding], content_encoding=encoding))
    assert isinstance(answer, Ok), answer
    assert answer.body == b"hello"


BOMB = gzip.compress(b"\0" * 20_000_000)
BOMBS = {
    "gzip": BOMB,
    "deflate": zlib.compress(b"\0" * 20_000_000),
    "gzip, gzip": gzip.compress(BOMB),
    "gzip,gzip": gzip.compress(gzip.compress(b"\0" * 99_000_000)[:-20]),
}


@pytest.mark.parametrize("encoding", BOMBS)
async def test_a_decompression_bomb_stops_at_the_limit(
    fetch: Fetch, site: LoopbackSite, encoding: str
) -> None:
    answer = await get(fetch, site, reply(BOMBS[encoding], content_encoding=encoding))
    assert isinstance(answer, Truncated)
    assert len(answer.body) == answer.limit == 100_000


async def test_compressed_bytes_without_content_count_too(fetch: Fetch, site: LoopbackSite) -> None:
    nothing = b"\0\0\0\xff\xff"  # A stored block without content: no output.
    answer = await get(fetch, site, reply(nothing * 20_000, content_encoding="deflate"))
    assert isinstance(answer, Truncated)
    assert (answer.body, answer.limit) == (b"", 60_000)
    packed = gzip.compress(nothing * 1_000_000)
    answer = await get(fetch, site, reply(packed, content_encoding="deflate, gzip"))
    assert isinstance(answer, Truncated)
    assert (answer.body, answer.limit) == (b"", 100_000)


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", b"not packed at all"),
        ("gzip", gzip.compress(b"hello" * 100, mtime=0)[:-9]),
        ("deflate", b"\xff\xff\xff"),
        ("br", b"\x8b\x02\x80hello\x03"),
        ("gzip, gzip, gzip", b""),
    ],
)
async def test_invalid_compression_is_a_failure(
    fetch: Fetch, site: LoopbackSite, encoding: str, body: bytes
) -> None:
    unknown(await get(fetch, site, reply(body, content_encoding=encoding)), "network")


async def test_text_is_decoded_by_its_actual_charset(fetch: Fetch, site: LoopbackSite) -> None:
    page = '<meta charset="iso-8859-2">Łódź'
    answer = await get(fetch, site, reply(page.encode("iso-8859-2")))
    assert isinstance(answer, Ok)
    assert answer.text == page
    liar = reply("Zürich".encode(), content_type="text/html; charset=iso-8859-1")
    answer = await get(fetch, site, liar)
    assert isinstance(answer, Ok)
    assert answer.text == "Zürich"


# Pages without content


async def test_a_challenge_with_status_200_is_forbidden(fetch: Fetch, site: LoopbackSite) -> None:
    page = b"<html><head><title>Just a moment...</title></head><body>Checking</body></html>"
    unknown(await get(fetch, site, reply(page)), "forbidden")
    unknown(await get(fetch, site, reply(b"ok", cf_mitigated="challenge")), "forbidden")


# Address checks


@pytest.mark.parametrize(
    "place",
    ["http://localhost/", "http://127.0.0.1/", "file:///etc/passwd", "nonsense", "http://["],
)
async def test_private_addresses_are_refused_before_any_lookup(fetch: Fetch, place: str) -> None:
    assert unknown(await fetch(Request(place, page=True)), "refused").url == place


async def test_a_name_that_resolves_to_loopback_is_refused(
    database: Database, site: LoopbackSite
) -> None:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    guard = AddressGuard(resolve=resolve)
    async with open_fetch(database, Settings(), guard=guard, rate_limit=QUICK) as fetch:
        unknown(await fetch(Request("http://innocent.example.com/")), "refused")


async def test_proxy_settings_of_the_environment_are_ignored(
    fetch: Fetch, site: LoopbackSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:1")
    assert isinstance(await get(fetch, site, reply(b"ok")), Ok)


async def test_certificates_are_checked_for_the_host_name(
    database: Database, tmp_path: Path
) -> None:
    served, trusted = make_certificate(tmp_path, "jobs.example.com")

    async def resolve(host: str, port: int) -> Sequence[str]:
        return ["127.0.0.1"]

    async with open_site(served) as site:
        site.on("/", reply(b"ok"))
        places = f"jobs.example.com:{site.port},other.example.com:{site.port}"
        guard = AddressGuard(parse_private_hosts(places), resolve=resolve)
        right, wrong = (f"https://{place}/" for place in places.split(","))
        async with open_fetch(
            database, Settings(), guard=guard, rate_limit=QUICK, tls=trusted
        ) as fetch:
            assert isinstance(await fetch(Request(right)), Ok)
            assert "ertificate" in unknown(await fetch(Request(wrong)), "network").detail
        async with open_fetch(database, Settings(), guard=guard, rate_limit=QUICK) as fetch:
            assert "ertificate" in unknown(await fetch(Request(right)), "network").detail


def make_certificate(folder: Path, name: str) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    key, certificate = folder / "key.pem", folder / "cert.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-days", "2", "-subj", f"/CN={name}", "-addext", f"subjectAltName=DNS:{name}",
         "-keyout", key, "-out", certificate],
        check=True,
        capture_output=True,
    )  # fmt: skip
    served = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    served.load_cert_chain(certificate, key)
    return served, ssl.create_default_context(cafile=certificate)


# Slots and logging


async def test_a_cancelled_request_releases_its_slot(
    fetch: Fetch, site: LoopbackSite, database: Database
) -> None:
    there = asyncio.Event()

    async def handle(request: ReceivedRequest, out: ResponseWriter) -> None:
        there.set()
        await asyncio.sleep(60)

    site.on("/", handle)
    task = asyncio.create_task(fetch(Request(site.url())))
    await there.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with database.transaction() as tx:
        row = await (await tx.execute("SELECT reservations, failures FROM outside.host")).fetchall()
    assert row == [([], 0)]


async def test_a_request_logs_one_line_without_secrets(
    fetch: Fetch, site: LoopbackSite, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG, logger="jobmill")
    site.on("/k3y/jobs", in_turn(reply(b"hello"), reply(status=401)))
    request = Request(site.url("/k3y/jobs?key=k3y"), secret={"Authorization": "k3y"})
    await fetch(request)
    await fetch(request)
    first, second = (vars(record) for record in caplog.records)
    assert (first["host"], first["answer"], first["bytes"]) == ("127.0.0.1", "Ok", 5)
    assert (second["answer"], second["cause"], second["status"]) == ("FetchFailure", "auth", 401)
    shown = [
        value for record in (first, second) for name, value in record.items() if name != "args"
    ]
    assert "k3y" not in str(shown)
    assert "k3y" not in repr(request).replace(request.url, "")


async def test_the_defaults_are_large_enough_for_the_largest_boards(
    database: Database, site: LoopbackSite
) -> None:
    site.on("/", reply(gzip.compress(b"x" * 30_000_000), content_encoding="gzip"))
    async with open_fetch(database, Settings(private_hosts=site.place)) as fetch:
        answer = await fetch(Request(site.url()))
    assert isinstance(answer, Ok)
    assert len(answer.body) == 30_000_000


async def test_a_key_in_a_url_is_sent_but_never_shown(fetch: Fetch, site: LoopbackSite) -> None:
    site.on("/api/s3cret", reply(b"[]", ETag='"1"'))
    site.on("/gone/s3cret", reply(status=404))
    site.on("/broken/s3cret", reply(status=500))
    request = Request(site.url("/api/{KEY}"), private_url=site.url("/api/s3cret"))
    answer = await fetch(request)
    assert isinstance(answer, Ok)
    assert await fetch(request, answer.validators)
    assert site.requests_to("/api/s3cret")[1].headers["if-none-match"] == '"1"'
    shown = [answer]
    for path in ("/gone", "/broken", "/nowhere:x"):
        private = site.url(f"{path}/s3cret")
        shown.append(await fetch(Request(site.url(f"{path}/{{KEY}}"), private_url=private)))
    assert "s3cret" not in repr(shown) + repr(request)
