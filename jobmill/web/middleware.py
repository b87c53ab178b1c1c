"""Checks around every request: host, origin and body size; sets the request id and the language."""

from __future__ import annotations

import asyncio
import logging
import re
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

from fastapi import Request, Response
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from jobmill.errors import AppError, Forbidden, Invalid
from jobmill.log import bound
from jobmill.web import translations
from jobmill.web.translations import Language

log = logging.getLogger(__name__)

BODY_SECONDS = 60.0
"""Time for a client to send the body of a request."""
MAX_BODY_BYTES = 1024 * 1024
UPLOAD_MAX_BYTES = 6 * 1024 * 1024
UPLOAD_PATHS = re.compile(
    r"/profile/upload|/setup/resume|/applications/(import|[0-9]{1,12}/files)|/hiring/([0-9]{1,12}/)?import"
    r"|/api/profiles/draft|/api/tracked-applications/[0-9]{1,12}/files"
)
"""Paths that accept larger bodies: files of 5 MB, plus the form around them."""
FORM_MAX_BYTES = 32 * 1024 * 1024
"""Three files of 10 MB, plus the answers around them."""
FORM_PATHS = re.compile(r"/openings/[0-9]{1,12}")
"""Forms whose files are streamed to temporary files; a body of another type is read into memory."""
FILE_PATHS = re.compile(r"/api/jobs/[0-9]{1,12}/files")
"""Paths that stream every body to a temporary file, whatever its type."""
FORM_SECONDS = 600.0
"""Time to send a form with files from a phone."""
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
PUBLIC_PATHS = re.compile(
    r"/(openings(/.*)?|static/.*|healthz|readyz|api/(jobs|healthz|openapi\.json))"
)
"""Pages of other sites may load these."""
COOKIES = "jobmill_"
"""How the names of all cookies begin."""
HOST_PREFIX = "__Host-"
"""Browsers accept such a cookie over HTTPS only and from this host only, not from its subdomains."""
EXPLICIT_SCHEMES = ("bearer", "link")
"""Authorization schemes that browsers never send on their own, unlike cookies and Basic."""
DEFAULT_PORTS = {"http": ":80", "https": ":443"}
LOOPBACK = ("localhost", "127.0.0.1", "::1")
VALID_REQUEST_ID = re.compile(r"[A-Za-z0-9._:/+=@-]{1,64}")
TOKEN = re.compile(r"[\w.-]{40,}")
"""Could be a personal link, which must not be logged."""
HOST = re.compile(r"(?:\[(?P<v6>[0-9a-f:.]+)\]|(?P<name>[^\[\]:]+))(?::\d{1,5})?", re.IGNORECASE)

HEADERS = {
    "content-security-policy": "default-src 'self'; base-uri 'none'; object-src 'none'; "
    "form-action 'self'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
}
EMBEDDABLE_HEADERS = {
    "content-security-policy": HEADERS["content-security-policy"].replace(
        "frame-ancestors 'none'", "frame-ancestors *"
    ),
    "cross-origin-resource-policy": "cross-origin",
}
"""Of a page that any other site may show in a frame: it is public and changes nothing."""
STRICT_TRANSPORT = "max-age=31536000"
"""Sent over HTTPS only. Without subdomains, which may be other sites."""

ErrorHandler = Callable[[Request, Exception], Awaitable[Response]]


class RequestMiddleware:
    def __init__(
        self,
        app: ASGIApp,
        hosts: Iterable[str],
        handle_error: ErrorHandler,
        stop: Callable[[], None] = lambda: None,
        languages: Mapping[str, Language] | None = None,
        is_https: Callable[[Request], bool] = lambda request: False,
    ) -> None:
        self.app = app
        self.stop = stop
        """Ends open streams; the server calls it before it shuts down."""
        self._hosts = {*LOOPBACK, *(host.lower() for host in hosts)}
        self._handle_error = handle_error
        self._is_https = is_https
        self._languages = languages or translations.load_languages()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        proposed = headers.get("x-request-id", "")
        request_id = proposed if VALID_REQUEST_ID.fullmatch(proposed) else uuid4().hex
        scope.setdefault("state", {})["request_id"] = request_id
        language = translations.choose_language(self._languages, headers.get("accept-language", ""))
        with bound(request=request_id), translations.using_language(language):
            https = self._is_https(Request(scope))
            sender = _ResponseSender(send, request_id, scope["state"], https=https)
            await self._serve(_without_prefix(scope) if https else scope, receive, sender)

    async def _serve(self, scope: Scope, receive: Receive, sender: _ResponseSender) -> None:
        started_at = time.monotonic()
        request = Request(scope)
        try:
            self._check_host(request.headers)
            if request.method not in SAFE_METHODS:
                check_origin(request.headers)
            elif not PUBLIC_PATHS.fullmatch(scope["path"]):
                check_embedding(request.headers)
            limited = _limit_body(receive, *_body_limits(request))
            await self.app(_head_as_get(scope), limited, sender)
        # The last handler: an unexpected error must not affect the next request.
        except Exception as error:
            if not isinstance(error, AppError | HTTPException):
                log.error("request failed", exc_info=error)
            if not sender.status:
                response = await self._handle_error(request, error)
                await response(scope, receive, sender)
        finally:
            log.log(
                logging.WARNING if sender.status >= 500 else logging.DEBUG,
                "request",
                extra={
                    "method": request.method,
                    "path": TOKEN.sub("…", scope["path"]),
                    "status": sender.status,
                    "seconds": round(time.monotonic() - started_at, 3),
                },
            )

    def _check_host(self, headers: Headers) -> None:
        # Prevents DNS rebinding: another site can point its own name at this address, but cannot
        # make the browser send our name as Host.
        match = HOST.fullmatch(headers.get("host", "").rstrip("."))
        if not match or (match["v6"] or match["name"]).rstrip(".").lower() not in self._hosts:
            raise Invalid(
                f"This site answers only requests for {', '.join(sorted(self._hosts))}. "
                "Open one of these, or let the proxy send one of them as the Host header."
            )


