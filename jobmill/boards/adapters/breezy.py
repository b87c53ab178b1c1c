"""Breezy."""

from __future__ import annotations

import re
from dataclasses import replace

from jobmill.catalog.platform_rules import SUBDOMAIN, posting_ids, posting_url
from jobmill.catalog.posting import Arrangement, Posting
from jobmill.extract import html_tree, lenient_models
from jobmill.extract.fields import dates, employment, html_text, salary
from jobmill.extract.lenient_models import ExternalRecord, Line, Link, Many, Maybe
from jobmill.outside.request import Request
from jobmill.places import location_text

from ..platform import BoardConfig, BoardPage, Platform, base_url, board_token, board_url


class _Named(ExternalRecord):
    name: Maybe[str] = None


class _Location(ExternalRecord):
    name: Maybe[str] = None
    city: Maybe[str] = None
    state: Maybe[_Named] = None
    country: Maybe[_Named] = None
    is_remote: Maybe[bool] = None

    def line(self) -> str | None:
        state, country = (part.name if part else None for part in (self.state, self.country))
        return html_text.single_line(self.name) or location_text.format_address(
            self.city, state, country
        )


class _Position(ExternalRecord):
    id: str
    name: Line
    url: Link = None
    friendly_id: Maybe[str] = None
    published_date: Maybe[str] = None
    type: Maybe[_Named] = None
    location: Maybe[_Location] = None
    locations: Many[_Location] = ()
    department: Maybe[str] = None
    salary: Maybe[str] = None
    description: Maybe[str] = None
    company: Maybe[_Named] = None


HOST = re.compile(r"^https?://([\w-]+)\.breezy\.hr/", re.IGNORECASE)


def first_request(config: BoardConfig) -> Request:
    return Request(f"{base_url(config, 'breezy.hr')}/json")


def read(body: bytes, request: Request, config: BoardConfig) -> BoardPage:
    """The list, or the page of a single position."""
    if body.lstrip()[:1] == b"<":
        posting = html_tree.read_json_ld_posting(body, request.url)
        board = board_token(config, HOST, posting.url)
        return BoardPage((replace(posting, board=board, vendor_id=_id(posting.url)),))
    positions, stubs = lenient_models.parse_records(_Position, lenient_models.parse_json_list(body))
    postings = tuple(_posting(position, config) for position in positions)
    return BoardPage(postings, total=len(positions) + stubs, stubs=stubs)


def detail_request(posting: Posting, config: BoardConfig) -> Request:
    """The URL of a removed posting redirects to the board's front page, which has no posting."""
    return Request(posting.url, page=True)


def _id(url: str) -> str | None:
    match = re.search(r"/p/([0-9a-f]{12})", url)
    return match[1] if match else None


def _posting(position: _Position, config: BoardConfig) -> Posting:
    places = [place for place in (position.location, *position.locations) if place]
    lines = location_text.unique_locations([place.line() for place in places])
    # A false flag does not mean on site: most companies never set it.
    remote: Arrangement | None = "remote" if any(place.is_remote for place in places) else None
    site = base_url(config, "breezy.hr")
    url = position.url or (f"{site}/p/{position.friendly_id or position.id}" if site else "")
    return Posting(
        title=position.name,
        url=url,
        company=html_text.single_line(position.company.name) if position.company else None,
        location="; ".join(lines) or None,
        locations=lines,
        arrangement=remote,
        department=html_text.single_line(position.department),
        employment_type=employment.parse_employment_type(position.type.name)
        if position.type
        else None,
        posted_at=dates.parse_date(position.published_date),
        salary=salary.from_text(position.salary),
        description=html_text.from_html(position.description),
        board=board_token(config, HOST, url),
        vendor_id=position.id,
        partial=not position.description,
    )


PLATFORM = Platform(
    name="breezy",
    title="Breezy",
    posting_ids=posting_ids(
        posting_url(
            rf"{SUBDOMAIN}\.breezy\.hr",
            r"/p/(?P<id>[0-9a-f]{8,})(?:-[^/]*)?(?:/.*)?",
            "https://{board}.breezy.hr/p/{id}",
        ),
    ),
    guessable=True,
    board_urls=(board_url("breezy.hr", r"(?P<token>[a-z0-9-]+)"),),
    first_request=first_request,
    read=read,
    detail_request=detail_request,
)
