"""JazzHR."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import quote

from selectolax.lexbor import LexborHTMLParser, LexborNode

from jobmill.catalog.platform_rules import SUBDOMAIN, posting_ids, posting_url
from jobmill.catalog.posting import Posting
from jobmill.extract import html_tree, lenient_models
from jobmill.extract.fields import dates, employment, html_text, seniority
from jobmill.extract.page.text_checks import absolute_url, is_malformed
from jobmill.outside.request import Request
from jobmill.places import location_text

from ..platform import BoardConfig, BoardPage, Platform, board_token, board_url

HOST = re.compile(r"^https?://([\w-]+)\.applytojob\.com/", re.IGNORECASE)
CODE = re.compile(r"/apply/(?:jobs/details/)?(?!jobs\b)([A-Za-z0-9]{5,})")
MADE = re.compile(r"job_(\d{4})(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)")


def first_request(config: BoardConfig) -> Request:
    return Request(f"https://app.jazz.co/feeds/export/jobs/{quote(config.board_token, safe='')}")


def read(body: bytes, request: Request, config: BoardConfig) -> BoardPage:
    """The feed with all syndicated postings, without drafts and closed ones. Also reads the pages
    of a board and of a single posting."""
    if b"<jobs" not in body[:2000]:
        return _read_page(html_tree.parse_html(body), request, config)
    feed = lenient_models.parse_xml(body)
    if feed.tag != "jobs":
        raise lenient_models.unknown_response(PLATFORM.title)
    entries = [
        {part.tag: (part.text or "").strip() for part in entry} for entry in feed.iter("job")
    ]
    titled = [entry for entry in entries if entry.get("title")]
    if entries and not titled:
        raise lenient_models.unknown_response(PLATFORM.title)
    postings = tuple(
        _posting(entry, config)
        for entry in titled
        if entry.get("status", "").casefold() in ("open", "")
    )
    return BoardPage(postings, stubs=len(entries) - len(titled))


def _posting(entry: dict[str, str], config: BoardConfig) -> Posting:
    location = location_text.format_address(
        entry.get("city"), entry.get("state"), entry.get("country")
    )
    created = MADE.match(entry.get("id", ""))
    url = lenient_models.parse_link(entry.get("url")) or ""
    return Posting(
        title=html_text.single_line(entry["title"]) or "",
        url=url,
        location=location,
        locations=location_text.unique_locations(location),
        department=html_text.single_line(entry.get("department")),
        employment_type=employment.parse_employment_type(entry.get("type")),
        seniority=seniority.from_label(entry.get("experience")),
        posted_at=dates.parse_date("{}-{}-{}T{}:{}:{}".format(*created.groups()))
        if created
        else None,
        description=html_text.from_html(entry.get("description")),
        board=board_token(config, HOST, url),
        vendor_id=entry.get("id") or None,
    )


def _read_page(page: LexborHTMLParser, request: Request, config: BoardConfig) -> BoardPage:
    if posting := html_tree.find_json_ld_posting(page, request.url):
        code = CODE.search(posting.url)
        board = board_token(config, HOST, posting.url)
        return BoardPage((replace(posting, board=board, vendor_id=code[1] if code else None),))
    if posting := _posting_from_text(page, request.url, config):
        return BoardPage((posting,))
    links = page.css("h1 a[href*='/apply/'], h2 a[href*='/apply/'], h3 a[href*='/apply/']")
    postings = [
        posting for link in links if (posting := _posting_from_link(link, request.url, config))
    ]
    if not postings and page.css_first("[href*='applytojob.com'], [class*='resumator']") is None:
        raise lenient_models.unknown_response(PLATFORM.title)
    stubs = sum(is_malformed(link.attributes["href"] or "") for link in links)
    return BoardPage(
        tuple({posting.vendor_id: posting for posting in postings}.values()), stubs=stubs
    )


def _posting_from_text(page: LexborHTMLParser, url: str, config: BoardConfig) -> Posting | None:
    """The posting of an older page without structured data, titled "Role - Company - Career Page"."""
    body, title_element = (
        page.css_first("#job-description, .job_description"),
        page.css_first("title"),
    )
    named = (
        (html_text.single_line(title_element.text()) or "").rsplit(" - ", 2)
        if title_element
        else []
    )
    if body is None or len(named) < 3:
        return None
    code = CODE.search(url)
    return Posting(
        title=named[0],
        url=url,
        company=named[1],
        description=html_text.from_html(body.html),
        board=board_token(config, HOST, url),
        vendor_id=code[1] if code else None,
    )


def _posting_from_link(link: LexborNode, base: str, config: BoardConfig) -> Posting | None:
    url = lenient_models.parse_link(absolute_url(link.attributes["href"] or "", base)) or ""
    code, title = CODE.search(url), html_text.single_line(link.text(separator=" "))
    card = link.parent.parent if link.parent else None
    if not code or not title or card is None:
        return None
    location = _text_beside_icon(card, "map-marker")
    return Posting(
        title=title,
        url=url,
        location=location,
        locations=location_text.unique_locations(location),
        department=_text_beside_icon(card, "sitemap"),
        board=board_token(config, HOST, url),
        vendor_id=code[1],
        partial=True,
    )


def _text_beside_icon(card: LexborNode, icon: str) -> str | None:
    element = card.css_first(f"[class*='{icon}']")
    return (
        html_text.single_line(element.parent.text(separator=" "))
        if element and element.parent
        else None
    )


PLATFORM = Platform(
    name="jazzhr",
    title="JazzHR",
    posting_ids=posting_ids(
        posting_url(
            rf"{SUBDOMAIN}\.applytojob\.com",
            r"/apply/(?:jobs/details/)?(?P<id>[0-9A-Za-z]{8,12})(?:/.*)?",
            "https://{board}.applytojob.com/apply/{id}",
        ),
    ),
    board_urls=(
        board_url("applytojob.com", r"(?P<token>[a-z0-9-]+)"),
        board_url(
            "jazz.co", "app", r"/(?:feeds/export/jobs|widgets/basic/create)/(?P<token>[^/]+)"
        ),
        board_url("theresumator.com", r"(?P<token>[a-z0-9-]+)"),
    ),
    first_request=first_request,
    read=read,
)
