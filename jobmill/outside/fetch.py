"""Fetches pages: waits for the rate limit, sends the request, follows redirects and classifies the
reply."""

from __future__ import annotations

import json
import logging
import ssl
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import timedelta

import httpx2

from jobmill.db import Database
from jobmill.outside import jobspy, reply_classification
from jobmill.outside.browser import Browser
from jobmill.outside.connectivity import Connectivity
from jobmill.outside.guarded_transport import AddressGuard
from jobmill.outside.http_exchange import (
    ExchangeError,
    HttpClient,
    HttpLimits,
    HttpReply,
    open_client,
)
from jobmill.outside.public_addresses import (
    AddressRefused,
    AllowedUrl,
    parse_private_hosts,
    parse_url,
)
from jobmill.outside.rate_limits import HostRateLimit, HostRateLimited, RateLimiter, RequestSlot
from jobmill.outside.request import FetchFailure, FetchResult, Ok, Request, Truncated, Validators
from jobmill.outside.robots import Robots
from jobmill.settings import Settings

log = logging.getLogger(__name__)

MAX_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)


@asynccontextmanager
async def open_fetch(
    database: Database,
    settings: Settings,
    *,
    guard: AddressGuard | None = None,
    rate_limit: HostRateLimit | None = None,
    limits: HttpLimits | None = None,
    tls: ssl.SSLContext | None = None,
) -> AsyncGenerator[Fetcher]:
    """A `Fetch` by the settings; the other arguments are for tests."""
    host_overrides = settings.host_overrides
    guard = guard or AddressGuard(
        parse_private_hosts(",".join([settings.private_hosts, *host_overrides.values()]))
    )
    rate_limit = rate_limit or HostRateLimit(
        timedelta(seconds=settings.host_interval_seconds), settings.host_calls
    )
    agent = build_user_agent(settings.user_agent, settings.contact)
    async with open_client(guard, agent, limits, tls=tls, host_overrides=host_overrides) as client:
        browser = Browser(guard, agent, settings.chromium)
        fetcher = Fetcher(
            database, client, guard, RateLimiter(database, rate_limit), browser, agent
        )
        # Where local servers stand in for public hosts, it means nothing that no name can be resolved.
        fetcher.recognises_offline = not host_overrides
        yield fetcher


def build_user_agent(user_agent: str, contact: str) -> str:
    """The User-Agent header, with a contact address for site operators."""
    return f"{user_agent} (+{contact})" if contact else user_agent


@dataclass(frozen=True, slots=True)
class _Hop:
    """One request in a chain of redirects."""

    target: AllowedUrl
    method: str
    headers: tuple[tuple[str, str], ...]
    body: bytes | None
    conditional: bool


