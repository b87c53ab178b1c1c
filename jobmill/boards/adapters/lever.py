"""Lever."""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

from pydantic import TypeAdapter

from jobmill.catalog.platform_rules import ID_UUID, posting_ids, posting_url
from jobmill.catalog.posting import Posting
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, salary, work_arrangement
from jobmill.extract.fields import html_text as texts
from jobmill.extract.lenient_models import ExternalRecord, Line, Link, Many, Maybe
from jobmill.outside.request import Request
from jobmill.places import location_text

from ..platform import BoardConfig, BoardPage, Platform, board_url, html_marker

_PAGE_SIZE = 100
_LIST = TypeAdapter(list[object])
_HOSTED = re.compile(r"//jobs(?:\.eu)?\.lever\.co/([^/?#]+)/")


class _Categories(ExternalRecord):
    location: Maybe[Line] = None
    allLocations: Many[Line] = ()
    commitment: Maybe[Line] = None
    department: Maybe[Line] = None
    team: Maybe[Line] = None


class _List(ExternalRecord):
    text: Maybe[str] = None
    content: Maybe[str] = None


class _Pay(ExternalRecord):
    min: Maybe[float] = None
    max: Maybe[float] = None
    currency: Maybe[str] = None
    interval: Maybe[str] = None


class _Post(ExternalRecord):
    id: Line
    text: Line
    categories: _Categories
    country: Maybe[Line] = None
    workplaceType: Maybe[str] = None
    createdAt: Maybe[int] = None
    hostedUrl: Link = None
    applyUrl: Link = None
    salaryRange: Maybe[_Pay] = None
    description: Maybe[str] = None
    descriptionPlain: Maybe[str] = None
    opening: Maybe[str] = None
    openingPlain: Maybe[str] = None
    descriptionBody: Maybe[str] = None
    descriptionBodyPlain: Maybe[str] = None
    lists: Many[_List] = ()
    additional: Maybe[str] = None
    additionalPlain: Maybe[str] = None
    salaryDescription: Maybe[str] = None
    salaryDescriptionPlain: Maybe[str] = None


def first_request(config: BoardConfig) -> Request:
    return _page_request(config, 0, None)


def read(body: bytes, request: Request, config: BoardConfig) -> BoardPage:
    """A page of the board, or a single posting."""
    answer = lenient_models.parse_json(body)
    if isinstance(answer, dict):
        return BoardPage((_posting(_Post.model_validate(answer), config),))
    posts, stubs = lenient_models.parse_records(_Post, _LIST.validate_python(answer))
    offset, first_id = request.context.get("skip", 0), request.context.get("head")
    if first_id and posts and posts[0].id == first_id:
        return BoardPage(
            (), truncated=True
        )  # The server ignores `skip`, so the rest cannot be requested.
    # A response with more than the limit is the whole board; one with fewer is the last page.
    has_next = len(posts) + stubs == _PAGE_SIZE
    follow = (
        (_page_request(config, offset + _PAGE_SIZE, first_id or posts[0].id),) if has_next else ()
    )
    return BoardPage(tuple(_posting(post, config) for post in posts), follow, stubs=stubs)


def detail_request(posting: Posting, config: BoardConfig) -> Request:
    return Request(f"{_api(config)}/{quote(posting.vendor_id or '', safe='')}")


def _api(config: BoardConfig) -> str:
    host = "api.eu.lever.co" if config.region == "eu" else "api.lever.co"
    return f"https://{host}/v0/postings/{quote(config.board_token, safe='')}"


def _page_request(config: BoardConfig, skip: int, first_id: str | None) -> Request:
    url = f"{_api(config)}?mode=json&limit={_PAGE_SIZE}&skip={skip}"
    return Request(url, context={"skip": skip, "head": first_id})


def _posting(post: _Post, config: BoardConfig) -> Posting:
    categories, pay = post.categories, post.salaryRange
    description = _text(post)
    hosted = _HOSTED.search(post.hostedUrl or "")
    return Posting(
        title=post.text,
        url=post.hostedUrl or "",
        location=categories.location,
        locations=location_text.unique_locations(
            categories.allLocations or categories.location or post.country
        ),
        arrangement=work_arrangement.from_label(post.workplaceType),
        department=categories.department or categories.team,
        employment_type=employment.parse_employment_type(categories.commitment),
        posted_at=dates.parse_date(post.createdAt),
        salary=salary.from_fields(pay.min, pay.max, pay.currency, pay.interval) if pay else None,
        description=description,
        apply_url=post.applyUrl,
        board=config.board_token or (unquote(hosted[1]) if hosted else None),
        vendor_id=post.id,
        tags=(categories.team,) if categories.team and categories.department else (),
        partial=description is None,
    )


def _text(post: _Post) -> str | None:
    """The full text: most of it is in the lists, not in the description."""
    introduction = _html_or_plain(post.description, post.descriptionPlain) or texts.join_sections(
        _html_or_plain(post.opening, post.openingPlain),
        _html_or_plain(post.descriptionBody, post.descriptionBodyPlain),
    )
    lists = [
        part
        for section in post.lists
        for part in (texts.single_line(section.text), texts.from_html(section.content))
    ]
    return texts.join_sections(
        introduction,
        *lists,
        _html_or_plain(post.additional, post.additionalPlain),
        _html_or_plain(post.salaryDescription, post.salaryDescriptionPlain),
    )


def _html_or_plain(html: str | None, plain: str | None) -> str | None:
    return texts.from_html(html) or texts.clean_text(plain)


_ACCOUNT = r"""[^}]{0,300}?accountName["']?\s{0,3}:\s{0,3}["'](?P<token>[\w.-]{1,80})["']"""

_PAGE = "https://jobs{eu}.lever.co/{board}/{id}"
PLATFORM = Platform(
    name="lever",
    title="Lever",
    guessable=True,
    first_request=first_request,
    read=read,
    detail_request=detail_request,
    board_page="https://jobs.{dot_region}lever.co/{board_token}",
    posting_ids=posting_ids(
        posting_url(
            r"jobs(?P<eu>\.eu)?\.lever\.co",
            rf"/(?P<board>[^/]+)/{ID_UUID}(?:/.*)?",
            _PAGE,
            lowercase=True,
        ),
        posting_url(
            r"api(?P<eu>\.eu)?\.lever\.co",
            rf"/v0/postings/(?P<board>[^/]+)/{ID_UUID}",
            _PAGE,
            lowercase=True,
        ),
        unique=True,
        ignore_case=True,
    ),
    board_urls=(
        board_url("lever.co", r"jobs(?:\.(?P<region>eu))?", r"/(?P<token>[^/]+)"),
        board_url("lever.co", r"api(?:\.(?P<region>eu))?", r"/v0/postings/(?P<token>[^/]+)"),
    ),
    html_markers=(
        html_marker("leverJobsOptions" + _ACCOUNT, "Lever's widget (leverJobsOptions)"),
        html_marker("lever-jobs-(?:embed|container)", "Lever's container element"),
    ),
)
