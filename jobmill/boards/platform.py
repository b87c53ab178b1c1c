"""What an adapter is: how a board is recognised, asked and read. No adapter does I/O."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict

from jobmill.catalog.platform_rules import PostingIds
from jobmill.catalog.posting import Posting
from jobmill.errors import Invalid
from jobmill.outside.request import Request

Confidence: TypeAlias = Literal["high", "medium", "low"]


class Config(BaseModel):
    """How a source is set up; each platform says what it needs."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Board(Config):
    """A board known by its token: all that most platforms need."""

    board_token: str
    region: Literal["", "eu", "na"] = ""
    """Where the vendor keeps it, if it is not the main site."""
    base_url: str | None = None
    """The board's own site (https://host), where that cannot be told from the token."""
    brand: str | None = None
    """Only postings of this company, on a board that a group shares."""


def home(config: Board, domain: str) -> str:
    """Where a board lives: at an address of its own, or below its vendor's domain; "" for a saved
    answer of which nobody knows."""
    if config.base_url or not config.board_token:
        return (config.base_url or "").rstrip("/")
    if not re.fullmatch(r"[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*", config.board_token):
        raise Invalid(f"{config.board_token!r} cannot be the name of a board at {domain}")
    return f"https://{config.board_token}.{domain}"


def board_of(config: Board, pattern: re.Pattern[str], url: str) -> str | None:
    """The board's token: as it is set up, else as a posting's address has it."""
    found = pattern.search(url)
    return config.board_token or (found[1] if found else None)


@dataclass(frozen=True, slots=True)
class Page:
    """What one answer held."""

    postings: tuple[Posting, ...]
    next: tuple[Request, ...] = ()
    """What must be asked besides for the board to be complete."""
    truncated: bool = False
    """There is more that the platform will not show."""
    total: int | None = None
    """How many the platform says there are."""
    stubs: int = 0
    """Records too empty to be postings; passed over, but counted."""


@dataclass(frozen=True, slots=True)
class UrlPattern:
    """A URL that gives a board away. `host` and `path` are searched in the parsed URL; the named
    groups of both, and `query` parameters, make the config by way of `Platform.config_from`."""

    host: re.Pattern[str]
    path: re.Pattern[str] = re.compile("")
    query: tuple[str, ...] = ()
    """Parameters that must be there; each is a group of its own name."""
    domain: str = ""
    """What the host ends with: only URLs below it are tried. Empty: all are."""


def at(domain: str, labels: str = "", path: str = "", query: tuple[str, ...] = ()) -> UrlPattern:
    """URLs below a vendor's domain: `labels` is the whole of what stands before the domain, `path`
    the beginning of the path in any case."""
    before = rf"(?:{labels})\." if labels else ""
    return UrlPattern(
        host=re.compile(rf"^{before}{re.escape(domain)}$"),
        path=re.compile(rf"^{path}", re.IGNORECASE),
        query=query,
        domain=domain,
    )


@dataclass(frozen=True, slots=True)
class Mark:
    """Evidence in a page's HTML. The group `token`, if it has one, is the board's token. A pattern
    that begins with plain letters is searched thirty times faster."""

    pattern: re.Pattern[str]
    what: str
    """In words, for the evidence."""
    hosted: bool = False
    """It stands only in pages that the platform serves: such a page is the board itself."""


Groups: TypeAlias = dict[str, str]


@dataclass(frozen=True, slots=True)
class Platform:
    """One platform, whole: a module of `adapters` ends with one."""

    name: str
    title: str
    config: type[Config] = Board
    urls: tuple[UrlPattern, ...] = ()
    posting_ids: PostingIds = field(default_factory=PostingIds)
    """How postings are identified: their URLs, and where their ids are unique."""
    marks: tuple[Mark, ...] = ()
    config_from: Callable[[Groups], dict[str, Any] | None] | None = None
    """From the groups of a matched URL to a config; None where the groups are no board after all.
    Without it, the group `token` becomes `board_token`."""
    token: Callable[[Any], str] = lambda config: config.board_token
    """The one word (or a/b) that names the board."""
    first: Callable[[Any], Request] | None = None
    """The first request; None for platforms that we recognise but cannot read."""
    read: Callable[[bytes, Request, Any], Page] | None = None
    """A saved answer, the request it answers, the config. A list answer or a single posting's:
    both are understood. Raises `OutsideError(permanent=True)` when it is neither."""
    detail: Callable[[Posting, Any], Request] | None = None
    """What to ask for the whole text of a posting that is `partial`."""
    read_detail: Callable[[bytes, Posting, Any], Posting] | None = None
    """The posting, with what the answer to `detail` adds."""
    confidence: Confidence = "medium"
    """How far a recognised board is trusted before it was tried (seed: Greenhouse and RSS high)."""
    off: str | None = None
    """Why it is not called at all."""
    key: tuple[str, ...] = ()
    """Environment variables that hold its keys; the source is off until they are set."""
    allow_empty: bool = True
    """Whether no posting at all is ever believed (some answer so for boards they do not know)."""
    inventory: bool = True
    """Whether a complete answer names all that is open; a search or a feed of the newest does not."""
    vendor: bool = True
    """Whether its sources stand or fall together; sites of their own (html, rss, api) do not."""
    every: dt.timedelta | None = None
    """The shortest time between two runs, where the site asks for one."""
