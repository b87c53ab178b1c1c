from __future__ import annotations

import asyncio
import datetime as dt
import hashlib
import hmac
from collections.abc import Awaitable, Callable
from dataclasses import replace

import pytest

from jobmill.errors import Invalid, OutsideError, ReplyLost
from jobmill.outside.http_exchange import HttpLimits
from jobmill.outside.public_addresses import AddressRefused
from jobmill.outside.webhook import ReceiverGone, WebhookRequest, WebhookSender, check_url, sign
from jobmill.settings import Settings

from .site import Handler, LoopbackSite, ReceivedRequest, ResponseWriter, redirect, reply

PATIENT = HttpLimits(
    seconds=60, connect_seconds=60, read_seconds=60, raw_bytes=64_000, bytes=64_000
)
IMPATIENT = replace(PATIENT, seconds=0.3, connect_seconds=0.3, read_seconds=0.3)
SECRET = "whsec_of_this_test"
SIGNED_AT = dt.datetime.fromtimestamp(1_700_000_000.9, dt.UTC)
BODY = b'{"id":1,"eventType":"PROMOTED"}'


def delivery(site: LoopbackSite, path: str = "/hook") -> WebhookRequest:
    return WebhookRequest(77, site.url(path), SECRET, "PROMOTED", BODY, SIGNED_AT)


def caller(site: LoopbackSite, limits: HttpLimits = PATIENT) -> WebhookSender:
    return WebhookSender(Settings(private_hosts=site.place), limits=limits)


async def test_a_delivery_is_signed_over_its_time_and_its_body(site: LoopbackSite) -> None:
    site.on("/hook", reply(status=204))
    assert "204" in await caller(site).send(delivery(site))
    [request] = site.requests_to("/hook")
    assert (request.method, request.body) == ("POST", BODY)
    headers = {name: text for name, text in request.headers.items() if name.startswith("jobmill-")}
    signed = hmac.new(SECRET.encode(), b"1700000000." + BODY, hashlib.sha256).hexdigest()
    assert headers == {
        "jobmill-event": "PROMOTED",
        "jobmill-delivery": "77",
        "jobmill-timestamp": "1700000000",
        "jobmill-signature": f"v1={signed}",
    }
    assert request.headers["content-type"] == "application/json"
    assert request.headers["content-length"] == str(len(BODY))


def test_the_signature_can_be_verified_as_documented() -> None:
    # Computed with `printf 1700000000.hello | openssl dgst -sha256 -hmac whsec_x`.
    assert sign("whsec_x", 1_700_000_000, b"hello") == (
        "v1=20d8679b715783336aef8d9fff251ed21322d839b1f5de36998c6130fdee4d9f"
    )


AGAIN = (408, 425, 429, 500, 502, 503, 599)
NEVER = (300, 301, 302, 304, 307, 308, 400, 401, 403, 404, 422)


@pytest.mark.parametrize("status", [*AGAIN, *NEVER])
async def test_the_status_decides_about_a_retry(site: LoopbackSite, status: int) -> None:
    site.on("/hook", reply(b"no", status))
    with pytest.raises(OutsideError, match=str(status)) as caught:
        await caller(site).send(delivery(site))
    assert caught.value.permanent is (status in NEVER)
    assert not isinstance(caught.value, ReceiverGone)


async def test_a_410_stops_all_deliveries(site: LoopbackSite) -> None:
    site.on("/hook", reply(status=410))
    with pytest.raises(ReceiverGone):
        await caller(site).send(delivery(site))


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_not_followed_but_its_target_is_reported(
    site: LoopbackSite, status: int
) -> None:
    site.on("/hook", redirect("http://169.254.169.254/latest/meta-data", status))
    site.on("/inside", reply())
    with pytest.raises(OutsideError, match=r"169\.254\.169\.254/latest") as caught:
        await caller(site).send(delivery(site))
    assert caught.value.permanent
    # Not even to an allowed address.
    site.on("/hook", redirect(site.url("/inside"), status))
    with pytest.raises(OutsideError, match="/inside, which is not followed"):
        await caller(site).send(delivery(site))
    assert site.requests_to("/inside") == []


