"""Find facts about a company in its sentences: founding year, size, industry, remote work."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from jobmill.plain_text import read_phrase_list

_SENTENCE = re.compile(
    r"(?<=[.!?])(?<!\b[A-Z]\.)(?<!\bSt\.)(?<!\bInc\.)(?<!\bCo\.)\s+(?=[\"'“A-ZÀ-Þ0-9])"
)

_YEAR = r"(1[6-9]\d\d|20[0-4]\d)"
_FOUNDED = re.compile(
    rf"\b(?:founded|established|incorporated|launched as a company|started(?: out)?|born"
    rf"|gegründet|fondée?|fundada|fundado|fondata|opgericht)\b(?:[^.!?\d]|\b\d{{1,2}}\b){{0,60}}?{_YEAR}\b"
    rf"|\b(?:in business|family[- ]owned|operating|serving [^.]{{0,40}}|seit|depuis|est\.?|estd\.?"
    rf"|founded:?|established:?|since our founding)\s*(?:since|in|:)?\s*{_YEAR}\b"
    rf"|\b[Ss]ince\s+{_YEAR}\b(?=,? (?:we|our|the company))"
    rf"|\b[Ii]m Jahr(?:e)? {_YEAR} gegründet|\b{_YEAR} gegründet",
    re.IGNORECASE,
)

_COUNT = r"\d{1,3}(?:[,.\u2019']\d{3})+|\d{1,6}"
_AMOUNT = (
    rf"(?:(?:over|more than|nearly|almost|about|around|approximately|some|roughly|up to|über|rund"
    rf"|plus de|más de)\s+)?(?:{_COUNT})\s?k?\+?(?:\s?(?:-|\u2013|to)\s?(?:{_COUNT})\+?)?"
)
_PEOPLE = (
    r"(?:employees|team members|teammates|staff(?: members)?|colleagues|co-?workers|associates"
    r"|Mitarbeite\w+|Beschäftigte\w*|collaborateurs|salariés|empleados|medewerkers)"
)
_TEAM = r"(?:team|company|startup|studio|agency|firm|business)"
_EMPLOY = r"(?:we are|we're|we now are|we employ|employs|employing|grown to|team is)"
_SIZES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b({_AMOUNT}[\s-]{{1,3}}(?:[a-z-]{{1,20}}\s){{0,3}}?{_PEOPLE})\b",
        rf"\b(team of (?:{_AMOUNT})(?:\s(?:people|employees|professionals|experts))?)\b",
        rf"\b({_AMOUNT}[\s-]person {_TEAM})\b",
        rf"\b{_EMPLOY} ({_AMOUNT}(?: [a-z-]{{1,20}}){{0,2}} people)\b",
        rf"\b({_AMOUNT} people strong)\b",
        rf"\b(?:company|team) size:?\s*({_AMOUNT}(?: \w+)?)",
        rf"\b(?:we employ|employs)\s+({_AMOUNT})\b",
    )
)
# These sentences count people of customers and other companies.
_OTHER_COMPANIES = re.compile(
    r"\b(?:companies|customers|clients|businesses|organi[sz]ations|employers|firms|teams|enterprises"
    r"|users?|members)\s+(?:with|of|from|that|who|having|ranging)\b|\bper employee\b|\bcase study\b",
    re.IGNORECASE,
)

_INDUSTRY_NAMES = read_phrase_list("jobmill.extract.company", "industries.txt")
_INDUSTRY = "|".join(
    re.escape(name).replace("\\ ", "[ -]")
    for name in sorted(_INDUSTRY_NAMES, key=len, reverse=True)
)
_COMPANY_NOUN = (
    r"(?:company|companies|startup|start-up|firm|agency|studio|platform|provider|business|organi[sz]ation"
    r"|manufacturer|developer|leader|specialists?|solutions?|products?|services?|technology|consultancy)"
)
_SOME = r"[\w-]{1,30}"
_INDUSTRIES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:industry|sector|branche|secteur)\s?:\s?([A-Z][\w &/,-]{2,60})",
        (
            rf"\b(?:is|are|we're|as) (?:an?|the|one of the) (?:{_SOME},? ){{0,5}}?({_INDUSTRY})"
            rf"(?: {_SOME}){{0,2}}? {_COMPANY_NOUN}\b"
        ),
        rf"\b({_INDUSTRY}) {_COMPANY_NOUN}\b",
        rf"\b(?:in|for|of) the ({_INDUSTRY}) (?:industry|sector|space|market|business|world)\b",
    )
)

_REMOTE = re.compile(
    r"\bremote[- ]first\b|\ball[- ]remote\b|\bremote by default\b|\bremote[- ]native\b"
    r"|\b(?:we|team|company|are|is|a|as a|our)\b[^.!?]{0,40}"
    r"\b(?:fully|100%|completely|entirely)[- ](?:remote|distributed)\b"
    r"|\b(?:globally |fully )?distributed (?:company|team|workforce|by design)\b"
    r"|\bwe (?:all )?work (?:fully )?remotely\b|\bour (?:entire |whole )?team works remotely\b"
    r"|\b(?:we|team|everyone|everybody|you can|people|employees)\b[^.!?]{0,30}\bwork from anywhere\b"
    r"(?! (?:for|up to|in the office|\d|\w+ (?:days|weeks|months)))",
    re.IGNORECASE,
)
_OFFICE_FIRST = re.compile(
    r"\b(?:in[- ]office|office[- ]first|in[- ]person) (?:culture|company|team|first|by default)\b"
    r"|\bwe (?:all )?work (?:together )?(?:in person|from (?:our|the) office)\b"
    r"|\b(?:five|5) days (?:a|per) week in (?:the|our) office\b",
    re.IGNORECASE,
)
_SINGLE_OPENING = re.compile(
    r"\b(?:role|position|candidate|applicant|vacancy|(?<!equal )opportunit\w+)s?\b", re.IGNORECASE
)
"""A statement about one opening is not about the company."""
_NEGATION = re.compile(r"\b(?:not|isn't|aren't|never|no longer|don't|without)\b[^.!?]{0,25}$", re.IGNORECASE)  # fmt: skip


def split_sentences(text: str) -> list[str]:
    return [
        sentence
        for line in text.splitlines()
        for sentence in _SENTENCE.split(line)
        if sentence.strip()
    ]


def find_founding_year(texts: Iterable[str]) -> str | None:
    """The year in which the company was founded."""
    for text in texts:
        if match := _FOUNDED.search(text):
            return next(year for year in match.groups() if year)
    return None


def find_size(texts: Iterable[str]) -> str | None:
    """How many people work there, in the words of the page."""
    sentences = [
        part for text in texts for part in split_sentences(text) if any(map(str.isdigit, part))
    ]
    for pattern in _SIZES:
        for sentence in sentences:
            match = pattern.search(sentence)
            if match and not _OTHER_COMPANIES.search(sentence) and not _is_year(match[1]):
                return " ".join(match[1].split())
    return None


def _is_year(words: str) -> bool:
    """Whether the words are a year: "Since 2015 employees own it" is not a number of employees."""
    return bool(re.match(rf"{_YEAR}\b(?!\+)", words)) and "team of" not in words


def find_industry(texts: Iterable[str]) -> str | None:
    """The industry that the company names as its own."""
    all_texts = list(texts)
    for pattern in _INDUSTRIES:
        for text in all_texts:
            if match := pattern.search(text):
                return " ".join(match[1].split()).strip(" ,/&-")
    return None


def find_remote_first(texts: Iterable[str]) -> bool | None:
    """Whether the company works remote-first; None if it does not say."""
    remote_first: bool | None = None
    for sentence in _sentences(texts):
        if _SINGLE_OPENING.search(sentence):
            continue
        if match := _REMOTE.search(sentence):
            if not _NEGATION.search(sentence[: match.start()]):
                return True
            remote_first = False
        elif _OFFICE_FIRST.search(sentence):
            remote_first = False
    return remote_first


def _sentences(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield from split_sentences(text)
