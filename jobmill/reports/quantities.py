"""Numbers in sentences with what they count, as ranges: "about 500 employees", "over 450 people"."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from jobmill.extract.fields import money
from jobmill.reports.claim_words import stem

Comparison: TypeAlias = Literal["same", "lower", "higher"]

_MAX_QUANTITIES: Final = 12
_UNIT_WORDS: Final = 4
_NUMBER_WORDS: Final = {
    word: number
    for number, words in enumerate(
        ("zero", "one", "two|twice", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
         "eleven", "twelve|a dozen", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen",
         "eighteen", "nineteen", "twenty")
    )
    for word in words.split("|")
} | {
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
    "a hundred": 100, "one hundred": 100, "a thousand": 1_000, "one thousand": 1_000,
}  # fmt: skip
_VAGUE_NUMBERS: Final = {
    "dozens of": (24, 100), "hundreds of": (100, 1_000), "several hundred": (200, 1_000),
    "thousands of": (1_000, 10_000), "several thousand": (2_000, 10_000),
}  # fmt: skip
_WORDS: Final = "|".join(sorted((*_NUMBER_WORDS, *_VAGUE_NUMBERS), key=len, reverse=True))
_NUMBER: Final = (
    rf"(?:\d{{1,3}}(?:[,.'\u2019]\d{{3}})+(?:\.\d{{1,2}})?|\d{{1,12}}(?:\.\d{{1,4}})?|\b(?:{_WORDS})\b)"
    r"(?:\s?(?:k|thousand|million|lakhs?|crore|billion)\b)?"
)
_HEDGES: Final = {
    "about": "about|around|roughly|approximately|approx\\.?|circa|some|~|somewhere around",
    "nearly": "nearly|almost|just under|close to",
    "over": "over|more than|at least|above|upwards of|north of|a little over|no less than",
    "up_to": "up to|at most|no more than|a maximum of|reach(?:es)?|limited to",
    "under": "under|less than|fewer than|below",
    "only": "only|just",
    "between": "between|from",
}
_HEDGE: Final = "|".join(f"(?P<{name}>{words})" for name, words in _HEDGES.items())
_AFTER: Final = (
    rf"(?P<after>(?-i:{money.CURRENCY_AFTER})|%|\bpercent\b|\brupees\b|\bpounds\b|\bfrancs\b"
    r"|\b(?:canadian|australian) dollars\b)"
)
_QUANTITY: Final = re.compile(
    rf"(?:(?<!\w)(?:{_HEDGE})\s+(?:a |the |just |statutory )?|(?<![\w.,]))"
    rf"(?P<before>(?-i:{money.CURRENCY_BEFORE}))?\s?(?P<first>{_NUMBER})(?P<plus>\+)?"
    rf"(?:\s?(?(between)(?:-|\u2013|to|and)|(?:-|\u2013|to|or))\s?(?-i:{money.CURRENCY_BEFORE})?\s?"
    rf"(?P<second>{_NUMBER}))?(?:\s?{_AFTER})?",
    re.IGNORECASE,
)
_PERIOD: Final = re.compile(
    r"[^.;]{0,40}?\b(?:an?|per|each|every|/)\s?(?P<noun>hour|day|week|month|year|annum)\b"
    r"|[^.;]{0,20}?\b(?P<adverb>hourly|daily|weekly|monthly|yearly|annually)\b",
    re.IGNORECASE,
)
_UNIT: Final = re.compile(r"[\s-]*([^\W\d_][\w'\u2019-]*|[,;:.()!?])")
_UNIT_ENDS: Final = """
in on at by for with from per each and or but which who that is are was were a an the to work works worked
"""
_UNIT_END: Final = frozenset(_UNIT_ENDS.split())
_AT_ONCE: Final = re.compile(r"\b(?:day one|(?:the|your) first day|immediately)\b", re.IGNORECASE)
_CURRENCY_WORDS: Final = {
    "rupees": "INR", "pounds": "GBP", "francs": "CHF", "canadian dollars": "CAD", "australian dollars": "AUD",
}  # fmt: skip
_YEAR_BEFORE: Final = re.compile(
    r"\b(?:in|since|of|until|by|from|year|during|after|before|january|february|march|april|may|june|july"
    r"|august|september|october|november|december|early|late|mid)[\s-]*$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Quantity:
    low: float
    high: float
    units: tuple[str, ...]
    """Stems of the words after the number, and "money", "percent"."""
    currency: str | None
    period: str | None
    is_limit: bool
    """Whether it states only the upper end: "up to 18"."""
    start: int
    end: int

    @property
    def is_money(self) -> bool:
        return self.currency is not None


@lru_cache(maxsize=32_768)
def find_quantities(text: str) -> tuple[Quantity, ...]:
    """The numbers of a text that count something; not years."""
    quantities: list[Quantity] = []
    for match in _QUANTITY.finditer(text):
        quantity = _read(match, text)
        if quantity and not _is_year(match, text, quantity):
            quantities.append(quantity)
        if len(quantities) == _MAX_QUANTITIES:
            break
    if match := _AT_ONCE.search(text):
        quantities.append(Quantity(0, 1, ("day",), None, None, False, match.start(), match.end()))
    return tuple(quantities)


def compare(claim: Quantity, site: Quantity, tolerance: float = 0.0) -> Comparison:
    """Whether a claimed quantity can be the site's, or is too low or too high."""
    if claim.is_limit and site.high > site.low:
        claim_low, claim_high = claim.high, claim.high
        site_low, site_high = site.high, site.high
    else:
        claim_low, claim_high, site_low, site_high = claim.low, claim.high, site.low, site.high
    if claim_high * (1 + tolerance) < site_low * (1 - 1e-9):
        return "lower"
    return "higher" if claim_low * (1 - tolerance) > site_high * (1 + 1e-9) else "same"


