"""BambooHR."""

from __future__ import annotations

import re
from urllib.parse import quote

from jobmill.catalog.platform_rules import SUBDOMAIN, posting_ids, posting_url
from jobmill.catalog.posting import Arrangement, Posting
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, html_text, salary, seniority
from jobmill.extract.lenient_models import ExternalRecord, Line, Link, Maybe
from jobmill.outside.request import Request
from jobmill.places import location_text

from ..platform import BoardConfig, BoardPage, Platform, base_url, board_token, board_url


class _Place(ExternalRecord):
    city: Maybe[str] = None
    state: Maybe[str] = None
    province: Maybe[str] = None
    country: Maybe[str] = None
    addressCountry: Maybe[str] = None

    def line(self) -> str | None:
        region = self.state or self.province
        return location_text.format_address(self.city, region, self.addressCountry or self.country)


class _Opening(ExternalRecord):
    jobOpeningName: Line
    id: Maybe[str] = None
    jobOpeningShareUrl: Link = None
    departmentLabel: Maybe[str] = None
    employmentStatusLabel: Maybe[str] = None
    location: Maybe[_Place] = None
    atsLocation: Maybe[_Place] = None
    isRemote: Maybe[bool] = None
    locationType: Maybe[str] = None
    minimumExperience: Maybe[str] = None
    compensation: Maybe[str] = None
    datePosted: Maybe[str] = None
    description: Maybe[str] = None


class _Single(ExternalRecord):
    jobOpening: _Opening


class _Meta(ExternalRecord):
    totalCount: Maybe[int] = None


class _Answer(ExternalRecord):
    result: list[object] | _Single
    meta: Maybe[_Meta] = None


HOST = re.compile(r"^https?://([\w-]+)\.bamboohr\.com/", re.IGNORECASE)
ARRANGEMENTS: dict[str | None, Arrangement] = {"0": "onsite", "1": "remote", "2": "hybrid"}


def first_request(config: BoardConfig) -> Request:
    return Request(f"{base_url(config, 'bamboohr.com')}/careers/list")


def read(body: bytes, request: Request, config: BoardConfig) -> BoardPage:
    """The list, which has neither texts nor dates, or a single opening with both."""
    answer = _Answer.model_validate(lenient_models.parse_json(body))
    if isinstance(answer.result, _Single):
        return BoardPage((_posting(answer.result.jobOpening, config),))
    openings, stubs = lenient_models.parse_records(_Opening, answer.result)
    postings = tuple(_posting(opening, config) for opening in openings)
    return BoardPage(postings, total=answer.meta.totalCount if answer.meta else None, stubs=stubs)


def detail_request(posting: Posting, config: BoardConfig) -> Request:
    id = quote(posting.vendor_id or "", safe="")
    return Request(f"{base_url(config, 'bamboohr.com')}/careers/{id}/detail")


def _posting(opening: _Opening, config: BoardConfig) -> Posting:
    id = opening.id or (opening.jobOpeningShareUrl or "").rstrip("/").rpartition("/")[2] or None
    lines = [place.line() or "" for place in (opening.location, opening.atsLocation) if place]
    # Companies fill in one of the two locations, or both in different detail.
    location = max(lines, key=len, default="") or None
    site = base_url(config, "bamboohr.com")
    url = opening.jobOpeningShareUrl or (f"{site}/careers/{id}" if site and id else "")
    return Posting(
        title=opening.jobOpeningName,
        url=url,
        location=location,
        # A comma is always part of one place here, never a separator.
        locations=location_text.unique_locations(location),
        arrangement="remote" if opening.isRemote else ARRANGEMENTS.get(opening.locationType),
        department=html_text.single_line(opening.departmentLabel),
        employment_type=employment.parse_employment_type(opening.employmentStatusLabel),
        seniority=seniority.from_label(opening.minimumExperience),
        posted_at=dates.parse_date(opening.datePosted),
        salary=salary.from_text(opening.compensation),
        description=html_text.from_html(opening.description),
        board=board_token(config, HOST, url),
        vendor_id=id,
        partial=not opening.description,
    )


_PAGE = "https://{board}.bamboohr.com/careers/{id}"
PLATFORM = Platform(
    name="bamboohr",
    title="BambooHR",
    guessable=True,
    board_page="https://{board_token}.bamboohr.com/careers",
    posting_ids=posting_ids(
        posting_url(
            rf"{SUBDOMAIN}\.bamboohr\.com", r"/(?:careers|jobs)/(?P<id>\d+)(?:/.*)?", _PAGE
        ),
        posting_url(rf"{SUBDOMAIN}\.bamboohr\.com", r"/jobs/view\.php", _PAGE, id="id"),
    ),
    board_urls=(
        board_url("bamboohr.com", r"(?P<token>[a-z0-9-]+)"),
        board_url("bamboohr.com", "api", r"/api/gateway\.php/(?P<token>[^/]+)"),
    ),
    first_request=first_request,
    read=read,
    detail_request=detail_request,
)
