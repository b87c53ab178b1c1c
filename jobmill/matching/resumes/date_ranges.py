"""Dates in resumes: ranges such as "Mar 2019 - present" in English, German, French and Spanish."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

MONTHS: Final[dict[str, int]] = {
    "jan": 1, "jän": 1, "ene": 1, "feb": 2, "fev": 2, "fév": 2, "mar": 3, "mär": 3, "mrz": 3, "apr": 4,
    "avr": 4, "abr": 4, "may": 5, "mai": 5, "jun": 6, "juin": 6, "jul": 7, "juil": 7, "aug": 8, "aou": 8,
    "aoû": 8, "ago": 8, "sep": 9, "oct": 10, "okt": 10, "nov": 11, "dec": 12, "dez": 12, "déc": 12,
    "dic": 12,
}  # fmt: skip
MONTH: Final = (
    r"(?:jan(?:uary|uar|vier|v)?|jän(?:ner)?|ene(?:ro)?|feb(?:ruary|ruar|rero)?|f[ée]v(?:rier|r)?"
    r"|mar(?:ch|s|zo)?|märz?|mrz|apr(?:il)?|avr(?:il)?|abr(?:il)?|mayo?|mai|june?|juni|junio|juin"
    r"|july?|juli|julio|juil(?:let)?|aug(?:ust)?|ao[uû]t|ago(?:sto)?|sep(?:t(?:ember|embre|iembre)?)?"
    r"|o[ck]t(?:ober|obre|ubre)?|nov(?:ember|embre|iembre)?|de[cz](?:ember)?|déc(?:embre)?"
    r"|dic(?:iembre)?)(?!\w)"
)


def _point(n: int) -> str:
    """Jan 2019, Jan '19, 03/2018, 01.03.2018, 2018-03 or 2018."""
    return (
        rf"(?:(?P<word{n}>{MONTH})\.?[ ,/-]{{0,2}}(?:de )?"
        rf"|(?:[0-3]?\d[./])?(?P<month{n}>0?[1-9]|1[0-2]) ?[./-] ?)?"
        rf"(?P<year{n}>(?:19|20)\d\d|['\u2019]\d\d)(?:[-/.](?P<iso{n}>0[1-9]|1[0-2]))?(?!\w)"
    )


NOW: Final = (
    r"(?:the )?(?:present|now|today|current(?:ly)?|date|ongoing|heute|jetzt|aktuell|laufend|dato"
    r"|aujourd['\u2019]?hui|présent|actuel(?:lement)?|ce jour|actualidad|presente|actual|hoy)(?!\w)"
)
RANGE: Final = re.compile(
    rf"(?<![\w.]){_point(1)}\s{{0,3}}"
    r"(?:[-\u2010-\u2015~]{1,2}|(?:to|until|till|bis|à|au|a|al|hasta)(?!\w))\s{0,3}"
    rf"(?:(?:till|until|bis|to) )?(?:{_point(2)}|(?P<now>{NOW})|(?P<open>$))",
    re.IGNORECASE,
)
SINCE: Final = re.compile(rf"\W{{0,3}}(?:since|seit|depuis|desde) {_point(1)}", re.IGNORECASE)
POINT: Final = re.compile(rf"(?<![\w.]){_point(1)}", re.IGNORECASE)


class DatedPeriod(NamedTuple):
    """A period as a profile writes it: `2019-03`, or `2019` where no month is stated."""

    start: str | None
    end: str | None
    """`present` if it is not over."""


def month_number(match: re.Match[str], n: int, *, ends: bool) -> int:
    """A year alone counts as its middle, so that 2016 to 2019 is three years."""
    month = _month(match, n)
    return _year(match, n) * 12 + (month - 1 + ends if month else 6)


def find_period(text: str) -> tuple[DatedPeriod, str] | None:
    """The first period in a text, and the text around it."""
    match = RANGE.search(text)
    if match:
        end = point_text(match, 2) if match["year2"] else "present"
        period = DatedPeriod(point_text(match, 1), end)
    elif match := SINCE.search(text):
        period = DatedPeriod(point_text(match, 1), "present")
    else:
        return None
    return period, f"{text[: match.start()]}\t{text[match.end() :]}"


def find_point(text: str) -> tuple[str, str] | None:
    """The last single date in a text, such as a year of graduation, and the text around it."""
    matches = list(POINT.finditer(text))
    if not matches:
        return None
    match = matches[-1]
    return point_text(match, 1), f"{text[: match.start()]}\t{text[match.end() :]}"


def point_text(match: re.Match[str], n: int = 1) -> str:
    month = _month(match, n)
    return f"{_year(match, n)}-{month:02}" if month else f"{_year(match, n)}"


def _year(match: re.Match[str], n: int) -> int:
    short = match[f"year{n}"].strip("'\u2019")
    return int(short if len(short) > 2 else f"19{short}" if short > "50" else f"20{short}")


def _month(match: re.Match[str], n: int) -> int | None:
    number, word = match[f"month{n}"] or match[f"iso{n}"], (match[f"word{n}"] or "").lower()
    return int(number) if number else MONTHS.get(word[:4]) or MONTHS.get(word[:3])
