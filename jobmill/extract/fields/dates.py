"""Parse dates and times as job sites write them."""

from __future__ import annotations

import datetime as dt
import math
import re
import unicodedata
from email.utils import parsedate_to_datetime

_EARLIEST = dt.datetime(2000, 1, 1, tzinfo=dt.UTC)
_MAX_AHEAD = dt.timedelta(days=2)
_MAX_DEADLINE_AHEAD = dt.timedelta(days=3660)
_MAX_LENGTH = 80
"""Longer texts are not dates."""

# Month names in ten European languages, without accents.
_MONTH_NAMES = (
    r"jan|gen|ene|sty|janner",
    r"feb|fev|fevr|lut",
    r"mar|mars|marz|maerz|mrz|maart|mrt|marzec|marca",
    r"apr|avr|abr|kwi",
    r"may|mai|mag|maj|mei|mayo|maio",
    r"jun|juin|giu|cze",
    r"jul|juil|juillet|lug|lip",
    r"aug|aou|aout|ago|sie",
    r"sep|sept|set|wrz",
    r"oct|okt|ott|out|paz",
    r"nov|lis",
    r"dec|dez|dic|gru",
)
_MONTH = re.compile("|".join(f"({month})" for month in _MONTH_NAMES))
_NAMED_MONTH_DATE = re.compile(
    r"(?:(?P<day>\d{1,2})(?:st|nd|rd|th|er|\.)?(?: de)? (?P<month>[a-z]{3,12})"
    r"|(?P<month2>[a-z]{3,12}) (?P<day2>\d{1,2})(?:st|nd|rd|th)?)(?: de"
    r"| [\d:]{5,8})? (?P<year>\d{4})(?!\d)"
)
_NUMERIC_DATE = re.compile(
    r"(\d{1,2})([./-])(\d{1,2})\2(\d{4})(?:,? (\d{1,2}):(\d\d)(?::(\d\d))?)?"
)
_YEAR_FIRST = re.compile(r"(\d{4})([/.-])(\d{1,2})\2(\d{1,2})(?!\d)")
_CLOCK = re.compile(
    r"(?<!\d)(\d{1,2}):(\d\d)(?::(\d\d))?(?:\.\d+)?(?: ?([ap])\.?m)?(?: ?(?:utc"
    r"|gmt)?([+-]\d\d):?(\d\d))?"
)
_RFC822 = re.compile(r"(?:[a-z]{3}, ?)?\d{1,2} [a-z]{3} \d{2,4} \d{1,2}:\d\d")
_COMPACT_ZONE = re.compile(r"([+-]\d\d)(\d\d)$")

_TODAY = re.compile(
    r"\b(?:today|just now|just posted|heute|aujourd'hui|hoy|oggi|hoje|vandaag|idag|dzisiaj|dzis)\b"
)
_YESTERDAY = re.compile(r"\b(?:yesterday|gestern|hier|ayer|ieri|ontem|gisteren|igar|wczoraj)\b")
_AGO = re.compile(
    r"(?P<count>\d{1,4}|an?|une?|ein(?:em|er)?)(?P<more>\+?) ?"
    r"(?:(?P<minutes>min(?:ute)?[sn]?|m)|(?P<hours>h|hours?|hrs?|stunden?|heures?|horas?|ore|uur)"
    r"|(?P<days>d|days?|tag(?:e|en)?|jours?|dias?|giorn[io]|dag(?:en|ar|e)?|dni)"
    r"|(?P<weeks>w|weeks?|wochen?|semaines?|semanas?|settiman[ae]|we(?:ek|ken)|veck(?:a|or))"
    r"|(?P<months>mo|mos|months?|monat(?:e|en)?|mois|mes(?:es)?|mes[ei]|maand(?:en)?"
    r"|manad(?:er)?))\b"
)
_IS_AGO = re.compile(
    r"\b(?:ago|posted|vor|il y a|hace|fa|ha|geleden|sedan|siden|temu)\b|^\d+\+? ?[hdwm]o?$"
)
_UNITS = {
    "minutes": dt.timedelta(minutes=1),
    "hours": dt.timedelta(hours=1),
    "days": dt.timedelta(days=1),
    "weeks": dt.timedelta(days=7),
    "months": dt.timedelta(days=30),
}


def parse_date(
    value: object, *, now: dt.datetime | None = None, day_first: bool = False
) -> dt.datetime | None:
    """Parse an ISO date, an epoch in seconds or milliseconds, RFC 822, dd/mm/yyyy or words such as
    "Posted 3 Days Ago" into an aware datetime with its own offset. None for anything else,
    before 2000, or more than two days ahead."""
    now = now or dt.datetime.now(dt.UTC)
    return _in_range(_parse(value, now, day_first), now + _MAX_AHEAD)


def parse_deadline(value: object, *, now: dt.datetime | None = None) -> dt.datetime | None:
    """Like `parse_date`, for a date that may be in the future."""
    now = now or dt.datetime.now(dt.UTC)
    return _in_range(_parse(value, now, day_first=False), now + _MAX_DEADLINE_AHEAD)


def _in_range(at: dt.datetime | None, latest: dt.datetime) -> dt.datetime | None:
    return at if at and _EARLIEST <= at <= latest else None


