"""Workday."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias
from urllib.parse import quote, urlsplit

from pydantic import Field

from jobmill.catalog.platform_rules import LANGUAGE, SUBDOMAIN, PostingIds, posting_url
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
    """Chosen facet ids, by facet: only these are asked for."""
    brand: str | None = None


STEP = 20  # More is refused.
CAP = 2000  # Many tenants say that they have 2000, and show no more, however many there are.

FacetCounts: TypeAlias = dict[str, int]


class _Item(ExternalRecord):
    title: Line
    externalPath: Line
    locationsText: Maybe[Line] = None
    postedOn: Maybe[str] = None
    timeType: Maybe[str] = None
    remoteType: Maybe[str] = None
    bulletFields: Many[Line] = ()


class _Facet(ExternalRecord):
    """A facet, one of its values, or a group of facets: they stand in one another."""

    facetParameter: Maybe[Line] = None
    id: Maybe[Line] = None
    count: Maybe[int] = None
    values: Many[_Facet] = ()


class _Found(ExternalRecord):
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
    return _ask(config, {}, 0)


def read(body: bytes, request: Request, config: WorkdaySite) -> BoardPage:
    """A part of the list, which has no texts, or one posting with its text."""
    answer = lenient_models.parse_json(body)
    if detailed := lenient_models.parse_record(_Detail, answer):
        return BoardPage((_whole(detailed, config),))
    found, mark = _Found.model_validate(answer), request.context
    items = [
        one for value in found.jobPostings if (one := lenient_models.parse_record(_Item, value))
    ]
    if found.jobPostings and not items and not mark.get("offset"):
        raise lenient_models.unknown_response("Workday")
    if items and items[0].externalPath == mark.get("head"):
        return BoardPage((), truncated=True)  # Beyond its cap a tenant shows the first page again.
    more, truncated = _more(found, items, mark, config)
    # A part that is taken apart again comes again with its parts; shown twice, it would look as if
    # the walk went in circles.
    again = mark.get("facets") and len(more) > 1 and not truncated
    return BoardPage(
        () if again else tuple(_listed(item, config) for item in items),
        more,
        truncated,
        total=found.total or mark.get("total"),
        stubs=0 if again else len(found.jobPostings) - len(items),
    )


def detail_request(posting: Posting, config: WorkdaySite) -> Request:
    path = urlsplit(posting.url).path
    path = path[path.find("/job/") :]
    return Request(f"{_api(config)}{path}", headers={"Accept": "application/json"})


def read_detail(body: bytes, posting: Posting, config: WorkdaySite) -> Posting:
    found = _Detail.model_validate(lenient_models.parse_json(body))
    return lenient_models.merge_details(posting, _whole(found, config))


def _more(
    found: _Found, items: list[_Item], mark: Mapping[str, Any], config: WorkdaySite
) -> tuple[tuple[Request, ...], bool]:
    """What else to ask, and whether something will still be missing."""
    offset: int = mark.get("offset", 0)
    chosen: dict[str, list[str]] = mark.get("facets", {})
    # Later pages say that there are none.
    total = mark.get("total") or found.total
    capped = not offset and total == CAP
    parts: tuple[Request, ...] = ()
    if capped and (split := _split(found.facets, {*chosen, *config.facets})):
        name, counts, whole = split
        parts = tuple(
            part for id in counts for part in _part(config, {**chosen, name: [id]}, counts[id])
        )
        if whole:
            return parts, False
    if not found.jobPostings:
        return (), bool(offset or mark.get("total"))
    if mark.get("counted") or (offset + STEP >= total if total else len(found.jobPostings) < STEP):
        return (), bool(found.total and total and found.total > total)
    head = mark.get("head") or (items[0].externalPath if items else None)
    return (*parts, _ask(config, chosen, offset + STEP, total=total, head=head)), capped


def _part(config: WorkdaySite, facets: dict[str, list[str]], count: int) -> list[Request]:
    """All pages of a value, at once: the first may hold nothing new though the others do. Of one
    above the cap, only the first, which is taken apart again."""
    if count >= CAP:
        return [_ask(config, facets, 0)]
    offsets = range(0, count, STEP)
    return [_ask(config, facets, offset, total=count, counted=True) for offset in offsets]


def _split(facets: Iterable[_Facet], used: set[str]) -> tuple[str, FacetCounts, bool] | None:
    """The facet to ask by, how many each value has, and whether they hold all postings."""
    counts = {name: one for name, one in _counts(facets).items() if name not in used}
    if not counts:
        return None
    sums = Counter(sum(one.values()) for one in counts.values())
    # Facets that each posting has once agree on how many there are. Fewer: some have none of it.
    whole = max(CAP, max(sums, key=lambda size: (sums[size], size)))

    def worth(name: str) -> tuple[bool, bool, int]:
        one = counts[name]
        return sum(one.values()) < whole, max(one.values()) >= CAP, len(one)

    best = min(counts, key=worth)
    return best, counts[best], not worth(best)[0]


def _counts(facets: Iterable[_Facet]) -> dict[str, FacetCounts]:
    """How many postings each value of each facet has."""
    found: dict[str, FacetCounts] = {}
    for facet in facets:
        values = {one.id: one.count for one in facet.values if one.id and one.count}
        if facet.facetParameter and len(values) > 1:
            found[facet.facetParameter] = values
        found |= _counts(one for one in facet.values if one.values)
    return found


def _ask(config: WorkdaySite, facets: dict[str, list[str]], offset: int, **mark: object) -> Request:
    body = {
        "appliedFacets": {**config.facets, **facets},
        "limit": STEP,
        "offset": offset,
        "searchText": "",
    }
    return Request(
        f"{_api(config)}/jobs",
        method="POST",
        json=body,
        headers={"Accept": "application/json"},
        context={"offset": offset, "facets": facets, **mark},
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


def _listed(item: _Item, config: WorkdaySite) -> Posting:
    vendor_id, requisition = _ids(item.externalPath, item.bulletFields)
    place = item.locationsText
    locations = location_text.unique_locations(place)
    return Posting(
        title=item.title,
        url=_page(config, item.externalPath),
        location=place if locations else None,  # "2 Locations" are named in the detail.
        locations=locations,
        arrangement=work_arrangement.from_label(item.remoteType),
        employment_type=employment.parse_employment_type(item.timeType),
        posted_at=dates.parse_date(item.postedOn),
        board=_board(config),
        vendor_id=vendor_id,
        requisition_id=requisition,
        partial=True,
    )


def _whole(found: _Detail, config: WorkdaySite) -> Posting:
    info = found.jobPostingInfo
    path = urlsplit(info.externalUrl or "").path or f"/{info.jobPostingId or ''}"
    vendor_id, requisition = _ids(path, (info.jobReqId,) if info.jobReqId else ())
    description = texts.from_html(info.jobDescription)
    return Posting(
        title=info.title,
        url=info.externalUrl or "",
        company=found.hiringOrganization.name if found.hiringOrganization else None,
        location=info.location,
        locations=location_text.unique_locations(info.location, info.additionalLocations),
        arrangement=work_arrangement.from_label(info.remoteType),
        employment_type=employment.parse_employment_type(info.timeType),
        # The day it was put up, not the day the work starts.
        posted_at=dates.parse_date(info.startDate) or dates.parse_date(info.postedOn),
        valid_through=dates.parse_deadline(info.endDate),
        description=description,
        board=_board(config) or _board_of(info),
        vendor_id=vendor_id,
        requisition_id=info.jobReqId or requisition,
        partial=description is None,
    )


def _ids(path: str, bullets: Iterable[str]) -> tuple[str | None, str | None]:
    """What names the posting on its site, and what names the vacancy on all sites of the tenant.

    A path ends with the requisition, and with a number more where it is mirrored: `_R123-1`.
    """
    end = path.rstrip("/").rpartition("/")[2]
    for bullet in bullets:
        if found := re.search(rf"_({re.escape(bullet)}(?:-\d{{1,2}})?)$", end):
            return found[1], bullet
    tail = end.rpartition("_")[2]
    if not re.search(r"\d", tail):
        return end or None, None
    return tail, re.sub(r"(?<=\d)-\d{1,2}$", "", tail)


def _board(config: WorkdaySite) -> str | None:
    return f"{config.company_id}/{config.site}" if config.company_id else None


def _board_of(info: _Info) -> str | None:
    """As the posting's page has it: TENANT.…/SITE/job/…, or …/recruiting/TENANT/SITE/job/…"""
    page = urlsplit(info.externalUrl or "")
    named = re.search(r"(?:/recruiting/([^/]+))?/([^/]+)/job/", page.path)
    tenant = (named and named[1]) or (page.hostname or "").partition(".")[0]
    site = info.jobPostingSiteId or (named and named[2])
    return f"{tenant}/{site}" if tenant and site else None


_TENANT = r"(?P<tenant>[a-z0-9_-]+)(?:\.wd[\w-]+)?"
_POD = r"(?:[a-z0-9_-]+\.)?wd[\w-]+"
# A site may be named like a language ("NM"): it is one only when another name follows.
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
POSTING_IDS = PostingIds(
    urls=(
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
    )
)


PLATFORM = Platform(
    name="workday",
    title="Workday",
    posting_ids=POSTING_IDS,
    first_request=first_request,
    read=read,
    detail_request=detail_request,
    read_detail=read_detail,
    board_page=_board_page,
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
