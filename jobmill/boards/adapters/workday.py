"""Workday."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias
from urllib.parse import quote, urlsplit

from pydantic import Field

from jobmill.catalog.platform_rules import LANGUAGE, SUBDOMAIN, posting_ids, posting_url
from jobmill.catalog.posting import Posting
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, work_arrangement
from jobmill.extract.fields import html_text as texts
from jobmill.extract.lenient_models import ExternalRecord, Line, Link, Many, Maybe
from jobmill.outside.request import Request
from jobmill.places import location_text

from ..platform import BoardPage, Config, Platform, UrlGroups, board_url


class WorkdaySite(Config):
    """One site of a tenant."""

    company_id: str
    base_url: str
    site: str
    facets: dict[str, list[str]] = Field(default_factory=dict)
    """Facet ids by facet, to request only these postings."""
    brand: str | None = None


_PAGE_SIZE = 20  # The API refuses larger pages.
_MAX_RESULTS = 2000  # Many tenants report at most 2000 results and show no more.

_ValueCounts: TypeAlias = dict[str, int]


class _Item(ExternalRecord):
    title: Line
    externalPath: Line
    locationsText: Maybe[Line] = None
    postedOn: Maybe[str] = None
    timeType: Maybe[str] = None
    remoteType: Maybe[str] = None
    bulletFields: Many[Line] = ()


class _Facet(ExternalRecord):
    """A facet, one of its values, or a group of facets; they are nested."""

    facetParameter: Maybe[Line] = None
    id: Maybe[Line] = None
    count: Maybe[int] = None
    values: Many[_Facet] = ()


class _List(ExternalRecord):
    jobPostings: list[object]
    total: Maybe[int] = None
    facets: Many[_Facet] = ()


class _Info(ExternalRecord):
    title: Line
    jobReqId: Maybe[Line] = None
    jobPostingId: Maybe[Line] = None
    jobPostingSiteId: Maybe[Line] = None
    externalUrl: Link = None
    jobDescription: Maybe[str] = None
    location: Maybe[Line] = None
    additionalLocations: Many[Line] = ()
    postedOn: Maybe[str] = None
    startDate: Maybe[str] = None
    endDate: Maybe[str] = None
    timeType: Maybe[str] = None
    remoteType: Maybe[str] = None


class _Organization(ExternalRecord):
    name: Maybe[Line] = None


class _Detail(ExternalRecord):
    jobPostingInfo: _Info
    hiringOrganization: Maybe[_Organization] = None


def first_request(config: WorkdaySite) -> Request:
    return _list_request(config, {}, 0)


def read(body: bytes, request: Request, config: WorkdaySite) -> BoardPage:
    """A page of the list, which has no texts, or a single posting with its text."""
    answer = lenient_models.parse_json(body)
    if detailed := lenient_models.parse_record(_Detail, answer):
        return BoardPage((_posting_from_detail(detailed, config),))
    result, context = _List.model_validate(answer), request.context
    items = [
        record
        for value in result.jobPostings
        if (record := lenient_models.parse_record(_Item, value))
    ]
    if result.jobPostings and not items and not context.get("offset"):
        raise lenient_models.unknown_response("Workday")
    if items and items[0].externalPath == context.get("head"):
        return BoardPage(
            (), truncated=True
        )  # After the last result, a tenant shows the first page again.
    next_requests, truncated = _next_requests(result, items, context, config)
    # A split value returns its postings again with its parts; without this, the crawler would take
    # the repetition for a loop.
    is_split = context.get("facets") and len(next_requests) > 1 and not truncated
    return BoardPage(
        () if is_split else tuple(_posting_from_list(item, config) for item in items),
        next_requests,
        truncated,
        total=result.total or context.get("total"),
        stubs=0 if is_split else len(result.jobPostings) - len(items),
    )


def detail_request(posting: Posting, config: WorkdaySite) -> Request:
    path = urlsplit(posting.url).path
    path = path[path.find("/job/") :]
    return Request(f"{_api(config)}{path}", headers={"Accept": "application/json"})


def _next_requests(
    result: _List, items: list[_Item], context: Mapping[str, Any], config: WorkdaySite
) -> tuple[tuple[Request, ...], bool]:
    """The next requests, and whether postings will still be missing."""
    offset: int = context.get("offset", 0)
    chosen: dict[str, list[str]] = context.get("facets", {})
    # Later pages report a total of 0.
    total = context.get("total") or result.total
    capped = not offset and total == _MAX_RESULTS
    parts: tuple[Request, ...] = ()
    if capped and (split := _choose_facet(result.facets, {*chosen, *config.facets})):
        name, counts, covers_all = split
        parts = tuple(
            part
            for id in counts
            for part in _value_requests(config, {**chosen, name: [id]}, counts[id])
        )
        if covers_all:
            return parts, False
    if not result.jobPostings:
        return (), bool(offset or context.get("total"))
    if context.get("counted") or (
        offset + _PAGE_SIZE >= total if total else len(result.jobPostings) < _PAGE_SIZE
    ):
        return (), bool(result.total and total and result.total > total)
    first_path = context.get("head") or (items[0].externalPath if items else None)
    return (
        *parts,
        _list_request(config, chosen, offset + _PAGE_SIZE, total=total, head=first_path),
    ), capped


def _value_requests(config: WorkdaySite, facets: dict[str, list[str]], count: int) -> list[Request]:
    """All pages of a facet value at once, because the first page may have nothing new although
    others do. For a value at the limit, only the first page, which is split again."""
    if count >= _MAX_RESULTS:
        return [_list_request(config, facets, 0)]
    offsets = range(0, count, _PAGE_SIZE)
    return [_list_request(config, facets, offset, total=count, counted=True) for offset in offsets]


def _choose_facet(
    facets: Iterable[_Facet], used: set[str]
) -> tuple[str, _ValueCounts, bool] | None:
    """The best facet to split by, the number of postings of each value, and whether they cover all
    postings."""
    counts = {name: values for name, values in _facet_counts(facets).items() if name not in used}
    if not counts:
        return None
    sums = Counter(sum(values.values()) for values in counts.values())
    # Facets that every posting has exactly once agree on the total; a lower sum means that some
    # postings lack the facet.
    total = max(_MAX_RESULTS, max(sums, key=lambda size: (sums[size], size)))

    def worth(name: str) -> tuple[bool, bool, int]:
        values = counts[name]
        return sum(values.values()) < total, max(values.values()) >= _MAX_RESULTS, len(values)

    best = min(counts, key=worth)
    return best, counts[best], not worth(best)[0]


def _facet_counts(facets: Iterable[_Facet]) -> dict[str, _ValueCounts]:
    """The number of postings of each value of each facet."""
    counts: dict[str, _ValueCounts] = {}
    for facet in facets:
        values = {value.id: value.count for value in facet.values if value.id and value.count}
        if facet.facetParameter and len(values) > 1:
            counts[facet.facetParameter] = values
        counts |= _facet_counts(value for value in facet.values if value.values)
    return counts


def _list_request(
    config: WorkdaySite, facets: dict[str, list[str]], offset: int, **context: object
) -> Request:
    body = {
        "appliedFacets": {**config.facets, **facets},
        "limit": _PAGE_SIZE,
        "offset": offset,
        "searchText": "",
    }
    return Request(
        f"{_api(config)}/jobs",
        method="POST",
        json=body,
        headers={"Accept": "application/json"},
        context={"offset": offset, "facets": facets, **context},
    )


def _api(config: WorkdaySite) -> str:
    tenant, site = quote(config.company_id, safe=""), quote(config.site, safe="")
    return f"{config.base_url.rstrip('/')}/wday/cxs/{tenant}/{site}"


def _page(config: WorkdaySite, path: str) -> str:
    base = config.base_url.rstrip("/")
    if not base:
        return ""
    if (urlsplit(base).hostname or "").endswith("myworkdaysite.com"):
        base = f"{base}/recruiting/{quote(config.company_id, safe='')}"
    return f"{base}/{quote(config.site, safe='')}{path}"


def _posting_from_list(item: _Item, config: WorkdaySite) -> Posting:
    vendor_id, requisition = _ids(item.externalPath, item.bulletFields)
    place = item.locationsText
    locations = location_text.unique_locations(place)
    return Posting(
        title=item.title,
        url=_page(config, item.externalPath),
        location=place if locations else None,  # "2 Locations": the detail names them.
        locations=locations,
        arrangement=work_arrangement.from_label(item.remoteType),
        employment_type=employment.parse_employment_type(item.timeType),
        posted_at=dates.parse_date(item.postedOn),
        board=_board(config),
        vendor_id=vendor_id,
        requisition_id=requisition,
        partial=True,
    )


def _posting_from_detail(detail: _Detail, config: WorkdaySite) -> Posting:
    info = detail.jobPostingInfo
    path = urlsplit(info.externalUrl or "").path or f"/{info.jobPostingId or ''}"
    vendor_id, requisition = _ids(path, (info.jobReqId,) if info.jobReqId else ())
    description = texts.from_html(info.jobDescription)
    return Posting(
        title=info.title,
        url=info.externalUrl or "",
        company=detail.hiringOrganization.name if detail.hiringOrganization else None,
        location=info.location,
        locations=location_text.unique_locations(info.location, info.additionalLocations),
        arrangement=work_arrangement.from_label(info.remoteType),
        employment_type=employment.parse_employment_type(info.timeType),
        # `startDate` is the day of publication, not the first day of work.
        posted_at=dates.parse_date(info.startDate) or dates.parse_date(info.postedOn),
        valid_through=dates.parse_deadline(info.endDate),
        description=description,
        board=_board(config) or _board_from_url(info),
        vendor_id=vendor_id,
        requisition_id=info.jobReqId or requisition,
        partial=description is None,
    )


def _ids(path: str, bullets: Iterable[str]) -> tuple[str | None, str | None]:
    """The id of the posting on its site, and the id of the vacancy on all sites of the tenant.

    A path ends with the requisition, plus a number if the posting is mirrored: `_R123-1`.
    """
    end = path.rstrip("/").rpartition("/")[2]
    for bullet in bullets:
        if match := re.search(rf"_({re.escape(bullet)}(?:-\d{{1,2}})?)$", end):
            return match[1], bullet
    tail = end.rpartition("_")[2]
    if not re.search(r"\d", tail):
        return end or None, None
    return tail, re.sub(r"(?<=\d)-\d{1,2}$", "", tail)


def _board(config: WorkdaySite) -> str | None:
    return f"{config.company_id}/{config.site}" if config.company_id else None


def _board_from_url(info: _Info) -> str | None:
    """The board in the posting's URL: TENANT.…/SITE/job/…, or …/recruiting/TENANT/SITE/job/…"""
    page = urlsplit(info.externalUrl or "")
    named = re.search(r"(?:/recruiting/([^/]+))?/([^/]+)/job/", page.path)
    tenant = (named and named[1]) or (page.hostname or "").partition(".")[0]
    site = info.jobPostingSiteId or (named and named[2])
    return f"{tenant}/{site}" if tenant and site else None


