"""Personio."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote
from xml.etree.ElementTree import Element

from pydantic import AliasChoices, Field

from jobmill.catalog.platform_rules import SUBDOMAIN, posting_ids, posting_url
from jobmill.catalog.posting import Posting, Salary
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, salary, seniority
from jobmill.extract.fields import html_text as texts
from jobmill.extract.lenient_models import ExternalRecord, Line, Many, Maybe
from jobmill.outside.request import Request
from jobmill.places import location_text

from ..platform import BoardConfig, BoardPage, Platform, UrlGroups, base_url, board_url


class _Position(ExternalRecord):
    """A result of the board's own search, which has fewer fields than the feed."""

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
    """The feed of a board in one language; each language has its own feed."""

    language: str = "en"


def first_request(config: PersonioFeed) -> Request:
    base = base_url(config, "jobs.personio.de")
    return Request(f"{base}/xml?language={quote(config.language, safe='')}")


def read(body: bytes, request: Request, config: PersonioFeed) -> BoardPage:
    """The whole feed, a single position, or results of the board's own search."""
    if body.lstrip()[:1] == b"[":
        records, stubs = lenient_models.parse_records(
            _Position, lenient_models.parse_json_list(body)
        )
        return BoardPage(tuple(_searched(record, config) for record in records), stubs=stubs)
    root = lenient_models.parse_xml(body)
    if root.tag not in ("workzag-jobs", "position"):
        raise lenient_models.unknown_response("Personio")
    positions = [root] if root.tag == "position" else root.findall("position")
    postings = tuple(posting for position in positions if (posting := _posting(position, config)))
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
            office,
            [additional.text for additional in position.iterfind("additionalOffices/office")],
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


def _searched(position: _Position, config: PersonioFeed) -> Posting:
    description = texts.from_html(position.description)
    return Posting(
        title=position.name,
        url=_url(position.id, config),
        company=position.subcompany,
        location=position.office,
        locations=location_text.unique_locations(position.offices or position.office),
        department=position.department,
        employment_type=_employment(position.employment_type, position.schedule),
        seniority=seniority.from_label(position.seniority),
        posted_at=dates.parse_date(position.createdAt),
        description=description,
        board=config.board_token or None,
        vendor_id=position.id,
        tags=_tags(position.keywords),
        partial=description is None,
    )


def _url(id: str, config: PersonioFeed) -> str:
    """The page of a position, which its record does not name; empty for a saved feed of an unknown
    site."""
    has_site = config.base_url or config.board_token
    return f"{base_url(config, 'jobs.personio.de')}/job/{quote(id, safe='')}" if has_site else ""


def _tags(keywords: str | None) -> tuple[str, ...]:
    return tuple(filter(None, map(str.strip, (keywords or "").split(","))))


def _line(position: Element, path: str) -> str | None:
    return texts.single_line(position.findtext(path))


def _employment(kind: str | None, hours: str | None) -> str | None:
    """The kind of contract, or the hours for a permanent one."""
    return employment.parse_employment_type(hours or kind if kind in (None, "permanent") else kind)


def _pay(position: Element) -> Salary | None:
    prefix = "salaryInformation/"
    currency = _line(position, f"{prefix}currencyCode") or _line(
        position, f"{prefix}currencySymbol"
    )
    low, high = _line(position, f"{prefix}min"), _line(position, f"{prefix}max")
    return salary.from_fields(low, high, currency, _line(position, f"{prefix}type"))


def _text(position: Element) -> str | None:
    """All sections of the description, each under its title."""
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
    # A bare token has no host: the board is on the main site.
    at_home = {"base_url": f"https://{groups['host']}"} if groups["host"] else {}
    return {"board_token": groups["token"], **at_home}


PLATFORM = Platform(
    name="personio",
    title="Personio",
    posting_ids=posting_ids(
        posting_url(
            rf"{SUBDOMAIN}\.jobs\.personio\.[a-z]{{2,3}}",
            r"/job/(?P<id>\d+)(?:/.*)?",
            "https://{board}.jobs.personio.de/job/{id}",
        ),
    ),
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
