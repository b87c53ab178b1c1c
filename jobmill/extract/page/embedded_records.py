"""From a record of an unknown program to a posting, by the names of its fields."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, cast

from jobmill.catalog.posting import Posting
from jobmill.places import location_text

from ..fields import dates, employment, html_text, work_arrangement
from .text_checks import squeeze

Record = dict[str, Any]

_MOST = 30_000
"""How many values of one page are looked at."""
_FEWEST = 4
"""Fields of a posting: title, text, place and one more."""
_SHORTEST = 120
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
_UNTIL = ("validthrough", "expiresat", "expirationdate", "closingdate", "applicationdeadline")
_KIND = ("employmenttype", "jobtype", "contracttype", "typeofemployment", "timetype", "commitment")
_TEAM = ("department", "departmentname", "team")
_NUMBER = ("requisitionid", "jobreqid", "reqid", "refnumber", "referencenumber")
_MODE = ("workplacetype", "remotetype", "locationtype", "joblocationtype")
_SIGNS = (_COMPANY, _POSTED, _UNTIL, _KIND, _TEAM, _NUMBER, _MODE)
_NAMES = ("name", "label", "title", "text", "city", "displayname", "fulllocation")


def find(values: Iterable[Any], url: str, heading: str) -> Posting | None:
    """The one record that looks like a posting; of several, the one that `heading` names."""
    records = [record for record in _walk(values) if _is_posting(record)]
    if len({_line(record, _TITLE) for record in records}) > 1:
        named = squeeze(heading)
        records = [record for record in records if squeeze(_line(record, _TITLE)) in named]
    return _posting(max(records, key=_signs), url) if records else None


def _walk(values: Iterable[Any]) -> Iterator[Record]:
    waiting = list(values)[::-1]
    for _ in range(_MOST):
        if not waiting:
            return
        value: object = waiting.pop()
        if isinstance(value, dict):
            record = cast(Record, value)
            if len(record) >= _FEWEST and not _TITLES.isdisjoint(map(_plain_key, record)):
                yield _plain_keys(record)
            waiting += _inner(record.values())
        elif isinstance(value, list):
            waiting += _inner(cast(list[Any], value))


def _inner(values: Iterable[Any]) -> list[Any]:
    """What may hold records, the first last."""
    return [value for value in values if type(value) in (dict, list)][::-1]


def _plain_keys(record: Record) -> Record:
    return {_plain_key(key): value for key, value in record.items()}


@lru_cache(maxsize=4_096)
def _plain_key(key: str) -> str:
    return re.sub(r"[\W_]", "", key[:60]).lower()


def _is_posting(record: Record) -> bool:
    body = _any(record, _BODY)
    return (
        isinstance(body, str)
        and len(body) >= _SHORTEST
        and _any(record, _PLACE) is not None
        # A title, a text and a place make an event or a shop, too.
        and _signs(record) > 0
        and 2 < len(_line(record, _TITLE) or "") < 200
    )


def _signs(record: Record) -> int:
    return sum(_any(record, keys) is not None for keys in _SIGNS)


def _any(record: Record, keys: tuple[str, ...]) -> Any:
    return next((record[key] for key in keys if record.get(key)), None)


def _posting(record: Record, url: str) -> Posting:
    where = _places(_any(record, _PLACE))
    return Posting(
        title=_line(record, _TITLE) or "",
        url=url,
        company=_name(_any(record, _COMPANY)),
        location="; ".join(where) or None,
        locations=where,
        arrangement=work_arrangement.word(_name(_any(record, _MODE))),
        department=_name(_any(record, _TEAM)),
        employment_type=employment.read(_name(_any(record, _KIND))),
        posted_at=dates.read(_any(record, _POSTED)),
        valid_through=dates.deadline(_any(record, _UNTIL)),
        description=html_text.from_escaped_html(_any(record, _BODY)),
        requisition_id=_name(_any(record, _NUMBER)),
    )


def _line(record: Record, keys: tuple[str, ...]) -> str | None:
    return html_text.single_line(_any(record, keys))


def _name(value: Any) -> str | None:
    """A text, or the name of a thing, or of the first thing."""
    if isinstance(value, list):
        value = next(iter(cast(list[Any], value)), None)
    if isinstance(value, dict):
        value = _any(_plain_keys(cast(Record, value)), _NAMES)
    return html_text.single_line(str(value)) if isinstance(value, str | int) else None


def _places(value: Any) -> tuple[str, ...]:
    many = cast(list[Any], value) if isinstance(value, list) else [value]
    found = (_place(one) for one in many)
    return tuple(dict.fromkeys(one for one in found if one and location_text.names_place(one)))


def _place(value: Any) -> str | None:
    if not isinstance(value, dict):
        return html_text.single_line(value)
    record = _plain_keys(cast(Record, value))
    parts = (
        _name(_any(record, keys))
        for keys in (
            ("city", "addresslocality", "locality"),
            ("state", "region", "addressregion"),
            ("country", "addresscountry", "countryname"),
        )
    )
    return (
        _name(record.get("fulllocation")) or location_text.format_address(*parts) or _name(record)
    )
