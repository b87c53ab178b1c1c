"""Parse amounts, currencies and pay periods."""

from __future__ import annotations

import re

from jobmill.catalog.posting import Period

CURRENCY_CODES = (
    "USD|EUR|GBP|CAD|AUD|NZD|SGD|HKD|CHF|SEK|NOK|DKK|ISK|PLN|CZK|HUF|RON|BGN|UAH|TRY|ILS|AED|SAR"
    "|QAR|KWD|EGP|ZAR|NGN|KES|INR|PKR|BDT|LKR|JPY|CNY|KRW|TWD|THB|VND|IDR|MYR|PHP|BRL|MXN|ARS|CLP"
    "|COP|PEN|UYU|CRC|RUB|KZT|GEL|AMD|RSD"
)
CURRENCY_SIGNS = {
    "$": "USD", "us$": "USD", "ca$": "CAD", "c$": "CAD", "cad$": "CAD", "cdn$": "CAD",
    "a$": "AUD", "au$": "AUD", "aud$": "AUD",
    "nz$": "NZD", "s$": "SGD", "sg$": "SGD", "hk$": "HKD", "nt$": "TWD", "r$": "BRL",
    "mx$": "MXN", "usd$": "USD",
    "€": "EUR", "euro": "EUR", "euros": "EUR", "£": "GBP", "₹": "INR", "rs": "INR", "rs.": "INR",
    "inr": "INR",
    "zł": "PLN", "zl": "PLN", "pln": "PLN", "kč": "CZK", "₪": "ILS", "₺": "TRY", "₩": "KRW",
    "₱": "PHP", "₴": "UAH",
    "₽": "RUB", "₫": "VND", "฿": "THB", "₦": "NGN", "rmb": "CNY", "sfr": "CHF", "sfr.": "CHF",
    "fr.": "CHF", "dollars": "USD",
    "kr": None, "¥": None,
}  # fmt: skip
"""None: the sign stands for several currencies."""

CURRENCY_BEFORE = (
    r"(?:\b(?:US|CA|CAD|CDN|C|AU|AUD|A|NZ|NZD|SG|SGD|S|HK|HKD|NT|R|MX|USD) ?\$"
    r"|[$€£₹₪₺₩₱₴₽₫฿₦¥]"
    r"|\bRs\.?"
    rf"|\b(?:{CURRENCY_CODES}|RMB|SFr\.?))"
)
CURRENCY_AFTER = (
    rf"(?:[$€£₹₪₺₩₱₴₽₫฿₦¥]|(?:{CURRENCY_CODES}|RMB|(?i:euros?|z[łl]|kč|kr|dollars))(?![a-z]))"
)

PERIOD_WORDS: dict[Period, str] = {
    "hour": (
        r"hours?|hourly|hrs?|ph|std|stunden?|stündlich|stundenlohn|stundensatz|heures?|horaire"
        r"|hora|ora|orari[ao]|uur|uurloon|godz|godzin[aęy]|timme|timlön|timen?|h"
    ),
    "day": (
        r"days?|daily|tag|tages?satz|täglich|jours?|journalier|tjm|día|dia|diari[ao]|giorno|dag"
        r"|dzień|dzien"
    ),
    "week": (
        r"weeks?|weekly|wk|woche|wöchentlich|semaine|hebdomadaire|semana|semanal|settimana"
        r"|settimanale"
    ),
    "month": (
        r"months?|monthly|mo|monat|monats?gehalt|monats?lohn|monatlich(?:es|en|e)?|mtl|mois"
        r"|mensuel(?:le|s)?|mes|mensual(?:es)?|mese|mensil[ei]|mês|mensa(?:l|is)|maand"
        r"|maandelijks|mies(?:iąc|ięcznie|iecznie)?|mc|měs(?:íc|íčně)?|månad|månadslön|mån"
        r"|måned|kuukausi|kk"
    ),
    "year": (
        r"years?|yearly|yrs?|annual(?:ly|ized)?|annum|p\.? ?a|jahr(?:es)?|jährlich(?:es|en|e)?"
        r"|jahres(?:brutto)?(?:ziel)?(?:gehalt|einkommen)?|an|ans|année|annuel(?:le|s)?|annuels"
        r"|año|anual(?:es|mente)?|anno|annu[oi]|annual[ei]|ano|anua(?:l|is)|jaar(?:lijks)?|rok"
        r"|rocznie|år|årligen|lpa|ctc"
    ),
}
PERIOD_PATTERN = "|".join(f"(?P<{period}>{words})" for period, words in PERIOD_WORDS.items())
PERIOD_ABBREVIATIONS = {
    "pa": "year", "ph": "hour", "pd": "day", "pm": "month", "pw": "week", "bw": None,
    "biweekly": None, "bi": None,
}  # fmt: skip
_PERIOD = re.compile(rf"(?<![^\W_])(?:{PERIOD_PATTERN})(?![^\W_])")

