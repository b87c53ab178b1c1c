"""iCIMS."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any
from urllib.parse import quote, urlsplit

from selectolax.lexbor import LexborHTMLParser, LexborNode

from jobmill.catalog.platform_rules import SUBDOMAIN, posting_ids, posting_url
from jobmill.catalog.posting import Posting
from jobmill.extract import html_tree, lenient_models
from jobmill.extract.fields import dates, employment, html_text, salary, work_arrangement
from jobmill.extract.lenient_models import ExternalRecord, Line, Link, Many, Maybe
from jobmill.extract.page.text_checks import absolute_url, is_malformed
from jobmill.outside.request import Request
from jobmill.places import location_text

from ..platform import (
    BoardConfig,
    BoardPage,
    Platform,
    UrlGroups,
    base_url,
    board_token,
    board_url,
    html_marker,
)


def _config_from_url(groups: UrlGroups) -> dict[str, Any] | None:
    token, host = groups["token"], groups["host"]
    config = {"board_token": token}
    if host != f"careers-{token}.icims.com":
        config["base_url"] = f"https://{host}"
    return config


class _Meta(ExternalRecord):
    canonical_url: Link = None


class _Named(ExternalRecord):
    name: Maybe[Line] = None


class _Data(ExternalRecord):
    title: Line
    req_id: Maybe[str] = None
    slug: Maybe[str] = None
    description: Maybe[str] = None
    responsibilities: Maybe[str] = None
    qualifications: Maybe[str] = None
    full_location: Maybe[str] = None
    location_name: Maybe[str] = None
    city: Maybe[str] = None
    state: Maybe[str] = None
    country: Maybe[str] = None
    location_type: Maybe[str] = None
    employment_type: Maybe[str] = None
    department: Maybe[str] = None
    category: Many[str] = ()
    categories: Many[_Named] = ()
    hiring_organization: Maybe[str] = None
    posted_date: Maybe[str] = None
    update_date: Maybe[str] = None
    apply_url: Link = None
    salary_min_value: Maybe[float] = None
    salary_max_value: Maybe[float] = None
    salary_currency: Maybe[str] = None
    salary_unit: Maybe[str] = None
    language: Maybe[str] = None
    meta_data: Maybe[_Meta] = None


class _Entry(ExternalRecord):
    data: _Data


class _Answer(ExternalRecord):
    jobs: list[object]
    totalCount: Maybe[int] = None


PAGE = 100
CATEGORY = "occupationalCategory"
HOST = re.compile(r"//(?:[a-z0-9-]*careers?[a-z0-9]*-)?([\w-]+)\.icims\.com/", re.IGNORECASE)
LINK = re.compile(r"/jobs/(\d+)/([^/?#]*)/?(?:job)?(?=[?#]|$)")


def first_request(config: BoardConfig) -> Request:
    """New sites have their own hosts and an API; sites on the platform's hosts have none."""
    new = config.base_url and not config.base_url.rstrip("/").endswith(".icims.com")
    return _api_request(config, 1) if new else _search_request(config, 0)


def _base(config: BoardConfig) -> str:
    if config.base_url or not config.board_token:
        return base_url(config, "icims.com")
    named = config.model_copy(update={"board_token": f"careers-{config.board_token}"})
    return base_url(named, "icims.com")


def _api_request(config: BoardConfig, page: int) -> Request:
    return Request(f"{_base(config)}/api/jobs?page={page}&limit={PAGE}", context={"page": page})


def _search_request(config: BoardConfig, page: int) -> Request:
    url = f"{_base(config)}/jobs/search?pr={page}&in_iframe=1"
    return Request(url, page=True, context={"page": page})


def read(body: bytes, request: Request, config: BoardConfig) -> BoardPage:
    """A response of the new API, a page of a classic list, or the page of a single posting."""
    if body.lstrip()[:1] in (b"{", b"["):
        return _read_new(body, request, config)
    return _read_classic(html_tree.parse_html(body), request, config)


