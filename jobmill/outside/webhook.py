"""Sends webhooks: one signed POST per event, without redirects."""

from __future__ import annotations

import datetime as dt
import hashlib
import hmac
import logging
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from ssl import SSLContext

import httpcore2

from jobmill.errors import Invalid, OutsideError, ReplyLost
from jobmill.outside.fetch import build_user_agent
from jobmill.outside.guarded_transport import AddressGuard
from jobmill.outside.http_exchange import ExchangeError, HttpLimits, HttpReply, open_client
from jobmill.outside.public_addresses import (
    AddressRefused,
    PrivateHosts,
    parse_private_hosts,
    parse_url,
)
from jobmill.settings import Settings

log = logging.getLogger(__name__)

LIMITS = HttpLimits(seconds=10, connect_seconds=5, read_seconds=10, raw_bytes=64_000, bytes=64_000)
MAX_REPLY_BYTES = 1
"""Only the status of the response is used."""
RETRYABLE_STATUSES = (408, 425, 429)
GONE_STATUS = 410
NOT_CONNECTED = (httpcore2.ConnectError, httpcore2.ConnectTimeout)
GATEWAY_STATUSES = (502, 504)
"""From a proxy that does not know whether the receiver has the request."""


@dataclass(frozen=True, slots=True)
class WebhookRequest:
    """One event for one receiver."""

    id: int
    """The same for every attempt, so that receivers can ignore repetitions."""
    url: str
    secret: str = field(repr=False)
    event: str
    body: bytes
    signed_at: dt.datetime
    """Server time: receivers reject deliveries with a time far from theirs."""


class ReceiverGone(OutsideError):
    """The receiver is gone (410): do not send anything to it again."""

    def __init__(self, message: str) -> None:
        super().__init__(message, permanent=True)


class WebhookSender:
    """Sends deliveries through the address guard."""

    def __init__(
        self,
        settings: Settings,
        *,
        guard: AddressGuard | None = None,
        limits: HttpLimits = LIMITS,
        tls: SSLContext | None = None,
    ) -> None:
        self._guard = guard or AddressGuard(allowed_private_hosts(settings))
        self._host_overrides = settings.host_overrides
        self._agent = build_user_agent(settings.user_agent, settings.contact)
        self._limits = limits
        self._tls = tls

    async def send(self, delivery: WebhookRequest) -> str:
        """Send a delivery; raises as `post` does."""
        return await self.post(delivery.url, _headers(delivery), delivery.body)

    async def post(self, url: str, headers: Iterable[tuple[str, str]], body: bytes) -> str:
        """Send one request; returns a summary of the response. Raises ReceiverGone for 410,
        ReplyLost if the receiver may have it, otherwise OutsideError, which is permanent if a retry
        cannot help."""
        target = parse_url(url, self._guard.private)
        began = time.monotonic()
        async with open_client(
            self._guard,
            self._agent,
            self._limits,
            tls=self._tls,
            host_overrides=self._host_overrides,
        ) as client:
            try:
                reply = await client.send(
                    target, headers, body=body, method="POST", max_bytes=MAX_REPLY_BYTES
                )
            except ExchangeError as error:
                if error.sent and not isinstance(error.__cause__, NOT_CONNECTED):
                    raise ReplyLost(str(error)) from error
                raise
        milliseconds = round((time.monotonic() - began) * 1000)
        fields = {"host": target.host, "status": reply.status, "ms": milliseconds}
        log.debug("sent a webhook", extra=fields)
        return interpret_reply(reply, target.host)


def allowed_private_hosts(settings: Settings) -> PrivateHosts:
    """Hosts that may receive webhooks although they are not public."""
    return parse_private_hosts(
        ",".join([settings.private_hosts, *settings.host_overrides.values()])
    )


def check_url(url: str, private: PrivateHosts) -> str:
    """The normalized URL; raises Invalid for a URL that would be refused. Plain HTTP is only for
    hosts in `private_hosts`."""
    try:
        target = parse_url(url.strip(), private)
    except AddressRefused as error:
        raise Invalid(f"invalid webhook URL: {error}") from error
    if target.scheme != "https" and (target.host, target.port) not in private:
        raise Invalid(
            "a webhook needs https://; http:// is allowed only for hosts in private_hosts "
            f"(here {target.host}:{target.port})"
        )
    return target.url


def sign(secret: str, timestamp: int, body: bytes) -> str:
    """The value of the header Jobmill-Signature."""
    signed = f"{timestamp}.".encode() + body
    return f"v1={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"


def interpret_reply(reply: HttpReply, host: str) -> str:
    """A summary of the response; raises if the delivery failed."""
    status = reply.status
    summary = f"{host} answered {status}"
    if 200 <= status < 300:
        return summary
    if 300 <= status < 400:
        to = reply.headers.get("location", "nowhere")[:300]
        raise OutsideError(f"{summary}, a redirect to {to}, which is not followed", permanent=True)
    if status == GONE_STATUS:
        raise ReceiverGone(f"{summary}: the receiver is gone")
    if status in GATEWAY_STATUSES:
        raise ReplyLost(summary)
    raise OutsideError(summary, permanent=not (status in RETRYABLE_STATUSES or status >= 500))


def _headers(delivery: WebhookRequest) -> list[tuple[str, str]]:
    timestamp = int(delivery.signed_at.timestamp())
    return [
        ("Content-Type", "application/json"),
        ("Jobmill-Event", delivery.event),
        ("Jobmill-Delivery", str(delivery.id)),
        ("Jobmill-Timestamp", str(timestamp)),
        ("Jobmill-Signature", sign(delivery.secret, timestamp, delivery.body)),
    ]
