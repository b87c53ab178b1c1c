"""Find the headquarters and offices of a company in the sentences of its pages."""

from __future__ import annotations

import re
from collections.abc import Iterable

from jobmill.places import gazetteer

# Bounded, and a hyphen belongs to one part only: otherwise a chain of them would take minutes.
_PLAIN = r"[A-ZÀ-Þ][\w'\u2019]{0,25}"
_WORD = rf"(?:St\.|{_PLAIN}(?:-[\w'\u2019]{{1,25}}){{0,3}}+)"
_NAME = rf"{_WORD}(?: (?:{_WORD}|de|la|am|der|upon|do)(?=[\s,.;)-]|$)){{0,3}}"
_PLACE = rf"({_NAME}(?:, (?:{_NAME}|[A-Z]\.[A-Z]\.)){{0,2}})"
_IN = r"(?:in|at|out of) (?:the )?(?:beautiful |sunny |downtown |heart of )?"
_COMPANY_NOUN = r"company|startup|start-up|studio|agency|firm|team|business"
_HEADQUARTERS = (
    re.compile(rf"\b[Hh]eadquartered {_IN}{_PLACE}"),
    re.compile(
        rf"\b(?:[Hh]eadquarters|[Hh]ead office|HQ)\b(?: is| are|,)?(?: located| based)? {_IN}{_PLACE}"
    ),
    re.compile(rf"\b(?:Headquarters|HQ|Head office|Hauptsitz|Sitz)\s?:\s?{_PLACE}"),
    re.compile(
        rf"\b(?:[Hh]auptsitz|[Ss]itz|[Ss]iège(?: social)?|[Ss]ede)(?: \w+)? (?:in|à|en) {_PLACE}"
    ),
)
_BASED = (
    re.compile(
        rf"(?:\b(?:[Ww]e are|[Ww]e're|is|are|{_COMPANY_NOUN})|,) (?:a \w+ )?(?:proudly |currently )?"
        rf"based {_IN}{_PLACE}"
    ),
    re.compile(rf"\b({_PLAIN}(?: {_PLAIN}){{0,2}})-based (?:{_COMPANY_NOUN}|software|technology)"),
    re.compile(rf"\blocated {_IN}{_PLACE}"),
)
_AND = r"(?:, and |, | and | & | und | et | y )"
_OFFICES = re.compile(
    rf"\b(?:[Oo]ffices|[Oo]ffice|[Ll]ocations|[Hh]ubs|[Tt]eams|Büros|Standorte\w?|bureaux|oficinas)"
    rf" (?:\w+ )?(?:in|across|throughout|à|en) (?:the )?({_NAME}(?:{_AND}{_NAME}){{0,20}})"
)
_SEPARATOR = re.compile(_AND)
_ADDRESS = re.compile(
    r"((?:(?:St\.|Ft\.|[A-Z][a-z\u2019'-]+) ){0,2}[A-Z][a-z\u2019'-]+),?\s+([A-Z]{2})\.?,?"
    r"\s+\d{5}(?:-\d{4})?\b"
)
_STREET = re.compile(
    r"^.*\b(?:Street|Road|Rd|Avenue|Ave|Boulevard|Blvd|Drive|Dr|Way|Lane|Ln|Highway|Hwy|Suite|Floor|Court"
    r"|Place|Parkway|Pkwy|Square|Building)\b\.? "
)
# Words that start with a capital letter and are not places.
_NO_WORDS = """
    we our the and with a an us it its this that they he she as at by for from in of on or to who where
    which since founded today monday january more learn read remote europe asia africa north south
    america apac emea world worldwide global cloud your each every all internet"""
_NO_PLACE = frozenset(_NO_WORDS.split())


def find_headquarters(texts: Iterable[str], *, named: bool = False) -> str | None:
    """The headquarters, by the most reliable phrases first. `named`: only phrases that say
    "headquarters", because "based in" may be about a single opening."""
    all_texts = list(texts)
    for pattern in _HEADQUARTERS if named else (*_HEADQUARTERS, *_BASED):
        for text in all_texts:
            for match in pattern.finditer(text):
                if place := _clean_place(match[1], text[match.end() :]):
                    return place
    return None


def find_offices(texts: Iterable[str]) -> list[str]:
    """Every place where the company says it has an office."""
    return [
        place
        for text in texts
        for match in _OFFICES.finditer(text)
        for name in _SEPARATOR.split(match[1])
        if (place := _clean_place(name, ""))
    ]


def find_addresses(texts: Iterable[str]) -> list[str]:
    """City and state of each address with a US postal code."""
    return [
        f"{_STREET.sub('', match[1])}, {match[2]}"
        for text in texts
        for match in _ADDRESS.finditer(text)
    ]


def _clean_place(words: str, after: str) -> str | None:
    """The place without a part that only looks like one: "Porto, Acme builds" is Porto."""
    parts = words.split(", ")
    if len(parts) > 1 and re.match(r",? [a-z]", after) and not _is_area(parts[-1]):
        parts = parts[:-1]
    cleaned = [part.strip(" .-") for part in parts if part.strip(" .-").lower() not in _NO_PLACE]
    first = cleaned[0].split()[0].lower() if cleaned and cleaned[0] else ""
    return ", ".join(cleaned) if first and first not in _NO_PLACE else None


def _is_area(word: str) -> bool:
    """Whether a word is a state or country, by its name or as an abbreviation in capitals."""
    return word.isupper() or gazetteer.is_country_or_state(word)
