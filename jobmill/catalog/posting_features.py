"""Features by which postings are compared, extracted once per posting."""

from __future__ import annotations

import datetime as dt
import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, TypeAlias

from jobmill.catalog.posting import Posting
from jobmill.errors import Invalid
from jobmill.places import gazetteer, place_comparison
from jobmill.plain_text import fold_case

from . import company_names, job_titles, posting_identity
from .platform_rules import PlatformRules, PostingKey

IdNamespace: TypeAlias = tuple[str, ...]
"""The scope in which an id is unique: a platform, or one board of a platform."""

_NUMBER: Final = re.compile(r"(?<!\d)\d{6,}(?!\d)")
_LATEST: Final = dt.datetime.max.replace(tzinfo=dt.UTC)
_MIN_WORDS: Final = 25
"""Shorter texts are not compared."""
_MIN_WORDS_FOR_VACANCY: Final = 80
"""Shorter texts cannot prove that a vacancy has two places."""
_OWN_SITE_RANK: Final = 1
_MAX_CUT_RATIO: Final = 0.6
"""A text shorter than this share of another may be its beginning."""


@dataclass(frozen=True, slots=True)
class PostingFeatures:
    index: int
    company: str
    """The key of the company, or of the board in its place; "" without both."""
    company_name: str
    title: tuple[str, ...]
    title_places: frozenset[str]
    places: place_comparison.PostingPlaces
    ids: frozenset[tuple[IdNamespace, str]]
    numbers: frozenset[str]
    """Numbers in ids and in the URL: a company's own site often shows the board's id."""
    url: str | None
    page: tuple[str, str] | None
    has_own_page: bool
    """Whether the page is that of this posting rather than of a list."""
    has_specific_url: bool
    requisition: str | None
    requisition_namespace: IdNamespace
    posted_at: dt.datetime | None
    rank: tuple[int, bool, int, dt.datetime, int]
    """The posting with the lowest rank represents its group."""

    @property
    def is_own_page(self) -> bool:
        """Whether this is a page of a company's own site, without ids of a platform."""
        return self.has_own_page and not self.ids and self.rank[0] == _OWN_SITE_RANK

    def is_on_other_site(self, other: PostingFeatures) -> bool:
        """Whether the two come from different sites, as far as known."""
        if self.page and other.page:
            return self.page[0] != other.page[0]
        return bool(self.page or self.ids) != bool(other.page or other.ids)


def extract_features(
    postings: Sequence[Posting], platforms: PlatformRules
) -> list[PostingFeatures]:
    """Extract the features of all postings. Places in a title are recognized by the places of the
    company's other postings."""
    located = [
        place_comparison.read_places(posting.locations or (posting.location or "",))
        for posting in postings
    ]
    companies = [
        company_names.compact_key(posting.company or posting.board) for posting in postings
    ]
    by_company: dict[str, list[place_comparison.PostingPlaces]] = defaultdict(list)
    for company, where in zip(companies, located, strict=True):
        by_company[company].append(where)
    place_names = {
        company: place_comparison.title_vocabulary(where) for company, where in by_company.items()
    }
    return [
        _extract(
            index,
            posting,
            company,
            where,
            place_names[company] if company else gazetteer.REGION_NAMES,
            platforms,
        )
        for index, (posting, company, where) in enumerate(
            zip(postings, companies, located, strict=True)
        )
    ]


def _extract(
    index: int,
    posting: Posting,
    company: str,
    where: place_comparison.PostingPlaces,
    place_names: frozenset[str],
    platforms: PlatformRules,
) -> PostingFeatures:
    title = job_titles.parse_title(posting.title, place_names)
    url, page, own_page, specific = _page(posting.url, platforms)
    return PostingFeatures(
        index,
        company,
        company_names.display_name(posting.company or posting.board),
        title.words,
        title.places,
        where,
        (ids := _ids(posting, company, platforms)),
        _numbers(ids, page),
        url,
        page,
        own_page,
        specific,
        _requisition(posting.requisition_id),
        (posting.platform or "", (posting.board or "").lower() or company),
        _with_timezone(posting.posted_at),
        _rank(index, posting, platforms),
    )


def _page(
    url: str, platforms: PlatformRules
) -> tuple[str | None, tuple[str, str] | None, bool, bool]:
    try:
        canonical = platforms.canonical(url)
    except Invalid:
        return None, None, False, False
    own_page, specific = not platforms.lists_several(url), platforms.is_specific(url)
    return canonical, platforms.page(url), own_page, specific


def _ids(
    posting: Posting, company: str, platforms: PlatformRules
) -> frozenset[tuple[IdNamespace, str]]:
    """The ids of a posting on all platforms, from its fields, its page and its application URL."""
    ids_in_urls = [
        _id(key, platforms)
        for url in (posting.url, posting.apply_url)
        if (key := platforms.posting_key(url or ""))
    ]
    unique = platforms.ids(posting.platform).unique
    if not posting.vendor_id or not (unique or posting.board or company):
        return frozenset(ids_in_urls)
    key = PostingKey(posting.platform or "", posting.board or company, posting.vendor_id)
    field_id = _id(key, platforms)
    # The id field takes precedence over an id in a URL of the same platform.
    return frozenset(
        {field_id, *(id for id in ids_in_urls if id[0] != field_id[0] or len(field_id[0]) > 1)}
    )


