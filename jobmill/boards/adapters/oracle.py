"""Oracle Recruiting."""

from __future__ import annotations

import re
from typing import Annotated, Any
from urllib.parse import quote, urlsplit

from annotated_types import Len

from jobmill.catalog.platform_rules import posting_ids, posting_url
from jobmill.catalog.posting import Posting
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, html_text, work_arrangement
from jobmill.extract.lenient_models import ExternalRecord, Link, Many, Maybe
from jobmill.outside.request import Request
from jobmill.places import location_text

from ..platform import BoardPage, BoardUrl, Config, Platform, UrlGroups, board_url


class OracleSite(Config):
    """One site on one host."""

    base_url: str
    site: str
    brand: str | None = None


_HOST = r"[a-z0-9-]+\.fa(?:\.[a-z0-9-]+){0,2}"
_SITE = r"/hcmUI/CandidateExperience/[\w-]+/sites?/(?P<site>[^/]+)"
_NUMBER = re.compile(r"\bsiteNumber=([\w-]+)")


def _config_from_url(groups: UrlGroups) -> dict[str, Any] | None:
    number = _NUMBER.search(groups.get("finder", ""))
    site = groups.get("site") or (number[1] if number else None)
    return {"base_url": f"https://{groups['host']}", "site": site} if site else None


def _token(config: OracleSite) -> str:
    """The first label on Oracle's hosts or the full name of another host, then the site."""
    host = config.base_url.split("//")[-1].split("/")[0]
    name = host.split(".")[0] if host.endswith(".oraclecloud.com") else host
    return f"{name}/{config.site}"


class _Place(ExternalRecord):
    Name: Maybe[str] = None


class _Requisition(ExternalRecord):
    Id: str
    Title: lenient_models.Line
    PostedDate: Maybe[str] = None
    ExternalPostedStartDate: Maybe[str] = None
    ExternalPostedEndDate: Maybe[str] = None
    PostingEndDate: Maybe[str] = None
    PrimaryLocation: Maybe[str] = None
    secondaryLocations: Many[_Place] = ()
    WorkplaceType: Maybe[str] = None
    WorkplaceTypeCode: Maybe[str] = None
    Department: Maybe[str] = None
    Category: Maybe[str] = None
    JobFamily: Maybe[str] = None
    JobFunction: Maybe[str] = None
    JobSchedule: Maybe[str] = None
    ContractType: Maybe[str] = None
    LegalEmployer: Maybe[str] = None
    Language: Maybe[str] = None
    ShortDescriptionStr: Maybe[str] = None
    ExternalDescriptionStr: Maybe[str] = None
    ExternalResponsibilitiesStr: Maybe[str] = None
    ExternalQualificationsStr: Maybe[str] = None
    CorporateDescriptionStr: Maybe[str] = None
    OrganizationDescriptionStr: Maybe[str] = None


class _List(ExternalRecord):
    requisitionList: list[object]
    TotalJobsCount: Maybe[int] = None
    SiteNumber: Maybe[str] = None


class _Link(ExternalRecord):
    href: Link = None


class _Answer(ExternalRecord):
    # The list has one element, which contains all postings.
    items: Annotated[list[_List | _Requisition], Len(min_length=1)]
    links: Many[_Link] = ()


PAGE = 200
API = "hcmRestApi/resources/latest"


def first_request(config: OracleSite) -> Request:
    return _list_request(config, 0)


def _list_request(config: OracleSite, offset: int) -> Request:
    finder = f"findReqs;siteNumber={quote(config.site)},limit={PAGE},offset={offset}"
    return Request(
        f"{config.base_url.rstrip('/')}/{API}/recruitingCEJobRequisitions?onlyData=true"
        f"&expand=requisitionList.secondaryLocations&finder={finder},sortBy=POSTING_DATES_DESC",
        context={"offset": offset},
    )


def read(body: bytes, request: Request, config: OracleSite) -> BoardPage:
    """A page of the list, with truncated texts, or a single requisition."""
    value = lenient_models.parse_json(body)
    if single := lenient_models.parse_record(_Requisition, value):
        return BoardPage((_posting(single, config),))
    response = _Answer.model_validate(value)
    answer = response.items[0]
    if isinstance(answer, _Requisition):
        return BoardPage((_posting(answer, config),))
    config = _complete_config(config, response.links, answer.SiteNumber)
    requisitions, stubs = lenient_models.parse_records(_Requisition, answer.requisitionList)
    offset = request.context.get("offset", 0) + len(answer.requisitionList)
    total = answer.TotalJobsCount
    has_next = total is not None and offset < total
    if total is None:
        has_next = len(answer.requisitionList) >= PAGE
    ended_early = has_next and not answer.requisitionList
    return BoardPage(
        tuple(_posting(requisition, config) for requisition in requisitions),
        next=(_list_request(config, offset),) if has_next and not ended_early else (),
        truncated=ended_early,
        total=total,
        stubs=stubs,
    )


