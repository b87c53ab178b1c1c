"""SmartRecruiters."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import quote

from jobmill.catalog.platform_rules import posting_ids, posting_url
from jobmill.catalog.posting import Arrangement, Posting
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, seniority, work_arrangement
from jobmill.extract.fields import html_text as texts
from jobmill.extract.lenient_models import ExternalRecord, Line, Link, Many, Maybe
from jobmill.outside.request import Request
from jobmill.places import location_text

from ..platform import BoardConfig, BoardPage, Platform, UrlGroups, board_url, html_marker

API = "https://api.smartrecruiters.com/v1/companies"
PAGES = "https://jobs.smartrecruiters.com"
_PAGE_SIZE = 100
# Each company names its custom fields itself; these names are common.
DEPARTMENT = re.compile(r"(?i)^departments?$")
WORKPLACE = re.compile(
    r"(?i)^(?:work(?:place|ing|site)?|location|remote|office) ?(?:type|model|arrangement|flexibility)$"
)


class _Labelled(ExternalRecord):
    id: Maybe[Line] = None
    label: Maybe[Line] = None
    code: Maybe[Line] = None


class _Custom(ExternalRecord):
    fieldLabel: Line
    valueLabel: Line


class _Company(ExternalRecord):
    identifier: Maybe[Line] = None
    name: Maybe[Line] = None


class _Place(ExternalRecord):
    city: Maybe[Line] = None
    region: Maybe[Line] = None
    country: Maybe[Line] = None
    fullLocation: Maybe[Line] = None
    remote: Maybe[bool] = None
    hybrid: Maybe[bool] = None

    def line(self) -> str | None:
        country = self.country.upper() if self.country else None
        return self.fullLocation or location_text.format_address(self.city, self.region, country)

    def arrangement(self) -> Arrangement | None:
        """None without a flag: both flags are also false if the company set neither."""
        return "hybrid" if self.hybrid else "remote" if self.remote else None


class _Section(ExternalRecord):
    title: Maybe[str] = None
    text: Maybe[str] = None


class _Sections(ExternalRecord):
    companyDescription: Maybe[_Section] = None
    jobDescription: Maybe[_Section] = None
    qualifications: Maybe[_Section] = None
    additionalInformation: Maybe[_Section] = None


class _Ad(ExternalRecord):
    sections: _Sections


class _Post(ExternalRecord):
    id: Line
    name: Line
    refNumber: Maybe[Line] = None
    company: Maybe[_Company] = None
    location: Maybe[_Place] = None
    releasedDate: Maybe[str] = None
    department: Maybe[_Labelled] = None
    typeOfEmployment: Maybe[_Labelled] = None
    experienceLevel: Maybe[_Labelled] = None
    language: Maybe[_Labelled] = None
    customField: Many[_Custom] = ()
    postingUrl: Link = None
    applyUrl: Link = None
    jobAd: Maybe[_Ad] = None


class _Text(ExternalRecord):
    """The text of a posting in a response that was saved without the other fields."""

    jobAd: _Ad


class _Listed(ExternalRecord):
    content: list[object]
    totalFound: Maybe[int] = None
    offset: Maybe[int] = None


def first_request(config: BoardConfig) -> Request:
    return _list_request(config, 0)


def read(body: bytes, request: Request, config: BoardConfig) -> BoardPage:
    """A page of the list, which has no texts, or a single posting with its text."""
    answer = lenient_models.parse_json(body)
    if post := lenient_models.parse_record(_Post, answer):
        return BoardPage((_posting(post, config),))
    if ad := lenient_models.parse_record(_Text, answer):
        return BoardPage(
            (Posting("", board=config.board_token or None, description=_text(ad.jobAd)),)
        )
    listed = _Listed.model_validate(answer)
    posts, stubs = lenient_models.parse_records(_Post, listed.content)
    offset = listed.offset or request.context.get("offset", 0)
    end, total = offset + len(listed.content), listed.totalFound
    missing = total is not None and end < total
    return BoardPage(
        tuple(_posting(post, config) for post in posts),
        (_list_request(config, end),) if missing and listed.content else (),
        truncated=missing and not listed.content,
        total=total,
        stubs=stubs,
    )


def detail_request(posting: Posting, config: BoardConfig) -> Request:
    board, id = posting.board or config.board_token, posting.vendor_id or ""
    return Request(f"{API}/{quote(board, safe='')}/postings/{quote(id, safe='')}")


def _list_request(config: BoardConfig, offset: int) -> Request:
    url = f"{API}/{quote(config.board_token, safe='')}/postings?limit={_PAGE_SIZE}&offset={offset}"
    return Request(url, context={"offset": offset})


def _posting(post: _Post, config: BoardConfig) -> Posting:
    company, place = post.company or _Company(), post.location or _Place()
    # Labels are in the posting's language; ids are always English.
    kind, level = post.typeOfEmployment or _Labelled(), post.experienceLevel or _Labelled()
    description = _text(post.jobAd) if post.jobAd else None
    board = company.identifier or config.board_token
    return Posting(
        title=post.name,
        # `ref` is a URL of the API.
        url=post.postingUrl or (f"{PAGES}/{quote(board, safe='')}/{post.id}" if board else ""),
        company=company.name,
        location=place.line(),
        locations=location_text.unique_locations(place.line()),
        arrangement=place.arrangement() or work_arrangement.from_label(_custom(post, WORKPLACE)),
        department=_label(post.department) or _custom(post, DEPARTMENT),
        employment_type=employment.parse_employment_type([kind.label, kind.id]),
        seniority=seniority.from_label(level.label) or seniority.from_label(level.id),
        posted_at=dates.parse_date(post.releasedDate),
        description=description,
        requirements=_asked_for(post.jobAd) if post.jobAd else None,
        apply_url=post.applyUrl,
        board=config.board_token or board or None,
        vendor_id=post.id,
        requisition_id=post.refNumber,
        language=post.language.code if post.language else None,
        partial=description is None,
    )


def _label(value: _Labelled | None) -> str | None:
    return value.label if value else None


def _custom(post: _Post, pattern: re.Pattern[str]) -> str | None:
    """The value of the first custom field with a matching name."""
    fits = (field.valueLabel for field in post.customField if pattern.search(field.fieldLabel))
    return next(fits, None)


def _asked_for(ad: _Ad) -> str | None:
    section = ad.sections.qualifications
    return texts.from_html(section.text) if section else None


def _text(ad: _Ad) -> str | None:
    """All four sections, each under its title."""
    sections = ad.sections
    return texts.join_sections(
        *(
            f"{texts.single_line(section.title) or ''}\n{text}".strip()
            for section in (
                sections.companyDescription,
                sections.jobDescription,
                sections.qualifications,
                sections.additionalInformation,
            )
            if section and (text := texts.from_html(section.text))
        )
    )


_SITES = r"(?:jobs|careers)"


def _config_from_url(groups: UrlGroups) -> dict[str, Any] | None:
    token = groups.get("token") or groups.get("company")
    return {"board_token": token} if token else None


_PAGE = "https://jobs.smartrecruiters.com/{board}/{id}"
PLATFORM = Platform(
    name="smartrecruiters",
    title="SmartRecruiters",
    guessable=True,
    allow_empty=False,  # The API also returns an empty list for an unknown company.
    first_request=first_request,
    read=read,
    detail_request=detail_request,
    board_page="https://careers.smartrecruiters.com/{board_token}",
    posting_ids=posting_ids(
        posting_url(
            r"(?:jobs|careers)\.smartrecruiters\.com",
            r"/(?P<board>[^/]+)/(?P<id>\d{9,})(?:-[^/]*)?(?:/.*)?",
            _PAGE,
            lowercase=True,
        ),
        posting_url(
            r"api\.smartrecruiters\.com",
            r"/v1/companies/(?P<board>[^/]+)/postings/(?P<id>\d{9,})",
            _PAGE,
            lowercase=True,
        ),
        unique=True,
        ignore_case=True,
    ),
    board_urls=(
        board_url("smartrecruiters.com", _SITES, r"/oneclick-ui/company/(?P<token>[^/]+)"),
        board_url("smartrecruiters.com", _SITES, r"/(?P<token>[^/]+)"),
        board_url("smartrecruiters.com", _SITES, query=("company",)),
        board_url("smartrecruiters.com", "api", r"/v1/companies/(?P<token>[^/]+)"),
        board_url("smartrecruiters.com", "www", r"/(?P<token>[^/]+)/\d{6,}"),
        board_url("smrtr.io", path="/."),
    ),
    html_markers=(
        html_marker(
            r"""\bwidget\(\s{0,9}\{\s{0,9}["']?company_code["']?\s{0,3}:\s{0,3}["'](?P<token>[\w.-]{1,80})["']""",
            "SmartRecruiters's widget",
        ),
    ),
    config_from_url=_config_from_url,
)
