"""/profile: what it says, its versions, and when it is at work."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from pydantic import BaseModel, Field

from jobmill.db import Tx
from jobmill.errors import NotFound
from jobmill.matching import judging_feed, profiles
from jobmill.matching.profile import Profile, Rules
from jobmill.matching.profiles import Entry, Version
from jobmill.queue.feed import notify_feeds
from jobmill.web import job_view
from jobmill.web.auth import Recruiter
from jobmill.web.dependencies import Db
from jobmill.web.form import Fields
from jobmill.web.page_query import PageQuery, ShortText
from jobmill.web.pages.profile import preview
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/profile")

MANY = 10_000
VERSIONS = 50
Turn = Callable[[Tx, Version, str], Awaitable[object]]


class Wanted(PageQuery):
    profile: ShortText | None = None
    version: Annotated[int, Field(ge=1, le=2**31 - 1)] | None = None
    did: ShortText | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    version: Version
    profile: Profile
    profiles: Sequence[Entry]
    versions: Sequence[Version]
    waiting: int

    @property
    def entry(self) -> Entry:
        return next(one for one in self.profiles if one.name == self.version.name)


@router.get("")
async def show(asked: Annotated[Wanted, Query()], db: Db, page: Page) -> HTMLResponse:
    async with db.transaction() as tx:
        version = await job_view.find_profile(tx, asked.profile)
        if version is None:
            return page("profile/nobody.html")
        shown = Shown(
            version,
            version.profile(),
            await profiles.find(tx),
            await profiles.history(tx, version.name),
            await judging_feed.count(tx, version.profile_id, most=MANY),
        )
    return page(
        "profile/page.html",
        topics=["matches"],
        shown=shown,
        rules=rules(shown.profile),
        most=VERSIONS,
        many=MANY,
        told=_told(asked.did or "", shown),
    )


def _told(did: str, shown: Shown) -> str:
    name, version = shown.version.name, shown.version.version
    match did:
        case "saved":
            return say("Saved as version %(version)s of %(name)s.", version=version, name=name)
        case "same":
            return say("Nothing changed: version %(version)s says the same.", version=version)
        case "paused":
            return say("%(name)s is paused: nothing is judged for it.", name=name)
        case "resumed":
            return say("%(name)s is at work again.", name=name)
        case "chosen":
            return say("%(name)s is the default now.", name=name)
        case _:
            return ""


class Rule(BaseModel):
    """A number by which listings are judged."""

    name: str
    value: str
    own: bool
    """Whether it is another than the default."""


def rules(profile: Profile) -> list[Rule]:
    """All numbers, with their paths."""
    usual = dict(_flat(Rules().model_dump()))
    return [
        Rule(name=name, value=str(value), own=value != usual[name])
        for name, value in _flat(profile.rules.model_dump())
    ]


def _flat(data: Mapping[str, Any], path: str = "") -> list[tuple[str, object]]:
    found: list[tuple[str, object]] = []
    for name, one in data.items():
        if isinstance(one, Mapping) and set(one) == {"least", "most"}:  # pyright: ignore[reportUnknownArgumentType]
            found.append((f"{path}{name}", f"{one['least']} … {one['most']}"))
        elif isinstance(one, Mapping):
            found += _flat(one, f"{path}{name}.")  # pyright: ignore[reportUnknownArgumentType]
        else:
            found.append((f"{path}{name}", one))
    return found


@router.get("/version")
async def show_version(asked: Annotated[Wanted, Query()], db: Db, page: Page) -> HTMLResponse:
    """One version, and what it changed."""
    async with db.transaction() as tx:
        newest = await profiles.get(tx, asked.profile)
        number = asked.version or newest.version
        one = await profiles.get(tx, newest.name, version=number)
        before = await _before(tx, one)
    changed = preview.diff(before.profile() if before else None, one.profile())
    return page("profile/version.html", one=one, newest=newest, before=before, changed=changed)


async def _before(tx: Tx, one: Version) -> Version | None:
    try:
        return await profiles.get(tx, one.name, version=one.version - 1)
    except NotFound:
        return None


async def _pause(tx: Tx, version: Version, by: str) -> None:
    await profiles.pause(tx, version.name)


async def _resume(tx: Tx, version: Version, by: str) -> None:
    if await profiles.resume(tx, version.name):
        await judging_feed.add_missed(tx, version.profile_id)
        await notify_feeds(tx)


async def _choose(tx: Tx, version: Version, by: str) -> None:
    await profiles.use(tx, version.name, by=by)


async def _turn(db: Db, form: Fields, by: str, act: Turn, did: str) -> Response:
    async with db.transaction(60) as tx:
        version = await profiles.get(tx, form.get("profile") or None)
        await act(tx, version, by)
    return RedirectResponse(f"/profile?{urlencode({'profile': version.name, 'did': did})}", 303)


@router.post("/pause")
async def pause(form: Fields, visitor: Recruiter, db: Db) -> Response:
    return await _turn(db, form, visitor.actor.name, _pause, "paused")


@router.post("/go-on")
async def resume(form: Fields, visitor: Recruiter, db: Db) -> Response:
    return await _turn(db, form, visitor.actor.name, _resume, "resumed")


@router.post("/use")
async def choose(form: Fields, visitor: Recruiter, db: Db) -> Response:
    return await _turn(db, form, visitor.actor.name, _choose, "chosen")