def _numbers(
    ids: frozenset[tuple[IdNamespace, str]], page: tuple[str, str] | None
) -> frozenset[str]:
    last = page[1].removesuffix("?").rsplit("/", 1)[-1] if page else ""
    return frozenset(_NUMBER.findall(" ".join((last.lower(), *(id for _, id in ids)))))


def _id(key: PostingKey, platforms: PlatformRules) -> tuple[IdNamespace, str]:
    unique = platforms.ids(key.platform).unique
    return (key.platform,) if unique else (key.platform, key.board.lower()), key.id.lower()


def _requisition(text: str | None) -> str | None:
    """None for text without a digit ("See opening"), which a board may put into every posting."""
    folded = fold_case(text or "").strip()
    return folded if len(folded) > 1 and re.search(r"\d", folded) else None


def _with_timezone(when: dt.datetime | None) -> dt.datetime | None:
    return when.replace(tzinfo=dt.UTC) if when and when.tzinfo is None else when


def _rank(
    index: int, posting: Posting, platforms: PlatformRules
) -> tuple[int, bool, int, dt.datetime, int]:
    length = len(posting.description or "") // 100
    key = platforms.posting_key(posting.url)
    platform = posting.platform or (key.platform if key else "")
    copied = posting.via or platforms.ids(platform).aggregator
    source = 2 if copied else 0 if platform else _OWN_SITE_RANK
    return source, posting.partial, -length, _with_timezone(posting.posted_at) or _LATEST, index


class DescriptionComparison:
    """Compares descriptions; results are computed on demand and cached."""

    def __init__(self, postings: Sequence[Posting]) -> None:
        self._postings = postings
        self._words = lru_cache(maxsize=1024)(posting_identity.split_words)
        self._shingles = lru_cache(maxsize=1024)(self._make_shingles)
        self._text_summaries: dict[str, tuple[int, tuple[str, ...], int]] = {}
        self._similarities: dict[tuple[int, int], float | None] = {}

    def has_text(self, index: int) -> bool:
        return self._summarize_text(index)[0] >= _MIN_WORDS

    def are_complete_and_similar(self, index: int, other: int, min_similarity: float) -> bool:
        """Whether two complete texts are similar and long enough to prove one vacancy in two
        places."""
        few, many = sorted((self._summarize_text(index)[0], self._summarize_text(other)[0]))
        return (
            few >= many * min_similarity
            and self._is_complete(index)
            and self._is_complete(other)
            and (self.similarity(index, other) or 0) >= min_similarity
        )

    def _is_complete(self, index: int) -> bool:
        posting = self._postings[index]
        cut = posting.partial or (posting.description or "").rstrip().endswith(("...", "\u2026"))
        return not cut and self._summarize_text(index)[0] >= _MIN_WORDS_FOR_VACANCY

    def first_words(self, index: int) -> tuple[str, ...] | None:
        """The first words; None if the text is too short."""
        return self._summarize_text(index)[1] if self.has_text(index) else None

    def sort_key(self, index: int) -> tuple[tuple[str, ...], int, int]:
        """Sorts texts with the same beginning next to each other, and equal texts together."""
        length, start, digest = self._summarize_text(index)
        return start, digest, length

    def are_identical(self, index: int, other: int) -> bool:
        return self.has_text(index) and self._summarize_text(index) == self._summarize_text(other)

    def is_beginning(self, first: int, second: int) -> bool:
        """Whether the shorter text may be the beginning of the longer."""
        short, long = sorted((first, second), key=lambda index: self._summarize_text(index)[0])
        few, many = self._summarize_text(short)[0], self._summarize_text(long)[0]
        return few < many and (self._postings[short].partial or few < many * _MAX_CUT_RATIO)

    def similarity(self, index: int, other: int) -> float | None:
        """The similarity from 0 to 1; None if a text is missing or too short."""
        pair = (index, other)
        if pair not in self._similarities:
            self._similarities[pair] = self._compare(index, other)
        return self._similarities[pair]

    def _compare(self, index: int, other: int) -> float | None:
        if not self.has_text(index) or not self.has_text(other):
            return None
        if self.are_identical(index, other):
            return 1.0
        first, second = self._shingles(index), self._shingles(other)
        if self.is_beginning(index, other):
            short, long = sorted((first, second), key=len)
            return posting_identity.containment(short, long)
        return posting_identity.jaccard_similarity(first, second)

    def _summarize_text(self, index: int) -> tuple[int, tuple[str, ...], int]:
        text = self._postings[index].description or ""
        if text not in self._text_summaries:
            words = self._words(text)
            self._text_summaries[text] = len(words), tuple(words[:20]), hash(tuple(words))
        return self._text_summaries[text]

    def _make_shingles(self, index: int) -> frozenset[int]:
        return posting_identity.shingles(self._words(self._postings[index].description or ""))