class Fetcher:
    """A `Fetch`. It raises database errors, but nothing for network errors."""

    def __init__(
        self,
        database: Database,
        client: HttpClient,
        guard: AddressGuard,
        rate_limiter: RateLimiter,
        browser: Browser,
        agent: str,
    ) -> None:
        self.recognises_offline = True
        self._client = client
        self._guard = guard
        self._rate_limiter = rate_limiter
        self._browser = browser
        self._connectivity = Connectivity(database, guard.resolve)
        # robots.txt rules apply to the product name, the first word of the user agent.
        self._robots = Robots(database, agent.replace("/", " ").split()[0], self._follow)

    async def __call__(self, request: Request, validators: Validators | None = None) -> FetchResult:
        began = time.monotonic()
        if request.url.startswith(jobspy.SCHEME):
            result = await jobspy.load()(request)
        else:
            result = await self._fetch(request, validators)
            if self.recognises_offline:
                result = await self._connectivity.judge(result)
            result = _hide_private_url(result, request)
        _log(result, time.monotonic() - began)
        return result

    async def _fetch(self, request: Request, validators: Validators | None) -> FetchResult:
        if not request.render:
            return await self._follow(request, validators)
        if missing := self._browser.missing_reason():
            return FetchFailure(request.url, "no_browser", missing, sent=False)
        # A browser does not report a 404 or a 429, so request the page without it first. Ignore
        # its validators: the HTML without the content of the scripts does not change.
        result = await self._follow(replace(request, page=True))
        if isinstance(result, Ok) and "html" in result.content_type.lower():
            return await self._render(result, request)
        return result

    async def _follow(self, request: Request, validators: Validators | None = None) -> FetchResult:
        """Send the request and follow redirects."""
        visited: set[tuple[str, str]] = set()
        try:
            url = request.private_url or request.url
            requested = target = parse_url(url, self._guard.private)
            hop = _make_hop(request, requested, requested, validators)
            while True:
                target = hop.target
                if request.page and (objection := await self._robots.check(target)):
                    return replace(objection, sent=bool(visited))
                reply = await self._exchange(hop, request.max_bytes)
                visited.add((hop.method, target.url))
                if reply.status not in _REDIRECTS:
                    return reply_classification.classify_reply(
                        reply, requested, target, conditional=hop.conditional
                    )
                hop = self._next_hop(hop, reply, request, requested, validators)
                if len(visited) > MAX_REDIRECTS or (hop.method, hop.target.url) in visited:
                    return FetchFailure(
                        target.url, "redirects", f"{target.host} redirects too often or in a loop"
                    )
        except AddressRefused as error:
            return FetchFailure(request.url, "refused", str(error), sent=bool(visited))
        except ExchangeError as error:
            sent = error.sent or bool(visited)
            return FetchFailure(request.url, error.cause, str(error), sent=sent)
        except HostRateLimited as error:
            return FetchFailure(
                request.url,
                "rate_limited",
                str(error),
                retry_after=error.retry_after,
                sent=bool(visited),
            )

    async def _exchange(self, hop: _Hop, max_bytes: int | None) -> HttpReply:
        async with self._rate_limiter.slot(hop.target.rate_limit_key) as slot:
            try:
                reply = await self._client.send(
                    hop.target, hop.headers, body=hop.body, method=hop.method, max_bytes=max_bytes
                )
            except ExchangeError as error:
                slot.outcome = "failed" if error.sent else "dropped"
                raise
            _record_outcome(slot, reply)
            return reply

    def _next_hop(
        self,
        hop: _Hop,
        reply: HttpReply,
        request: Request,
        requested: AllowedUrl,
        validators: Validators | None,
    ) -> _Hop:
        try:
            url = str(httpx2.URL(hop.target.url).join(reply.headers.get("location", "")))
        except (httpx2.InvalidURL, ValueError) as error:
            raise AddressRefused(f"{hop.target.host} redirects to an invalid URL") from error
        target = parse_url(url, self._guard.private)
        if hop.method == "GET" or reply.status not in (307, 308):
            request = replace(request, method="GET", json=None)
        return _make_hop(request, requested, target, validators)

    async def _render(self, result: Ok, request: Request) -> FetchResult:
        try:
            target = parse_url(result.url, self._guard.private)
            # Wait for a browser first, so that the request slot is not held while waiting.
            async with self._browser.slots, self._rate_limiter.slot(target.rate_limit_key) as slot:
                reply = await self._browser.render(target, request.max_bytes)
                slot.outcome = "answered"
        except (AddressRefused, ExchangeError) as error:
            cause = error.cause if isinstance(error, ExchangeError) else "refused"
            return FetchFailure(result.url, cause, str(error))
        except HostRateLimited as error:
            return FetchFailure(
                result.url, "rate_limited", str(error), retry_after=error.retry_after
            )
        return reply_classification.classify_reply(reply, target, target)


def _hide_private_url(result: FetchResult, request: Request) -> FetchResult:
    """The result with the public URL in place of the private one, because results are logged and
    stored."""
    if not request.private_url:
        return result
    result = replace(result, url=request.url)
    if isinstance(result, Ok):
        return replace(result, validators=replace(result.validators, url=None))
    if isinstance(result, FetchFailure):
        return replace(result, detail=result.detail.replace(request.private_url, request.url))
    return result


def _make_hop(
    request: Request, requested: AllowedUrl, target: AllowedUrl, validators: Validators | None
) -> _Hop:
    headers = list(request.headers.items())
    if _may_send_secrets(requested, target):
        headers += request.secret.items()
    body = None
    if request.json is not None:
        body = json.dumps(request.json).encode()
        headers.append(("Content-Type", "application/json"))
    conditions = _conditional_headers(target, requested, validators)
    return _Hop(target, request.method, (*headers, *conditions), body, bool(conditions))


def _may_send_secrets(requested: AllowedUrl, target: AllowedUrl) -> bool:
    upgraded = requested.host == target.host and (requested.port, target.port) == (80, 443)
    return requested.origin == target.origin or upgraded


def _conditional_headers(
    target: AllowedUrl, requested: AllowedUrl, validators: Validators | None
) -> tuple[tuple[str, str], ...]:
    """Send validators only to the URL that issued them."""
    if validators is None or target.url != (validators.url or requested.url):
        return ()
    pairs = (("If-None-Match", validators.etag), ("If-Modified-Since", validators.last_modified))
    return tuple((name, text) for name, text in pairs if text)


def _record_outcome(slot: RequestSlot, reply: HttpReply) -> None:
    if reply_classification.is_rate_limited(reply):
        slot.outcome, slot.hold = "limited", reply_classification.parse_retry_after(reply)
    else:
        slot.outcome = "failed" if reply.status >= 500 and reply.status < 600 else "answered"


def _log(result: FetchResult, seconds: float) -> None:
    """Log one line per request; only the host, because paths and queries can hold keys."""
    fields: dict[str, object] = {
        "host": _host(result.url),
        "answer": type(result).__name__,
        "ms": round(seconds * 1000),
    }
    if isinstance(result, Ok | Truncated):
        fields["bytes"] = len(result.body)
    if isinstance(result, FetchFailure):
        fields |= {"cause": result.cause, "status": result.status, "detail": result.detail}
    log.log(
        logging.INFO if isinstance(result, FetchFailure) else logging.DEBUG, "fetched", extra=fields
    )


def _host(url: str) -> str:
    try:
        return httpx2.URL(url).host
    except httpx2.InvalidURL:
        return ""
