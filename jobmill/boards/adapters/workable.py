"""Workable."""

from __future__ import annotations

import re
from urllib.parse import quote

from pydantic import AliasChoices, Field

from jobmill.catalog.platform_rules import posting_ids, posting_url
from jobmill.catalog.posting import Arrangement, Posting
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, salary, seniority, work_arrangement
from jobmill.extract.fields import html_text as texts
from jobmill.extract.lenient_models import ExternalRecord, Line, Link, Many, Maybe
from jobmill.outside.request import Request
from jobmill.places import location_text

from ..platform import BoardConfig, BoardPage, Platform, board_url, html_marker

API = "https://apply.workable.com/api"
HOSTED = re.compile(
    r"//apply\.workable\.com/(?!j/)([^/?#]+)/j/|//(?!apply\.)([\w-]+)\.workable\.com/"
)


class _Pay(ExternalRecord):
    salary_from: Maybe[float] = None
    salary_to: Maybe[float] = None
    salary_currency: Maybe[str] = None


class _Place(ExternalRecord):
    location_str: Maybe[Line] = None
    workplace_type: Maybe[str] = None
    telecommuting: Maybe[bool] = None
    city: Maybe[Line] = None
    region: Maybe[Line] = None
    country: Maybe[Line] = None

    def line(self) -> str | None:
        return self.location_str or location_text.format_address(
            self.city, self.region, self.country
        )


class _Post(ExternalRecord):
    """A posting of the widget or of the details API, which names some fields differently."""

    shortcode: Line
    title: Line
    code: Maybe[Line] = None
    url: Link = None
    shortlink: Link = None
    application_url: Link = None
    employment_type: Maybe[str] = None
    type: Maybe[str] = None
    telecommuting: Maybe[bool] = None
    remote: Maybe[bool] = None
    workplace: Maybe[str] = None
    department: Many[Line] = ()
    experience: Maybe[str] = None
    published_on: Maybe[str] = None
    published: Maybe[str] = None
    created_at: Maybe[str] = None
    salary: Maybe[_Pay] = None
    city: Maybe[Line] = None
    state: Maybe[Line] = None
    country: Maybe[Line] = None
    location: Maybe[_Place] = None
    locations: Many[_Place] = ()
    language: Maybe[Line] = None
    description: Maybe[str] = None
    requirements: Maybe[str] = None
    benefits: Maybe[str] = None

    def line(self) -> str | None:
        if self.location:
            return self.location.line()
        return location_text.format_address(self.city, self.state, self.country)

    def arrangement(self) -> Arrangement | None:
        """A false flag says nothing: the work may still be hybrid."""
        place = self.location or _Place()
        remote = self.telecommuting or self.remote or place.telecommuting
        labelled = work_arrangement.from_label(self.workplace or place.workplace_type)
        return labelled or ("remote" if remote else None)


class _Account(ExternalRecord):
    """All postings, or a saved page of the search, which this adapter never requests."""

    jobs: list[object] = Field(validation_alias=AliasChoices("jobs", "results"))
    name: Maybe[Line] = None
    nextPage: Maybe[str] = None


def first_request(config: BoardConfig) -> Request:
    """All postings with their texts in one response. The account's number works as well as its
    name."""
    token = quote(config.board_token, safe="")
    return Request(f"{API}/v1/widget/accounts/{token}?details=true")


def read(body: bytes, request: Request, config: BoardConfig) -> BoardPage:
    """The postings of an account, or a single one."""
    answer = lenient_models.parse_json(body)
    if post := lenient_models.parse_record(_Post, answer):
        return BoardPage((_posting(post, None, config),))
    account = _Account.model_validate(answer)
    posts, stubs = lenient_models.parse_records(_Post, account.jobs)
    postings = tuple(_posting(post, account.name, config) for post in posts)
    return BoardPage(postings, truncated=bool(account.nextPage), stubs=stubs)


def detail_request(posting: Posting, config: BoardConfig) -> Request:
    token, code = quote(config.board_token, safe=""), quote(posting.vendor_id or "", safe="")
    return Request(f"{API}/v2/accounts/{token}/jobs/{code}")


def _posting(post: _Post, company: str | None, config: BoardConfig) -> Posting:
    url, pay = post.url or post.shortlink, post.salary or _Pay()
    hosted = HOSTED.search(url or "")
    description = texts.join_sections(
        *map(texts.from_html, (post.description, post.requirements, post.benefits))
    )
    return Posting(
        title=post.title,
        url=url or f"https://apply.workable.com/j/{quote(post.shortcode, safe='')}",
        company=company,
        location=post.line(),
        locations=location_text.unique_locations(
            [place.line() for place in post.locations] or post.line()
        ),
        arrangement=post.arrangement(),
        department=post.department[0] if post.department else None,
        employment_type=employment.parse_employment_type(post.employment_type or post.type),
        seniority=seniority.from_label(post.experience),
        posted_at=dates.parse_date(post.published_on or post.published or post.created_at),
        salary=salary.from_fields(pay.salary_from, pay.salary_to, pay.salary_currency, None),
        description=description,
        requirements=texts.from_html(post.requirements),
        apply_url=post.application_url,
        board=config.board_token or (hosted[1] or hosted[2] if hosted else None),
        vendor_id=post.shortcode,
        requisition_id=post.code,
        language=post.language,
        partial=description is None,
    )


_PAGE = "https://apply.workable.com/j/{id}"
PLATFORM = Platform(
    name="workable",
    title="Workable",
    guessable=True,
    first_request=first_request,
    read=read,
    detail_request=detail_request,
    board_page="https://apply.workable.com/{board_token}/",
    posting_ids=posting_ids(
        posting_url(
            r"apply\.workable\.com",
            r"(?:/(?P<board>[^/]+))?/j/(?P<id>[0-9A-Za-z]{6,})(?:/.*)?",
            _PAGE,
            uppercase_id=True,
        ),
        posting_url(
            r"(?!apply|jobs)(?P<board>[\w-]+)\.workable\.com",
            r"/j(?:obs)?/(?P<id>[0-9A-Fa-f]{10})(?:/.*)?",
            _PAGE,
            uppercase_id=True,
        ),
        unique=True,
        ignore_case=True,
    ),
    board_urls=(
        board_url("workable.com", "apply", r"/api/v\d/(?:widget/)?accounts/(?P<token>[^/]+)"),
        board_url("workable.com", "apply", r"/(?P<token>[^/]+)"),
        board_url("workable.com", "apply|www", r"/j/."),
        board_url("workable.com", "www", r"/api/accounts/(?P<token>[^/]+)"),
        board_url("workable.com", r"(?P<token>[a-z0-9-]+)"),
    ),
    html_markers=(
        html_marker(r"whr_embed\(\s{0,9}(?P<token>\d{1,12})\b", "Workable's widget (whr_embed)"),
        html_marker(r"workable\.com/assets/embed\.js", "Workable's widget script"),
    ),
)