def _read_new(body: bytes, request: Request, config: BoardConfig) -> BoardPage:
    answer = _Answer.model_validate(lenient_models.parse_json(body))
    entries, stubs = lenient_models.parse_records(_Entry, answer.jobs)
    page, total = request.context.get("page", 1), answer.totalCount
    has_next = total is not None and page * PAGE < total
    return BoardPage(
        tuple(_posting(entry.data, config) for entry in entries),
        next=(_api_request(config, page + 1),) if has_next and answer.jobs else (),
        truncated=has_next and not answer.jobs,
        total=total,
        stubs=stubs,
    )


def _posting(job: _Data, config: BoardConfig) -> Posting:
    place = location_text.format_address(job.city, job.state, job.country)
    location = (
        html_text.single_line(job.full_location)
        or place
        or html_text.single_line(job.location_name)
    )
    id = job.slug or job.req_id
    requirements = html_text.from_html(job.qualifications)
    page = job.meta_data.canonical_url if job.meta_data else None
    site = _base(config)
    return Posting(
        title=job.title,
        url=page or (f"{site}/jobs/{quote(id, safe='')}" if site and id else job.apply_url or ""),
        company=html_text.single_line(job.hiring_organization),
        location=location,
        arrangement=work_arrangement.from_label(job.location_type),
        department=_department(job),
        employment_type=employment.parse_employment_type(job.employment_type),
        posted_at=dates.parse_date(job.posted_date),
        updated_at=dates.parse_date(job.update_date),
        salary=salary.from_fields(
            job.salary_min_value, job.salary_max_value, job.salary_currency, job.salary_unit
        ),
        description=html_text.join_sections(
            html_text.from_html(job.description),
            html_text.from_html(job.responsibilities),
            requirements,
        ),
        requirements=requirements,
        apply_url=job.apply_url,
        board=board_token(config, HOST, job.apply_url or ""),
        vendor_id=id,
        requisition_id=job.req_id,
        language=html_text.single_line(job.language),
        partial=not job.description,
    )


def _department(job: _Data) -> str | None:
    named = [job.department, *job.category, *(category.name for category in job.categories)]
    return next(filter(None, map(html_text.single_line, named)), None)


def _read_classic(page: LexborHTMLParser, request: Request, config: BoardConfig) -> BoardPage:
    if single := html_tree.find_json_ld_posting(page, request.url, CATEGORY):
        link = LINK.search(single.url) or LINK.search(request.url)
        board = board_token(config, HOST, single.url)
        return BoardPage((replace(single, board=board, vendor_id=link[1] if link else None),))
    if page.css_first("[class*='iCIMS'], [id*='icims']") is None:
        return _try_classic_site(request, config)
    base, anchors = request.url or _base(config), page.css("a[href*='/jobs/']")
    postings = {
        posting.vendor_id: posting
        for anchor in anchors
        if (posting := _posting_from_link(anchor, base, config))
    }
    if not postings and (frame := _frame_request(page, base)):
        return BoardPage((), next=(frame,))
    page_number = request.context.get("page", 0)
    page_count = re.search(
        r"Page\s+\d+\s+of\s+(\d+)", page.body.text(separator=" ") if page.body else ""
    )
    has_next = bool(page_count) and page_number + 1 < int(page_count[1])
    return BoardPage(
        tuple(postings.values()),
        next=(_search_request(config, page_number + 1),) if has_next and postings else (),
        truncated=has_next and not postings,
        stubs=sum(is_malformed(anchor.attributes["href"] or "") for anchor in anchors),
    )


def _try_classic_site(request: Request, config: BoardConfig) -> BoardPage:
    """A site on its own host without the new API may be a classic one; anything else is an error."""
    if "/api/jobs" in request.url:
        return BoardPage((), next=(_search_request(config, 0),))
    raise lenient_models.unknown_response(PLATFORM.title)


