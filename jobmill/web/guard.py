"""The gate around every request: whose name it calls us by, which page sends it, how much it
brings, what it is called."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterable, Mapping
from urllib.parse import urlsplit
from uuid import uuid4

from fastapi import Request, Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jobmill.errors import AppError, Forbidden, Invalid
from jobmill.log import bound
from jobmill.web import texts
from jobmill.web.texts import Language

log = logging.getLogger(__name__)

MOST_BYTES = 1024 * 1024
UPLOADS = {"/profile/upload": 6 * 1024 * 1024, "/setup/resume": 6 * 1024 * 1024}
"""Where more is accepted: resumes of 5 MB, and what a form adds to them."""
SAFE = ("GET", "HEAD", "OPTIONS")
SHOWN = ("bearer", "link")
"""What nobody's browser sends by itself, as it does cookies and passwords (Basic)."""
PORTS = {"http": ":80", "https": ":443"}
LOOPBACK = ("localhost", "127.0.0.1", "::1")
SANE_ID = re.compile(r"[A-Za-z0-9._:/+=@-]{1,64}")
TOKEN = re.compile(r"[\w.-]{40,}")
"""What could be somebody's link, which is not for the log."""
HOST = re.compile(r"(?:\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[^\[\]:]+))(?::\d{1,5})?", re.IGNORECASE)

HEADERS = {
    "content-security-policy": "default-src 'self'; base-uri 'none'; object-src 'none'; "
    "form-action 'self'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}

Tell = Callable[[Request, Exception], Response]


class Guard:
    def __init__(
        self,
        app: ASGIApp,
        hosts: Iterable[str],
        tell: Tell,
        stop: Callable[[], None] = lambda: None,
        languages: Mapping[str, Language] | None = None,
    ) -> None:
        self.app = app
        self.stop = stop
        """Ends what would go on for ever; whoever serves us calls it before they stop."""
        self._hosts = {*LOOPBACK, *(host.lower() for host in hosts)}
        self._tell = tell
        self._languages = languages or texts.languages()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = headers.get("x-request-id", "")
        name = given if SANE_ID.fullmatch(given) else uuid4().hex
        scope.setdefault("state", {})["request_id"] = name
        language = texts.choose(self._languages, headers.get("accept-language", ""))
        with bound(request=name), texts.spoken(language):
            await self._serve(scope, receive, _Sender(send, name))

    async def _serve(self, scope: Scope, receive: Receive, sender: _Sender) -> None:
        began = time.monotonic()
        request = Request(scope)
        try:
            self._check(request.headers)
            if request.method not in SAFE:
                check_origin(request.headers)
            most = UPLOADS.get(scope["path"], MOST_BYTES)
            await self.app(_asked(scope), _limited(receive, most), sender)
        # The last handler of the web: whatever it was, the next request must not notice.
        except Exception as error:
            if not isinstance(error, AppError | HTTPException):
                log.error("request failed", exc_info=error)
            if not sender.status:
                await self._tell(request, error)(scope, receive, sender)
        finally:
            log.log(
                logging.WARNING if sender.status >= 500 else logging.DEBUG,
                "request",
                extra={
                    "method": request.method,
                    "path": TOKEN.sub("…", scope["path"]),
                    "status": sender.status,
                    "seconds": round(time.monotonic() - began, 3),
                },
            )

    def _check(self, headers: Headers) -> None:
        # A page elsewhere can point a name of its own at our address; it cannot make the browser
        # call us by our name.
        found = HOST.fullmatch(headers.get("host", "").rstrip("."))
        if not found or (found["v6"] or found["name"]).rstrip(".").lower() not in self._hosts:
            raise Invalid(
                f"These pages answer only as {', '.join(sorted(self._hosts))}. "
                "A proxy in front of them should send one of these as the Host."
            )


def check_origin(headers: Headers) -> None:
    """Forbidden where another site's page makes a browser ask, with the rights of who looks at it."""
    if headers.get("authorization", "").partition(" ")[0].lower() in SHOWN:
        return
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    own = site in ("same-origin", "none") if site else _is_own(origin, headers.get("host", ""))
    if not own:
        raise Forbidden("This was sent from a page of another site.")


def _is_own(origin: str | None, host: str) -> bool:
    if origin is None:
        # No browser: they say where a change comes from.
        return True
    scheme, place, *_ = urlsplit(origin)
    usual = PORTS.get(scheme, "")
    return bool(usual) and place.lower().removesuffix(usual) == host.lower().removesuffix(usual)


class _Sender:
    """Sends, and adds what every answer carries."""

    def __init__(self, send: Send, request: str) -> None:
        self.status = 0
        self._send = send
        self._request = request

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["x-request-id"] = self._request
            for name, value in {**HEADERS, "cache-control": "no-cache"}.items():
                headers.setdefault(name, value)
        await self._send(message)


def _asked(scope: Scope) -> Scope:
    """HEAD is GET to every page; the server leaves the body out."""
    return {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope


def _limited(receive: Receive, most: int) -> Receive:
    """The same body, but no more of it than we accept, whatever length it says it has."""
    taken = 0

    async def take() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > most:
            raise HTTPException(413)
        return message

    return take