def _parse(value: object, now: dt.datetime, day_first: bool) -> dt.datetime | None:
    if isinstance(value, dt.datetime):
        return _aware(value)
    if isinstance(value, dt.date):
        return dt.datetime(value.year, value.month, value.day, tzinfo=dt.UTC)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _from_epoch(value)
    if not isinstance(value, str) or not 1 < len(text := value[:400].strip()) <= _MAX_LENGTH:
        return None
    return _from_text(text, now, day_first)


def _from_text(text: str, now: dt.datetime, day_first: bool) -> dt.datetime | None:
    try:
        return _aware(dt.datetime.fromisoformat(text)) if not text.isdecimal() else _digits(text)
    except (ValueError, OverflowError):
        pass
    plain = _fold(text)
    readers = (_from_iso_like, _from_rfc822, _from_names)
    at = next((at for reader in readers if (at := reader(plain))), None)
    return at or _from_numbers(plain, day_first) or _from_words(plain, now)


def _digits(text: str) -> dt.datetime | None:
    """Eight digits are a day (20260817), other digits an epoch (1786946162)."""
    return _build(text[:4], text[4:6], text[6:]) if len(text) == 8 else _from_epoch(int(text[:20]))


def _fold(text: str) -> str:
    letters = unicodedata.normalize("NFKD", text.casefold().replace("\u2019", "'"))
    unaccented = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return " ".join(unaccented.replace("ł", "l").split())


def _aware(at: dt.datetime) -> dt.datetime | None:
    """UTC if no zone is given; None for the first and last year, which no zone can shift."""
    if not 1 < at.year < 9999:
        return None
    return at if at.tzinfo else at.replace(tzinfo=dt.UTC)


def _from_epoch(value: float) -> dt.datetime | None:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    for unit in (1, 1_000, 1_000_000):
        if 9e8 <= value / unit < 1e10 if value < 1e20 else False:
            return dt.datetime.fromtimestamp(value / unit, dt.UTC)
    return None


def _from_iso_like(text: str) -> dt.datetime | None:
    """ISO with an unusual zone ("… utc", "+0000 utc") or other separators."""
    text = re.sub(r"\[.*\]$|(?<=[+-]\d{4}) utc$", "", text)
    text = _COMPACT_ZONE.sub(
        r"\1:\2", re.sub(r" ?(?:utc|gmt|z)$", "+00:00", text).replace(" +", "+")
    )
    try:
        return _aware(dt.datetime.fromisoformat(text))
    except (ValueError, OverflowError):
        parts = _YEAR_FIRST.match(text)
    return _build(parts[1], parts[3], parts[4], clock=text[parts.end() :]) if parts else None


def _from_rfc822(text: str) -> dt.datetime | None:
    if not _RFC822.match(text):
        return None
    try:
        return _aware(parsedate_to_datetime(text))
    except (ValueError, OverflowError, TypeError, IndexError):
        return None


def _from_names(text: str) -> dt.datetime | None:
    match = _NAMED_MONTH_DATE.search(" ".join(re.sub(r"[,-]|\.(?= )", " ", text).split()))
    if not match:
        return None
    month = _MONTH.match(match["month"] or match["month2"])
    if not month or not month.lastindex:
        return None
    day = match["day"] or match["day2"]
    return _build(match["year"], str(month.lastindex), day, clock=text)


def _from_numbers(text: str, day_first: bool) -> dt.datetime | None:
    """dd.mm.yyyy; with slashes or dashes the month comes first, unless `day_first` or it cannot be
    a month."""
    match = _NUMERIC_DATE.search(text)
    if not match:
        return None
    first, separator, second, year = match.groups()[:4]
    if day_first or separator == "." or int(first) > 12:
        first, second = second, first
    return _build(year, first, second, clock=text[match.end(3) :])


def _build(year: str, month: str, day: str, clock: str = "") -> dt.datetime | None:
    at = _CLOCK.search(clock)
    hour, minute, second, half, zone_hours, zone_minutes = at.groups() if at else (None,) * 6
    hours = int(hour or 0) % 12 + 12 * (half == "p") if half else int(hour or 0)
    zone = dt.timedelta(hours=int(zone_hours or 0), minutes=int(zone_minutes or 0))
    try:
        return _aware(
            dt.datetime(
                int(year), int(month), int(day), hours, int(minute or 0), int(second or 0),
                tzinfo=dt.timezone(zone),
            )
        )  # fmt: skip
    except ValueError:
        return None


def _from_words(text: str, now: dt.datetime) -> dt.datetime | None:
    """Relative dates. Counted days start at midnight, so the result stays the same all day. None
    for "30+ days ago", which gives no date."""
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if _TODAY.search(text):
        return today
    if _YESTERDAY.search(text):
        return today - dt.timedelta(days=1)
    match = _AGO.search(text)
    if not match or match["more"] or not _IS_AGO.search(text):
        return None
    count = int(match["count"]) if match["count"].isdigit() else 1
    unit = next(name for name in _UNITS if match[name])
    return (now if unit in ("minutes", "hours") else today) - count * _UNITS[unit]
