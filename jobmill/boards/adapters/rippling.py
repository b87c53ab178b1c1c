"""Rippling."""

from __future__ import annotations

import re
from urllib.parse import quote

from pydantic import AliasChoices, Field, TypeAdapter

from jobmill.catalog.platform_rules import ID_UUID, LANGUAGE, PostingIds, posting_url
from jobmill.catalog.posting import Arrangement, Posting, Salary
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
    """A posting; the newer lists call its `uuid` `id`, and say how one works at each place."""

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
    """The list, where a posting stands once for each of its places, or one posting."""
    answer = _Answer.validate_python(lenient_models.parse_json(body))
    if isinstance(answer, _Opening):
        return BoardPage((_posting([answer], config),))
    listed, total = (answer, 0) if isinstance(answer, list) else (answer.items, answer.totalItems)
    openings, stubs = lenient_models.parse_records(_Opening, listed)
    grouped: dict[str, list[_Opening]] = {}
    for opening in openings:
        grouped.setdefault(opening.uuid, []).append(opening)
    postings = tuple(_posting(same, config) for same in grouped.values())
    cut = total > len(listed)
    return BoardPage(
        postings, total=None if cut else len(postings) + stubs, truncated=cut, stubs=stubs
    )


def detail_request(posting: Posting, config: BoardConfig) -> Request:
    return Request(f"{first_request(config).url}/{quote(posting.vendor_id or '', safe='')}")


def read_detail(body: bytes, posting: Posting, config: BoardConfig) -> Posting:
    (found,) = read(body, detail_request(posting, config), config).postings
    return lenient_models.merge_details(posting, found)


def _posting(same: list[_Opening], config: BoardConfig) -> Posting:
    one = same[0]
    where = location_text.unique_locations(
        [place for opening in same for place in _places(opening)]
    )
    description = _text(one.description)
    board = board_token(config, PATH, one.url or "") or (one.board.slug if one.board else None)
    page = f"https://ats.rippling.com/{quote(board, safe='')}/jobs/{one.uuid}" if board else ""
    return Posting(
        title=one.name,
        url=one.url or page,
        company=html_text.single_line(one.companyName),
        location="; ".join(where) or None,
        locations=where,
        arrangement=_arrangement(same),
        department=_label(one.department),
        employment_type=employment.parse_employment_type(_label(one.employmentType)),
        posted_at=dates.parse_date(one.createdOn),
        salary=_salary(one.payRangeDetails),
        description=description,
        board=board,
        vendor_id=one.uuid,
        language=one.language,
        partial=description is None,
    )


def _places(one: _Opening) -> list[str | None]:
    return [_label(one.workLocation), *one.workLocations, *map(_label, one.locations)]


def _arrangement(same: list[_Opening]) -> Arrangement | None:
    """As all places say it; where they differ, one may choose, and nothing is said."""
    said: set[Arrangement | None] = {
        work_arrangement.from_label(place.workplaceType) for one in same for place in one.locations
    }
    return said.pop() if len(said) == 1 else None


def _label(part: _Label | None) -> str | None:
    return html_text.single_line(part.label or part.name) if part else None


def _text(sections: dict[str, object] | str | None) -> str | None:
    if isinstance(sections, dict):
        return html_text.join_sections(
            *(html_text.from_html(one) for one in sections.values() if isinstance(one, str))
        )
    return html_text.from_html(sections)


def _salary(ranges: tuple[_Pay, ...]) -> Salary | None:
    """The span of all ranges in the first one's currency and period: regions have one each."""
    if not ranges:
        return None
    head = ranges[0]
    alike = [
        one for one in ranges if (one.currency, one.frequency) == (head.currency, head.frequency)
    ]
    low = min((one.rangeStart for one in alike if one.rangeStart), default=None)
    high = max((one.rangeEnd for one in alike if one.rangeEnd), default=None)
    return salary.from_fields(low, high, head.currency, head.frequency)


POSTING_IDS = PostingIds(
    urls=(
        posting_url(
            r"ats\.rippling\.com",
            rf"{LANGUAGE}/(?P<board>[^/]+)/jobs/{ID_UUID}(?:/.*)?",
            "https://ats.rippling.com/{board}/jobs/{id}",
        ),
    ),
    unique=True,
)


PLATFORM = Platform(
    name="rippling",
    title="Rippling",
    posting_ids=POSTING_IDS,
    board_page="https://ats.rippling.com/{board_token}/jobs",
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
    read_detail=read_detail,
)
