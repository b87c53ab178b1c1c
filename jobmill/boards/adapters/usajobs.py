"""USAJobs: postings of the government of the United States."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import cast

from jobmill.catalog.posting import Posting, Salary
from jobmill.extract import lenient_models
from jobmill.extract.fields import html_text, salary
from jobmill.places import location_text

from .aggregator import Aggregator, AggregatorFields, DaysBack, KeywordSearch
from .api import get_path, text_at, texts_at

_JOB = "MatchedObjectDescriptor"
_DETAILS = f"{_JOB}.UserArea.Details"
_SUMMARY = (f"{_DETAILS}.JobSummary", f"{_DETAILS}.AgencyMarketingStatement")
_SECTIONS = (
    f"{_DETAILS}.MajorDuties",
    f"{_JOB}.QualificationSummary",
    f"{_DETAILS}.KeyRequirements",
    f"{_DETAILS}.Requirements",
    f"{_DETAILS}.Education",
    f"{_DETAILS}.OtherInformation",
    f"{_DETAILS}.Evaluations",
    f"{_DETAILS}.Benefits",
    f"{_DETAILS}.RequiredDocuments",
    f"{_DETAILS}.HowToApply",
    f"{_DETAILS}.WhatToExpectNext",
)
_UNPAID = re.compile(r"WC|without compensation", re.IGNORECASE)


class UsaJobsSearch(KeywordSearch):
    days_back: DaysBack = None


def _complete(posting: Posting, record: object, config: UsaJobsSearch) -> Posting:
    sections = _join_texts(record, _SECTIONS)
    locations = location_text.unique_locations(
        get_path(record, f"{_JOB}.PositionLocation.LocationName")
    )
    links = map(lenient_models.parse_link, texts_at(record, f"{_JOB}.ApplyURI"))
    number = text_at(record, f"{_JOB}.PositionID")
    return replace(
        posting,
        url=posting.url.replace("usajobs.gov:443/", "usajobs.gov/"),
        location=posting.location or "; ".join(locations) or None,
        locations=locations,
        salary=_salary(record),
        description=html_text.join_sections(_join_texts(record, _SUMMARY), sections),
        requirements=_join_texts(record, (f"{_JOB}.QualificationSummary",)),
        apply_url=next(filter(None, links), None),
        vendor_id=posting.vendor_id or number,
        requisition_id=number,
        partial=sections is None,
    )


def _join_texts(record: object, paths: tuple[str, ...]) -> str | None:
    texts = (text for path in paths for text in texts_at(record, path))
    return html_text.join_sections(*map(html_text.from_html, texts))


def _salary(record: object) -> Salary | None:
    """The first paid offer. Periods are codes ("PA", "PH") or words ("Per Year"); a pay period of two
    weeks or piece work has no equivalent here."""
    offers = get_path(record, f"{_JOB}.PositionRemuneration")
    for offer in cast(list[object], offers) if isinstance(offers, list) else ():
        period = text_at(offer, "RateIntervalCode") or ""
        if not _UNPAID.fullmatch(period):
            low, high = get_path(offer, "MinimumRange"), get_path(offer, "MaximumRange")
            return salary.from_fields(low, high, "USD", period)
    return None


PLATFORM = Aggregator(
    name="usajobs",
    title="USAJobs",
    config=UsaJobsSearch,
    url="https://data.usajobs.gov/api/search",
    params={
        "Keyword": "keywords",
        "LocationName": "location",
        "DatePosted": "days_back",
        "ResultsPerPage": 250,
        "Page": "page",
    },
    # The API expects the e-mail address that the key was registered with as the user agent.
    secret={"User-Agent": "{USAJOBS_EMAIL}", "Authorization-Key": "{USAJOBS_API_KEY}"},
    page_size=250,
    items="SearchResult.SearchResultItems",
    total="SearchResult.SearchResultCountAll",
    fields=AggregatorFields(
        id="MatchedObjectId",
        title=f"{_JOB}.PositionTitle",
        url=f"{_JOB}.PositionURI",
        company=f"{_JOB}.OrganizationName",
        department=f"{_JOB}.DepartmentName",
        location=f"{_JOB}.PositionLocationDisplay",
        remote=f"{_DETAILS}.RemoteIndicator",
        employment_type=f"{_JOB}.PositionSchedule.Name",
        posted_at=f"{_JOB}.PublicationStartDate",
        valid_through=f"{_JOB}.ApplicationCloseDate",
    ),
    complete=_complete,
).platform(key_names=("USAJOBS_EMAIL", "USAJOBS_API_KEY"))
