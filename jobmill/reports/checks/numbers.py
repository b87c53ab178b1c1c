"""Compare numbers: headcount, founding year and age, pay, and counts of anything else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from jobmill.extract.company import sentence_facts
from jobmill.reports.checks.parsed_claim import ParsedClaim, PartVerdict
from jobmill.reports.claim_words import content_stems
from jobmill.reports.quantities import Quantity, compare, find_quantities
from jobmill.reports.site_statements import SiteStatement

_SIZE_TOLERANCE: Final = 0.1
_AMOUNT_TOLERANCE: Final = 0.02
_CONVERSION_TOLERANCE: Final = 0.1
_MAX_GROWTH: Final = 3.0
"""A headcount that is smaller by less than this factor was right some years ago."""
_DAYS: Final = {
    "day": 1.0,
    "week": 7.0,
    "month": 30.4,
    "year": 365.0,
    "hour": 1 / 24,
    "decad": 3652.0,
}
_GENERIC_UNITS: Final = frozenset(
    (*_DAYS, "people", "money", "percent", "more", "other", "total", "new", "full")
)
_RATIO: Final = re.compile(r"\b(?:per|of)\s+$", re.IGNORECASE)
_HEADCOUNT: Final = re.compile(
    r"\b(?:(?:team|staff|workforce|headcount|company|crew) (?:of|is|counts|size)|employs|employing|employees:|size:)"
    r"(?: (?:just|only|somewhere|about|around|roughly|some|is))*\s*$",
    re.IGNORECASE,
)
_FOUNDED: Final = re.compile(
    r"\b(?:founded|established|started|began|opened|launched|incorporated|formed|dates? back|born|set up|created)\b"
    r"(?P<between>[^.;]{0,40}?)(?:\b(?:in|to|since|around)|:)\s+(?:early |late )?(?P<year>1[6-9]\d\d|20[0-4]\d)\b",
    re.IGNORECASE,
)
_OTHER_OPENING: Final = re.compile(
    r"\b(?:office|shop|store|branch|location|clinic|site|plant|factory|as an?)\b", re.IGNORECASE
)
_AGE: Final = re.compile(
    r"\b(?:for|history|old|ago|experience|anniversary|business|years? in|serv\w+|history of)\b",
    re.IGNORECASE,
)
_ANNIVERSARY: Final = re.compile(
    r"\b(?:(\d{1,3})(?:st|nd|rd|th)|(tenth|twentieth|thirtieth|fiftieth|hundredth)) (?:anniversary|birthday)"
    r"|\b(centenary|centennial)\b",
    re.IGNORECASE,
)
_ORDINALS: Final = {
    "tenth": 10, "twentieth": 20, "thirtieth": 30, "fiftieth": 50, "hundredth": 100, "centenary": 100,
    "centennial": 100,
}  # fmt: skip
_CLAUSE_END: Final = re.compile(r",\s|;\s|\s(?:and|with|plus|while)\s")
_GRADE: Final = re.compile(r"\b([A-Z][a-z]+) (\d{1,2})\b")
_PERMANENT_TERMS: Final = re.compile(
    r"\b(?:leave|vacation|holiday|contract|after|within|notice|week|shift|probation|ahead|experience is)\b",
    re.IGNORECASE,
)


def check_size(claim: ParsedClaim, statements: Sequence[SiteStatement]) -> PartVerdict | None:
    """How many people work there."""
    claimed = [quantity for quantity in claim.quantities if is_headcount(quantity, claim.text)]
    sizes = [statement for statement in statements if statement.fact == "size"]
    if not claimed or not sizes:
        return None
    quantity = claimed[0]
    options = [(option, statement) for statement in sizes for option in _sizes(statement)]
    for option, statement in options:
        if compare(quantity, option, _SIZE_TOLERANCE) == "same" and not claim.dated:
            return PartVerdict("true", "The site states this headcount.", statement)
    if not options:
        return None
    option, statement = max(options, key=lambda pair: pair[0].high)
    if compare(quantity, option, _SIZE_TOLERANCE) == "same":
        return PartVerdict("true", "The site states this headcount.", statement)
    if claim.dated or (quantity.high < option.low <= quantity.high * _MAX_GROWTH):
        return PartVerdict("outdated", "The site states a larger, newer headcount.", statement)
    return PartVerdict("contradicted", "The site states another headcount.", statement)


def is_headcount(quantity: Quantity, text: str) -> bool:
    before = text[: quantity.start]
    if quantity.is_money or "percent" in quantity.units or _RATIO.search(before):
        return bool(re.search(r"\b(?:team|staff|workforce|company) of\s+$", before))
    return "people" in quantity.units[:3] or bool(_HEADCOUNT.search(before))


@lru_cache(maxsize=1_024)
def _sizes(statement: SiteStatement) -> Sequence[Quantity]:
    """The headcounts of a sentence, and their sum ("120 teachers and 45 other staff")."""
    in_value = find_quantities(statement.value)
    in_sentence = [
        quantity
        for quantity in find_quantities(statement.current)
        if not quantity.is_money
        and (is_headcount(quantity, statement.current) or _is_stated(quantity, in_value))
    ]
    sizes = in_sentence or in_value
    if len(sizes) < 2:
        return sizes
    total = replace(
        sizes[0], low=sum(size.low for size in sizes), high=sum(size.high for size in sizes)
    )
    return [*sizes, total]


def _is_stated(quantity: Quantity, values: Sequence[Quantity]) -> bool:
    return any((value.low, value.high) == (quantity.low, quantity.high) for value in values)


def check_founded(claim: ParsedClaim, statements: Sequence[SiteStatement]) -> PartVerdict | None:
    """The founding year, or the age that follows from it."""
    years = [
        (int(year), statement)
        for statement in statements
        if statement.fact == "founded"
        and (
            year := sentence_facts.find_founding_year([statement.text])
            or _bare_year(statement.value)
        )
    ]
    if not years:
        return None
    year, statement = years[0]
    match = _FOUNDED.search(claim.text)
    if match and not _OTHER_OPENING.search(match["between"]):
        if int(match["year"]) == year:
            return PartVerdict("true", "The site states this founding year.", statement)
        return PartVerdict("contradicted", f"The site states {year}.", statement)
    age = claim.year - year
    return _check_anniversary(claim, age, statement) or _check_age(claim, age, statement)


def _bare_year(value: str) -> str | None:
    match = re.search(r"\b(1[6-9]\d\d|20[0-4]\d)\b", value)
    return match[1] if match else None


def _check_anniversary(
    claim: ParsedClaim, age: int, statement: SiteStatement
) -> PartVerdict | None:
    match = _ANNIVERSARY.search(claim.text)
    if not match:
        return None
    words = next(group for group in match.groups() if group).lower()
    years = _ORDINALS.get(words) or int(words)
    if abs(years - age) <= 1:
        return PartVerdict("true", "It follows from the founding year.", statement)
    verdict = "outdated" if years < age else "contradicted"
    return PartVerdict(verdict, f"By the founding year, the company is {age} years old.", statement)


def _check_age(claim: ParsedClaim, age: int, statement: SiteStatement) -> PartVerdict | None:
    for quantity in claim.quantities:
        unit = next((unit for unit in quantity.units[:1] if unit in ("year", "decad")), None)
        if not unit or not _AGE.search(claim.text) or _PERMANENT_TERMS.search(claim.text):
            continue
        factor = 10 if unit == "decad" else 1
        years = replace(quantity, low=quantity.low * factor, high=quantity.high * factor)
        site = replace(quantity, low=float(age), high=float(age), is_limit=False)
        match compare(years, site, _SIZE_TOLERANCE):
            case "same":
                return PartVerdict("true", "It follows from the founding year.", statement)
            case "lower":
                return PartVerdict("outdated", f"By now it is {age} years.", statement)
            case "higher":
                return PartVerdict("contradicted", f"It is {age} years.", statement)
    return None


def check_amounts(claim: ParsedClaim, statements: Sequence[SiteStatement]) -> list[PartVerdict]:
    """Pay, days, beds, shops: each number against the site's number for the same thing."""
    verdicts = (
        _check_amount(quantity, claim, statements)
        for quantity in claim.quantities
        if not is_headcount(quantity, claim.text)
    )
    return [verdict for verdict in verdicts if verdict]


