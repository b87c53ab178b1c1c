"""Keeps long texts of postings from the event loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from jobmill.catalog.posting import Posting
from jobmill.sandbox import read_untrusted

T = TypeVar("T")

MAX_LENGTH_IN_PLACE = 10_000
"""Characters of a posting's text that are read in place. Of 966 real postings 34 are longer."""


async def run_bounded(posting: Posting, function: Callable[..., T], *arguments: object) -> T:
    """Run a function over the texts of a posting: in a child process if they are long, because their
    author may have made them expensive to read."""
    if len(posting.description or "") + len(posting.requirements or "") <= MAX_LENGTH_IN_PLACE:
        return function(*arguments)
    return await read_untrusted(function, *arguments)