_TENANT = r"(?P<tenant>[a-z0-9_-]+)(?:\.wd[\w-]+)?"
_POD = r"(?:[a-z0-9_-]+\.)?wd[\w-]+"
# A site may have the name of a language ("NM"): the first part is a language only if another name
# follows.
_LANGUAGE = r"(?:/[a-z]{2}(?:-[a-z]{2,4})?(?=/(?!(?:job|details|login|userhome)(?:/|$))[^/]))?"


def _config_from_url(groups: UrlGroups) -> dict[str, Any] | None:
    site = groups.get("site")
    if not site or site.lower() in {"wday", "robots.txt"} or site.lower().startswith("sitemap"):
        return None
    return {
        "company_id": groups["tenant"],
        "base_url": f"https://{groups['host']}",
        "site": site,
    }


def _board_page(config: dict[str, Any]) -> str:
    shared = str(config.get("base_url", "")).endswith("myworkdaysite.com")
    return "{base_url}/recruiting/{company_id}/{site}" if shared else "{base_url}/{site}"


_JOB = (
    r"(?P<site>[^/]+)/(?:job|details)/(?:[^/]+/)*?"
    r"(?P<slug>[^/]*_(?P<id>[A-Za-z]*[-_]?\d[\w-]*?)(?:-\d{1,2})?)"
    r"(?:/(?:apply|login|autofillWithResume|useMyLastApplication).*)?"
)
_PAGE = "https://{board}.{dc}.myworkdayjobs.com/{site}/job/{slug}"
PLATFORM = Platform(
    name="workday",
    title="Workday",
    first_request=first_request,
    read=read,
    detail_request=detail_request,
    board_page=_board_page,
    posting_ids=posting_ids(
        posting_url(
            rf"{SUBDOMAIN}\.(?P<dc>wd\d+)\.myworkdayjobs\.com", rf"{LANGUAGE}/{_JOB}", _PAGE
        ),
        posting_url(
            r"[\w-]+\.(?P<dc>wd\d+)\.myworkdayjobs\.com", rf"/wday/cxs/{SUBDOMAIN}/{_JOB}", _PAGE
        ),
        posting_url(
            r"(?:[\w-]+\.)?(?P<dc>wd\d+)\.myworkdaysite\.com",
            rf"{LANGUAGE}/recruiting/{SUBDOMAIN}/{_JOB}",
            _PAGE,
        ),
    ),
    board_urls=(
        board_url("myworkdayjobs.com", _TENANT, r"/wday/cxs/[^/]+/(?P<site>[^/]+)"),
        board_url("myworkdayjobs.com", _TENANT, rf"{_LANGUAGE}/(?P<site>[^/]+)"),
        board_url("myworkdayjobs.com", _TENANT),
        board_url("myworkdaysite.com", _POD, r"/wday/cxs/(?P<tenant>[^/]+)/(?P<site>[^/]+)"),
        board_url(
            "myworkdaysite.com",
            _POD,
            r"(?:/[a-z-]{2,7})?/recruiting/(?P<tenant>[^/]+)/(?P<site>[^/]+)",
        ),
    ),
    config_from_url=_config_from_url,
    confidence="high",
    config=WorkdaySite,
    token=lambda config: f"{config.company_id}/{config.site}",
    enable_after_test=True,
)
