"""USAJobs: postings of the government of the United States."""

from __future__ import annotations

import re

from pydantic import Field

from jobmill.catalog.platform_rules import PostingIds
from jobmill.catalog.posting import Posting, Salary
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, html_text, salary
from jobmill.extract.lenient_models import ExternalRecord, Line, Link, Many, Maybe
from jobmill.outside.request import Request
from jobmill.places import location_text

from .. import aggregator_search
from ..platform import BoardPage, Platform


class _Pay(ExternalRecord):
    MinimumRange: Maybe[str] = None
    MaximumRange: Maybe[str] = None
    RateIntervalCode: Maybe[str] = None


class _Place(ExternalRecord):
    LocationName: Maybe[str] = None


class _Named(ExternalRecord):
    Name: Maybe[str] = None


class _Details(ExternalRecord):
    JobSummary: Maybe[str] = None
    AgencyMarketingStatement: Maybe[str] = None
    MajorDuties: Many[str] = ()
    KeyRequirements: Many[str] = ()
    Requirements: Maybe[str] = None
    Education: Maybe[str] = None
    OtherInformation: Maybe[str] = None
    Evaluations: Maybe[str] = None
    Benefits: Maybe[str] = None
    RequiredDocuments: Maybe[str] = None
    HowToApply: Maybe[str] = None
    WhatToExpectNext: Maybe[str] = None
    RemoteIndicator: Maybe[bool] = None


class _Area(ExternalRecord):
    Details: _Details = Field(default_factory=_Details)


class _Descriptor(ExternalRecord):
    PositionTitle: Line
    PositionID: Maybe[str] = None
    PositionURI: Link = None
    ApplyURI: Many[str] = ()
    OrganizationName: Maybe[str] = None
    DepartmentName: Maybe[str] = None
    PositionLocationDisplay: Maybe[str] = None
    PositionLocation: Many[_Place] = ()
    PositionSchedule: Many[_Named] = ()
    PositionRemuneration: Many[_Pay] = ()
    QualificationSummary: Maybe[str] = None
    PublicationStartDate: Maybe[str] = None
    ApplicationCloseDate: Maybe[str] = None
    UserArea: _Area = Field(default_factory=_Area)


class _Item(ExternalRecord):
    MatchedObjectDescriptor: _Descriptor
    MatchedObjectId: Maybe[str] = None


class _Result(ExternalRecord):
    SearchResultItems: list[object]
    SearchResultCountAll: Maybe[int] = None


class _Answer(ExternalRecord):
    SearchResult: _Result


# Codes ("PA", "PH"), or words ("Per Year"). Two weeks, piece work and the like are none of ours.
UNPAID = re.compile(r"WC|without compensation", re.IGNORECASE)
SIZE = 250


def first_request(config: aggregator_search.KeywordSearch) -> Request:
    return _ask(config, 1)


def _ask(config: aggregator_search.KeywordSearch, number: int) -> Request:
    params = {
        "Keyword": config.keywords,
        "LocationName": config.location,
        "ResultsPerPage": SIZE,
        "Page": number,
    }
    return Request(
        aggregator_search.build_url("https://data.usajobs.gov/api/search", params),
        # The e-mail address that the key was registered with takes the place of our name.
        secret={"User-Agent": "{USAJOBS_EMAIL}", "Authorization-Key": "{USAJOBS_API_KEY}"},
        context={"page": number},
    )


def read(body: bytes, request: Request, config: aggregator_search.KeywordSearch) -> BoardPage:
    result = _Answer.model_validate(lenient_models.parse_json(body)).SearchResult
    good, stubs = lenient_models.parse_records(_Item, result.SearchResultItems)
    number, total = request.context.get("page", 1), result.SearchResultCountAll
    more = bool(result.SearchResultItems) and number * SIZE < (total or 0)
    next, truncated = aggregator_search.next_page(
        config, number, more, lambda page: _ask(config, page)
    )
    return BoardPage(tuple(map(_posting, good)), next, truncated, total, stubs)


def _posting(item: _Item) -> Posting:
    one = item.MatchedObjectDescriptor
    about = one.UserArea.Details
    needs = html_text.from_html(one.QualificationSummary)
    more = html_text.join_sections(
        *map(html_text.from_html, about.MajorDuties),
        needs,
        *map(html_text.from_html, about.KeyRequirements),
        html_text.from_html(about.Requirements),
        html_text.from_html(about.Education),
        html_text.from_html(about.OtherInformation),
        html_text.from_html(about.Evaluations),
        html_text.from_html(about.Benefits),
        html_text.from_html(about.RequiredDocuments),
        html_text.from_html(about.HowToApply),
        html_text.from_html(about.WhatToExpectNext),
    )
    where = location_text.unique_locations([place.LocationName for place in one.PositionLocation])
    return Posting(
        title=one.PositionTitle,
        url=(one.PositionURI or "").replace("usajobs.gov:443/", "usajobs.gov/"),
        company=html_text.single_line(one.OrganizationName),
        location=html_text.single_line(one.PositionLocationDisplay) or "; ".join(where) or None,
        locations=where,
        arrangement="remote" if about.RemoteIndicator else None,
        department=html_text.single_line(one.DepartmentName),
        employment_type=employment.parse_employment_type(
            [kind.Name for kind in one.PositionSchedule]
        ),
        posted_at=dates.parse_date(one.PublicationStartDate),
        valid_through=dates.parse_deadline(one.ApplicationCloseDate),
        salary=_salary(one.PositionRemuneration),
        description=html_text.join_sections(
            html_text.from_html(about.JobSummary),
            html_text.from_html(about.AgencyMarketingStatement),
            more,
        ),
        requirements=needs,
        apply_url=next(filter(None, map(lenient_models.parse_link, one.ApplyURI)), None),
        vendor_id=item.MatchedObjectId or one.PositionID,
        requisition_id=one.PositionID,
        via="USAJobs",
        partial=more is None,
    )


def _salary(offers: tuple[_Pay, ...]) -> Salary | None:
    for one in offers:
        every = one.RateIntervalCode or ""
        if not UNPAID.fullmatch(every):
            return salary.from_fields(one.MinimumRange, one.MaximumRange, "USD", every)
    return None


PLATFORM = Platform(
    name="usajobs",
    title="USAJobs",
    posting_ids=PostingIds(aggregator=True),
    config=aggregator_search.KeywordSearch,
    token=aggregator_search.search_token,
    first_request=first_request,
    read=read,
    key_names=("USAJOBS_EMAIL", "USAJOBS_API_KEY"),
    inventory=False,
)
