"""Sets of postings that grow together, unless what is known of their members forbids it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Final, TypeAlias

from .posting_features import PostingFeatures

Known: TypeAlias = dict[Hashable, set[str]]
"""By where it is unique, what a set's members are called there."""

_MANY: Final = 100


class Clusters:
    """A partition of postings, with the reason for each join."""

    def __init__(self, traits: Sequence[PostingFeatures]) -> None:
        self._parent = list(range(len(traits)))
        self._members = [[index] for index in self._parent]
        self._ids = [_by_space(one.ids) for one in traits]
        self._pages = [_by_space([one.page] if one.page and one.own_page else []) for one in traits]
        self._requisitions = [
            _by_space([(one.requisition_space, one.requisition)] if one.requisition else [])
            for one in traits
        ]
        self._companies = [
            _by_space([("company", one.company)] if one.company else []) for one in traits
        ]
        self._edges: dict[int, list[tuple[int, str]]] = defaultdict(list)

    def root(self, index: int) -> int:
        while self._parent[index] != index:
            self._parent[index] = self._parent[self._parent[index]]
            index = self._parent[index]
        return index

    def together(self, one: int, other: int) -> bool:
        return self.root(one) == self.root(other)

    def join(self, one: int, other: int, why: str) -> None:
        """Make one set of two; the reason is kept for both ends."""
        small, large = sorted(
            (self.root(one), self.root(other)), key=lambda root: len(self._members[root])
        )
        if small == large:
            return
        self._edges[one].append((other, why))
        self._edges[other].append((one, why))
        self._parent[small] = large
        self._members[large] += self._members[small]
        for known in (self._ids, self._pages, self._requisitions, self._companies):
            for space, called in known[small].items():
                known[large].setdefault(space, set()).update(called)

    def differ(self, one: int, other: int) -> bool:
        """Whether a platform, a site or the company itself tells the two sets apart."""
        first, second = self.root(one), self.root(other)
        return (
            self.ids_differ(first, second)
            or self.vacancies_differ(first, second)
            or _differ(self._pages[first], self._pages[second])
        )

    def ids_differ(self, one: int, other: int) -> bool:
        """Whether a platform knows the two by different ids."""
        return _differ(self._ids[self.root(one)], self._ids[self.root(other)])

    def any_differ(self, indexes: Sequence[int]) -> bool:
        """Whether any two sets differ; a crowd is taken to."""
        return len(indexes) > _MANY or any(
            self.differ(one, other) for one, other in combinations(indexes, 2)
        )

    def vacancies_differ(self, one: int, other: int) -> bool:
        """Whether the two are of two companies, or their company counts them as two vacancies."""
        first, second = self.root(one), self.root(other)
        return _differ(self._companies[first], self._companies[second]) or _differ(
            self._requisitions[first], self._requisitions[second]
        )

    def coarser(self) -> Clusters:
        """A partition that starts from this one and can be joined further on its own."""
        copy = Clusters(())
        copy._parent = self._parent.copy()
        copy._members = [members.copy() for members in self._members]
        copy._ids, copy._pages, copy._requisitions, copy._companies = (
            [{space: called.copy() for space, called in one.items()} for one in known]
            for known in (self._ids, self._pages, self._requisitions, self._companies)
        )
        copy._edges.update((index, edges.copy()) for index, edges in self._edges.items())
        return copy

    def groups(self) -> list[list[int]]:
        """The sets of two or more, members in order."""
        roots = (index for index, parent in enumerate(self._parent) if index == parent)
        return sorted(sorted(self._members[root]) for root in roots if len(self._members[root]) > 1)

    def reasons(self, start: int) -> dict[int, str]:
        """For each member of a set but `start`, why it was joined to those on the way there."""
        found = {start: ""}
        ahead = [start]
        for index in ahead:
            for other, why in self._edges.get(index, ()):
                if other not in found:
                    found[other] = why
                    ahead.append(other)
        return found


def _by_space(pairs: Iterable[tuple[Hashable, str]]) -> Known:
    known: Known = {}
    for space, called in pairs:
        known.setdefault(space, set()).add(called)
    return known


def _differ(one: Mapping[Hashable, set[str]], other: Mapping[Hashable, set[str]]) -> bool:
    return any(one[space].isdisjoint(other[space]) for space in one.keys() & other.keys())
