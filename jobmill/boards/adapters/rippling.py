"""Rippling."""

from __future__ import annotations

import re
from urllib.parse import quote

from pydantic import AliasChoices, Field, TypeAdapter

from jobmill.catalog.platform_rules import ID_UUID, LANGUAGE, posting_ids, posting_url
from jobmill.catalog.posting import Arrangement, Posting
from jobmill.extract import lenient_models
from jobmill.extract.fields import dates, employment, html_text, salary, work_arrangement
from jobmill.extract.lenient_models import ExternalRecord, Line, Link, Many, Maybe
from jobmill.outside.request import Request
from jobmill.places import location_text

from ..platform import BoardConfig, BoardPage, Platform, board_token, board_url


class _Label(ExternalRecord):
    label: Maybe[str] = None
    name: Maybe[str] = None


class _Pay(ExternalRecord):
    rangeStart: Maybe[float] = None
    rangeEnd: Maybe[float] = None
    currency: Maybe[str] = None
    frequency: Maybe[str] = None


class _Place(_Label):
    workplaceType: Maybe[str] = None


class _Board(ExternalRecord):
    slug: Maybe[Line] = None


class _Opening(ExternalRecord):
    """A posting. Newer lists name its `uuid` `id` and state the workplace type of each location."""

    uuid: Line = Field(validation_alias=AliasChoices("uuid", "id"))
    name: Line
    url: Link = None
    department: Maybe[_Label] = None
    workLocation: Maybe[_Label] = None
    workLocations: Many[str] = ()
    locations: Many[_Place] = ()
    employmentType: Maybe[_Label] = None
    companyName: Maybe[str] = None
    createdOn: Maybe[str] = None
    description: Maybe[dict[str, object] | str] = None
    payRangeDetails: Many[_Pay] = ()
    board: Maybe[_Board] = None
    language: Maybe[Line] = None


class _Wrapped(ExternalRecord):
    items: list[object]
    totalItems: int = 0


_Answer: TypeAdapter[list[object] | _Wrapped | _Opening] = TypeAdapter(
    list[object] | _Wrapped | _Opening
)
PATH = re.compile(r"//ats\.rippling\.com/(?:[a-z]{2}-[A-Z]{2}/)?([^/]+)/jobs")
API = "https://api.rippling.com/platform/api/ats/v1/board"


def first_request(config: BoardConfig) -> Request:
    return Request(f"{API}/{quote(config.board_token, safe='')}/jobs")


def read(body: bytes, request: Request, config: BoardConfig) -> BoardPage:
    """The list, which repeats a posting for each of its locations, or a single posting."""
    answer = _Answer.validate_python(lenient_models.parse_json(body))
    if isinstance(answer, _Opening):
        return BoardPage((_posting([answer], config),))
    records, total = (answer, 0) if isinstance(answer, list) else (answer.items, answer.totalItems)
    openings, stubs = lenient_models.parse_records(_Opening, records)
    grouped: dict[str, list[_Opening]] = {}
    for opening in openings:
        grouped.setdefault(opening.uuid, []).append(opening)
    postings = tuple(_posting(group, config) for group in grouped.values())
    truncated = total > len(records)
    return BoardPage(
        postings,
        total=None if truncated else len(postings) + stubs,
        truncated=truncated,
        stubs=stubs,
    )


def detail_request(posting: Posting, config: BoardConfig) -> Request:
    return Request(f"{first_request(config).url}/{quote(posting.vendor_id or '', safe='')}")


def _posting(openings: list[_Opening], config: BoardConfig) -> Posting:
    first = openings[0]
    locations = location_text.unique_locations(
        [place for opening in openings for place in _places(opening)]
    )
    description = _text(first.description)
    board = board_token(config, PATH, first.url or "") or (
        first.board.slug if first.board else None
    )
    page = f"https://ats.rippling.com/{quote(board, safe='')}/jobs/{first.uuid}" if board else ""
    return Posting(
        title=first.name,
        url=first.url or page,
        company=html_text.single_line(first.companyName),
        location="; ".join(locations) or None,
        locations=locations,
        arrangement=_arrangement(openings),
        department=_label(first.department),
        employment_type=employment.parse_employment_type(_label(first.employmentType)),
        posted_at=dates.parse_date(first.createdOn),
        salary=salary.from_ranges(
            [
                (pay.rangeStart, pay.rangeEnd, pay.currency, pay.frequency)
                for pay in first.payRangeDetails
            ]
        ),
        description=description,
        board=board,
        vendor_id=first.uuid,
        language=first.language,
        partial=description is None,
    )


def _places(opening: _Opening) -> list[str | None]:
    return [_label(opening.workLocation), *opening.workLocations, *map(_label, opening.locations)]


def _arrangement(openings: list[_Opening]) -> Arrangement | None:
    """The arrangement of all locations; None if they differ."""
    arrangements: set[Arrangement | None] = {
        work_arrangement.from_label(place.workplaceType)
        for opening in openings
        for place in opening.locations
    }
    return arrangements.pop() if len(arrangements) == 1 else None


def _label(part: _Label | None) -> str | None:
    return html_text.single_line(part.label or part.name) if part else None


def _text(sections: dict[str, object] | str | None) -> str | None:
    if isinstance(sections, dict):
        return html_text.join_sections(
            *(
                html_text.from_html(section)
                for section in sections.values()
                if isinstance(section, str)
            )
        )
    return html_text.from_html(sections)


PLATFORM = Platform(
    name="rippling",
    title="Rippling",
    board_page="https://ats.rippling.com/{board_token}/jobs",
    posting_ids=posting_ids(
        posting_url(
            r"ats\.rippling\.com",
            rf"{LANGUAGE}/(?P<board>[^/]+)/jobs/{ID_UUID}(?:/.*)?",
            "https://ats.rippling.com/{board}/jobs/{id}",
        ),
        unique=True,
    ),
    board_urls=(
        board_url(
            "rippling.com",
            r"ats(?:\.[a-z]{2}\d)?",
            r"(?:/(?:embed|[a-z]{2}-[a-z]{2}))?/(?P<token>[^/]+)",
        ),
        board_url("rippling.com", "api", r"/platform/api/ats/v\d/board/(?P<token>[^/]+)"),
    ),
    first_request=first_request,
    read=read,
    detail_request=detail_request,
)
