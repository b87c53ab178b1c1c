"""Groups postings that are the same or belong to the same vacancy. Nothing is merged."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Final, Literal, TypeAlias, TypeVar

from jobmill.catalog import urls
from jobmill.catalog.duplicate_clusters import Clusters
from jobmill.catalog.platform_rules import PlatformRules
from jobmill.catalog.posting import Posting
from jobmill.catalog.posting_features import (
    DescriptionComparison,
    PostingFeatures,
    extract_features,
)
from jobmill.places import place_comparison

Key = TypeVar("Key")
DuplicateKind: TypeAlias = Literal["same", "multi_location", "repost"]

SAME_POSTING_SIMILARITY: Final = 0.8
"""From this similarity on, two texts are versions of one if title, company and place agree."""
SAME_VACANCY_SIMILARITY: Final = 0.95
"""From this similarity on, two texts are the same vacancy in different places."""
MIN_REPOST_GAP: Final = dt.timedelta(days=7)
"""Identical posts of one board closer together than this are two vacancies, not a repost."""
_MAX_BLOCK_FOR_ALL_PAIRS: Final = 24
_NEIGHBOR_WINDOW: Final = 5


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """Postings that belong together. Each element of `posts` holds copies of one posting; several
    posts are one vacancy in different places, or reposted."""

    canonical: int
    """The posting to show: the company's own board before an aggregator, then the fuller, then the
    earlier."""
    members: tuple[int, ...]
    kind: DuplicateKind
    posts: tuple[tuple[int, ...], ...]
    reasons: tuple[str, ...]
    """Why each member belongs to the group."""

    @property
    def why(self) -> str:
        """The distinct reasons."""
        return "; ".join(dict.fromkeys(reason for reason in self.reasons if reason))


def find_groups(postings: Sequence[Posting], platforms: PlatformRules) -> list[DuplicateGroup]:
    """The groups of two or more postings, as indexes into `postings`."""
    features = extract_features(postings, platforms)
    texts = DescriptionComparison(postings)
    posts = Clusters(features)
    _join_by_id(features, posts)
    blocks = _find_blocks(features, texts)
    pairs = [pair for block in blocks for pair in _candidate_pairs(block, features, texts)]
    _join_copies(pairs, features, texts, posts)
    _join_without_text(blocks, features, texts, posts)
    vacancies = posts.copy()
    _join_vacancies(pairs, features, texts, vacancies)
    return [_build_group(members, features, posts, vacancies) for members in vacancies.groups()]


def _join_by_id(features: list[PostingFeatures], posts: Clusters) -> None:
    """Join by platform id, URL and number; these override all other rules."""
    for ids, members in _group_by(features, lambda posting: posting.ids):
        for index, other in pairwise(members):
            posts.join(index, other, f"same {ids[0][0] or 'vendor'} id {ids[1]}")
    for url, members in _group_by(features, lambda posting: (posting.url,) if posting.url else ()):
        first = features[members[0]]
        for other in members[1:]:
            # Several postings may name the page that lists them all.
            same_page = first.has_specific_url or features[other].title == first.title
            if same_page and not posts.have_different_ids(members[0], other):
                posts.join(members[0], other, f"same page {url}")
    numbered = _group_by(
        features, lambda posting: [(posting.company, posting.title, id) for id in posting.numbers]
    )
    for (company, _, id), members in numbered:
        for index, other in pairwise(members):
            if company and not posts.have_different_ids(index, other):
                posts.join(
                    index, other, f"same title and number {id} at {features[index].company_name}"
                )


def _join_copies(
    pairs: list[tuple[int, int]],
    features: list[PostingFeatures],
    texts: DescriptionComparison,
    posts: Clusters,
) -> None:
    """Join copies of one posting: same title and company, compatible place, same text."""
    # A copy that fits two postings goes to the one with the same place text.
    by_place = sorted(
        pairs, key=lambda pair: features[pair[0]].places.text != features[pair[1]].places.text
    )
    for index, other in by_place:
        if posts.are_joined(index, other):
            continue
        if posts.are_distinct(index, other):
            why = _explain_second_page(features[index], features[other], texts, posts)
        else:
            why = _explain_copy(features[index], features[other], texts)
        if why:
            posts.join(index, other, why)


def _explain_second_page(
    posting: PostingFeatures, other: PostingFeatures, texts: DescriptionComparison, posts: Clusters
) -> str | None:
    """Why two pages of a company's own site show one posting. Two pages of a board do not: there,
    every page is a vacancy."""
    if (
        posting.is_own_page
        and other.is_own_page
        and posting.company
        and posting.title == other.title
        and _compare_places(posting, other) in ("same", "unknown")
        and not _is_repost(posting, other)
        and not posts.have_different_ids(posting.index, other.index)
        and not posts.are_different_vacancies(posting.index, other.index)
        and texts.are_identical(posting.index, other.index)
    ):
        return f"two pages with the same title and text at {posting.company_name}"
    return None


def _explain_copy(
    posting: PostingFeatures, other: PostingFeatures, texts: DescriptionComparison
) -> str | None:
    relation = _compare_places(posting, other)
    if posting.title != other.title or relation == "other":
        return None
    # Another site may shorten a list of places; the same site does not.
    if relation == "near" and not posting.is_on_other_site(other):
        return None
    if _same_requisition(posting, other):
        return f"same requisition {posting.requisition} at {posting.company_name}"
    similarity = texts.similarity(posting.index, other.index)
    if similarity is None or similarity < SAME_POSTING_SIMILARITY:
        return None
    cut = texts.is_beginning(posting.index, other.index)
    return f"same title at {posting.company_name or other.company_name}, " + (
        "one text is cut" if cut else f"same text ({similarity:.0%})"
    )


def _join_without_text(
    blocks: list[list[int]],
    features: list[PostingFeatures],
    texts: DescriptionComparison,
    posts: Clusters,
) -> None:
    """Join postings without text by company, title and place, if only one posting can be meant."""
    for block in blocks:
        for _, members in _group_by((features[index] for index in block), _place_keys):
            first, *others = {posts.root(index): index for index in members}.values()
            with_text = {posts.root(index) for index in members if texts.has_text(index)}
            if not others or len(with_text) > 1 or posts.any_distinct([first, *others]):
                continue
            for other in others:
                if _is_same_place(features[first], features[other]):
                    why = f"same title and place at {features[other].company_name}, no text to compare"
                    posts.join(first, other, why)


def _place_keys(posting: PostingFeatures) -> tuple[tuple[object, ...], ...]:
    heads = posting.places.cities or posting.places.text
    return (
        ((posting.company, posting.title, posting.title_places, heads),)
        if posting.title and heads
        else ()
    )


def _is_same_place(posting: PostingFeatures, other: PostingFeatures) -> bool:
    """Whether the place texts are equal, or one is more exact and on another site."""
    if posting.places.text == other.places.text:
        return True
    first, second = posting.places.names, other.places.names
    return posting.is_on_other_site(other) and (first <= second or second <= first)


def _join_vacancies(
    pairs: list[tuple[int, int]],
    features: list[PostingFeatures],
    texts: DescriptionComparison,
    vacancies: Clusters,
) -> None:
    """Join posts of one vacancy: in different places, or reposted."""
    for index, other in pairs:
        if vacancies.are_joined(index, other) or vacancies.are_different_vacancies(index, other):
            continue
        why = _explain_same_vacancy(features[index], features[other], texts)
        if why:
            vacancies.join(index, other, why)


def _explain_same_vacancy(
    posting: PostingFeatures, other: PostingFeatures, texts: DescriptionComparison
) -> str | None:
    relation = _compare_places(posting, other)
    company = posting.company_name or other.company_name
    where = f" at {company}" if company else ""
    equal = texts.are_complete_and_similar(posting.index, other.index, SAME_VACANCY_SIMILARITY)
    if posting.title != other.title:
        # Also with the same requisition: companies reuse requisitions for different vacancies.
        return None
    if _same_requisition(posting, other):
        return f"same requisition {posting.requisition}{where}" + (
            ", different place" if relation == "other" else ""
        )
    if relation == "other":
        return f"same title and text{where}, different place" if equal else None
    if _differ_by_place(posting, other) and texts.similarity(posting.index, other.index) in (
        None,
        1.0,
    ):
        return f"same title{where}, one page per place"
    if (
        relation == "same"
        and _is_repost(posting, other)
        and texts.are_identical(posting.index, other.index)
    ):
        return f"same title, place and text{where}, reposted"
    return None


def _same_requisition(posting: PostingFeatures, other: PostingFeatures) -> bool:
    return (
        bool(posting.requisition and posting.company) and posting.requisition == other.requisition
    )


def _differ_by_place(posting: PostingFeatures, other: PostingFeatures) -> bool:
    if not posting.page or not other.page or posting.places.text != other.places.text:
        return False
    return urls.differ_by_place(posting.page, other.page)


def _is_repost(posting: PostingFeatures, other: PostingFeatures) -> bool:
    first, second = posting.posted_at, other.posted_at
    return first is not None and second is not None and abs(second - first) >= MIN_REPOST_GAP


def _compare_places(posting: PostingFeatures, other: PostingFeatures) -> place_comparison.Relation:
    """Compare the places, first those in the titles."""
    if (
        posting.title_places
        and other.title_places
        and not posting.title_places & other.title_places
    ):
        return "other"
    return place_comparison.compare(posting.places, other.places)


def _find_blocks(features: list[PostingFeatures], texts: DescriptionComparison) -> list[list[int]]:
    """Groups of postings worth comparing: same company and title, or same requisition; without a
    company, same title and first words."""
    by_company = _group_by(
        features,
        lambda posting: (
            ((posting.company, posting.title),) if posting.company and posting.title else ()
        ),
    )
    by_requisition = _group_by(
        features,
        lambda posting: (
            ((posting.company, posting.requisition),)
            if posting.company and posting.requisition
            else ()
        ),
    )
    titles_without_company = {posting.title for posting in features if not posting.company}
    by_beginning = _group_by(
        [posting for posting in features if posting.title in titles_without_company],
        lambda posting: (
            ((posting.title, start),) if (start := texts.first_words(posting.index)) else ()
        ),
    )
    return [members for kind in (by_company, by_requisition, by_beginning) for _, members in kind]


def _candidate_pairs(
    block: list[int], features: list[PostingFeatures], texts: DescriptionComparison
) -> Iterator[tuple[int, int]]:
    """All pairs of a small block. For a large block only neighbors by text and by place, so that
    the cost stays linear."""
    if len(block) <= _MAX_BLOCK_FOR_ALL_PAIRS:
        yield from combinations(block, 2)
        return
    by_text = sorted(block, key=texts.sort_key)
    by_place = sorted(block, key=lambda index: (features[index].places.text, index))
    # Nearest neighbors first: once joined, pairs need no comparison.
    for step in range(1, _NEIGHBOR_WINDOW + 1):
        for ordered in (by_text, by_place):
            yield from zip(ordered, ordered[step:], strict=False)


def _group_by(
    features: Iterable[PostingFeatures], keys: Callable[[PostingFeatures], Iterable[Key]]
) -> list[tuple[Key, list[int]]]:
    by_key: dict[Key, list[int]] = defaultdict(list)
    for posting in features:
        for key in keys(posting):
            by_key[key].append(posting.index)
    return [(key, members) for key, members in by_key.items() if len(members) > 1]


def _build_group(
    members: list[int], features: list[PostingFeatures], posts: Clusters, vacancies: Clusters
) -> DuplicateGroup:
    canonical = min(members, key=lambda index: features[index].rank)
    by_post: dict[int, list[int]] = defaultdict(list)
    for index in members:
        by_post[posts.root(index)].append(index)
    reasons = vacancies.reasons(canonical)
    return DuplicateGroup(
        canonical,
        tuple(members),
        _choose_kind([features[post[0]] for post in by_post.values()]),
        tuple(map(tuple, by_post.values())),
        tuple(reasons.get(index, "") for index in members),
    )


def _choose_kind(posts: list[PostingFeatures]) -> DuplicateKind:
    first, *others = posts
    if not others:
        return "same"
    if any(
        _compare_places(first, post) in ("other", "near") or _differ_by_place(first, post)
        for post in others
    ):
        return "multi_location"
    # Two ids of one board are two posts, even with identical text.
    return "repost"
