"""The identity and the fingerprint of a posting, and measures of text similarity."""

from __future__ import annotations

import hashlib
import html as entities
import re
from typing import Final

from jobmill.catalog.posting import Posting
from jobmill.errors import Invalid
from jobmill.plain_text import fold_case

from . import job_titles, urls
from .company_names import company_key
from .platform_rules import PlatformRules, PostingKey

# In scripts without spaces every character is a word.
_WORD: Final = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+"
)
_TAG: Final = re.compile(r"<[^<>]{1,500}>")
_SHINGLE: Final = 4


def identity(posting: Posting, platforms: PlatformRules) -> str:
    """The stable identity of a posting: platform, board and the platform's id; otherwise its URL;
    otherwise company, title and location. A page of a company's own site has the same identity
    whether or not a parameter repeats the id in its path."""
    if posting.platform and posting.vendor_id:
        key = PostingKey(posting.platform, posting.board or "", posting.vendor_id)
        return _platform_identity(key, platforms)
    in_url = platforms.posting_key(posting.url)
    if in_url and not (in_url.board == "" and platforms.is_named_by_path(posting.url)):
        return _platform_identity(in_url, platforms)
    try:
        url = platforms.canonical(posting.url)
    except Invalid:
        return f"text:{text_digest(posting)}"
    if platforms.is_specific(url) or urls.is_own_page(posting.url):
        return f"url:{url}"
    # The page lists several postings, so the URL alone is not unique.
    return f"url:{url}#{text_digest(posting)}"


def text_digest(posting: Posting) -> str:
    """A hash of company, title and location, for postings without id and URL."""
    return _digest(*_identifying_texts(posting))


def _platform_identity(key: PostingKey, platforms: PlatformRules) -> str:
    if platforms.ids(key.platform).ignore_case:
        key = PostingKey(key.platform, key.board.lower(), key.id.lower())
    return ":".join(part.replace(":", "%3A") for part in key)


def fingerprint(posting: Posting) -> str:
    """A hash of company, title and text, ignoring case, spaces, punctuation and ids."""
    title = " ".join(job_titles.parse_title(posting.title).words)
    return _digest(company_key(posting.company), title, " ".join(split_words(posting.description)))


def split_words(text: str | None) -> list[str]:
    """The words of a text in folded case, without HTML tags."""
    if not text:
        return []
    plain = entities.unescape(_TAG.sub(" ", text)) if "</" in text else text
    return _WORD.findall(fold_case(plain))


def shingles(words: list[str]) -> frozenset[int]:
    """A hash of every sequence of four words; valid only within this process."""
    if len(words) < _SHINGLE:
        return frozenset({hash(tuple(words))} if words else ())
    return frozenset(map(hash, zip(*(words[skip:] for skip in range(_SHINGLE)), strict=False)))


def jaccard_similarity(first: frozenset[int], second: frozenset[int]) -> float:
    """The Jaccard similarity from 0 to 1; 0 if a set is empty."""
    return len(first & second) / len(first | second) if first and second else 0.0


def containment(part: frozenset[int], text: frozenset[int]) -> float:
    """The share of `part` that is in `text`; 1 for a text that was cut."""
    return len(part & text) / len(part) if part else 0.0


def _identifying_texts(posting: Posting) -> tuple[str, str, str]:
    place = " ".join(posting.locations) or posting.location or ""
    title = " ".join(job_titles.parse_title(posting.title).words)
    return company_key(posting.company or posting.board), title, " ".join(split_words(place))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode(errors="replace")).hexdigest()[:32]
