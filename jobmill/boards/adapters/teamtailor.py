"""Teamtailor."""

from __future__ import annotations

import re
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element

from pydantic import Field

from jobmill.catalog.platform_rules import LANGUAGE, posting_ids, posting_url
from jobmill.catalog.posting import Arrangement, Posting, Salary
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, salary
from jobmill.extract.fields import html_text as texts
from jobmill.extract.lenient_models import ExternalRecord, Line, Link, Many, Maybe
from jobmill.outside.request import Request
from jobmill.places import location_text

from ..platform import (
    BoardConfig,
    BoardPage,
    Platform,
    base_url,
    board_token,
    board_url,
    html_marker,
)

REMOTE: dict[str | None, Arrangement] = {"fully": "remote", "hybrid": "hybrid"}
HOSTED = re.compile(r"//([\w-]+)(?:\.na)?\.teamtailor\.com\b")


class _Named(ExternalRecord):
    name: Maybe[Line] = None


class _Address(ExternalRecord):
    addressLocality: Maybe[Line] = None
    addressRegion: Maybe[Line] = None
    addressCountry: Maybe[Line | _Named] = None

    def line(self) -> str | None:
        country = self.addressCountry
        name = country.name if isinstance(country, _Named) else country
        return location_text.format_address(self.addressLocality, self.addressRegion, name)


class _Place(ExternalRecord):
    address: Maybe[_Address] = None


class _Amounts(ExternalRecord):
    value: Maybe[float] = None
    minValue: Maybe[float] = None
    maxValue: Maybe[float] = None
    unitText: Maybe[str] = None


class _Pay(ExternalRecord):
    currency: Maybe[str] = None
    value: Maybe[_Amounts] = None


class _Identifier(ExternalRecord):
    value: Maybe[Line] = None


class _JobPosting(ExternalRecord):
    """The schema.org block of an entry."""

    title: Maybe[Line] = None
    description: Maybe[str] = None
    identifier: Maybe[_Identifier] = None
    datePosted: Maybe[str] = None
    validThrough: Maybe[str] = None
    employmentType: Many[str] = ()
    hiringOrganization: Maybe[_Named] = None
    jobLocation: Many[_Place] = ()
    jobLocationType: Maybe[str] = None
    applicantLocationRequirements: Many[_Named] = ()
    baseSalary: Maybe[_Pay] = None


class _Entry(ExternalRecord):
    id: Line
    title: Line
    url: Link = None
    content_html: Maybe[str] = None
    date_published: Maybe[str] = None
    date_modified: Maybe[str] = None
    language: Maybe[Line] = None
    tags: Many[Line] = ()
    jobposting: Maybe[_JobPosting] = Field(None, alias="_jobposting")


class _Feed(ExternalRecord):
    version: str
    items: list[object]
    title: Maybe[Line] = None
    feed_url: Link = None
    next_url: Link = None


def first_request(config: BoardConfig) -> Request:
    domain = "na.teamtailor.com" if config.region == "na" else "teamtailor.com"
    return Request(f"{base_url(config, domain)}/jobs.json")


def read(body: bytes, request: Request, config: BoardConfig) -> BoardPage:
    """A page of the JSON feed, one of its entries, or the RSS feed."""
    if body.lstrip()[:1] == b"<":
        return _read_rss(lenient_models.parse_xml(body), config)
    answer = lenient_models.parse_json(body)
    if entry := lenient_models.parse_record(_Entry, answer):
        return BoardPage((_posting(entry, None, config),))
    feed = _Feed.model_validate(answer)
    if "jsonfeed.org" not in feed.version:
        raise lenient_models.unknown_response("Teamtailor")
    entries, stubs = lenient_models.parse_records(_Entry, feed.items)
    postings = tuple(_posting(entry, feed, config) for entry in entries)
    return BoardPage(postings, _next_request(feed, request), stubs=stubs)


def _next_request(feed: _Feed, request: Request) -> tuple[Request, ...]:
    """The request for the next page, if it is on the same site."""
    current, following = request.url or feed.feed_url or "", feed.next_url or ""
    same_site = urlsplit(following).hostname == urlsplit(current).hostname
    return (Request(following),) if following and following != current and same_site else ()


def _read_rss(root: Element, config: BoardConfig) -> BoardPage:
    if root.tag != "rss":
        raise lenient_models.unknown_response("Teamtailor")
    company, items = texts.single_line(root.findtext("channel/title")), root.findall("channel/item")
    postings = [posting for item in items if (posting := _posting_from_item(item, company, config))]
    if items and not postings:
        raise lenient_models.unknown_response("Teamtailor")
    return BoardPage(tuple(postings), stubs=len(items) - len(postings))


