"""A union-find over postings that refuses to join postings known to be distinct."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Final, TypeAlias

from .posting_features import PostingFeatures

NamesByNamespace: TypeAlias = dict[Hashable, set[str]]
"""The ids, pages or names of a cluster, by the namespace in which they are unique."""

_MAX_COMPARED: Final = 100


class Clusters:
    """A partition of postings, with the reason for each join."""

    def __init__(self, features: Sequence[PostingFeatures]) -> None:
        self._parent = list(range(len(features)))
        self._members = [[index] for index in self._parent]
        self._ids = [_group_by_namespace(posting.ids) for posting in features]
        self._pages = [
            _group_by_namespace([posting.page] if posting.page and posting.has_own_page else [])
            for posting in features
        ]
        self._requisitions = [
            _group_by_namespace(
                [(posting.requisition_namespace, posting.requisition)]
                if posting.requisition
                else []
            )
            for posting in features
        ]
        self._companies = [
            _group_by_namespace([("company", posting.company)] if posting.company else [])
            for posting in features
        ]
        self._edges: dict[int, list[tuple[int, str]]] = defaultdict(list)

    def root(self, index: int) -> int:
        while self._parent[index] != index:
            self._parent[index] = self._parent[self._parent[index]]
            index = self._parent[index]
        return index

    def are_joined(self, index: int, other: int) -> bool:
        return self.root(index) == self.root(other)

    def join(self, index: int, other: int, why: str) -> None:
        """Join the clusters of two postings and store the reason."""
        small, large = sorted(
            (self.root(index), self.root(other)), key=lambda root: len(self._members[root])
        )
        if small == large:
            return
        self._edges[index].append((other, why))
        self._edges[other].append((index, why))
        self._parent[small] = large
        self._members[large] += self._members[small]
        for names_of in (self._ids, self._pages, self._requisitions, self._companies):
            for namespace, names in names_of[small].items():
                names_of[large].setdefault(namespace, set()).update(names)

    def are_distinct(self, index: int, other: int) -> bool:
        """Whether a platform, a site or the company itself distinguishes the two clusters."""
        first, second = self.root(index), self.root(other)
        return (
            self.have_different_ids(first, second)
            or self.are_different_vacancies(first, second)
            or _have_different_names(self._pages[first], self._pages[second])
        )

    def have_different_ids(self, index: int, other: int) -> bool:
        """Whether a platform has different ids for the two clusters."""
        return _have_different_names(self._ids[self.root(index)], self._ids[self.root(other)])

    def any_distinct(self, indexes: Sequence[int]) -> bool:
        """Whether any two of the clusters are distinct; assumed for very many clusters."""
        return len(indexes) > _MAX_COMPARED or any(
            self.are_distinct(index, other) for index, other in combinations(indexes, 2)
        )

    def are_different_vacancies(self, index: int, other: int) -> bool:
        """Whether the clusters have different companies, or different requisitions of one company."""
        first, second = self.root(index), self.root(other)
        return _have_different_names(
            self._companies[first], self._companies[second]
        ) or _have_different_names(self._requisitions[first], self._requisitions[second])

    def copy(self) -> Clusters:
        """A copy that can be joined further without changing this one."""
        copy = Clusters(())
        copy._parent = self._parent.copy()
        copy._members = [members.copy() for members in self._members]
        copy._ids, copy._pages, copy._requisitions, copy._companies = (
            [
                {namespace: names.copy() for namespace, names in by_namespace.items()}
                for by_namespace in names_of
            ]
            for names_of in (self._ids, self._pages, self._requisitions, self._companies)
        )
        copy._edges.update((index, edges.copy()) for index, edges in self._edges.items())
        return copy

    def groups(self) -> list[list[int]]:
        """The clusters with two or more members, sorted."""
        roots = (index for index, parent in enumerate(self._parent) if index == parent)
        return sorted(sorted(self._members[root]) for root in roots if len(self._members[root]) > 1)

    def reasons(self, start: int) -> dict[int, str]:
        """For each member of the cluster of `start`, why it was joined."""
        reasons = {start: ""}
        queue = [start]
        for index in queue:
            for other, why in self._edges.get(index, ()):
                if other not in reasons:
                    reasons[other] = why
                    queue.append(other)
        return reasons


def _group_by_namespace(pairs: Iterable[tuple[Hashable, str]]) -> NamesByNamespace:
    names: NamesByNamespace = {}
    for namespace, name in pairs:
        names.setdefault(namespace, set()).add(name)
    return names


def _have_different_names(
    names: Mapping[Hashable, set[str]], other: Mapping[Hashable, set[str]]
) -> bool:
    return any(
        names[namespace].isdisjoint(other[namespace]) for namespace in names.keys() & other.keys()
    )
