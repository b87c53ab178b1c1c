"""The one door to the network: waits its turn, asks, follows, and says what came of it."""

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
from jobmill.outside.guarded_transport import Guard
from jobmill.outside.http_exchange import Client, Limits, Reply, Trouble, open_client
from jobmill.outside.public_addresses import Refused, Target, read_places, read_target
from jobmill.outside.rate_limits import Manners, NotNow, Turn, Turns
from jobmill.outside.request import Answer, Ok, Request, Truncated, Unknown, Validators
from jobmill.outside.robots import Robots
from jobmill.settings import Settings

log = logging.getLogger(__name__)

MOST_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)


@asynccontextmanager
async def open_fetch(
    database: Database,
    settings: Settings,
    *,
    guard: Guard | None = None,
    manners: Manners | None = None,
    limits: Limits | None = None,
    tls: ssl.SSLContext | None = None,
) -> AsyncGenerator[Door]:
    """The door as the operator wants it; what else is given is for those who need it otherwise."""
    stand_ins = settings.stand_ins
    guard = guard or Guard(read_places(",".join([settings.private_hosts, *stand_ins.values()])))
    manners = manners or Manners(
        timedelta(seconds=settings.host_interval_seconds), settings.host_calls
    )
    agent = name_ourselves(settings.user_agent, settings.contact)
    async with open_client(guard, agent, limits, tls=tls, stand_ins=stand_ins) as client:
        browser = Browser(guard, agent, settings.chromium)
        yield Door(database, client, guard, Turns(database, manners), browser, agent)


def name_ourselves(user_agent: str, contact: str) -> str:
    """What we call ourselves, and whom to write to about us."""
    return f"{user_agent} (+{contact})" if contact else user_agent


@dataclass(frozen=True, slots=True)
class _Hop:
    """One exchange on the way to an answer."""

    target: Target
    method: str
    headers: tuple[tuple[str, str], ...]
    body: bytes | None
    conditional: bool


class Door:
    """A `Fetch`. It raises what the database raises, and nothing for what the network does."""

    def __init__(
        self,
        database: Database,
        client: Client,
        guard: Guard,
        turns: Turns,
        browser: Browser,
        agent: str,
    ) -> None:
        self._client = client
        self._guard = guard
        self._turns = turns
        self._browser = browser
        # Rules are for a name, not for what we say about ourselves behind it.
        self._robots = Robots(database, agent.replace("/", " ").split()[0], self._walk)

    async def __call__(self, request: Request, validators: Validators | None = None) -> Answer:
        began = time.monotonic()
        if request.url.startswith(jobspy.SCHEME):
            answer = await jobspy.installed()(request)
        else:
            answer = _without_keys(await self._answer(request, validators), request)
        _log(answer, time.monotonic() - began)
        return answer

    async def _answer(self, request: Request, validators: Validators | None) -> Answer:
        if not request.render:
            return await self._walk(request, validators)
        if missing := self._browser.missing():
            return Unknown(request.url, "no_browser", missing)
        # A browser does not tell us of a 404 or a 429, so we look before it does. Validators would
        # be those of the empty frame, which stays the same whatever a script puts into it.
        answer = await self._walk(replace(request, page=True))
        if isinstance(answer, Ok) and "html" in answer.content_type.lower():
            return await self._render(answer, request)
        return answer

    async def _walk(self, request: Request, validators: Validators | None = None) -> Answer:
        """Ask, and follow where we are sent."""
        try:
            url = request.private_url or request.url
            asked = target = read_target(url, self._guard.private)
            seen: set[tuple[str, str]] = set()
            hop = _first_hop(request, asked, validators)
            while True:
                target = hop.target
                if request.page and (objection := await self._robots.objection(target)):
                    return objection
                seen.add((hop.method, target.url))
                reply = await self._exchange(hop, request.most)
                if reply.status not in _REDIRECTS:
                    return reply_classification.judge(
                        reply, asked, target, conditional=hop.conditional
                    )
                hop = self._next_hop(hop, reply, request, asked, validators)
                if len(seen) > MOST_REDIRECTS or (hop.method, hop.target.url) in seen:
                    return Unknown(target.url, "redirects", f"{target.host} sends us on and on")
        except Refused as error:
            return Unknown(request.url, "refused", str(error))
        except Trouble as error:
            return Unknown(request.url, error.cause, str(error))
        except NotNow as error:
            return Unknown(request.url, "rate_limited", str(error), retry_after=error.retry_after)

    async def _exchange(self, hop: _Hop, most: int | None) -> Reply:
        async with self._turns.turn(hop.target.house) as turn:
            try:
                reply = await self._client.send(
                    hop.target, hop.headers, body=hop.body, method=hop.method, most=most
                )
            except Trouble:
                turn.outcome = "failed"
                raise
            _tell(turn, reply)
            return reply

    def _next_hop(
        self,
        hop: _Hop,
        reply: Reply,
        request: Request,
        asked: Target,
        validators: Validators | None,
    ) -> _Hop:
        try:
            url = str(httpx2.URL(hop.target.url).join(reply.headers.get("location", "")))
        except (httpx2.InvalidURL, ValueError) as error:
            raise Refused(f"{hop.target.host} sends us to something that is not a URL") from error
        target = read_target(url, self._guard.private)
        again = hop.method == "GET" or reply.status in (307, 308)
        if not again or hop.method == "GET":
            request = replace(request, method="GET", json=None)
        return _make_hop(request, asked, target, validators)

    async def _render(self, answer: Ok, request: Request) -> Answer:
        try:
            target = read_target(answer.url, self._guard.private)
            # First the browser, then the turn: a turn is not to be sat on.
            async with self._browser.free, self._turns.turn(target.house) as turn:
                reply = await self._browser.render(target, request.most)
                turn.outcome = "answered"
        except (Refused, Trouble) as error:
            cause = error.cause if isinstance(error, Trouble) else "refused"
            return Unknown(answer.url, cause, str(error))
        except NotNow as error:
            return Unknown(answer.url, "rate_limited", str(error), retry_after=error.retry_after)
        return reply_classification.judge(reply, target, target)


