"""Words of claims: stems with synonyms, negation, and words that state nothing."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from jobmill.plain_text import read_word_groups, read_word_list

_CANONICAL: Final = read_word_groups("jobmill.reports", "data/synonyms.txt")
"""Words by the word that stands for them."""
_EMPTY: Final = read_word_list("jobmill.reports", "data/empty_words.txt")
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
