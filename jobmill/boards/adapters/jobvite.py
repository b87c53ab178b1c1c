"""Jobvite."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import quote

from selectolax.lexbor import LexborHTMLParser, LexborNode

from jobmill.catalog.platform_rules import posting_ids, posting_url
from jobmill.catalog.posting import Posting
from jobmill.extract import html_tree, lenient_models
from jobmill.extract.fields import html_text
from jobmill.extract.page.text_checks import absolute_url
from jobmill.outside.request import Request

from ..platform import BoardConfig, BoardPage, Platform, board_token, board_url, html_marker

PATH = re.compile(r"jobvite\.com/(?:careers/)?([^/]+)/job/")
NAME = ".jv-job-list-name"
SITE = "https://jobs.jobvite.com"


def first_request(config: BoardConfig) -> Request:
    return Request(f"{SITE}/{quote(config.board_token, safe='')}/jobs/viewall", page=True)


def read(body: bytes, request: Request, config: BoardConfig) -> BoardPage:
    """The page with all postings, grouped by department, or the page of a single posting."""
    page = html_tree.parse_html(body)
    if single := _read_posting_page(page, request.url):
        return BoardPage((replace(single, board=board_token(config, PATH, single.url)),))
    if page.css_first("[class*='jv-']") is None:
        raise lenient_models.unknown_response(PLATFORM.title)
    postings: dict[str, Posting] = {}
    department, names, stubs = None, 0, 0
    # Some companies' own pages have the rows but not the class names.
    name = NAME if page.css_first(NAME) else "tr a[href*='/job/']"
    for node in page.css(f"h2, h3, {name}"):
        if node.tag in ("h2", "h3"):
            department = html_text.single_line(node.text(separator=" "))
            continue
        names += 1
        posting = _posting_from_row(node, department, request.url, config)
        stubs += posting is not None and posting.vendor_id is None
        if posting and posting.vendor_id:
            # The newest postings appear twice: first at the top, under a heading that is not a
            # department.
            postings[posting.vendor_id] = posting
    if names and not postings:
        raise lenient_models.unknown_response(PLATFORM.title)
    return BoardPage(tuple(postings.values()), stubs=stubs)


def detail_request(posting: Posting, config: BoardConfig) -> Request:
    return Request(posting.url, page=True)


def read_detail(body: bytes, posting: Posting, config: BoardConfig) -> Posting:
    details = _read_posting_page(html_tree.parse_html(body), posting.url)
    if details is None:
        raise lenient_models.unknown_response(PLATFORM.title)
    return details


def _posting_from_row(
    name: LexborNode, department: str | None, base: str, config: BoardConfig
) -> Posting | None:
    row = _enclosing(name, ("tr", "li"))
    link = row.css_first("a[href]") if row else None
    title = html_text.single_line(name.text(separator=" "))
    if row is None or link is None or not title:
        return None
    url = absolute_url(link.attributes["href"] or "", base or SITE) or ""
    place = row.css_first(".jv-job-list-location")
    location = html_text.single_line(place.text(separator=" ")) if place else None
    return Posting(
        title=title,
        url=lenient_models.parse_link(url) or "",
        location=location,
        department=department,
        board=board_token(config, PATH, url),
        vendor_id=_id(url),
        partial=True,
    )


def _read_posting_page(page: LexborHTMLParser, url: str) -> Posting | None:
    """The posting of its page: from structured data, else from the visible text."""
    button = page.css_first(".jv-button-apply[href]")
    form = absolute_url(button.attributes["href"] or "", url or SITE) if button else None
    page_url = url or re.sub(r"/apply\b.*", "", form or "")
    posting = html_tree.find_json_ld_posting(
        page, page_url, department="industry"
    ) or _posting_from_text(page, page_url)
    if posting is None:
        return None
    # The identifier in the structured data belongs to the posting, not to the vacancy.
    id = _id(posting.url) or posting.requisition_id
    return replace(
        posting, vendor_id=id, requisition_id=None, apply_url=lenient_models.parse_link(form)
    )


def _posting_from_text(page: LexborHTMLParser, url: str) -> Posting | None:
    header, body = page.css_first(".jv-header"), page.css_first(".jv-job-detail-description")
    title = html_text.single_line(header.text(separator=" ")) if header else None
    if not title or body is None:
        return None
    meta = page.css_first(".jv-job-detail-meta")
    # "Department City, Country", separated by an empty element.
    parts = (
        [html_text.single_line(part) for part in meta.text(separator="\n").split("\n")]
        if meta
        else []
    )
    labels = [part for part in parts if part]
    return Posting(
        title=title,
        url=url,
        department=labels[0] if len(labels) > 1 else None,
        location=labels[-1] if labels else None,
        description=html_text.from_html(body.html),
    )


def _enclosing(node: LexborNode, tags: tuple[str, ...]) -> LexborNode | None:
    for _ in range(6):
        if node.tag in tags:
            return node
        if node.parent is None:
            return None
        node = node.parent
    return None


def _id(url: str) -> str | None:
    match = re.search(r"/job/([\w-]+)", url)
    return match[1] if match else None


PLATFORM = Platform(
    name="jobvite",
    title="Jobvite",
    posting_ids=posting_ids(
        posting_url(
            r"jobs\.jobvite\.com",
            r"(?:/careers)?/(?P<board>[^/]+)/job/(?P<id>\w+)(?:/.*)?",
            "https://jobs.jobvite.com/{board}/job/{id}",
        ),
    ),
    board_urls=(
        board_url("jobvite.com", "jobs|careers", r"(?:/careers(?=/[^/]))?/(?P<token>[^/]+)"),
        board_url("jobvite.com", "hire|app", r"/(?:companyjobs|j)\b"),
    ),
    html_markers=(html_marker("jv-job-list", "Jobvite's page elements"),),
    first_request=first_request,
    read=read,
    detail_request=detail_request,
    read_detail=read_detail,
)