def _without_keys(answer: Answer, request: Request) -> Answer:
    """The answer as if the address without its keys had been asked: it is logged and kept."""
    if not request.private_url:
        return answer
    answer = replace(answer, url=request.url)
    if isinstance(answer, Ok):
        return replace(answer, validators=replace(answer.validators, url=None))
    if isinstance(answer, Unknown):
        return replace(answer, detail=answer.detail.replace(request.private_url, request.url))
    return answer


def _first_hop(request: Request, asked: Target, validators: Validators | None) -> _Hop:
    return _make_hop(request, asked, asked, validators)


def _make_hop(
    request: Request, asked: Target, target: Target, validators: Validators | None
) -> _Hop:
    headers = list(request.headers.items())
    if _may_see_secrets(asked, target):
        headers += request.secret.items()
    body = None
    if request.json is not None:
        body = json.dumps(request.json).encode()
        headers.append(("Content-Type", "application/json"))
    conditions = _conditions(target, asked, validators)
    return _Hop(target, request.method, (*headers, *conditions), body, bool(conditions))


def _may_see_secrets(asked: Target, target: Target) -> bool:
    same = (asked.host, asked.port) == (target.host, target.port) and asked.scheme == target.scheme
    upgraded = asked.host == target.host and (asked.port, target.port) == (80, 443)
    return same or upgraded


def _conditions(
    target: Target, asked: Target, validators: Validators | None
) -> tuple[tuple[str, str], ...]:
    """Only for the address that gave the validators out: another's "unchanged" says nothing of ours."""
    if validators is None or target.url != (validators.url or asked.url):
        return ()
    pairs = (("If-None-Match", validators.etag), ("If-Modified-Since", validators.last_modified))
    return tuple((name, text) for name, text in pairs if text)


def _tell(turn: Turn, reply: Reply) -> None:
    if reply_classification.is_limited(reply):
        turn.outcome, turn.hold = "limited", reply_classification.read_retry_after(reply)
    else:
        turn.outcome = "failed" if reply.status >= 500 and reply.status < 600 else "answered"


def _log(answer: Answer, seconds: float) -> None:
    """One line a call: the host only, because paths and queries hold keys."""
    fields: dict[str, object] = {
        "host": _host(answer.url),
        "answer": type(answer).__name__,
        "ms": round(seconds * 1000),
    }
    if isinstance(answer, Ok | Truncated):
        fields["bytes"] = len(answer.body)
    if isinstance(answer, Unknown):
        fields |= {"cause": answer.cause, "status": answer.status, "detail": answer.detail}
    log.log(logging.INFO if isinstance(answer, Unknown) else logging.DEBUG, "asked", extra=fields)


def _host(url: str) -> str:
    try:
        return httpx2.URL(url).host
    except httpx2.InvalidURL:
        return ""
