"""Requests to other servers and the five possible results."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias


@dataclass(frozen=True, slots=True)
class Request:
    """A request to be passed to a `Fetch`."""

    url: str
    method: Literal["GET", "POST"] = "GET"
    json: object = None
    """The body of a POST."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    secret: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Headers that are not logged and not sent to another host on redirects."""
    private_url: str = field(default="", repr=False)
    """The URL with a key, if it needs one; logs and results show only `url`."""
    page: bool = False
    """A page made for people: robots.txt is checked first."""
    render: bool = False
    """The page needs JavaScript: load it in a browser."""
    max_bytes: int | None = None
    """A lower size limit than the default."""
    context: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Values for the caller (an offset, a total); they are not sent."""


@dataclass(frozen=True, slots=True)
class Validators:
    """Validators for a conditional request."""

    etag: str | None = None
    last_modified: str | None = None
    url: str | None = None
    """The URL that issued them; they are sent to no other. None: the requested URL."""


@dataclass(frozen=True, slots=True)
class Ok:
    """The complete response."""

    url: str
    """The URL after redirects."""
    body: bytes = field(repr=False)
    content_type: str = ""
    charset: str | None = None
    validators: Validators = Validators()
    robots_header: str = ""
    """The value of X-Robots-Tag."""

    @property
    def text(self) -> str:
        """The body decoded by its charset, or by the most likely one."""
        try:
            if self.charset:
                return self.body.decode(self.charset, errors="replace")
            return self.body.decode("utf-8")
        except (UnicodeError, LookupError):
            return self.body.decode("cp1252", errors="replace")


@dataclass(frozen=True, slots=True)
class NotModified:
    """Unchanged since the validators were issued."""

    url: str


@dataclass(frozen=True, slots=True)
class PageGone:
    """The requested page does not exist (404 or 410)."""

    url: str
    status: int


@dataclass(frozen=True, slots=True)
class Truncated:
    """The beginning of a response that exceeds the size limit."""

    url: str
    body: bytes = field(repr=False)
    limit: int
    content_type: str = ""
    charset: str | None = None


FetchCause: TypeAlias = Literal[
    "timeout",  # the request took too long
    "unresolved",  # the name of the host has no address
    "offline",  # no name has an address: this machine has no network
    "network",  # connection or TLS error, or a broken body
    "server",  # 5xx
    "rate_limited",  # 429, or a Retry-After
    "auth",  # 401: a key is missing or wrong
    "forbidden",  # 403, a bot challenge or a login page
    "robots",  # robots.txt disallows it
    "refused",  # not a public address, not http(s), or another port
    "redirects",  # too many, or a loop
    "status",  # any other status
    "no_browser",  # the page needs a browser and there is none
]


WAIT_CAUSES = ("rate_limited", "offline")
"""Not failures of a host: the request is repeated later."""


@dataclass(frozen=True, slots=True)
class FetchFailure:
    """The request failed: nothing may be concluded about the page."""

    url: str
    cause: FetchCause
    detail: str
    """An explanation for people; holds no secrets."""
    status: int | None = None
    retry_after: dt.timedelta | None = None
    sent: bool = True
    """Whether a request left this machine; False if a rule or the host's rate limit held it back."""


FetchResult: TypeAlias = Ok | NotModified | PageGone | Truncated | FetchFailure


class Fetch(Protocol):
    """Carries out a request within the rate limits of the host. It never raises for network
    errors."""

    async def __call__(
        self, request: Request, validators: Validators | None = None
    ) -> FetchResult: ...
