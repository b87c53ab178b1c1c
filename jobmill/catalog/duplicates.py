"""Which postings are the same, or posts of the same vacancy. Nothing is merged: groups only say so."""

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

NEAR: Final = 0.8
"""Texts this alike are one text, edited, where title, company and place agree."""
EQUAL: Final = 0.95
"""Texts this alike are one text although the place is another."""
REPOSTED_AFTER: Final = dt.timedelta(days=7)
"""Equal posts of one board closer together than this are two openings, not one posted again."""
_ALL_PAIRS: Final = 24
_WINDOW: Final = 5


@dataclass(frozen=True, slots=True)
class DuplicateGroup:
    """Postings that belong together. `posts` says how: members of one post are the same posting,
    several posts are one vacancy in other places, or posted again."""

    canonical: int
    """The one to show: from the company's own board before an aggregator's, fuller, earlier."""
    members: tuple[int, ...]
    kind: DuplicateKind
    posts: tuple[tuple[int, ...], ...]
    whys: tuple[str, ...]
    """For each member, why it is here."""

    @property
    def why(self) -> str:
        """The reasons, each once."""
        return "; ".join(dict.fromkeys(why for why in self.whys if why))


def find_groups(postings: Sequence[Posting], platforms: PlatformRules) -> list[DuplicateGroup]:
    """The groups of two or more, as indexes into `postings`; what is in none stands alone."""
    traits = extract_features(postings, platforms)
    texts = DescriptionComparison(postings)
    posts = Clusters(traits)
    _join_by_id(traits, posts)
    blocks = _blocks(traits, texts)
    pairs = [pair for block in blocks for pair in _pairs(block, traits, texts)]
    _join_copies(pairs, traits, texts, posts)
    _join_bare(blocks, traits, texts, posts)
    vacancies = posts.coarser()
    _join_vacancies(pairs, traits, texts, vacancies)
    return [_group(members, traits, posts, vacancies) for members in vacancies.groups()]


def _join_by_id(traits: list[PostingFeatures], posts: Clusters) -> None:
    """What a platform's id or a URL says beats all else."""
    for ids, members in _shared(traits, lambda one: one.ids):
        for one, other in pairwise(members):
            posts.join(one, other, f"same {ids[0][0] or 'vendor'} id {ids[1]}")
    for url, members in _shared(traits, lambda one: (one.url,) if one.url else ()):
        first = traits[members[0]]
        for other in members[1:]:
            # Several postings may name one page that lists them all.
            one_page = first.specific or traits[other].title == first.title
            if one_page and not posts.ids_differ(members[0], other):
                posts.join(members[0], other, f"same page {url}")
    numbered = _shared(traits, lambda one: [(one.company, one.title, id) for id in one.numbers])
    for (company, _, id), members in numbered:
        for one, other in pairwise(members):
            if company and not posts.ids_differ(one, other):
                posts.join(one, other, f"same title and number {id} at {traits[one].shown}")


def _join_copies(
    pairs: list[tuple[int, int]],
    traits: list[PostingFeatures],
    texts: DescriptionComparison,
    posts: Clusters,
) -> None:
    """Copies of one posting: same title and company, a place that fits, and the same text."""
    # A copy that fits two postings goes to the one whose place it repeats.
    by_place = sorted(
        pairs, key=lambda pair: traits[pair[0]].places.text != traits[pair[1]].places.text
    )
    for one, other in by_place:
        if posts.together(one, other) or posts.differ(one, other):
            continue
        why = _copy(traits[one], traits[other], texts)
        if why:
            posts.join(one, other, why)


def _copy(one: PostingFeatures, other: PostingFeatures, texts: DescriptionComparison) -> str | None:
    relation = _relate(one, other)
    if one.title != other.title or relation == "other":
        return None
    # A site may shorten a list of places; a company does not post one vacancy for two such lists.
    if relation == "near" and not one.is_elsewhere(other):
        return None
    if _same_requisition(one, other):
        return f"same requisition {one.requisition} at {one.shown}"
    alike = texts.alike(one.index, other.index)
    if alike is None or alike < NEAR:
        return None
    cut = texts.is_cut(one.index, other.index)
    return f"same title at {one.shown or other.shown}, " + (
        "one text is the beginning of the other" if cut else f"same text ({alike:.0%})"
    )


def _join_bare(
    blocks: list[list[int]],
    traits: list[PostingFeatures],
    texts: DescriptionComparison,
    posts: Clusters,
) -> None:
    """Where a text is missing: same company, title and place, if only one posting can be meant."""
    for block in blocks:
        for _, members in _shared((traits[index] for index in block), _spot):
            first, *others = {posts.root(index): index for index in members}.values()
            told = {posts.root(index) for index in members if texts.known(index)}
            if not others or len(told) > 1 or posts.any_differ([first, *others]):
                continue
            for other in others:
                if _same_spot(traits[first], traits[other]):
                    why = f"same title and place at {traits[other].shown}, no text to compare"
                    posts.join(first, other, why)


def _spot(one: PostingFeatures) -> tuple[tuple[object, ...], ...]:
    heads = one.places.cities or one.places.text
    return ((one.company, one.title, one.title_places, heads),) if one.title and heads else ()


