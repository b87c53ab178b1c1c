"""One HTTP request and its reply, with limits on time and size."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import cache

import httpcore2
import httpx2

from jobmill.errors import OutsideError
from jobmill.outside.request import FetchCause

from . import content_encoding
from .content_encoding import BodyDecoder
from .guarded_transport import AddressGuard, HostUnresolved
from .public_addresses import AddressRefused, AllowedUrl

OK_STATUSES = (200, 201, 203)
"""Statuses with a body that is the requested content."""

_HEADER_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_HEADER_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_RESERVED_HEADERS = {
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "accept-encoding",
    "te",
}
"""Headers that callers cannot set."""


@dataclass(frozen=True, slots=True)
class HttpLimits:
    """Limits for one request."""

    seconds: float = 60
    """From the first byte sent to the last byte received."""
    connect_seconds: float = 10
    read_seconds: float = 20
    raw_bytes: int = 16_000_000
    """Before decompression."""
    bytes: int = 32_000_000
    """After decompression."""


@dataclass(frozen=True, slots=True)
class HttpReply:
    status: int
    headers: httpx2.Headers
    body: bytes = field(default=b"", repr=False)
    truncated_at: int | None = None
    """The limit that the body exceeded."""


class ExchangeError(OutsideError):
    """A request without a usable reply."""

    def __init__(self, cause: FetchCause, message: str, *, sent: bool = True) -> None:
        super().__init__(message)
        self.cause: FetchCause = cause
        self.sent = sent
        """Whether the request left this machine."""


class HttpClient:
    def __init__(
        self,
        pool: httpcore2.AsyncConnectionPool,
        agent: str,
        limits: HttpLimits,
        host_overrides: Mapping[str, str],
    ) -> None:
        self._pool = pool
        self._agent = agent
        self._limits = limits
        self._host_overrides = host_overrides

    async def send(
        self,
        target: AllowedUrl,
        headers: Iterable[tuple[str, str]] = (),
        *,
        body: bytes | None = None,
        method: str = "GET",
        max_bytes: int | None = None,
    ) -> HttpReply:
        """Send a request; raises ExchangeError or AddressRefused."""
        try:
            sent = self._headers(target, headers)
            async with asyncio.timeout(self._limits.seconds):
                return await self._exchange(target, method, sent, body, max_bytes)
        except AddressRefused:
            raise
        except HostUnresolved as error:
            raise ExchangeError("unresolved", str(error), sent=False) from error
        except (TimeoutError, httpcore2.TimeoutException) as error:
            raise ExchangeError("timeout", f"{target.host} timed out") from error
        except content_encoding.BrokenEncoding as error:
            raise ExchangeError("network", f"{target.host} sent a broken body: {error}") from error
        except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError) as error:
            raise ExchangeError(
                "network", f"{target.host} did not answer: {_describe(error)}"
            ) from error

    async def _exchange(
        self,
        target: AllowedUrl,
        method: str,
        headers: list[tuple[bytes, bytes]],
        body: bytes | None,
        max_bytes: int | None,
    ) -> HttpReply:
        limits = self._limits
        waits = {"connect": limits.connect_seconds, "read": limits.read_seconds}
        async with self._pool.stream(
            method,
            self._address(target),
            headers=headers,
            content=body,
            extensions={"timeout": {**waits, "write": limits.read_seconds}},
        ) as response:
            reply_headers = httpx2.Headers(response.headers)
            if response.status not in OK_STATUSES:
                # The body of other statuses is not used, so do not read it.
                return HttpReply(response.status, reply_headers)
            limit = min(max_bytes or limits.bytes, limits.bytes)
            text, truncated_at = await self._read(
                response, reply_headers.get("content-encoding", ""), limit
            )
            return HttpReply(response.status, reply_headers, text, truncated_at)

    async def _read(
        self, response: httpcore2.Response, encoding: str, limit: int
    ) -> tuple[bytes, int | None]:
        decoder, parts, raw = BodyDecoder(encoding, limit), list[bytes](), 0
        try:
            async for chunk in response.aiter_stream():
                raw += len(chunk)
                for part in decoder.feed(chunk):
                    parts.append(part)
                if raw > self._limits.raw_bytes:
                    return b"".join(parts), self._limits.raw_bytes
        except content_encoding.BodyTooLarge:
            return b"".join(parts), limit
        decoder.end()
        return b"".join(parts), None

    def _address(self, target: AllowedUrl) -> str:
        """The URL to connect to; `host_overrides` may replace the host."""
        labels = target.host.split(".")
        wildcards = ("*." + ".".join(labels[n:]) for n in range(1, len(labels)))
        for name in (target.host, *wildcards):
            if name in self._host_overrides:
                return f"http://{self._host_overrides[name]}{target.path}"
        return target.url

    def _headers(
        self, target: AllowedUrl, extra: Iterable[tuple[str, str]]
    ) -> list[tuple[bytes, bytes]]:
        headers = {
            "Host": target.authority,
            "User-Agent": self._agent,
            "Accept": "*/*",
            "Accept-Encoding": content_encoding.ACCEPT_ENCODING,
            # One connection per request, so that replies cannot be mixed up.
            "Connection": "close",
        }
        names = {name.lower(): name for name in headers}
        for name, value in extra:
            if not (_HEADER_NAME.fullmatch(name) and _HEADER_VALUE.fullmatch(value.strip())):
                raise AddressRefused(f"the header {name!r} has invalid characters")
            if name.lower() not in _RESERVED_HEADERS:
                headers[names.setdefault(name.lower(), name)] = value.strip()
        return [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]


@cache
def load_root_certificates() -> ssl.SSLContext:
    """TLS with the root certificates of this machine. Loading them takes 20 ms, so only once."""
    return httpcore2.default_ssl_context()


@asynccontextmanager
async def open_client(
    guard: AddressGuard,
    agent: str,
    limits: HttpLimits | None = None,
    *,
    tls: ssl.SSLContext | None = None,
    host_overrides: Mapping[str, str] | None = None,
) -> AsyncGenerator[HttpClient]:
    """A client that connects only through `guard` and ignores proxy settings of the environment."""
    async with httpcore2.AsyncConnectionPool(
        ssl_context=tls or load_root_certificates(),
        max_connections=None,
        max_keepalive_connections=0,
        network_backend=guard,
    ) as pool:
        yield HttpClient(pool, agent, limits or HttpLimits(), host_overrides or {})


def _describe(error: Exception) -> str:
    """A short error message; a LocalProtocolError would quote the request with its keys."""
    if isinstance(error, httpcore2.LocalProtocolError):
        return "the request is invalid"
    return (str(error) or type(error).__name__)[:200]