def _frame_request(page: LexborHTMLParser, base: str) -> Request | None:
    """The request for the list, if the page only shows it in a frame."""
    inner = page.css_first("iframe[id*='icims'][src], iframe[src*='in_iframe=1']")
    url = absolute_url(inner.attributes["src"] or "", base) if inner else None
    same_host = url and urlsplit(url).hostname == urlsplit(base).hostname
    return Request(url, page=True) if url and same_host and "in_iframe" not in base else None


def _posting_from_link(anchor: LexborNode, base: str, config: BoardConfig) -> Posting | None:
    href = anchor.attributes["href"] or ""
    link = LINK.search(href)
    title_element = (
        anchor.css_first("h1, h2, h3, h4") or anchor.css_first("span:not(.sr-only)") or anchor
    )
    title = html_text.single_line(title_element.text(separator=" "))
    if link is None or not title or is_malformed(href):
        return None
    card = _enclosing_card(anchor)
    url = lenient_models.parse_link((absolute_url(href, base) or "").split("?")[0]) or ""
    where = _labelled(card, "location")
    return Posting(
        title=title,
        url=url,
        location=where,
        arrangement=work_arrangement.from_label(
            _labelled(card, "(?:arrangement|remote|workplace)")
        ),
        department=_labelled(card, "(?:department|category)"),
        employment_type=employment.parse_employment_type(
            _labelled(card, "(?:position|employment|job|time) type")
        ),
        posted_at=dates.parse_date(_labelled(card, "posted")),
        board=board_token(config, HOST, url),
        vendor_id=link[1],
        requisition_id=_labelled(card, "id"),
        partial=True,
    )


def _enclosing_card(node: LexborNode) -> LexborNode:
    for _ in range(6):
        classes = node.attributes.get("class") or ""
        if node.tag in ("li", "tr") or "row" in classes.split() or node.parent is None:
            return node
        node = node.parent
    return node


def _labelled(card: LexborNode, word: str) -> str | None:
    """The value after a label that matches the pattern."""
    for label in card.css(".field-label, .iCIMS_JobHeaderField"):
        value = label.next
        while value is not None and value.tag not in ("span", "dd"):
            value = value.next
        if value is not None and re.search(rf"\b{word}", label.text(), re.IGNORECASE):
            content = value.css_first("span[title]") or value
            return html_text.single_line(
                content.attributes.get("title") or content.text(separator=" ")
            )
    return None


def detail_request(posting: Posting, config: BoardConfig) -> Request:
    """Only the inner page of the frame has the structured data."""
    return Request(f"{posting.url}?in_iframe=1", page=True)


def read_detail(body: bytes, posting: Posting, config: BoardConfig) -> Posting:
    return html_tree.read_json_ld_posting(body, posting.url, CATEGORY)


PLATFORM = Platform(
    name="icims",
    title="iCIMS",
    posting_ids=posting_ids(
        posting_url(
            rf"{SUBDOMAIN}\.icims\.com",
            r"/jobs/(?P<id>\d+)(?:/.*)?",
            "https://{board}.icims.com/jobs/{id}/job",
        ),
    ),
    board_urls=(
        board_url("icims.com", r"(?:[a-z0-9]+-)*?[a-z0-9]*careers?[a-z0-9]*-(?P<token>[a-z0-9-]+)"),
        board_url("icims.com", r"(?P<token>[a-z0-9-]+)"),
        board_url("jibeapply.com", r"(?P<token>[a-z0-9-]+)"),
    ),
    html_markers=(
        html_marker(r"jibecdn\.com/", "iCIMS's scripts", hosted=True),
        html_marker(r"iCIMS_[A-Z]", "iCIMS's page elements"),
    ),
    config_from_url=_config_from_url,
    first_request=first_request,
    read=read,
    detail_request=detail_request,
    read_detail=read_detail,
)
