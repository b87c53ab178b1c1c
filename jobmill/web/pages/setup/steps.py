"""Where one is in the set-up, and what is done already: it is read off what there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from jobmill.catalog import boards
from jobmill.catalog.boards import Reading
from jobmill.db import Tx
from jobmill.matching.profiles import Version
from jobmill.web import seeking
from jobmill.web.house import House
from jobmill.web.texts import say

State = Literal["done", "now", "to come"]


class Step(NamedTuple):
    path: str
    name: str
    state: State
    words: str
    """The state, for whoever does not see it."""


class Standing(NamedTuple):
    """What there is so far."""

    version: Version | None
    boards: Reading
    models: bool


async def read(tx: Tx, house: House) -> Standing:
    version = await seeking.find_profile(tx, None)
    models = any(seat.missing is None for seat in house.seats)
    return Standing(version, await boards.reading(tx), models)


def line(standing: Standing, here: str) -> Sequence[Step]:
    """All steps, with the one where we are."""
    profile, some = standing.version is not None, standing.boards.all > 0
    steps = (
        ("/setup/resume", say("Resume"), profile),
        ("/setup/profile", say("Profile"), profile),
        ("/setup/companies", say("Companies"), some),
        ("/setup/model", say("Model (optional)"), standing.models),
        ("/setup/matches", say("First matches"), False),
    )
    return [_step(path, name, done=done, now=path == here) for path, name, done in steps]


def _step(path: str, name: str, *, done: bool, now: bool) -> Step:
    if now:
        return Step(path, name, "now", say("you are here"))
    return Step(path, name, "done" if done else "to come", say("done") if done else say("to come"))


def next_path(standing: Standing) -> str:
    """Where one goes on."""
    if standing.version is None:
        return "/setup/resume"
    return "/setup/companies" if not standing.boards.all else "/setup/matches"
