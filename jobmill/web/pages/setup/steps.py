"""/setup: the steps of the setup, which of them are done, and where to continue."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from jobmill.catalog import source_import
from jobmill.catalog.source_import import ReadProgress
from jobmill.db import Tx
from jobmill.matching import matches, profiles
from jobmill.matching.matches import MatchQuery
from jobmill.matching.profiles import ProfileVersion
from jobmill.web import job_view
from jobmill.web.auth import Seeker, Visitor
from jobmill.web.shell import Page
from jobmill.web.site_settings import SiteSettings
from jobmill.web.translations import say

router = APIRouter(prefix="/setup")

RESUME = "/setup/resume"
PROFILE = "/setup/profile"
COMPANIES = "/setup/companies"
MODEL = "/setup/model"
MATCHES = "/setup/matches"

StepState = Literal["done", "now", "to come", "skipped", "not needed", "optional"]


class SetupStep(NamedTuple):
    path: str
    name: str
    state: StepState
    state_name: str


class SetupStatus(NamedTuple):
    """What exists already."""

    version: ProfileVersion | None
    resume_read: bool
    """Whether the profile was ever filled in from a resume."""
    boards: ReadProgress
    has_models: bool
    has_matches: bool
    may_add_boards: bool
    """Whether the person may also choose companies and models, which everyone here shares."""


async def read_setup_status(tx: Tx, site_settings: SiteSettings, visitor: Visitor) -> SetupStatus:
    version = await job_view.find_profile(tx, None, visitor.owner)
    site_settings = await site_settings.with_stored(tx)
    return SetupStatus(
        version,
        bool(version) and await profiles.was_read_from_resume(tx, version.profile_id),
        await source_import.count_progress(tx),
        any(tier.missing is None for tier in site_settings.tiers),
        await _has_matches(tx, version),
        visitor.may_change("system"),
    )


async def _has_matches(tx: Tx, version: ProfileVersion | None) -> bool:
    if version is None:
        return False
    return bool(await matches.find(tx, MatchQuery(profile_id=version.profile_id, limit=1)))


def list_steps(status: SetupStatus, current_path: str) -> Sequence[SetupStep]:
    """All steps; unfinished steps before the current one were skipped."""
    has_profile, has_boards = status.version is not None, status.boards.total > 0
    shared_steps = (
        (COMPANIES, say("Companies"), has_boards),
        (MODEL, say("Model"), status.has_models),
    )
    steps = (
        (RESUME, say("Resume read") if status.resume_read else say("Resume"), status.resume_read),
        (PROFILE, say("Profile"), has_profile),
        *(shared_steps if status.may_add_boards else ()),
        (MATCHES, say("First matches"), status.has_matches),
    )
    current = next((n for n, (path, _, _) in enumerate(steps) if path == current_path), 0)
    return [
        _make_step(
            path,
            name,
            "now"
            if path == current_path
            else "not needed"
            if path == RESUME and has_profile and not done
            else _state(path, done=done, passed=n < current),
        )
        for n, (path, name, done) in enumerate(steps)
    ]


def _state(path: str, *, done: bool, passed: bool) -> StepState:
    if done:
        return "done"
    return "skipped" if passed else "optional" if path == MODEL else "to come"


def _make_step(path: str, name: str, state: StepState) -> SetupStep:
    names = {
        "done": say("done"),
        "now": say("current step"),
        "to come": say("not started"),
        "skipped": say("skipped"),
        "not needed": say("filled in by hand"),
        "optional": say("optional"),
    }
    return SetupStep(path, name, state, names[state])


def next_path(status: SetupStatus) -> str:
    """The first step that is not done."""
    if status.version is None:
        return RESUME
    return COMPANIES if status.may_add_boards and not status.boards.total else MATCHES


def after_profile(status: SetupStatus) -> str:
    """The step that follows the profile."""
    return COMPANIES if status.may_add_boards else MATCHES


@router.get("")
async def show(visitor: Seeker, page: Page) -> HTMLResponse:
    async with page.db.transaction() as tx:
        status = await read_setup_status(tx, page.site_settings, visitor)
    steps = list_steps(status, "/setup")
    return page("setup/page.html", status=status, steps=steps, next_path=next_path(status))
