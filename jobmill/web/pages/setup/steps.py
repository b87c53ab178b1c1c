"""Where one is in the set-up, and what is done already: it is read off what there is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from jobmill.catalog import source_import
from jobmill.catalog.source_import import ReadProgress
from jobmill.db import Tx
from jobmill.matching import matches
from jobmill.matching.matches import Wanted
from jobmill.matching.profiles import Version
from jobmill.web import job_view
from jobmill.web.site_settings import SiteSettings
from jobmill.web.translations import say

COMPANIES = "/setup/companies"
MODEL = "/setup/model"
"""Nobody needs it."""

State = Literal["done", "now", "to come", "skipped", "optional"]


class Step(NamedTuple):
    path: str
    name: str
    state: State
    words: str
    """The state, as it is said."""


class Standing(NamedTuple):
    """What there is so far."""

    version: Version | None
    boards: ReadProgress
    models: bool
    matched: bool
    """Whether there is a first match."""


async def read(tx: Tx, site_settings: SiteSettings) -> Standing:
    version = await job_view.find_profile(tx, None)
    models = any(seat.missing is None for seat in site_settings.seats)
    return Standing(
        version, await source_import.count_progress(tx), models, await _is_matched(tx, version)
    )


async def _is_matched(tx: Tx, version: Version | None) -> bool:
    if version is None:
        return False
    return bool(await matches.find(tx, Wanted(profile_id=version.profile_id, limit=1)))


def line(standing: Standing, here: str) -> Sequence[Step]:
    """All steps, with the one where we are; one before it that is not done was skipped."""
    profile, some = standing.version is not None, standing.boards.total > 0
    steps = (
        ("/setup/resume", say("Resume"), profile),
        ("/setup/profile", say("Profile"), profile),
        (COMPANIES, say("Companies"), some),
        (MODEL, say("Model"), standing.models),
        ("/setup/matches", say("First matches"), standing.matched),
    )
    at = next((n for n, (path, _, _) in enumerate(steps) if path == here), 0)
    return [
        _step(path, name, "now" if path == here else _state(path, done=done, passed=n < at))
        for n, (path, name, done) in enumerate(steps)
    ]


def _state(path: str, *, done: bool, passed: bool) -> State:
    if done:
        return "done"
    return "skipped" if passed else "optional" if path == MODEL else "to come"


def _step(path: str, name: str, state: State) -> Step:
    words = {
        "done": say("done"),
        "now": say("you are here"),
        "to come": say("to come"),
        "skipped": say("skipped"),
        "optional": say("optional, not set up"),
    }
    return Step(path, name, state, words[state])


def next_path(standing: Standing) -> str:
    """Where one goes on."""
    if standing.version is None:
        return "/setup/resume"
    return COMPANIES if not standing.boards.total else "/setup/matches"
