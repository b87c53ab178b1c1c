"""Personio."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote
from xml.etree.ElementTree import Element

from pydantic import AliasChoices, Field

from jobmill.catalog.platform_rules import SUBDOMAIN, PostingIds, posting_url
from jobmill.catalog.posting import Posting, Salary
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, salary, seniority
from jobmill.extract.fields import html_text as texts
from jobmill.extract.lenient_models import ExternalRecord, Line, Many, Maybe
from jobmill.outside.request import Request
from jobmill.places import location_text

from ..platform import BoardConfig, BoardPage, Platform, UrlGroups, base_url, board_url


class _Position(ExternalRecord):
    """As the board's own search has it, which says less than the feed."""

    id: Line
    name: Line
    subcompany: Maybe[Line] = None
    office: Maybe[Line] = None
    offices: Many[Line] = ()
    department: Maybe[Line] = None
    employment_type: Maybe[Line] = None
    schedule: Maybe[Line] = None
    seniority: Maybe[str] = None
    keywords: Maybe[str] = None
    description: Maybe[str] = None
    createdAt: Maybe[str] = Field(None, validation_alias=AliasChoices("createdAt", "created_at"))


class PersonioFeed(BoardConfig):
    """A board's feed in one language: each language has its own."""

    language: str = "en"


def first_request(config: PersonioFeed) -> Request:
    base = base_url(config, "jobs.personio.de")
    return Request(f"{base}/xml?language={quote(config.language, safe='')}")


def read(body: bytes, request: Request, config: PersonioFeed) -> BoardPage:
    """The whole feed, one position, or what the board's own search finds."""
    if body.lstrip()[:1] == b"[":
        found, stubs = lenient_models.parse_records(_Position, lenient_models.parse_json_list(body))
        return BoardPage(tuple(_found(one, config) for one in found), stubs=stubs)
    root = lenient_models.parse_xml(body)
    if root.tag not in ("workzag-jobs", "position"):
        raise lenient_models.unknown_response("Personio")
    positions = [root] if root.tag == "position" else root.findall("position")
    postings = tuple(found for one in positions if (found := _posting(one, config)))
    if positions and not postings:
        raise lenient_models.unknown_response("Personio")
    return BoardPage(postings, stubs=len(positions) - len(postings))


def _posting(position: Element, config: PersonioFeed) -> Posting | None:
    id, title = _line(position, "id"), _line(position, "name")
    if not id or not title:
        return None
    office = _line(position, "office")
    description = _text(position)
    return Posting(
        title=title,
        url=_url(id, config),
        company=_line(position, "subcompany"),
        location=office,
        locations=location_text.unique_locations(
            office, [one.text for one in position.iterfind("additionalOffices/office")]
        ),
        department=_line(position, "department") or _line(position, "recruitingCategory"),
        employment_type=_employment(_line(position, "employmentType"), _line(position, "schedule")),
        seniority=seniority.from_label(_line(position, "seniority")),
        posted_at=dates.parse_date(_line(position, "createdAt")),
        salary=_pay(position),
        description=description,
        board=config.board_token or None,
        vendor_id=id,
        tags=_tags(_line(position, "keywords")),
        partial=description is None,
    )


def _found(one: _Position, config: PersonioFeed) -> Posting:
    description = texts.from_html(one.description)
    return Posting(
        title=one.name,
        url=_url(one.id, config),
        company=one.subcompany,
        location=one.office,
        locations=location_text.unique_locations(one.offices or one.office),
        department=one.department,
        employment_type=_employment(one.employment_type, one.schedule),
        seniority=seniority.from_label(one.seniority),
        posted_at=dates.parse_date(one.createdAt),
        description=description,
        board=config.board_token or None,
        vendor_id=one.id,
        tags=_tags(one.keywords),
        partial=description is None,
    )


def _url(id: str, config: PersonioFeed) -> str:
    """Positions do not name their page; "" for a saved feed that nobody knows the site of."""
    known = config.base_url or config.board_token
    return f"{base_url(config, 'jobs.personio.de')}/job/{quote(id, safe='')}" if known else ""


def _tags(keywords: str | None) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, (keywords or "").split(","))))


def _line(position: Element, path: str) -> str | None:
    return texts.single_line(position.findtext(path))


def _employment(kind: str | None, hours: str | None) -> str | None:
    """How one is employed, unless it is for good: then how much one works says more."""
    return employment.parse_employment_type(hours or kind if kind in (None, "permanent") else kind)


def _pay(position: Element) -> Salary | None:
    at = "salaryInformation/"
    currency = _line(position, f"{at}currencyCode") or _line(position, f"{at}currencySymbol")
    low, high = _line(position, f"{at}min"), _line(position, f"{at}max")
    return salary.from_fields(low, high, currency, _line(position, f"{at}type"))


def _text(position: Element) -> str | None:
    """All parts of the description, each below its name."""
    parts = position.iterfind("jobDescriptions/jobDescription")
    return texts.join_sections(
        *(
            f"{_line(part, 'name') or ''}\n{text}".strip()
            for part in parts
            if (text := texts.from_html(part.findtext("value")))
        )
    )


_TENANT = r"(?P<token>[a-z0-9-]+?)[.-]jobs"


def _config_from_url(groups: UrlGroups) -> dict[str, Any] | None:
    # A bare token has no host: then it is at the main site.
    at_home = {"base_url": f"https://{groups['host']}"} if groups["host"] else {}
    return {"board_token": groups["token"], **at_home}


POSTING_IDS = PostingIds(
    urls=(
        posting_url(
            rf"{SUBDOMAIN}\.jobs\.personio\.[a-z]{{2,3}}",
            r"/job/(?P<id>\d+)(?:/.*)?",
            "https://{board}.jobs.personio.de/job/{id}",
        ),
    ),
)


PLATFORM = Platform(
    name="personio",
    title="Personio",
    posting_ids=POSTING_IDS,
    guessable=True,
    config=PersonioFeed,
    first_request=first_request,
    read=read,
    board_urls=(
        board_url("personio.de", _TENANT),
        board_url("personio.com", _TENANT),
    ),
    config_from_url=_config_from_url,
)
