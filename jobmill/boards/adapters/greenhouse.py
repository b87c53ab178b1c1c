"""Greenhouse."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from jobmill.catalog.platform_rules import posting_ids, posting_url
from jobmill.catalog.posting import Posting, Salary
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, salary, work_arrangement
from jobmill.extract.fields import html_text as texts
from jobmill.extract.lenient_models import ExternalRecord, Line, Link, Many, Maybe
from jobmill.outside.request import Request
from jobmill.places import location_text

from ..platform import BoardConfig, BoardPage, BoardUrl, Platform, UrlGroups, board_url, html_marker

API = "https://boards-api.greenhouse.io/v1/boards"
HOSTED = re.compile(r"//(?:job-)?boards(?:\.eu)?\.greenhouse\.io/(?!embed/)([^/?#]+)/jobs/")
# Each company names its custom fields itself; these names are common.
EMPLOYMENT = re.compile(r"(?i)^(?:employment|time|contract|position) type$|^commitment$")
WORKPLACE = re.compile(r"(?i)^(?:work(?:place|ing)?|location|remote) (?:type|model|arrangement)$")
FREQUENCY = re.compile(r"(?i)\b(?:pay|salary|compensation) (?:frequency|period|interval|type)\b")


class _Named(ExternalRecord):
    name: Maybe[Line] = None
    location: Maybe[Line] = None


class _Field(ExternalRecord):
    name: Line
    value: Any = None
    value_type: Maybe[str] = None


class _Amounts(ExternalRecord):
    min_value: Maybe[str] = None
    max_value: Maybe[str] = None
    unit: Maybe[str] = None


class _Range(ExternalRecord):
    min_cents: Maybe[int] = None
    max_cents: Maybe[int] = None
    currency_type: Maybe[str] = None
    title: Maybe[str] = None
    blurb: Maybe[str] = None


class _Post(ExternalRecord):
    id: Line
    title: Line
    absolute_url: Link = None
    internal_job_id: Maybe[Line] = None
    requisition_id: Maybe[Line] = None
    location: Maybe[_Named] = None
    offices: Many[_Named] = ()
    departments: Many[_Named] = ()
    metadata: Many[_Field] = ()
    pay_input_ranges: Many[_Range] = ()
    company_name: Maybe[Line] = None
    first_published: Maybe[str] = None
    updated_at: Maybe[str] = None
    application_deadline: Maybe[str] = None
    language: Maybe[Line] = None
    content: Maybe[str] = None


class _Meta(ExternalRecord):
    total: Maybe[int] = None


class _Board(ExternalRecord):
    jobs: list[object]
    meta: Maybe[_Meta] = None


def first_request(config: BoardConfig) -> Request:
    """The whole board in one response; European boards use the same host."""
    token = quote(config.board_token, safe="")
    return Request(f"{API}/{token}/jobs?content=true&pay_transparency=true")


def read(body: bytes, request: Request, config: BoardConfig) -> BoardPage:
    """A board, or a single post with its text."""
    answer = lenient_models.parse_json(body)
    if post := lenient_models.parse_record(_Post, answer):
        return BoardPage((_posting(post, config),))
    board = _Board.model_validate(answer)
    posts, stubs = lenient_models.parse_records(_Post, board.jobs)
    total = board.meta.total if board.meta else None
    return BoardPage(
        tuple(_posting(post, config) for post in posts),
        total=total,
        truncated=total is not None and total > len(board.jobs),
        stubs=stubs,
    )


def detail_request(posting: Posting, config: BoardConfig) -> Request:
    token, id = quote(config.board_token, safe=""), quote(posting.vendor_id or "", safe="")
    return Request(f"{API}/{token}/jobs/{id}?pay_transparency=true")


def _posting(post: _Post, config: BoardConfig) -> Posting:
    description = texts.from_escaped_html(post.content)
    place = post.location.name if post.location else None
    offices = [office.location or office.name for office in post.offices]
    hosted = HOSTED.search(post.absolute_url or "")
    return Posting(
        title=post.title,
        url=post.absolute_url or "",
        company=post.company_name,
        location=place if place and location_text.names_place(place) else None,
        # Offices belong to the company, not to the post: they are used only if the location is
        # "N/A".
        locations=location_text.split_locations(place) or location_text.unique_locations(offices),
        arrangement=work_arrangement.from_label(_custom(post, WORKPLACE)),
        department=_department(post),
        employment_type=employment.parse_employment_type(_custom(post, EMPLOYMENT)),
        posted_at=dates.parse_date(post.first_published),
        updated_at=dates.parse_date(post.updated_at),
        valid_through=dates.parse_deadline(post.application_deadline),
        salary=_pay_range(post) or _custom_pay(post),
        description=description,
        board=config.board_token or (hosted[1] if hosted else None),
        vendor_id=post.id,
        requisition_id=_requisition(post),
        language=post.language,
        partial=description is None,
    )


def _requisition(post: _Post) -> str | None:
    """The company's requisition number, else Greenhouse's, which all posts of a vacancy share.

    The company's field is free text, and some companies put the same words into every post ("See
    Opening ID"). A text without a digit is therefore not a number.
    """
    company_number = post.requisition_id
    return (
        company_number
        if company_number and re.search(r"\d", company_number)
        else post.internal_job_id
    )


def _department(post: _Post) -> str | None:
    names = [
        department.name
        for department in post.departments
        if department.name and department.name != "No Department"
    ]
    return names[0] if names else None


def _custom(post: _Post, pattern: re.Pattern[str]) -> Any:
    """The value of the first custom field with a matching name."""
    return next((field.value for field in post.metadata if pattern.search(field.name)), None)


def _pay_range(post: _Post) -> Salary | None:
    """The lowest to the highest of the ranges in the currency of the first one."""
    ranges = [pay for pay in post.pay_input_ranges if pay.min_cents or pay.max_cents]
    if not ranges:
        return None
    period = f"{ranges[0].title or ''} {texts.from_html(ranges[0].blurb) or ''}"
    return salary.from_ranges(
        [
            ((pay.min_cents or 0) / 100, (pay.max_cents or 0) / 100, pay.currency_type, period)
            for pay in ranges
        ]
    )


def _custom_pay(post: _Post) -> Salary | None:
    """The first custom field that is a salary range with an amount."""
    frequency = _custom(post, FREQUENCY)
    for field in post.metadata:
        amounts = lenient_models.parse_record(_Amounts, field.value)
        if field.value_type == "currency_range" and amounts:
            period = frequency if isinstance(frequency, str) else field.name
            pay = salary.from_fields(amounts.min_value, amounts.max_value, amounts.unit, period)
            if pay:
                return pay
    return None


_BOARDS = r"(?:job-)?boards(?:\.(?P<region>eu))?"
_TOKEN = r"""["']?\s{0,3}[:=]\s{0,3}["'](?P<token>[\w.-]{1,80})["']"""


def _config_from_url(groups: UrlGroups) -> dict[str, Any] | None:
    token = groups.get("token") or groups.get("for")
    return {"board_token": token, "region": groups.get("region", "")} if token else None


_HOST = r"(?:job-)?boards(?P<eu>\.eu)?\.greenhouse\.io"
_PAGE = "https://boards{eu}.greenhouse.io/{board}/jobs/{id}"
PLATFORM = Platform(
    name="greenhouse",
    title="Greenhouse",
    guessable=True,
    first_request=first_request,
    read=read,
    detail_request=detail_request,
    board_page="https://job-boards.{dot_region}greenhouse.io/{board_token}",
    posting_ids=posting_ids(
        posting_url(_HOST, r"/(?P<board>[^/]+)/jobs/(?P<id>\d+)(?:/.*)?", _PAGE, lowercase=True),
        posting_url(_HOST, r"/embed/job_app", _PAGE, lowercase=True, board="for", id="token"),
        posting_url(_HOST, r"/embed/job_board", _PAGE, lowercase=True, board="for", id="gh_jid"),
        posting_url(
            _HOST,
            r"/embed/job_app",
            "https://boards{eu}.greenhouse.io/embed/job_app?token={id}",
            id="token",
        ),
        posting_url(
            r"(?:boards-)?api\.greenhouse\.io",
            r"/v1/boards/(?P<board>[^/]+)/jobs/(?P<id>\d+)",
            _PAGE,
            lowercase=True,
        ),
        # A company's page that shows one posting of its board.
        posting_url(r"(?P<host>.*)", r"(?P<path>.*)", "{root}{path}?gh_jid={id}", id="gh_jid"),
        unique=True,
        ignore_case=True,
    ),
    board_urls=(
        board_url("greenhouse.io", _BOARDS, r"/embed/job_(?:board|app)", query=("for",)),
        board_url("greenhouse.io", _BOARDS, r"/embed/job_app"),
        board_url("greenhouse.io", _BOARDS, r"/(?P<token>[^/]+)"),
        board_url(
            "greenhouse.io", r"(?:boards-)?api(?:\.(?P<region>eu))?", r"/v1/boards/(?P<token>[^/]+)"
        ),
        board_url("grnh.se", path="/."),
        BoardUrl(host=re.compile(""), query=("gh_jid",), contains="gh_jid="),
    ),
    html_markers=(
        html_marker("urlToken" + _TOKEN, "urlToken in a script"),
        html_marker("boardToken" + _TOKEN, "boardToken in a script"),
        html_marker("grnhse_app", "Greenhouse's container element (grnhse_app)"),
        html_marker(r"gh_jid=\d", "links with gh_jid"),
    ),
    config_from_url=_config_from_url,
    confidence="high",
    enable_on_response=True,
)
