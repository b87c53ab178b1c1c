"""Preview how a changed profile would alter the decisions about open jobs."""

from __future__ import annotations

import asyncio
import difflib
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import NamedTuple

from jobmill.boards.adapters import PLATFORM_RULES
from jobmill.db import Database
from jobmill.matching import profile_document, rescore
from jobmill.matching.profile import Profile
from jobmill.matching.rescore import Kind, VerdictChange
from jobmill.web.job_view import describe_outcome

MAX_LISTINGS = 2_000
"""The newest open listings are scored."""
MAX_SECONDS = 5.0
MAX_SHOWN = 8


class DiffLine(NamedTuple):
    sign: str
    """`+`, `-` or empty."""
    text: str


@dataclass(slots=True)
class ProfilePreview:
    complete: bool = False
    """Whether all open listings were scored."""
    changes: list[VerdictChange] = field(default_factory=list[VerdictChange])
    counts: Counter[Kind] = field(default_factory=Counter[Kind])

    @property
    def scored(self) -> int:
        return self.counts.total()

    @property
    def changed_listings(self) -> list[int]:
        return sorted(change.listing_id for change in self.changes)

    def largest_changes(self, kind: Kind) -> list[tuple[VerdictChange, str, str]]:
        """The changes of a kind with the largest difference in score, before and after."""
        changes = [change for change in self.changes if change.kind == kind]
        return [
            (change, describe_outcome(change.before), describe_outcome(change.after))
            for change in sorted(changes, key=_score_change, reverse=True)[:MAX_SHOWN]
        ]

    def count_more(self, kind: Kind) -> int:
        return max(self.counts[kind] - MAX_SHOWN, 0)


def _score_change(change: VerdictChange) -> int:
    return abs((change.after.score or 0) - (change.before.score or 0))


async def preview(
    database: Database, profile_id: int, profile: Profile, *, max_listings: int = MAX_LISTINGS
) -> ProfilePreview:
    """Score the newest open listings with local rules, for a few seconds at most."""
    result, deadline = ProfilePreview(), time.monotonic() + MAX_SECONDS
    async with aclosing(
        rescore.compare_open_listings(database, profile_id, profile, PLATFORM_RULES)
    ) as changes:
        async for change in changes:
            if result.scored >= max_listings or time.monotonic() > deadline:
                return result
            result.counts[change.kind] += 1
            if change.kind != "same":
                result.changes.append(change)
            # Scoring is CPU-bound: let other requests run.
            await asyncio.sleep(0)
    result.complete = True
    return result


def diff_profiles(before: Profile | None, after: Profile) -> Sequence[DiffLine]:
    """Changed lines of the profile as YAML, with one line of context."""
    old = profile_document.to_yaml(before).splitlines() if before else []
    new = profile_document.to_yaml(after).splitlines()
    lines = list(difflib.unified_diff(old, new, n=1, lineterm=""))[2:]
    return [
        DiffLine("", "…") if line.startswith("@@") else DiffLine(line[0].strip(), line[1:])
        for line in lines
    ]