def _read(match: re.Match[str], text: str) -> Quantity | None:
    first = _value(match["first"])
    second = _value(match["second"]) if match["second"] else None
    if first is None:
        return None
    hedge = next((name for name in _HEDGES if match[name]), "over" if match["plus"] else "")
    end = match.end()
    if second is not None and second[1] < first[0]:
        second = None
    low, high = _range(first, second, hedge)
    currency, units = _units(match, text)
    return Quantity(
        low, high, units, currency, _period(text, end) if currency else None,
        hedge in ("up_to", "under"), match.start(), end,
    )  # fmt: skip


def _value(text: str) -> tuple[float, float] | None:
    """The smallest and the largest number that the words can mean."""
    words = " ".join(text.lower().replace("-", " ").split())
    if words in _VAGUE_NUMBERS:
        return _VAGUE_NUMBERS[words]
    match = re.fullmatch(r"(.*?)\s?(k|thousand|million|lakhs?|crore|billion)?", words)
    digits, scale = (match[1], match[2] or "") if match else (words, "")
    number = _NUMBER_WORDS.get(words) or _NUMBER_WORDS.get(digits) or money.parse_number(digits)
    if number is None:
        return None
    factor = 1.0 if words in _NUMBER_WORDS else money.SCALES.get(scale, 1.0)
    return number * factor, number * factor


def _range(
    first: tuple[float, float], second: tuple[float, float] | None, hedge: str
) -> tuple[float, float]:
    if second:
        return first[0], second[1]
    low, high = first
    match hedge:
        case "about":
            return low * 0.87, high * 1.15
        case "nearly":
            return low * 0.9, high
        case "over":
            return low, high * 1.3
        case "under":
            return low * 0.6, high
        case _:
            return low, high


def _units(match: re.Match[str], text: str) -> tuple[str | None, tuple[str, ...]]:
    after = (match["after"] or "").strip().lower()
    sign = (match["before"] or after).strip()
    words = _words_after(text, match.end())
    if after in ("%", "percent"):
        return None, ("percent", *words)
    if not sign:
        return None, words
    currency = _CURRENCY_WORDS.get(after) or money.parse_currency(sign) or sign
    return currency, ("money", *words)


def _words_after(text: str, position: int) -> tuple[str, ...]:
    words: list[str] = []
    while len(words) < _UNIT_WORDS and (match := _UNIT.match(text, position)):
        word = match[1].lower()
        position = match.end()
        if word == "per" and not words:
            words.append("per")
        if word in _UNIT_END or not word[0].isalpha():
            break
        if word != "of":
            words += [stem(part) for part in word.split("-") if part]
    return tuple(words)


def _period(text: str, position: int) -> str | None:
    match = _PERIOD.match(text, position)
    if not match:
        return None
    return money.parse_period(match["noun"] or match["adverb"])


def _is_year(match: re.Match[str], text: str, quantity: Quantity) -> bool:
    digits = match["first"]
    if not (len(digits) == 4 and digits.isdecimal() and 1700 <= int(digits) <= 2060):
        return False
    if quantity.is_money or match["plus"]:
        return False
    # "1900 employees" counts people, "in 1900 employees struck" does not.
    return bool(_YEAR_BEFORE.search(text[: match.start("first")])) or not quantity.units