async def hang(request: ReceivedRequest, out: ResponseWriter) -> None:
    await asyncio.Event().wait()


async def drip(request: ReceivedRequest, out: ResponseWriter) -> None:
    await out.send(b"HTTP/1.1 200 X\r\n")
    while True:
        await out.send(b"X-Drip: 1\r\n")
        await asyncio.sleep(0.05)


async def cut(request: ReceivedRequest, out: ResponseWriter) -> None:
    out.reset()


@pytest.mark.parametrize("handle", [hang, drip, cut])
async def test_a_receiver_that_does_not_answer_is_retried(
    site: LoopbackSite, handle: Callable[[ReceivedRequest, ResponseWriter], Awaitable[None]]
) -> None:
    site.on("/hook", handle)
    with pytest.raises(ReplyLost) as caught:
        await caller(site, IMPATIENT).send(delivery(site))
    assert not caught.value.permanent


async def test_a_response_counts_before_its_body_ends(site: LoopbackSite) -> None:
    async def go_on(request: ReceivedRequest, out: ResponseWriter) -> None:
        await out.send(b"HTTP/1.1 200 X\r\nContent-Length: 1000\r\n\r\nthanks")
        await asyncio.Event().wait()

    site.on("/hook", go_on)
    assert "200" in await caller(site).send(delivery(site))


async def test_almost_nothing_of_a_huge_response_is_read(site: LoopbackSite) -> None:
    sent = 0

    async def pour(request: ReceivedRequest, out: ResponseWriter) -> None:
        nonlocal sent
        await out.send(b"HTTP/1.1 200 X\r\nContent-Length: 1000000000\r\n\r\n")
        while True:
            await out.send(b"x" * 100_000)
            sent += 100_000

    handler: Handler = pour
    site.on("/hook", handler)
    assert "200" in await caller(site).send(delivery(site))
    # Socket buffers take some bytes; the rest was never sent.
    assert sent < 50_000_000


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:{port}/hook",
        "https://127.0.0.1/hook",
        "https://10.0.0.1/hook",
        "https://[::1]/hook",
        "https://localhost/hook",
        "https://169.254.169.254/latest",
        "https://2130706433/hook",
    ],
)
async def test_private_receivers_must_be_configured(site: LoopbackSite, url: str) -> None:
    site.on("/hook", reply())
    private = replace(delivery(site), url=url.format(port=site.port))
    with pytest.raises(AddressRefused):
        await WebhookSender(Settings()).send(private)
    assert site.requests == []


ALLOWED = frozenset({("127.0.0.1", 9000)})


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://hooks.example.org/a?b=c#d", "https://hooks.example.org/a?b=c"),
        (" https://hooks.example.org ", "https://hooks.example.org"),
        ("http://127.0.0.1:9000/hook", "http://127.0.0.1:9000/hook"),
    ],
)
def test_a_valid_webhook_url_is_normalized(url: str, expected: str) -> None:
    assert check_url(url, ALLOWED).rstrip("/") == expected


@pytest.mark.parametrize(
    "url",
    [
        "",
        "hooks.example.org",
        "http://hooks.example.org/hook",
        "ftp://hooks.example.org/hook",
        "https://me:secret@hooks.example.org/hook",
        "https://hooks.example.org:8443/hook",
        "http://127.0.0.1:9001/hook",
        "https://10.1.2.3/hook",
        "https://hooks.internal/hook",
        "https://hooks.example.org/" + "x" * 9_000,
    ],
)
def test_an_invalid_webhook_url_is_refused(url: str) -> None:
    with pytest.raises(Invalid) as caught:
        check_url(url, ALLOWED)
    assert "secret" not in str(caught.value)
