"""What the first phase of a website report finds on a company's site. Every finding names the
sentence and the page it rests on."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import Literal, TypeAlias

FactName: TypeAlias = Literal[
    "name", "description", "industry", "products", "size", "places", "founded", "values", "benefits",
    "tech", "hiring_process", "remote_policy",
]  # fmt: skip
PageProblem: TypeAlias = Literal["blocked", "empty", "needs_javascript", "too_large", "failed"]
BotPurpose: TypeAlias = Literal["search", "training", "user"]
QuestionStage: TypeAlias = Literal["discovery", "consideration", "evaluation", "commitment"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """A sentence of a page."""

    quote: str
    url: str


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing the site states about the company. A fact with several values occurs several times."""

    name: FactName
    value: str
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class CrawledPage:
    """A page as it was fetched: raw HTML, and what a browser made of it if one was used."""

    url: str
    status: int | None
    """None if there was no answer."""
    html: str
    rendered_html: str | None = None
    robots_header: str = ""
    """The value of X-Robots-Tag."""
    failure: str = ""
    """Why there is no content."""
    conclusive: bool = True
    """False if only our own request failed, which says nothing about the page: we may not read it or
    had to wait, or the network failed."""


@dataclass(frozen=True, slots=True)
class BotAccess:
    """Whether a bot may read a page, and which rule decides it."""

    bot: str
    purpose: BotPurpose
    url: str
    allowed: bool
    reason: str


@dataclass(frozen=True, slots=True)
class PageReadability:
    """How much of a page's text is in the HTML that the server sends."""

    url: str
    raw_characters: int
    rendered_characters: int | None
    problem: PageProblem | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """A posting with structured data that contradicts its job board."""

    listing_url: str
    field: Literal["title", "place", "pay", "date"]
    on_site: str
    on_board: str


@dataclass(frozen=True, slots=True)
class StructuredData:
    organization_pages: tuple[str, ...] = ()
    missing_organization_fields: tuple[str, ...] = ()
    postings: int = 0
    postings_with_data: int = 0
    missing_posting_fields: tuple[tuple[str, int], ...] = ()
    """Field, and the number of postings without it."""
    contradictions: tuple[Contradiction, ...] = ()
    self_rating: Evidence | None = None
    """EmployerAggregateRating on the company's own site, which search engines ignore or punish."""
    llms_txt: str | None = None
    """The URL of llms.txt, which informs and scores nothing."""


@dataclass(frozen=True, slots=True)
class PostingShares:
    """Of the postings we know: how many state what candidates ask for."""

    postings: int = 0
    with_pay: int = 0
    with_place: int = 0
    with_arrangement: int = 0
    with_closing_date: int = 0
    median_days_open: float | None = None
    reposted: int = 0
    unstated: tuple[tuple[str, str, str], ...] = ()
    """What a posting does not state, its title and its URL."""


@dataclass(frozen=True, slots=True)
class QuestionAnswer:
    """A question candidates ask, and the sentence of the site that answers it."""

    question_id: str
    stage: QuestionStage
    question: str
    answer: Evidence | None


@dataclass(frozen=True, slots=True)
class HostileText:
    """Text that visitors cannot see, or that gives instructions to language models."""

    kind: Literal["hidden_text", "prompt_injection"]
    evidence: Evidence


@dataclass(frozen=True, slots=True)
class SiteFindings:
    site: str
    company: str
    read_at: dt.datetime
    facts: tuple[Fact, ...] = ()
    access: tuple[BotAccess, ...] = ()
    readability: tuple[PageReadability, ...] = ()
    structured_data: StructuredData = StructuredData()
    postings: PostingShares = PostingShares()
    questions: tuple[QuestionAnswer, ...] = ()
    hostile: tuple[HostileText, ...] = ()
    crawl_notes: tuple[str, ...] = ()
    """Where the crawl was bounded: page limit, refused redirects, pages too large."""
