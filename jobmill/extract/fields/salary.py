"""Parse salaries from structured fields and from text."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from jobmill.catalog.posting import Period, Salary

from . import money

_MAX_TEXT_LENGTH = 60_000
"""Characters of a text that are read; no known posting names its pay after that."""

_MAX_AMOUNTS = 300
"""Amounts that are evaluated; a text with more is not a posting."""
_MIN_AMOUNT = 3
_MAX_FIELD_LENGTH = 80
"""A text this short that contains an amount is the value of a salary field."""

# Starts with a digit, so that the regex engine skips other text fast; the sign before it is looked
# up afterwards.
_NUMBER = (
    # Acts like a possessive group, which Python 3.11.2 handles incorrectly.
    r"[0-9](?:[0-9]{0,2}(?:[.,'\u2019\u00a0\u202f ][0-9]{3})+(?![.,'\u2019\u00a0\u202f ][0-9]{3})"
    r"(?:[.,][0-9]{1,2})?"
    r"|[0-9]?(?:,[0-9]{2}){1,3},[0-9]{3}"
    r"|[0-9]{0,6}(?:[.,][0-9]{1,2})?)(?![0-9])(?:,-)?"
)
_SCALE = (
    r"(?ai:k|tys\.?|tsd\.?|thousand|mm?|mn|mil|mio\.?|millions?|md|mrd|bn?|billion|trillion|lpa|l"
    r"|lakhs?|lacs?"
    r"|cr|crore)(?![a-z0-9])"
)
_RANGE_DASH = (
    r"(?:-{1,2}|[\u2013\u2014\u2212~]|(?i:to|and|bis(?: zu)?|und|à|a|et|y|e|tot|en|do|och|till"
    r"|up to)(?![a-z]))"
)
_PARENTHESIS = r"(?: ?\([^()\n]{0,40}\))?"
_PER_PERIOD = r"(?: ?(?:/|per |an? )(?i:hour|hr|year|yr|month|annum)(?![a-z])\.?)?"
_AMOUNT_OR_RANGE = re.compile(
    rf"(?P<low>{_NUMBER}) ?(?P<scale>{_SCALE})?(?P<more>\+)? ?(?P<after>{money.CURRENCY_AFTER})?"
    rf"(?:{_PER_PERIOD}{_PARENTHESIS}\s{{0,3}}{_RANGE_DASH}\s{{0,3}}(?P<before>{money.CURRENCY_BEFORE})?\s?(?P<high>{_NUMBER})"
    rf" ?(?P<scale2>{_SCALE})?\+? ?(?P<after2>{money.CURRENCY_AFTER})?)?"
)
_SIGN_BEFORE = re.compile(rf"({money.CURRENCY_BEFORE})\s?\Z")
_CODE_AFTER = re.compile(rf"[ (]{{0,2}}({money.CURRENCY_CODES})\b")
_PERIOD_AFTER = re.compile(
    r"[\s+*)]*(?:\(?(?:[A-Z]{3}|ote|base|gross|brutto|brut[so]?s?|brutos?|lordi|netto|net"
    r"|before tax)\)?[\s,]*){0,2}"
    r"(?:(?:/|per|an?|pro|im|je|par|de l['\u2019]|à l['\u2019]|al?|por|all['\u2019]|na|the"
    r"|i)\s*){0,2}"
    rf"(?:{money.PERIOD_PATTERN})(?!\w)",
    re.IGNORECASE,
)
_PERIOD_BEFORE = re.compile(
    r"\b(?:(?P<hour>hourly|per hour|stundenlohn|stundensatz|taux horaire)|(?P<day>daily rate"
    r"|day rate|per day|tagessatz|tjm)"
    r"|(?P<week>weekly|per week)|(?P<month>monthly|per month|monat\w*|mensuel\w*|mensual\w*"
    r"|månadslön|miesięcz\w*)"
    r"|(?P<year>annual\w*|yearly|per year|per annum|jahres\w*|jährlich\w*|annuel\w*|anual\w*"
    r"|rocz\w*))\b"
)

_PAY_WORD = re.compile(
    r"salar|\bpay\b|\bpay(?:ing|s) |\bpaid\b|compensat|\bcomp\b|\bwage|\bearn|income|remunerat"
    r"|\bote\b|\brate\b|\bbase\b|\btier\b"
    r"|gehalt|vergütung|lohn|verdien|brutto|bezahl|entgelt|rémunération|salaire|\bbrut|sueldo"
    r"|retribu|\bbrut"
    r"|stipendio|\bral\b|salaris|loon\b|remunera|salári|wynagrodz|widełki|stawka|zarobk|satz\b"
    r"|honorar|\blön|\blønn?\b|palkka|\bmzda|\bctc\b"
)
_TOTAL_PAY_WORD = re.compile(
    r"\bote\b|on[- ]target|target earning|total (?:target )?(?:cash|comp|pay|reward)"
)
_BASE_PAY_WORD = re.compile(r"\bbase\b")
_OTHER_MONEY_WORD = re.compile(
    r"bonus|stipend(?!io)|reimburs|allowance|allotment|budget|referral|\brefer\b|sign[- ]?on"
    r"|signing|relocat|tuition|401|match|raised"
    r"|raising|funding|\bfunds?\b|fundrais|revenue|\barr\b|valuation|series [a-f]\b|backed|invest"
    r"|gift"
    r"|discount|donat|copay|deductible"
    r"|insurance|coverage|assistance|\bgrants?\b|equity|option|\brsus?\b|\bassets?|managing"
    r"|portfolio|deal|quota|sales of|worth of|saving"
    r"|prämie|zuschuss|zuschläge|sachbezug|gutschein|budget|zulage|umsatz|ticket|prime|panier"
    r"|mutuelle|indemnit|chiffre|capital"
    r"|wellness|fitness|learning|training|per diem|commission|contribut|\bhsa\b|\bhra\b|perks?\b"
    r"|career path|potential to"
    r"|volunteer|award|prize|exceeding|customers|employees|users|companies"
)
_OTHER_MONEY_AFTER = re.compile(
    r"[^+,;.()\n&|•]{0,35}?\b(?:(?:plus|and|with|und|et|y|or)\b|("
    r"bonus|stipend|budget|referral|sign[- ]?on|signing|relocation|allowance|allotment|reimburse"
    r"|gift|match|grant|employees?"
    r"|in (?:annual|revenue|funding|arr|sales)|arr|revenue|funding|raised|equity|valuation|deal"
    r"|quota|credit|insurance|deductible"
    r"|remote-working|sachbezug|gutschein|prämie|zuschuss|netto ref|training|towards?|learning"
    r"|home office|wfh|customers|users"
    r"|companies|businesses|acv|tcv|mrr|gmv|aum|savings|donation|discount|contribution|worth|ticket"
    r"|square|sq|people|members"
    r"|downloads|lines|requests|transactions|events|miles|patients|students|clients|stores"
    r"|locations))"
)
_CLAUSE_END = re.compile(r"[\n•]|[.;!?] |  ")
_AT_LEAST = re.compile(
    r"(?:from|starting (?:at|from)|minimum(?: of)?|at least|ab|mindestens|à partir de|desde|dès|od"
    r"|från|vanaf)\W*\Z"
)
_AT_MOST = re.compile(
    r"(?:up ?to|bis zu|bis|max(?:imum|\.)?(?: of)?|jusqu['\u2019]à|hasta|fino a|tot|do|upp till"
    r"|upto)\W*\Z"
)

_PLAUSIBLE_PAY: dict[Period, tuple[float, float]] = {
    "hour": (3, 1_000), "day": (30, 6_000), "week": (80, 20_000), "month": (200, 250_000),
    "year": (3_000, 5_000_000),
}  # fmt: skip
_YEARLY_PAY_CURRENCIES = {"USD", "EUR", "GBP", "CAD", "AUD", "NZD", "SGD", "CHF", "ILS", None}
"""Currencies in which five digits are a year's pay; in others they may be a month's."""


@dataclass(frozen=True, slots=True)
class _Amount:
    """An amount or range in a text, not classified yet."""

    low: float
    high: float | None
    currency: str | None
    start: int
    end: int
    has_currency: bool
    """A currency is next to it."""
    open_ended: bool
    """A plus sign follows."""
    is_yearly: bool
    """Its unit is per year (LPA)."""


@dataclass(frozen=True, slots=True)
class _Context:
    """The text around an amount, in lower case."""

    clause: str
    above: str
    after: str
    pay_word_at: int
    """Position of the last pay word in the clause; -1 if there is none."""
    other_money_at: int
    """Position of the last word for other money (bonus, budget, funding); -1 if there is none."""

    def is_about_pay(self) -> bool:
        if self.pay_word_at < 0 and self.other_money_at < 0 and len(self.clause) < 40:
            return bool(_PAY_WORD.search(self.above))
        return self.pay_word_at >= 0 and self.pay_word_at >= self.other_money_at

    def is_about_other_money(self) -> bool:
        adjacent = _OTHER_MONEY_AFTER.match(self.after)
        return self.other_money_at > self.pay_word_at or bool(adjacent and adjacent[1])


@dataclass(frozen=True, slots=True)
class _Offer:
    low: float | None
    high: float | None
    currency: str | None
    period: Period | None
    is_total: bool
    is_base: bool

    @property
    def is_range(self) -> bool:
        return self.low is not None and self.high is not None and self.low != self.high


def from_fields(
    low: object, high: object, currency: object, period: object, *, predicted: bool = False
) -> Salary | None:
    """A salary from the fields of a site: numbers or texts, currency codes or signs, periods such
    as 'per-year-salary' or 'HOUR'. Zero and empty mean unknown; None without any amount."""
    least, most = _parse_amount(low), _parse_amount(high)
    if least is None and most is None:
        return None
    if least is not None and most is not None and least > most:
        least, most = most, least
    unit = money.parse_period(period)
    if unit == "year" and max(least or 0, most or 0) < 1000:
        unit = None  # Hourly or daily pay in a field meant for yearly pay.
    code = money.parse_currency(currency)
    return Salary(least, most, code, unit, "predicted" if predicted else "structured")


def from_ranges(
    ranges: Sequence[tuple[float | None, float | None, str | None, str | None]],
) -> Salary | None:
    """The lowest to the highest amount of several ranges (low, high, currency, period), of which only
    those with the currency and period of the first one count."""
    if not ranges:
        return None
    unit = ranges[0][2:]
    same_unit = [amounts for amounts in ranges if amounts[2:] == unit]
    low = min((amounts[0] for amounts in same_unit if amounts[0]), default=None)
    high = max((amounts[1] for amounts in same_unit if amounts[1]), default=None)
    return from_fields(low, high, *unit)


def from_text(text: str | None) -> Salary | None:
    """The salary that a text states ("$120k-150k", "120 000 - 150 000 EUR", "£45k DOE")."""
    if not text:
        return None
    text = text[:_MAX_TEXT_LENGTH]
    amounts = (
        amount for match in _AMOUNT_OR_RANGE.finditer(text) if (amount := _parse_match(text, match))
    )
    offers = [offer for item in islice(amounts, _MAX_AMOUNTS) if (offer := _as_offer(text, item))]
    return _combine(offers) if offers else None


def _parse_amount(value: object) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float):
        return float(value) if 0 < value < 1e15 else None
    if not isinstance(value, str) or not (match := _AMOUNT_OR_RANGE.search(value[:60])):
        return None
    try:
        plain = float(value) if not re.fullmatch(r"\s*\d{1,3}(?:\.\d{3})+\s*", value) else None
    except ValueError:
        plain = None
    if plain is None:
        plain = _scaled(match["low"], match["scale"])
    return plain if plain and math.isfinite(plain) and 0 < plain < 1e15 else None


def _scaled(number: str, scale: str | None) -> float | None:
    amount = money.parse_number(number.removesuffix(",-"))
    return None if amount is None else amount * _factor(scale)


def _factor(scale: str | None) -> float:
    return money.SCALES[(scale or "").lower().rstrip(".")]


def _parse_match(text: str, match: re.Match[str]) -> _Amount | None:
    start, end = match.span()
    sign = _SIGN_BEFORE.search(text, max(0, start - 6), start)
    if start and not sign and (text[start - 1].isalnum() or text[start - 1] in ".,-/#_:"):
        return None
    before = sign[1] if sign else None
    labels = [
        label for label in (before, match["after"], match["before"], match["after2"]) if label
    ]
    scales = [label.lower() for label in (match["scale"], match["scale2"]) if label]
    if not labels and not scales and len(match["low"]) < 5:
        return None
    if text.startswith("%", end) or (not labels and match["low"] == "401"):
        return None
    currency = _currency(labels, scales, text, end)
    low, high = _amounts(match, currency)
    if low is None or low < _MIN_AMOUNT or (high is not None and not low <= high <= 10 * low):
        return None
    start = sign.start() if sign else start
    more = bool(match["more"])
    return _Amount(low, high, currency, start, end, bool(labels), more, "lpa" in scales)


def _currency(labels: list[str], scales: list[str], text: str, end: int) -> str | None:
    """A code overrides a sign: "$90,000 CAD" is not in US dollars."""
    codes = [code for label in labels if (code := money.parse_currency(label))]
    if labels and (after := _CODE_AFTER.match(text, end)):
        codes.append(after[1])
    if money.INDIAN_SCALES.intersection(scales):
        codes.append("INR")
    return next((code for code in codes if code != "USD"), codes[0] if codes else None)


def _amounts(match: re.Match[str], currency: str | None) -> tuple[float | None, float | None]:
    scale, scale2 = match["scale"], match["scale2"]
    if (
        max(_factor(scale), _factor(scale2)) > 1000
        and currency not in money.LARGE_NUMBER_CURRENCIES
    ):
        return None, None  # In most currencies millions are company figures, not pay.
    high = _scaled(match["high"], scale2 or scale) if match["high"] else None
    if scale is None and scale2 and (bare := money.parse_number(match["low"])) and bare < 1000:
        scale = scale2
    return _scaled(match["low"], scale), high


def _as_offer(text: str, amount: _Amount) -> _Offer | None:
    context = _context(text, amount)
    period, stated = _period(text, amount, context)
    if period and not _is_plausible(amount.high or amount.low, period, amount.currency):
        return None
    if not _is_pay(amount, context, period, stated, short=len(text) <= _MAX_FIELD_LENGTH):
        return None
    low, high = _range(amount, context)
    after = context.after.lstrip(" (")
    total, base = (
        _last_position(_TOTAL_PAY_WORD, context.clause),
        _last_position(_BASE_PAY_WORD, context.clause),
    )
    return _Offer(
        low,
        high,
        amount.currency,
        period,
        is_total=total > base or bool(_TOTAL_PAY_WORD.match(after)),
        is_base=base > total or bool(_BASE_PAY_WORD.match(after)),
    )


def _is_pay(
    amount: _Amount, context: _Context, period: Period | None, stated: Period | None, *, short: bool
) -> bool:
    """Whether the amount is pay and not a bonus or budget. A range needs less evidence than one
    number."""
    otherwise = context.is_about_other_money()
    labelled = amount.high is not None and context.clause.rstrip().endswith(":")
    paid = context.is_about_pay() or (context.pay_word_at >= 0 and (stated == "hour" or labelled))
    paid = paid or (short and not otherwise and (amount.has_currency or stated is not None))
    if not paid and (otherwise or not amount.has_currency):
        return False
    if amount.high is not None:
        return paid or period is not None
    if otherwise and stated != "hour":
        return False
    named = paid or stated == "hour" or _PAY_WORD.match(context.after.lstrip()) is not None
    return named and period is not None


def _range(amount: _Amount, context: _Context) -> tuple[float | None, float | None]:
    if amount.high is not None:
        return amount.low, amount.high
    if _AT_MOST.search(context.clause):
        return None, amount.low
    open_above = amount.open_ended or _AT_LEAST.search(context.clause)
    return amount.low, None if open_above else amount.low


def _context(text: str, amount: _Amount) -> _Context:
    before = text[max(0, amount.start - 160) : amount.start].lower()
    cut = max((match.end() for match in _CLAUSE_END.finditer(before)), default=0)
    above, clause = before[:cut].rstrip("\n -•"), before[cut:]
    return _Context(
        clause,
        above[above.rfind("\n") + 1 :][-60:],
        text[amount.end : amount.end + 70].lower(),
        pay_word_at=_last_position(_PAY_WORD, clause),
        other_money_at=_last_position(_OTHER_MONEY_WORD, clause),
    )


def _last_position(pattern: re.Pattern[str], text: str) -> int:
    """Where the last match starts; -1 without a match."""
    return max((match.start() for match in pattern.finditer(text)), default=-1)


def _period(text: str, amount: _Amount, context: _Context) -> tuple[Period | None, Period | None]:
    """The period, and again if the text states it right after the amount."""
    if after := _PERIOD_AFTER.match(text, amount.end):
        return money.matched_period(after), money.matched_period(after)
    low, currency = amount.low, amount.currency
    if amount.is_yearly:
        return "year", None
    words = list(_PERIOD_BEFORE.finditer(f"{context.above[-40:]} {context.clause}"))
    if words and _is_plausible(low, unit := money.matched_period(words[-1]), currency):
        return unit, None
    if low >= (10_000 if currency in _YEARLY_PAY_CURRENCIES else 150_000):
        return "year", None
    return ("month", None) if currency in ("EUR", "CHF") and 1_000 <= low < 10_000 else (None, None)


def _is_plausible(amount: float, period: Period, currency: str | None) -> bool:
    least, most = _PLAUSIBLE_PAY[period]
    return least <= amount and (amount <= most or currency in money.LARGE_NUMBER_CURRENCIES)


def _combine(offers: list[_Offer]) -> Salary:
    """One salary from all offers: ranges before single amounts, base pay before total pay; ranges
    for different locations are merged."""
    ranges = [offer for offer in offers if offer.is_range] or offers[:1]
    if any(offer.is_base and not offer.is_total for offer in ranges):
        ranges = [offer for offer in ranges if not offer.is_total] or ranges
    first = ranges[0]
    matching = [
        offer
        for offer in ranges
        if (offer.currency, offer.period) == (first.currency, first.period)
    ]
    return Salary(
        min((offer.low for offer in matching if offer.low is not None), default=None),
        max((offer.high for offer in matching if offer.high is not None), default=None),
        first.currency,
        first.period,
        "text",
    )