def _posting_from_item(item: Element, company: str | None, config: BoardConfig) -> Posting | None:
    """The posting of an RSS item, which has department and remote status, but not the hours."""
    texts_by_tag = _texts_by_tag(item)
    title, url = (
        texts.single_line(texts_by_tag.get("title")),
        lenient_models.parse_link(texts_by_tag.get("link")),
    )
    if not title or not url:
        return None
    locations = location_text.unique_locations(
        [_location(_texts_by_tag(location)) for location in item.iter("tt:location")]
    )
    description = texts.from_html(texts_by_tag.get("description"))
    return Posting(
        title=title,
        url=url,
        company=company,
        location="; ".join(locations) or None,
        locations=locations,
        arrangement=REMOTE.get(texts_by_tag.get("remoteStatus")),
        department=texts.single_line(texts_by_tag.get("tt:department")),
        posted_at=dates.parse_date(texts_by_tag.get("pubDate")),
        description=description,
        board=board_token(config, HOSTED, url),
        vendor_id=texts.single_line(texts_by_tag.get("guid")) or url,
        partial=description is None,
    )


def _texts_by_tag(element: Element) -> dict[str, str]:
    return {part.tag: (part.text or "").strip() for part in element}


def _location(place: dict[str, str]) -> str | None:
    """The city and country of a place, else its name."""
    address = location_text.format_address(place.get("tt:city"), None, place.get("tt:country"))
    return address or texts.single_line(place.get("tt:name"))


def _posting(entry: _Entry, feed: _Feed | None, config: BoardConfig) -> Posting:
    structured = entry.jobposting or _JobPosting()
    description = texts.from_html(
        max(structured.description or "", entry.content_html or "", key=len)
    )
    company = structured.hiringOrganization.name if structured.hiringOrganization else None
    locations = location_text.unique_locations(
        [place.address.line() for place in structured.jobLocation if place.address]
    )
    hosted = HOSTED.search(f"{entry.url} {feed.feed_url if feed else ''}")
    return Posting(
        title=entry.title,
        url=entry.url or "",
        company=company or (feed.title if feed else None),
        location="; ".join(locations) or None,
        locations=locations,
        arrangement=_arrangement(structured),
        remote_from=tuple(
            place.name for place in structured.applicantLocationRequirements if place.name
        ),
        employment_type=employment.parse_employment_type(structured.employmentType),
        posted_at=dates.parse_date(structured.datePosted) or dates.parse_date(entry.date_published),
        updated_at=dates.parse_date(entry.date_modified),
        valid_through=dates.parse_deadline(structured.validThrough),
        salary=_pay(structured.baseSalary),
        description=description,
        board=config.board_token or (hosted[1] if hosted else None),
        vendor_id=entry.id,
        requisition_id=structured.identifier.value if structured.identifier else None,
        language=entry.language,
        tags=entry.tags,
        partial=description is None,
    )


def _arrangement(structured: _JobPosting) -> Arrangement | None:
    return "remote" if structured.jobLocationType == "TELECOMMUTE" else None


def _pay(pay: _Pay | None) -> Salary | None:
    if pay is None or pay.value is None:
        return None
    amounts = pay.value
    low, high = amounts.minValue or amounts.value, amounts.maxValue or amounts.value
    return salary.from_fields(low, high, pay.currency, amounts.unitText)


PLATFORM = Platform(
    name="teamtailor",
    title="Teamtailor",
    posting_ids=posting_ids(
        posting_url(
            r"(?P<board>[\w-]+(?:\.na)?)\.teamtailor\.com",
            rf"{LANGUAGE}/jobs/(?P<id>\d+)(?:-[^/]*)?(?:/.*)?",
            "https://{board}.teamtailor.com/jobs/{id}",
        ),
    ),
    guessable=True,
    first_request=first_request,
    read=read,
    board_urls=(board_url("teamtailor.com", r"(?P<token>[a-z0-9-]+)(?:\.(?P<region>na))?"),),
    html_markers=(
        html_marker(r"teamtailor-jobs-widget", "Teamtailor's widget"),
        html_marker(
            r"//[\w-]{1,40}\.teamtailor-cdn\.com/assets/packs", "Teamtailor's scripts", hosted=True
        ),
        html_marker(r"//[\w-]{1,40}\.teamtailor-cdn\.com/", "Teamtailor's files"),
    ),
)
