"""Who a posting is, and how alike two texts are."""

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

# Scripts without spaces: a character is a word.
_WORD: Final = re.compile(
    r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_\u3040-\u30ff\u3400-\u9fff]+"
)
_TAG: Final = re.compile(r"<[^<>]{1,500}>")
_SHINGLE: Final = 4


def identity(posting: Posting, platforms: PlatformRules) -> str:
    """What stays the same as long as it is the same posting: platform, board and the platform's id; else
    its URL; else company, title and place."""
    if posting.platform and posting.vendor_id:
        own = PostingKey(posting.platform, posting.board or "", posting.vendor_id)
        return _platform_identity(own, platforms)
    in_url = platforms.posting_key(posting.url)
    if in_url:
        return _platform_identity(in_url, platforms)
    try:
        url = platforms.canonical(posting.url)
    except Invalid:
        return f"text:{outline_hash(posting)}"
    if platforms.is_specific(url) or urls.is_own_page(posting.url):
        return f"url:{url}"
    # A page that lists several postings is not one of them.
    return f"url:{url}#{outline_hash(posting)}"


def outline_hash(posting: Posting) -> str:
    """What tells postings apart where nothing else does: company, title and place."""
    return _digest(*_outline(posting))


def _platform_identity(key: PostingKey, platforms: PlatformRules) -> str:
    if platforms.ids(key.platform).ignore_case:
        key = PostingKey(key.platform, key.board.lower(), key.id.lower())
    return ":".join(part.replace(":", "%3A") for part in key)


def fingerprint(posting: Posting) -> str:
    """The same for two postings that say the same: company, title and text, whatever their case,
    spaces, punctuation and id."""
    title = " ".join(job_titles.parse_title(posting.title).words)
    return _digest(company_key(posting.company), title, " ".join(split_words(posting.description)))


def split_words(text: str | None) -> list[str]:
    """The words of a text, folded; tags are none."""
    if not text:
        return []
    plain = entities.unescape(_TAG.sub(" ", text)) if "</" in text else text
    return _WORD.findall(fold_case(plain))


def shingles(words: list[str]) -> frozenset[int]:
    """Each run of four words as a number; only good within this process."""
    if len(words) < _SHINGLE:
        return frozenset({hash(tuple(words))} if words else ())
    return frozenset(map(hash, zip(*(words[skip:] for skip in range(_SHINGLE)), strict=False)))


def jaccard_similarity(one: frozenset[int], other: frozenset[int]) -> float:
    """How much of both together is in both, from 0 to 1; 0 where one is empty."""
    return len(one & other) / len(one | other) if one and other else 0.0


def containment(part: frozenset[int], whole: frozenset[int]) -> float:
    """How much of `part` is in `whole`: a cut text is all there."""
    return len(part & whole) / len(part) if part else 0.0


def _outline(posting: Posting) -> tuple[str, str, str]:
    place = " ".join(posting.locations) or posting.location or ""
    title = " ".join(job_titles.parse_title(posting.title).words)
    return company_key(posting.company or posting.board), title, " ".join(split_words(place))


def _digest(*parts: str) -> str:
    return hashlib.sha256("\x1f".join(parts).encode(errors="replace")).hexdigest()[:32]
