"""/profile: one profile and its versions; pause it or make it the default."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import Field

from jobmill.db import Tx
from jobmill.errors import NotFound
from jobmill.matching import judging_feed, llm_review, profiles
from jobmill.matching.profile import Profile, Rules
from jobmill.matching.profiles import ProfileSummary, ProfileVersion
from jobmill.web import job_view, profile_changes
from jobmill.web.auth import Seeker, Visitor
from jobmill.web.dependencies import Db
from jobmill.web.form import Fields
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.profile_preview import diff_profiles
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/profile")

COUNT_LIMIT = 10_000
MAX_VERSIONS = 50


class ProfileQuery(PageQuery):
    profile: ShortText | None = None
    version: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    did: ShortText | None = None


@dataclass(frozen=True, slots=True)
class ProfileDetail:
    version: ProfileVersion
    profile: Profile
    profiles: Sequence[ProfileSummary]
    versions: Sequence[ProfileVersion]
    waiting: int
    """Listings that wait to be scored."""

    @property
    def entry(self) -> ProfileSummary:
        return next(entry for entry in self.profiles if entry.name == self.version.name)


@router.get("")
async def show(
    query: Annotated[ProfileQuery, Query()], visitor: Seeker, page: Page
) -> HTMLResponse:
    async with page.db.transaction() as tx:
        version = await job_view.find_profile(tx, query.profile, visitor.owner)
        if version is None:
            return page("profile/no_profile.html")
        detail = ProfileDetail(
            version,
            version.profile(),
            await profiles.find_all(tx, owner=visitor.owner),
            await profiles.read_versions(tx, version.name, owner=visitor.owner),
            await judging_feed.count(tx, version.profile_id, limit=COUNT_LIMIT),
        )
    return page(
        "profile/page.html",
        topics=["matches"],
        detail=detail,
        rules=list_rules(detail.profile),
        max_versions=MAX_VERSIONS,
        count_limit=COUNT_LIMIT,
        notice=_notice(query.did or "", detail.version),
        sent_text=llm_review.preview_candidate(detail.profile),
    )


def _notice(did: str, version: ProfileVersion) -> str:
    name, number = version.name, version.version
    match did:
        case "saved":
            return say("Saved as version %(version)s of %(name)s.", version=number, name=name)
        case "same":
            return say("No changes: version %(version)s is the same.", version=number)
        case "paused":
            return say("%(name)s is paused. No jobs are scored for it.", name=name)
        case "resumed":
            return say("%(name)s is active again.", name=name)
        case "chosen":
            return say("%(name)s is now the default profile.", name=name)
        case _:
            return ""


class Rule(NamedTuple):
    """A number of the scoring rules."""

    name: str
    value: str
    is_custom: bool
    """Whether it differs from the default."""


def list_rules(profile: Profile) -> list[Rule]:
    """All numbers with their paths."""
    defaults = dict(_flatten(Rules().model_dump()))
    return [
        Rule(name, str(value), value != defaults[name])
        for name, value in _flatten(profile.rules.model_dump())
    ]


def _flatten(data: Mapping[str, Any], path: str = "") -> list[tuple[str, object]]:
    rows: list[tuple[str, object]] = []
    for name, value in data.items():
        if isinstance(value, Mapping) and set(value) == {"least", "most"}:  # pyright: ignore[reportUnknownArgumentType]
            rows.append((f"{path}{name}", f"{value['least']} … {value['most']}"))
        elif isinstance(value, Mapping):
            rows += _flatten(value, f"{path}{name}.")  # pyright: ignore[reportUnknownArgumentType]
        else:
            rows.append((f"{path}{name}", value))
    return rows


@router.get("/version")
async def show_version(
    query: Annotated[ProfileQuery, Query()], visitor: Seeker, page: Page
) -> HTMLResponse:
    """One version, and what it changed."""
    async with page.db.transaction() as tx:
        newest = await profiles.get(tx, query.profile, owner=visitor.owner)
        number = query.version or newest.version
        version = await profiles.get_by_id(tx, newest.profile_id, version=number)
        previous = await _find_previous(tx, version)
    diff = diff_profiles(previous.profile() if previous else None, version.profile())
    return page(
        "profile/version.html", version=version, newest=newest, previous=previous, diff=diff
    )


async def _find_previous(tx: Tx, version: ProfileVersion) -> ProfileVersion | None:
    try:
        return await profiles.get_by_id(tx, version.profile_id, version=version.version - 1)
    except NotFound:
        return None


async def _pause(tx: Tx, version: ProfileVersion, by: str) -> None:
    await profiles.pause(tx, version.name, owner=version.owner_id)


async def _resume(tx: Tx, version: ProfileVersion, by: str) -> None:
    await profile_changes.resume_scoring(tx, version)


async def _make_default(tx: Tx, version: ProfileVersion, by: str) -> None:
    await profiles.set_default(tx, version.name, owner=version.owner_id, by=by)


async def _apply(
    db: Db,
    form: Fields,
    visitor: Visitor,
    action: Callable[[Tx, ProfileVersion, str], Awaitable[None]],
    did: str,
) -> Response:
    async with db.transaction(profile_changes.SAVE_SECONDS) as tx:
        version = await profiles.get(tx, form.get("profile") or None, owner=visitor.owner)
        await action(tx, version, visitor.actor.name)
    return RedirectResponse(f"/profile?{urlencode({'profile': version.name, 'did': did})}", 303)


@router.post("/pause")
async def pause(form: Fields, visitor: Seeker, db: Db) -> Response:
    return await _apply(db, form, visitor, _pause, "paused")


@router.post("/activate")
async def resume(form: Fields, visitor: Seeker, db: Db) -> Response:
    return await _apply(db, form, visitor, _resume, "resumed")


@router.post("/default")
async def make_default(form: Fields, visitor: Seeker, db: Db) -> Response:
    return await _apply(db, form, visitor, _make_default, "chosen")
