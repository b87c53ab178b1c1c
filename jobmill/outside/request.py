"""What we ask of the outside, and the five ways it can answer."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias


@dataclass(frozen=True, slots=True)
class Request:
    """One call. Making one does nothing; `Fetch` carries it out."""

    url: str
    method: Literal["GET", "POST"] = "GET"
    json: object = None
    """The body of a POST."""
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    secret: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    """Headers that must not be logged or followed to another host."""
    private_url: str = field(default="", repr=False)
    """Where it really goes, if the address holds a key; then only `url`, which does not, is shown."""
    page: bool = False
    """A page made for people: robots.txt is asked before it is fetched."""
    render: bool = False
    """The page needs JavaScript: a browser reads it."""
    max_bytes: int | None = None
    """Take at most so many bytes of the answer, if that is less than we would anyway."""
    context: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """The asker's own notes (an offset, a total); they do not leave the house."""


@dataclass(frozen=True, slots=True)
class Validators:
    """What lets us ask "has it changed?" the next time."""

    etag: str | None = None
    last_modified: str | None = None
    url: str | None = None
    """Who gave them out; nobody else is asked with them. None: the address that is asked."""


@dataclass(frozen=True, slots=True)
class Ok:
    """The whole answer."""

    url: str
    """Where it came from in the end, after redirects."""
    body: bytes = field(repr=False)
    content_type: str = ""
    charset: str | None = None
    validators: Validators = Validators()

    @property
    def text(self) -> str:
        """The body as text, by the charset that was found, or the likeliest."""
        try:
            if self.charset:
                return self.body.decode(self.charset, errors="replace")
            return self.body.decode("utf-8")
        except (UnicodeError, LookupError):
            return self.body.decode("cp1252", errors="replace")


@dataclass(frozen=True, slots=True)
class NotModified:
    """Nothing has changed since the validators were given out."""

    url: str


@dataclass(frozen=True, slots=True)
class PageGone:
    """The thing itself is not there any more (404 or 410)."""

    url: str
    status: int


@dataclass(frozen=True, slots=True)
class Truncated:
    """The beginning of an answer that is longer than we take."""

    url: str
    body: bytes = field(repr=False)
    limit: int
    content_type: str = ""
    charset: str | None = None


FetchCause: TypeAlias = Literal[
    "timeout",  # it took too long
    "network",  # no name, no connection, a reset, a broken TLS or body
    "server",  # 5xx
    "rate_limited",  # 429, or a Retry-After
    "auth",  # 401: a key is missing or wrong
    "forbidden",  # 403, or a page that wants a human
    "robots",  # robots.txt says no
    "refused",  # we do not go there: not public, not http, a port we do not use
    "redirects",  # too many, or in a circle
    "status",  # any other status
    "no_browser",  # a page that needs one, on a machine without
]


@dataclass(frozen=True, slots=True)
class FetchFailure:
    """We do not know: nothing may be concluded from it."""

    url: str
    cause: FetchCause
    detail: str
    """In words, for people; holds no secrets."""
    status: int | None = None
    retry_after: dt.timedelta | None = None


FetchResult: TypeAlias = Ok | NotModified | PageGone | Truncated | FetchFailure


class Fetch(Protocol):
    """Carries out a request: waits its turn, and answers in one of five ways. It never raises for
    what the network does."""

    async def __call__(
        self, request: Request, validators: Validators | None = None
    ) -> FetchResult: ...
