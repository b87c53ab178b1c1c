"""Words of claims: stems with synonyms, negation, and words that state nothing."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

_PEOPLE: Final = (
    "employee employees people person persons staff worker workers workforce colleague colleagues"
    " teammate teammates headcount personnel hands employed professionals team crew member members"
)
_SYNONYMS: Final = {
    "people": _PEOPLE,
    "leave": "vacation vacations holiday holidays leave pto",
    "pay": "pay pays paid earn earns earned salary salaries wage wages compensation paying",
    "home": "home remote remotely telework wfh homeoffice",
    "headquarters": "headquarters headquartered hq",
    "found": "founded founding established started began opened launched",
    "parent": "parent parents parental maternity paternity mothers fathers mother father",
    "pension": "pension pensions retirement 401k 401",
    "insurance": "insurance coverage insured premiums",
    "health": "health medical healthcare",
    "interview": "interview interviews interviewed interviewing meet meeting meetings",
    "nursery": "nursery childcare creche daycare kindergarten",
    "housing": "housing accommodation lodging",
    "meal": "meal meals lunch lunches eat food",
    "test": "test tests tested",
    "apprentice": "apprentice apprentices apprenticeship",
    "applicant": "applicant applicants candidate candidates",
    "pupil": "pupil pupils student students",
    "lesson": "lesson lessons class classes teaching instruction taught teach teaches",
    "licence": "licence license licences licenses",
    "shop": "shop shops store stores outlet outlets",
    "bonus": "bonus bonuses",
    "discount": "discount discounts reduction",
    "language": "language languages bilingual",
    "family": "family families",
    "own": "own owns owned owner owners ownership",
    "trainee": "trainee trainees intern interns",
    "visa": "visa visas",
    "training": "training trainings",
    "transport": "transport bus shuttle",
    "site": "site premises campus onsite",
    "night": "night nights nightly",
    "patient": "patient patients",
    "driver": "driver drivers trucker truckers",
    "truck": "truck trucks",
    "start": "start starts starting begin begins beginning",
    "free": "free gratis complimentary",
    "fully": "fully entirely completely full",
    "document": "document documents",
}  # fmt: skip
_CANONICAL: Final = {
    word: canonical for canonical, words in _SYNONYMS.items() for word in words.split()
}
_EMPTY_WORDS: Final = """
a about across after all also although am among an and any are as at available be been before being
both but by can company could current currently did do does each either etc every everyone expect
expected firm first for from further generally get gets give gives given had has have having he her here
him his how however i if in include includes including into is it its just know known large like located
lot made many may might more most much must my near nearly need needs new no nor not now of offer offers
often on once one only or organisation organization other our out over own per provide provides quite
rather receive receives really said say see she should since so some something still such take takes
than that the their them themselves then there these they this those through to today too total
typically under until up us use used uses using usual usually very was way we well were what when where
whether which while who whom whose why will with within work works working would year years you your
around roughly approximately employer employers place based area region people typical common
make makes made need needs require requires required requirement never not no nobody none without
don doesn isn aren didn won cannot newly just recently still stay stays remain remains
"""
_EMPTY: Final = frozenset(_EMPTY_WORDS.split())
_ENDINGS: Final = re.compile(r"(?<=\w{3})(?:ingly|ing|edly|ed|er|ies|es|e|ly|ment|y)$")
_PLURAL: Final = re.compile(r"(?<=\w{3})(?<!s)s$")
_WORD: Final = re.compile(r"[^\W_]+(?:['\u2019][^\W\d_]+)?")
_NEGATION: Final = re.compile(
    r"\b(?:not|no|never|nobody|none|neither|nor|without|cannot|lacks?|lacking|isn't|aren't|wasn't|don't|doesn't"
    r"|didn't|won't|can't|hasn't|haven't|unpaid|unable|refuses?)\b",
    re.IGNORECASE,
)
_NOT_NEGATIVE: Final = re.compile(
    r"\b(?:not only|no more than|no less than|no fewer than|no longer than|no later than|not just"
    r"|(?:don't|do not|doesn't|does not|not have to|never|without) pay(?:ing)? for)\b",
    re.IGNORECASE,
)
_UNPAID: Final = re.compile(r"\bunpaid\b", re.IGNORECASE)
_APOSTROPHES: Final = str.maketrans({"\u2019": "'", "\u2018": "'"})


@lru_cache(maxsize=16_384)
def stem(word: str) -> str:
    """The word without its ending, or the word that stands for it and its synonyms."""
    word = word.lower().translate(_APOSTROPHES).removesuffix("'s")
    if word in _CANONICAL:
        return _CANONICAL[word]
    shorter = _ENDINGS.sub("", _PLURAL.sub("", word)) if word.isalpha() else word
    return _CANONICAL.get(shorter, shorter)


def content_stems(text: str, without: frozenset[str] = frozenset()) -> frozenset[str]:
    """The stems of the words that state something."""
    return _content_stems(text) - without


@lru_cache(maxsize=32_768)
def _content_stems(text: str) -> frozenset[str]:
    words = (match[0] for match in _WORD.finditer(_UNPAID.sub("paid", text)))
    stems = {stem(word) for word in words if word.lower() not in _EMPTY}
    return frozenset(word for word in stems if word not in _EMPTY and len(word) > 1)


def is_negative(text: str) -> bool:
    """Whether the text denies something; two negations cancel each other."""
    plain = _NOT_NEGATIVE.sub(" ", text.translate(_APOSTROPHES))
    return len(_NEGATION.findall(plain)) % 2 == 1