def _same_spot(one: PostingFeatures, other: PostingFeatures) -> bool:
    """Equal words; two sites may write a place more and less exactly, one site does not."""
    if one.places.text == other.places.text:
        return True
    first, second = one.places.names, other.places.names
    return one.is_elsewhere(other) and (first <= second or second <= first)


def _join_vacancies(
    pairs: list[tuple[int, int]],
    traits: list[PostingFeatures],
    texts: DescriptionComparison,
    vacancies: Clusters,
) -> None:
    """Posts of one vacancy: in other places, or posted again."""
    for one, other in pairs:
        if vacancies.together(one, other) or vacancies.vacancies_differ(one, other):
            continue
        why = _vacancy(traits[one], traits[other], texts)
        if why:
            vacancies.join(one, other, why)


def _vacancy(
    one: PostingFeatures, other: PostingFeatures, texts: DescriptionComparison
) -> str | None:
    relation = _relate(one, other)
    company = one.shown or other.shown
    where = f" at {company}" if company else ""
    equal = texts.speak_for_each_other(one.index, other.index, EQUAL)
    if one.title != other.title:
        # Also under one requisition: companies keep standing ones for unlike vacancies.
        return None
    if _same_requisition(one, other):
        return f"same requisition {one.requisition}{where}" + (
            ", other place" if relation == "other" else ""
        )
    if relation == "other":
        return f"same title and text{where}, other place" if equal else None
    if _differ_by_place(one, other) and texts.alike(one.index, other.index) in (None, 1.0):
        return f"same title{where}, a page for each place"
    if relation == "same" and _posted_again(one, other) and texts.identical(one.index, other.index):
        return f"same title, place and text{where}, posted again"
    return None


def _same_requisition(one: PostingFeatures, other: PostingFeatures) -> bool:
    return bool(one.requisition and one.company) and one.requisition == other.requisition


def _differ_by_place(one: PostingFeatures, other: PostingFeatures) -> bool:
    if not one.page or not other.page or one.places.text != other.places.text:
        return False
    return urls.differ_by_place(one.page, other.page)


def _posted_again(one: PostingFeatures, other: PostingFeatures) -> bool:
    first, second = one.posted_at, other.posted_at
    return first is not None and second is not None and abs(second - first) >= REPOSTED_AFTER


def _relate(one: PostingFeatures, other: PostingFeatures) -> place_comparison.Relation:
    """Of two places in titles that differ, the fields need not know."""
    if one.title_places and other.title_places and not one.title_places & other.title_places:
        return "other"
    return place_comparison.compare(one.places, other.places)


def _blocks(traits: list[PostingFeatures], texts: DescriptionComparison) -> list[list[int]]:
    """Postings worth comparing: of one company and title, or requisition; where a company is not said,
    of one title and beginning."""
    by_company = _shared(
        traits, lambda one: ((one.company, one.title),) if one.company and one.title else ()
    )
    by_requisition = _shared(
        traits,
        lambda one: ((one.company, one.requisition),) if one.company and one.requisition else (),
    )
    nameless = {one.title for one in traits if not one.company}
    by_beginning = _shared(
        [one for one in traits if one.title in nameless],
        lambda one: ((one.title, start),) if (start := texts.start(one.index)) else (),
    )
    return [members for kind in (by_company, by_requisition, by_beginning) for _, members in kind]


def _pairs(
    block: list[int], traits: list[PostingFeatures], texts: DescriptionComparison
) -> Iterator[tuple[int, int]]:
    """All pairs of a small block; of a large one the neighbours by text and by place, so that the cost
    grows with the block and not with its square."""
    if len(block) <= _ALL_PAIRS:
        yield from combinations(block, 2)
        return
    by_text = sorted(block, key=texts.order)
    by_place = sorted(block, key=lambda index: (traits[index].places.text, index))
    # The nearest first: what they join need not be compared any more.
    for step in range(1, _WINDOW + 1):
        for ordered in (by_text, by_place):
            yield from zip(ordered, ordered[step:], strict=False)


def _shared(
    traits: Iterable[PostingFeatures], keys: Callable[[PostingFeatures], Iterable[Key]]
) -> list[tuple[Key, list[int]]]:
    found: dict[Key, list[int]] = defaultdict(list)
    for one in traits:
        for key in keys(one):
            found[key].append(one.index)
    return [(key, members) for key, members in found.items() if len(members) > 1]


def _group(
    members: list[int], traits: list[PostingFeatures], posts: Clusters, vacancies: Clusters
) -> DuplicateGroup:
    canonical = min(members, key=lambda index: traits[index].rank)
    by_post: dict[int, list[int]] = defaultdict(list)
    for index in members:
        by_post[posts.root(index)].append(index)
    reasons = vacancies.reasons(canonical)
    return DuplicateGroup(
        canonical,
        tuple(members),
        _kind([traits[post[0]] for post in by_post.values()]),
        tuple(map(tuple, by_post.values())),
        tuple(reasons.get(index, "") for index in members),
    )


def _kind(posts: list[PostingFeatures]) -> DuplicateKind:
    first, *others = posts
    if not others:
        return "same"
    if any(
        _relate(first, one) in ("other", "near") or _differ_by_place(first, one) for one in others
    ):
        return "multi_location"
    # Two ids of one board are two posts, however alike they are.
    return "repost"
