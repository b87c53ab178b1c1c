"""Skills that imply others: a person with Django experience knows Python."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import resources


def implied_skills(names: Iterable[str]) -> set[str]:
    """The skills that these imply, directly or indirectly, without the given ones."""
    names_set = set(names)
    return {implied for name in names_set for implied in _implied_by(name)} - names_set


@cache
def _implied_by(name: str) -> frozenset[str]:
    implied: set[str] = set()
    pending = [name]
    while pending:
        new = read_table().get(pending.pop(), frozenset()) - implied
        implied |= new
        pending += new
    return frozenset(implied)


@cache
def read_table() -> dict[str, frozenset[str]]:
    """Each line of `implied_skills.txt`: a skill, then those that it implies, named as in `skills.txt`."""
    file = resources.files("jobmill.matching.posting_facts") / "implied_skills.txt"
    lines = (line.split(" > ") for line in file.read_text("utf-8").splitlines())
    return {name: frozenset(others.split(", ")) for name, others in lines}
