"""What another profile would make of the listings that are open, before it is saved."""

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
from jobmill.matching.rescore import Change, Kind
from jobmill.web import job_view

MOST = 2_000
"""So many of the newest are judged."""
PATIENCE = 5.0
"""Seconds after which no more are."""
SHOWN = 8


class Line(NamedTuple):
    """A line of two texts beside each other."""

    mark: str
    """`+`, `-` or nothing."""
    text: str


@dataclass(slots=True)
class Outlook:
    whole: bool = False
    """Whether all that is open was judged."""
    changes: list[Change] = field(default_factory=list[Change])
    counts: Counter[Kind] = field(default_factory=Counter[Kind])

    @property
    def judged(self) -> int:
        return self.counts.total()

    @property
    def differing(self) -> list[int]:
        return sorted(one.listing_id for one in self.changes)

    def movers(self, kind: Kind) -> list[tuple[Change, str, str]]:
        """Those of a kind that move farthest, each with how it stands and would stand."""
        found = sorted((one for one in self.changes if one.kind == kind), key=_least_move)
        return [
            (one, job_view.describe_standing(one.before), job_view.describe_standing(one.after))
            for one in found[:SHOWN]
        ]

    def more(self, kind: Kind) -> int:
        return max(self.counts[kind] - SHOWN, 0)


def _least_move(one: Change) -> int:
    return -abs((one.after.score or 0) - (one.before.score or 0))


async def look(
    database: Database, profile_id: int, profile: Profile, *, most: int = MOST
) -> Outlook:
    """Judge the newest locally, for a few seconds at most; nothing is kept."""
    found, ends = Outlook(), time.monotonic() + PATIENCE
    async with aclosing(rescore.compare(database, profile_id, profile, PLATFORM_RULES)) as changes:
        async for one in changes:
            if found.judged >= most or time.monotonic() > ends:
                return found
            found.counts[one.kind] += 1
            if one.kind != "same":
                found.changes.append(one)
            # Judging is all computing: others want a turn, too.
            await asyncio.sleep(0)
    found.whole = True
    return found


def diff(before: Profile | None, after: Profile) -> Sequence[Line]:
    """What changes in the text of a profile, with a little of what is around it."""
    old = profile_document.write(before).splitlines() if before else []
    new = profile_document.write(after).splitlines()
    found = list(difflib.unified_diff(old, new, n=1, lineterm=""))[2:]
    return [
        Line("", "…") if one.startswith("@@") else Line(one[0].strip(), one[1:]) for one in found
    ]
