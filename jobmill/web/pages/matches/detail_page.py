"""/matches/{match_id}: one match, and what one makes of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Header, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.catalog import listings, sources
from jobmill.catalog.listings import Listing
from jobmill.catalog.sources import Source
from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.matching import duplicate_matches, matches, profiles, skill_highlights, verdicts
from jobmill.matching.matches import Event, Match
from jobmill.matching.verdicts import Word
from jobmill.web import job_view
from jobmill.web.auth import Recruiter
from jobmill.web.dependencies import Db, View
from jobmill.web.form import Fields
from jobmill.web.job_view import MatchRow
from jobmill.web.pages.matches.inbox_query import STATUSES
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/matches")

OWN = re.compile(r"/matches(?:[/?][\x21-\x5b\x5d-\x7e]*)?")
"""A page of ours to go back to, and of nobody else."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A match with all that is known of it."""

    match: Match
    events: list[Event]
    listing: Listing
    word: Word | None
    strikes: int
    source: Source | None
    lineage: UUID | None
    row: MatchRow


@router.get("/{match_id}")
async def show(match_id: PathId, db: Db, page: Page) -> HTMLResponse:
    async with db.transaction() as tx:
        whole = await _whole(tx, match_id)
    match, bars = whole.match, job_view.score_bars(whole.match.items)
    return page(
        "matches/match.html",
        whole=whole,
        match=match,
        row=whole.row,
        url=job_view.web_url(match.apply_url) or job_view.web_url(match.url),
        bars=bars,
        cut=job_view.describe_total(bars, match.match_score),
        takes=job_view.describe_threshold(whole.word and whole.word.match_result),
        pieces=skill_highlights.cut(match.description or "", match.matched_skills),
        intake=job_view.format_resume_intake(match.resume_intake),
        events=[(one.at, job_view.describe_match_event(one)) for one in whole.events],
        back=f"/matches/{match.id}",
    )


async def _whole(tx: Tx, id: int) -> Whole:
    match = await matches.get(tx, id)
    listing = await listings.get(tx, match.listing_id)
    version = await profiles.get(tx, match.profile, version=match.profile_version)
    word = await verdicts.get(tx, version.profile_id, match.listing_id)
    return Whole(
        match,
        await matches.events(tx, id),
        listing,
        word,
        version.profile().rules.strikes.threshold,
        await sources.get(tx, listing.source_id) if listing.source_id else None,
        await job_view.find_lineage(tx, word),
        await _row(tx, match),
    )


async def _row(tx: Tx, match: Match) -> MatchRow:
    return MatchRow.of(match, (await duplicate_matches.of(tx, [match.id])).get(match.id, ()))


Swapped = Annotated[Literal["true"] | None, Header(alias="HX-Request")]


@router.post("/{match_id}/status")
async def set_status(
    match_id: PathId, form: Fields, visitor: Recruiter, db: Db, view: View, hx: Swapped = None
) -> Response:
    """Say what one makes of it."""
    status = form.get("status", "")
    if status not in STATUSES:
        names = ", ".join(STATUSES)
        raise Invalid(say("A match is one of these: %(names)s.", names=names))
    async with db.transaction() as tx:
        match = await matches.set_status(tx, match_id, status, actor=visitor.actor.name)
        row = await _row(tx, match)
    return _answer(row, form, view, swap=bool(hx))


@router.post("/{match_id}/undo")
async def undo(
    match_id: PathId, form: Fields, visitor: Recruiter, db: Db, view: View, hx: Swapped = None
) -> Response:
    """Give it the status that it had before."""
    async with db.transaction() as tx:
        _, match = await matches.undo(tx, match_id, actor=visitor.actor.name)
        row = await _row(tx, match)
    return _answer(row, form, view, swap=bool(hx))


def _answer(row: MatchRow, form: Fields, view: View, *, swap: bool) -> Response:
    """The row for a list that swaps it; else the page that it was sent from."""
    back = _own(form.get("back", ""))
    path, _, query = back.partition("?")
    if swap and path == "/matches":
        return view("matches/_row.html", row=row, may=True, back=back)
    if path not in ("/matches", "/matches/board"):
        return RedirectResponse(back, 303)
    kept = [part for part in query.split("&") if part and not part.startswith("done=")]
    return RedirectResponse(f"{path}?{'&'.join([*kept, f'done={row.match.id}'])}", 303)


def _own(back: str) -> str:
    return back if OWN.fullmatch(back) else "/matches"