def _complete_config(config: OracleSite, links: tuple[_Link, ...], site: str | None) -> OracleSite:
    """The config, completed from the links of a saved list if it does not name the site."""
    if config.site or not site:
        return config
    hosts = [urlsplit(link.href).hostname for link in links if link.href]
    base = f"https://{hosts[0]}" if hosts and hosts[0] else ""
    return OracleSite(base_url=base, site=site) if base else config


def detail_request(posting: Posting, config: OracleSite) -> Request:
    id = quote(posting.vendor_id or "", safe="")
    return Request(
        f"{config.base_url.rstrip('/')}/{API}/recruitingCEJobRequisitionDetails?expand=all"
        f"&onlyData=true&finder=ById;Id=%22{id}%22,siteNumber={quote(config.site)}"
    )


def read_detail(body: bytes, posting: Posting, config: OracleSite) -> Posting:
    postings = read(body, detail_request(posting, config), config).postings
    if len(postings) != 1 or postings[0].vendor_id != posting.vendor_id:
        raise lenient_models.unknown_response(PLATFORM.title)
    return postings[0]


def _posting(requisition: _Requisition, config: OracleSite) -> Posting:
    secondary = [place.Name for place in requisition.secondaryLocations]
    requirements = html_text.from_html(requisition.ExternalQualificationsStr)
    full_text = html_text.join_sections(
        html_text.from_html(requisition.ExternalDescriptionStr),
        html_text.from_html(requisition.ExternalResponsibilitiesStr),
        requirements,
        html_text.from_html(requisition.CorporateDescriptionStr),
        html_text.from_html(requisition.OrganizationDescriptionStr),
    )
    site = f"{config.base_url.rstrip('/')}/hcmUI/CandidateExperience/en/sites/{config.site}"
    return Posting(
        title=requisition.Title,
        url=f"{site}/job/{quote(requisition.Id, safe='')}" if config.site else "",
        company=html_text.single_line(requisition.LegalEmployer),
        location=html_text.single_line(requisition.PrimaryLocation),
        locations=location_text.unique_locations(requisition.PrimaryLocation, secondary),
        arrangement=work_arrangement.from_label(
            requisition.WorkplaceType or requisition.WorkplaceTypeCode
        ),
        department=html_text.single_line(
            requisition.Department
            or requisition.Category
            or requisition.JobFamily
            or requisition.JobFunction
        ),
        employment_type=employment.parse_employment_type(
            [requisition.JobSchedule, requisition.ContractType]
        ),
        posted_at=dates.parse_date(requisition.PostedDate or requisition.ExternalPostedStartDate),
        valid_through=dates.parse_deadline(
            requisition.ExternalPostedEndDate or requisition.PostingEndDate
        ),
        description=full_text or html_text.from_html(requisition.ShortDescriptionStr),
        requirements=requirements,
        board=PLATFORM.token(config) if config.site else None,
        vendor_id=requisition.Id,
        requisition_id=requisition.Id,
        language=html_text.single_line(requisition.Language),
        partial=full_text is None,
    )


PLATFORM = Platform(
    name="oracle",
    title="Oracle Recruiting",
    board_page="{base_url}/hcmUI/CandidateExperience/en/sites/{site}",
    posting_ids=posting_ids(
        posting_url(
            r"(?P<board>[\w.-]+)\.oraclecloud\.com",
            r"/hcmUI/CandidateExperience/[^/]+/sites/(?P<site>[^/]+)"
            r"/(?:requisitions/)?(?:job|preview)/(?P<id>\d+)(?:/.*)?",
            "https://{board}.oraclecloud.com/hcmUI/CandidateExperience/en/sites/{site}/job/{id}",
        ),
    ),
    board_urls=(
        board_url("oraclecloud.com", _HOST, _SITE),
        board_url("oraclecloud.com", _HOST, r"/hcmRestApi/", query=("finder",)),
        BoardUrl(
            host=re.compile(""),
            path=re.compile(rf"^{_SITE}", re.IGNORECASE),
            contains="CandidateExperience/",
        ),
    ),
    config_from_url=_config_from_url,
    token=_token,
    config=OracleSite,
    first_request=first_request,
    read=read,
    detail_request=detail_request,
    read_detail=read_detail,
)