_NOT_AN_HOUR = re.compile(r"\b(?:full|part|one|first|any) time\b")
"""English phrases with "time", which alone means "hour" in Danish."""

LARGE_NUMBER_CURRENCIES = {
    "INR",
    "JPY",
    "KRW",
    "IDR",
    "VND",
    "HUF",
    "COP",
    "CLP",
    "ARS",
    "NGN",
    "PKR",
    "RUB",
    "KZT",
}
"""Currencies in which yearly pay is written in millions."""
INDIAN_SCALES = {"lpa", "lakh", "lakhs", "lac", "lacs", "crore"}
SCALES = {
    "": 1.0,
    "k": 1e3, "tsd": 1e3, "tys": 1e3, "thousand": 1e3, "m": 1e6, "mm": 1e6, "mn": 1e6, "mil": 1e6,
    "mio": 1e6, "million": 1e6,
    "millions": 1e6, "md": 1e9, "mrd": 1e9, "b": 1e9, "bn": 1e9, "billion": 1e9,
    "t": 1e12, "trillion": 1e12, "l": 1e5, "lpa": 1e5, "lakh": 1e5, "lakhs": 1e5, "lac": 1e5,
    "lacs": 1e5, "cr": 1e7, "crore": 1e7,
}  # fmt: skip


def parse_number(text: str) -> float | None:
    """The value of "120.000", "1'250,50", "12.5" or "1,20,000"; None if it is not a number."""
    text = re.sub(r"[\s'\u2019_]", "", text)
    integer, mark, decimals = text, "", ""
    if (last := max(text.rfind("."), text.rfind(","))) >= 0:
        integer, mark, decimals = text[:last], text[last], text[last + 1 :]
        if mark in integer or (len(decimals) == 3 and integer.strip("0.,")):
            integer, decimals = text, ""  # The mark separates thousands, not decimals.
    integer = re.sub(r"[.,]", "", integer)
    if not (integer.isascii() and integer.isdecimal() and len(integer) < 16):
        return None
    return (
        float(f"{integer}.{decimals}")
        if decimals.isascii() and decimals.isdecimal()
        else float(integer)
    )


def parse_currency(label: object) -> str | None:
    """The ISO code for a currency code or sign; None for a sign that several currencies share."""
    if not isinstance(label, str):
        return None
    word = label.strip().replace(" ", "").lower()
    if word in CURRENCY_SIGNS:
        return CURRENCY_SIGNS[word]
    return word.upper() if len(word) == 3 and word.isascii() and word.isalpha() else None


def parse_period(label: object) -> Period | None:
    """The period for labels such as 'per-year-salary', 'HOUR', "1 YEAR" and "PA"; None if unknown."""
    if not isinstance(label, str):
        return None
    word = _NOT_AN_HOUR.sub("", re.sub(r"[\W_]+", " ", label[:60].lower())).strip()
    if word.split(" ")[0] in PERIOD_ABBREVIATIONS:
        abbreviated = PERIOD_ABBREVIATIONS[word.split(" ")[0]]
        return next((period for period in PERIOD_WORDS if period == abbreviated), None)
    match = _PERIOD.search(word)
    return matched_period(match) if match else None


def matched_period(match: re.Match[str]) -> Period:
    """The period named by the group that matched."""
    return next(period for period in PERIOD_WORDS if match[period])
