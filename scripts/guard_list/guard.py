"""A safety guard of the product, and the tests that must notice when it is gone."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Guard:
    name: str
    file: str
    old: str
    """The guard as the file has it; it occurs there exactly once."""
    new: str
    """The same text with the guard removed or weakened."""
    tests: tuple[str, ...]
    """Node ids of pytest: at least one of these tests fails without the guard."""


def guard(name: str, file: str, old: str, new: str, *tests: str) -> Guard:
    return Guard(name, file, old, new, tests)