def _check_amount(
    quantity: Quantity, claim: ParsedClaim, statements: Sequence[SiteStatement]
) -> PartVerdict | None:
    candidates = list(_comparable(quantity, claim, statements))
    if not candidates:
        if quantity.is_money:
            return PartVerdict("unsupported", "The site states no such amount.")
        return None
    best = max(shared for shared, _, _ in candidates)
    closest = [(site, statement) for shared, site, statement in candidates if shared == best]
    for site, statement in closest:
        if _compare_amounts(quantity, site) == "same":
            return PartVerdict("true", "The site states this number.", statement)
    statement = closest[0][1]
    if _is_sum(quantity, statement):
        return PartVerdict("true", "It is the sum of the site's numbers.", statement)
    if claim.dated or _matches_former(quantity, statement):
        return PartVerdict("outdated", "The site states a newer number.", statement)
    return PartVerdict("contradicted", "The site states another number.", statement)


def _comparable(
    quantity: Quantity, claim: ParsedClaim, statements: Sequence[SiteStatement]
) -> Iterator[tuple[int, Quantity, SiteStatement]]:
    """The site's numbers for the same kind of thing, with the number of words that both share."""
    near = content_stems(_clause_around(quantity, claim.text))
    for statement in statements:
        shared_in_sentence = len(claim.stems & content_stems(statement.current))
        if not shared_in_sentence or _names_other_grade(claim.text, statement.text):
            continue
        for clause in statement.clauses:
            shared = claim.stems & content_stems(clause)
            weight = 3 * len(shared) + 3 * len(shared & near) + shared_in_sentence
            for site in find_quantities(clause):
                if _same_kind(quantity, site, bool(shared - _GENERIC_UNITS)):
                    yield weight, site, statement


