"""Ashby."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote, unquote

from pydantic import AliasChoices, Field

from jobmill.catalog.platform_rules import ID_UUID, posting_ids, posting_url
from jobmill.catalog.posting import Arrangement, Posting, Salary
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, salary, work_arrangement
from jobmill.extract.fields import html_text as texts
from jobmill.extract.lenient_models import ExternalRecord, Line, Link, Many, Maybe
from jobmill.outside.request import Request
from jobmill.places import location_text

from ..platform import BoardConfig, BoardPage, BoardUrl, Platform, board_url, html_marker

API = "https://api.ashbyhq.com/posting-api/job-board"
HOSTED = re.compile(r"//jobs\.ashbyhq\.com/([^/?#]+)/")


class _Postal(ExternalRecord):
    addressLocality: Maybe[Line] = None
    addressRegion: Maybe[Line] = None
    addressCountry: Maybe[Line] = None


class _Address(ExternalRecord):
    postalAddress: Maybe[_Postal] = None

    def line(self) -> str | None:
        address = self.postalAddress or _Postal()
        return location_text.format_address(
            address.addressLocality, address.addressRegion, address.addressCountry
        )


class _Place(ExternalRecord):
    location: Maybe[Line] = None
    address: Maybe[_Address] = None


class _Component(ExternalRecord):
    compensationType: Maybe[str] = None
    interval: Maybe[str] = None
    currencyCode: Maybe[str] = None
    minValue: Maybe[float] = None
    maxValue: Maybe[float] = None


class _Tier(ExternalRecord):
    components: Many[_Component] = ()


class _Compensation(ExternalRecord):
    compensationTierSummary: Maybe[str] = None
    scrapeableCompensationSalarySummary: Maybe[str] = None
    summaryComponents: Many[_Component] = ()
    compensationTiers: Many[_Tier] = ()


def _either(name: str, alternative: str) -> Any:
    """A field that has another name in some responses."""
    return Field(None, validation_alias=AliasChoices(name, alternative))


class _Post(ExternalRecord):
    id: Line
    title: Line
    isListed: Maybe[bool] = None
    department: Maybe[Line] = _either("department", "departmentName")
    team: Maybe[Line] = _either("team", "teamName")
    employmentType: Maybe[str] = None
    location: Maybe[Line] = _either("location", "locationName")
    secondaryLocations: Many[_Place | Line] = ()
    address: Maybe[_Address] = None
    publishedAt: Maybe[str] = _either("publishedAt", "publishedDate")
    isRemote: Maybe[bool] = None
    workplaceType: Maybe[str] = None
    jobUrl: Link = None
    applyUrl: Link = None
    descriptionHtml: Maybe[str] = None
    descriptionPlain: Maybe[str] = None
    compensation: Maybe[_Compensation] = None


class _Board(ExternalRecord):
    jobs: list[object]


def first_request(config: BoardConfig) -> Request:
    return Request(f"{API}/{quote(config.board_token, safe='')}?includeCompensation=true")


def read(body: bytes, request: Request, config: BoardConfig) -> BoardPage:
    """The whole board, or a single posting. Unlisted postings are not public and are left out."""
    answer = lenient_models.parse_json(body)
    if post := lenient_models.parse_record(_Post, answer):
        return BoardPage((_posting(post, config),))
    posts, stubs = lenient_models.parse_records(_Post, _Board.model_validate(answer).jobs)
    listed = [post for post in posts if post.isListed is not False]
    return BoardPage(tuple(_posting(post, config) for post in listed), stubs=stubs)


def _posting(post: _Post, config: BoardConfig) -> Posting:
    description = texts.from_html(post.descriptionHtml) or texts.clean_text(post.descriptionPlain)
    place = post.location or (post.address.line() if post.address else None)
    locations = location_text.unique_locations(
        place, [_name(secondary) for secondary in post.secondaryLocations]
    )
    hosted = HOSTED.search(post.jobUrl or "")
    return Posting(
        title=post.title,
        url=post.jobUrl or "",
        location=place,
        locations=locations,
        arrangement=_arrangement(post, locations, description),
        department=post.department or post.team,
        employment_type=employment.parse_employment_type(post.employmentType),
        posted_at=dates.parse_date(post.publishedAt),
        salary=_pay(post.compensation),
        description=description,
        apply_url=post.applyUrl,
        board=config.board_token or (unquote(hosted[1]) if hosted else None),
        vendor_id=post.id,
        tags=(post.team,) if post.team and post.department not in (None, post.team) else (),
        partial=description is None,
    )


def _name(place: _Place | str) -> str | None:
    if isinstance(place, str):
        return place
    return place.location or (place.address.line() if place.address else None)


def _arrangement(
    post: _Post, locations: tuple[str, ...], description: str | None
) -> Arrangement | None:
    """Hybrid postings also have `isRemote`, so it counts only if neither the workplace type nor the
    text says anything."""
    return (
        work_arrangement.from_label(post.workplaceType)
        or work_arrangement.infer_arrangement(post.title, locations, description)
        or ("remote" if post.isRemote else None)
    )


def _pay(compensation: _Compensation | None) -> Salary | None:
    """The lowest to the highest salary in the currency of the first one, without equity and bonus."""
    if compensation is None:
        return None
    tiers = [component for tier in compensation.compensationTiers for component in tier.components]
    for components in (compensation.summaryComponents, tiers):
        ranges = [
            (part.minValue, part.maxValue, part.currencyCode, part.interval)
            for part in components
            if part.compensationType == "Salary" and (part.minValue or part.maxValue)
        ]
        if ranges:
            return salary.from_ranges(ranges)
    # The summary also mentions equity and bonuses, so it is read only if there are no components.
    summary = (
        None if tiers or compensation.summaryComponents else compensation.compensationTierSummary
    )
    return salary.from_text(compensation.scrapeableCompensationSalarySummary or summary)


PLATFORM = Platform(
    name="ashby",
    title="Ashby",
    guessable=True,
    first_request=first_request,
    read=read,
    board_page="https://jobs.ashbyhq.com/{board_token}",
    posting_ids=posting_ids(
        posting_url(
            r"jobs\.ashbyhq\.com",
            rf"/(?P<board>[^/]+)/{ID_UUID}(?:/.*)?",
            "https://jobs.ashbyhq.com/{board}/{id}",
            lowercase=True,
        ),
        # A company's page that shows one posting of its board.
        posting_url(
            r"(?P<host>.*)", r"(?P<path>.*)", "{root}{path}?ashby_jid={id}", id="ashby_jid"
        ),
        unique=True,
        ignore_case=True,
    ),
    board_urls=(
        board_url("ashbyhq.com", "jobs", r"/(?P<token>[^/]+)"),
        board_url("ashbyhq.com", "api", r"/posting-api/job-board/(?P<token>[^/]+)"),
        BoardUrl(host=re.compile(""), query=("ashby_jid",), contains="ashby_jid="),
    ),
    html_markers=(
        html_marker("__ashbyBaseJobBoardUrl", "Ashby's script"),
        html_marker("ashby_embed", "Ashby's container element"),
    ),
)