def check_origin(headers: Headers) -> None:
    """Forbidden if a page of another site made the browser send this request (CSRF)."""
    if headers.get("authorization", "").partition(" ")[0].lower() in EXPLICIT_SCHEMES:
        return
    site, origin = headers.get("sec-fetch-site"), headers.get("origin")
    same_site = (
        site in ("same-origin", "none")
        if site
        else _is_same_origin(origin, headers.get("host", ""))
    )
    if not same_site:
        raise Forbidden("This request was sent from a page of another site.")


def check_embedding(headers: Headers) -> None:
    """Forbidden if a page of another site loads this one as a part of itself; links may lead here."""
    site, mode = headers.get("sec-fetch-site"), headers.get("sec-fetch-mode")
    is_foreign = site in ("cross-site", "same-site")
    is_link = mode == "navigate" and headers.get("sec-fetch-dest") == "document"
    if is_foreign and not is_link:
        raise Forbidden("This request was sent from a page of another site.")


def _is_same_origin(origin: str | None, host: str) -> bool:
    if origin is None:
        # Not a browser: browsers send the origin of every change.
        return True
    scheme, netloc, *_ = urlsplit(origin)
    port = DEFAULT_PORTS.get(scheme, "")
    return bool(port) and netloc.lower().removesuffix(port) == host.lower().removesuffix(port)


class _ResponseSender:
    """Adds the request id and the security headers to every response."""

    def __init__(
        self, send: Send, request_id: str, state: Mapping[str, Any], *, https: bool
    ) -> None:
        self.status = 0
        self._headers = dict(HEADERS)
        self._https = https
        self._state = state
        if https:
            self._headers["strict-transport-security"] = STRICT_TRANSPORT
        self._send = send
        self._request_id = request_id

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(scope=message)
            headers["x-request-id"] = self._request_id
            # Pages for a certain visitor stay out of all caches, also out of the browser's own.
            caching = "no-store" if self._state.get("is_personal") else "no-cache"
            headers.setdefault("cache-control", caching)
            if self._https:
                message["headers"] = [_with_prefix(*header) for header in message["headers"]]
                headers = MutableHeaders(scope=message)
            for name, value in self._headers.items():
                headers.setdefault(name, value)
            if headers["content-security-policy"] == EMBEDDABLE_HEADERS["content-security-policy"]:
                del headers["x-frame-options"]
        await self._send(message)


def _with_prefix(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    """A header that sets a cookie of ours over HTTPS, with the prefix."""
    if name.lower() != b"set-cookie" or not value.startswith(COOKIES.encode()):
        return name, value
    secure = b"" if b"; secure" in value.lower() else b"; Secure"
    return name, HOST_PREFIX.encode() + value + secure


def _without_prefix(scope: Scope) -> Scope:
    """The request as handlers read it: cookies of ours without the prefix, and only those that had it."""
    return {**scope, "headers": [_read_prefixed(*header) for header in scope["headers"]]}


def _read_prefixed(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    if name.lower() != b"cookie":
        return name, value
    pairs = [pair.strip() for pair in value.decode("latin-1").split(";")]
    kept = [
        pair.removeprefix(HOST_PREFIX) if pair.startswith(HOST_PREFIX + COOKIES) else pair
        for pair in pairs
        if not pair.startswith(COOKIES)
    ]
    return name, "; ".join(kept).encode("latin-1")


def _head_as_get(scope: Scope) -> Scope:
    """Pages handle HEAD as GET; the server drops the body."""
    return {**scope, "method": "GET"} if scope["method"] == "HEAD" else scope


def _body_limits(request: Request) -> tuple[int, float]:
    """How many bytes the body may have, and how many seconds it may take."""
    path = request.scope["path"]
    has_files = request.headers.get("content-type", "").startswith("multipart/form-data")
    if FILE_PATHS.fullmatch(path) or (has_files and FORM_PATHS.fullmatch(path)):
        return FORM_MAX_BYTES, FORM_SECONDS
    return (UPLOAD_MAX_BYTES if UPLOAD_PATHS.fullmatch(path) else MAX_BODY_BYTES), BODY_SECONDS


def _limit_body(receive: Receive, max_bytes: int, seconds: float) -> Receive:
    """Limit the body by the bytes received, not by Content-Length, and by the time they take."""
    received, complete = 0, False
    deadline = time.monotonic() + seconds

    async def receive_limited() -> Message:
        nonlocal received, complete
        if complete:
            return await receive()
        try:
            async with asyncio.timeout(deadline - time.monotonic()):
                message = await receive()
        except TimeoutError:
            raise HTTPException(408) from None
        complete = not message.get("more_body")
        received += len(message.get("body", b""))
        if received > max_bytes:
            raise HTTPException(413)
        return message

    return receive_limited