def _clause_around(quantity: Quantity, text: str) -> str:
    """The part of a claim that says what the number means."""
    start = max((match.end() for match in _CLAUSE_END.finditer(text, 0, quantity.start)), default=0)
    end = _CLAUSE_END.search(text, quantity.end)
    return text[start : end.start() if end else len(text)]


def _names_other_grade(claim: str, site: str) -> bool:
    """Whether one is about "Band 6" and the other about "Band 5"."""
    grades, others = dict(_GRADE.findall(claim)), dict(_GRADE.findall(site))
    return any(word in others and others[word] != number for word, number in grades.items())


def _same_kind(quantity: Quantity, site: Quantity, shares_words: bool) -> bool:
    if quantity.is_money or site.is_money:
        periods = quantity.period == site.period or None in (quantity.period, site.period)
        # A bonus is not an hourly wage, even if only one of them names its period.
        similar = quantity.low <= 8 * site.high and site.low <= 8 * quantity.high
        return quantity.currency == site.currency and periods and similar
    if "percent" in quantity.units or "percent" in site.units:
        return shares_words and "percent" in quantity.units and "percent" in site.units
    if _time_unit(quantity) or _time_unit(site):
        return shares_words and bool(_time_unit(quantity) and _time_unit(site))
    return any(unit in site.units for unit in quantity.units if unit not in _GENERIC_UNITS)


def _compare_amounts(quantity: Quantity, site: Quantity) -> str:
    units = _time_unit(quantity), _time_unit(site)
    if units[0] and units[1] and units[0] != units[1]:
        quantity, site = _in_days(quantity, units[0]), _in_days(site, units[1])
        return compare(quantity, site, _CONVERSION_TOLERANCE)
    if quantity.is_money and quantity.high > quantity.low and site.high > site.low:
        ends = ((quantity.low, site.low), (quantity.high, site.high))
        close = all(abs(first - second) <= 0.05 * second for first, second in ends)
        return "same" if close else compare(replace(quantity, low=quantity.high), site)
    return compare(quantity, site, _AMOUNT_TOLERANCE if site.high >= 50 else 0.0)


def _in_days(quantity: Quantity, unit: str) -> Quantity:
    factor = _DAYS[unit]
    return replace(quantity, low=quantity.low * factor, high=quantity.high * factor)


def _time_unit(quantity: Quantity) -> str | None:
    unit = quantity.units[0] if quantity.units else ""
    return unit if unit in _DAYS else None


def _is_sum(quantity: Quantity, statement: SiteStatement) -> bool:
    parts = find_quantities(statement.current)
    if len(parts) < 2 or any(part.is_money for part in parts):
        return False
    low, high = sum(part.low for part in parts), sum(part.high for part in parts)
    return compare(quantity, replace(quantity, low=low, high=high)) == "same"


def _matches_former(quantity: Quantity, statement: SiteStatement) -> bool:
    return any(compare(quantity, former) == "same" for former in find_quantities(statement.former))
