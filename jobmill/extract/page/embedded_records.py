"""Find a posting among the data records of a page script, by the names of their fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, cast

from jobmill.catalog.posting import Posting
from jobmill.places import location_text

from ..fields import dates, employment, html_text, work_arrangement
from .text_checks import normalize

Record = dict[str, Any]

_MAX_VALUES = 30_000
"""Values of one page that are examined."""
_MIN_FIELDS = 4
"""Fields that a posting has at least: title, text, place and one more."""
_MIN_DESCRIPTION_LENGTH = 120
"""A shorter text is a teaser, not the description."""

_TITLE = ("title", "jobtitle", "positiontitle", "postingtitle", "name")
_TITLES = frozenset(_TITLE)
_BODY = (
    "descriptionhtml", "jobdescriptionhtml", "description", "jobdescription", "fulldescription",
    "externaldescription", "content", "body", "descriptionplain",
)  # fmt: skip
_PLACE = (
    "joblocation", "joblocations", "locations", "location", "locationname", "primarylocation",
    "fulllocation", "locationtext", "city", "offices", "office", "address", "country",
)  # fmt: skip
_COMPANY = (
    "hiringorganization", "company", "companyname", "employer", "employername", "organization",
)  # fmt: skip
_POSTED = (
    "dateposted", "postedat", "posteddate", "postedon", "publishedat", "publisheddate",
    "publishdate", "publicationdate", "firstpublished", "releaseddate",
)  # fmt: skip
_DEADLINE = ("validthrough", "expiresat", "expirationdate", "closingdate", "applicationdeadline")
_EMPLOYMENT_TYPE = (
    "employmenttype",
    "jobtype",
    "contracttype",
    "typeofemployment",
    "timetype",
    "commitment",
)
_TEAM = ("department", "departmentname", "team")
_REQUISITION = ("requisitionid", "jobreqid", "reqid", "refnumber", "referencenumber")
_WORKPLACE_TYPE = ("workplacetype", "remotetype", "locationtype", "joblocationtype")
_POSTING_FIELDS = (
    _COMPANY,
    _POSTED,
    _DEADLINE,
    _EMPLOYMENT_TYPE,
    _TEAM,
    _REQUISITION,
    _WORKPLACE_TYPE,
)
_NAMES = ("name", "label", "title", "text", "city", "displayname", "fulllocation")


def find_posting(values: Iterable[Any], url: str, heading: str) -> Posting | None:
    """The only record that looks like a posting; of several, the one that `heading` names."""
    records = [record for record in _walk(values) if _is_posting(record)]
    if len({_line(record, _TITLE) for record in records}) > 1:
        named = normalize(heading)
        records = [record for record in records if normalize(_line(record, _TITLE)) in named]
    return _posting(max(records, key=_count_posting_fields), url) if records else None


def _walk(values: Iterable[Any]) -> Iterator[Record]:
    waiting = list(values)[::-1]
    for _ in range(_MAX_VALUES):
        if not waiting:
            return
        value: object = waiting.pop()
        if isinstance(value, dict):
            record = cast(Record, value)
            if len(record) >= _MIN_FIELDS and not _TITLES.isdisjoint(map(_plain_key, record)):
                yield _plain_keys(record)
            waiting += _containers(record.values())
        elif isinstance(value, list):
            waiting += _containers(cast(list[Any], value))


def _containers(values: Iterable[Any]) -> list[Any]:
    """The dictionaries and lists among the values, in reverse order."""
    return [value for value in values if type(value) in (dict, list)][::-1]


def _plain_keys(record: Record) -> Record:
    return {_plain_key(key): value for key, value in record.items()}


@lru_cache(maxsize=4_096)
def _plain_key(key: str) -> str:
    return re.sub(r"[\W_]", "", key[:60]).lower()


def _is_posting(record: Record) -> bool:
    body = _first_value(record, _BODY)
    return (
        isinstance(body, str)
        and len(body) >= _MIN_DESCRIPTION_LENGTH
        and _first_value(record, _PLACE) is not None
        # A title, a text and a place may also be an event or a shop.
        and _count_posting_fields(record) > 0
        and 2 < len(_line(record, _TITLE) or "") < 200
    )


def _count_posting_fields(record: Record) -> int:
    return sum(_first_value(record, keys) is not None for keys in _POSTING_FIELDS)


def _first_value(record: Record, keys: tuple[str, ...]) -> Any:
    return next((record[key] for key in keys if record.get(key)), None)


def _posting(record: Record, url: str) -> Posting:
    where = _places(_first_value(record, _PLACE))
    return Posting(
        title=_line(record, _TITLE) or "",
        url=url,
        company=_name(_first_value(record, _COMPANY)),
        location="; ".join(where) or None,
        locations=where,
        arrangement=work_arrangement.from_label(_name(_first_value(record, _WORKPLACE_TYPE))),
        department=_name(_first_value(record, _TEAM)),
        employment_type=employment.parse_employment_type(
            _name(_first_value(record, _EMPLOYMENT_TYPE))
        ),
        posted_at=dates.parse_date(_first_value(record, _POSTED)),
        valid_through=dates.parse_deadline(_first_value(record, _DEADLINE)),
        description=html_text.from_escaped_html(_first_value(record, _BODY)),
        requisition_id=_name(_first_value(record, _REQUISITION)),
    )


def _line(record: Record, keys: tuple[str, ...]) -> str | None:
    return html_text.single_line(_first_value(record, keys))


def _name(value: Any) -> str | None:
    """A text, the name in an object, or that of the first member of a list."""
    if isinstance(value, list):
        value = next(iter(cast(list[Any], value)), None)
    if isinstance(value, dict):
        value = _first_value(_plain_keys(cast(Record, value)), _NAMES)
    return html_text.single_line(str(value)) if isinstance(value, str | int) else None


def _places(value: Any) -> tuple[str, ...]:
    many = cast(list[Any], value) if isinstance(value, list) else [value]
    places = (_place(place) for place in many)
    return tuple(
        dict.fromkeys(place for place in places if place and location_text.names_place(place))
    )


def _place(value: Any) -> str | None:
    if not isinstance(value, dict):
        return html_text.single_line(value)
    record = _plain_keys(cast(Record, value))
    parts = (
        _name(_first_value(record, keys))
        for keys in (
            ("city", "addresslocality", "locality"),
            ("state", "region", "addressregion"),
            ("country", "addresscountry", "countryname"),
        )
    )
    return (
        _name(record.get("fulllocation")) or location_text.format_address(*parts) or _name(record)
    )
