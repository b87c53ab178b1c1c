"""/matches/{match_id}: one match, its score and history, and its status."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Header, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from jobmill.catalog import listings, sources
from jobmill.catalog.sources import Source
from jobmill.db import Tx
from jobmill.errors import Invalid
from jobmill.matching import duplicate_matches, matches, profiles, skill_highlights, verdicts
from jobmill.matching.matches import Match, MatchEvent
from jobmill.matching.verdicts import Verdict
from jobmill.people.persons import Owner
from jobmill.web import job_view
from jobmill.web.auth import Seeker
from jobmill.web.dependencies import Db, View
from jobmill.web.form import Fields
from jobmill.web.job_view import MatchRow
from jobmill.web.pages.matches.inbox_query import STATUSES
from jobmill.web.parameters import PathId
from jobmill.web.shell import Page
from jobmill.web.translations import say

router = APIRouter(prefix="/matches")

MATCHES_PATH = re.compile(r"/matches(?:[/?][\x21-\x5b\x5d-\x7e]*)?")
"""Where a form may return to: only pages below /matches."""


@dataclass(frozen=True, slots=True)
class MatchDetail:
    row: MatchRow
    events: list[MatchEvent]
    verdict: Verdict | None
    strike_limit: int
    source: Source | None
    lineage: UUID | None

    @property
    def match(self) -> Match:
        return self.row.match


@router.get("/{match_id}")
async def show(match_id: PathId, visitor: Seeker, db: Db, page: Page) -> HTMLResponse:
    async with db.transaction() as tx:
        detail = await _read(tx, match_id, visitor.owner)
    match, reasons = detail.match, detail.row.reasons
    return page(
        "matches/match.html",
        detail=detail,
        match=match,
        row=detail.row,
        url=job_view.web_url(match.apply_url) or job_view.web_url(match.url),
        reasons=reasons,
        bars=job_view.score_bars(match.items),
        losses=job_view.describe_losses(reasons),
        threshold=job_view.describe_threshold(detail.verdict and detail.verdict.match_result),
        pieces=skill_highlights.split_at_skills(match.description or "", match.matched_skills),
        intake=job_view.format_resume_intake(match.resume_intake),
        events=[(event.at, job_view.describe_match_event(event)) for event in detail.events],
        back=f"/matches/{match.id}",
    )


async def _read(tx: Tx, id: int, owner: Owner) -> MatchDetail:
    match = await matches.get(tx, id, owner=owner)
    listing = await listings.get(tx, match.listing_id)
    version = await profiles.get(tx, match.profile, owner=owner, version=match.profile_version)
    verdict = await verdicts.get(tx, version.profile_id, match.listing_id)
    return MatchDetail(
        await _read_row(tx, match),
        await matches.read_events(tx, id),
        verdict,
        version.profile().rules.strikes.threshold,
        await sources.get(tx, listing.source_id) if listing.source_id else None,
        await job_view.find_lineage(tx, verdict),
    )


async def _read_row(tx: Tx, match: Match) -> MatchRow:
    return MatchRow.of(
        match, (await duplicate_matches.find_duplicates(tx, [match.id])).get(match.id, ())
    )


HtmxRequest = Annotated[Literal["true"] | None, Header(alias="HX-Request")]


@router.post("/{match_id}/status")
async def set_status(
    match_id: PathId, form: Fields, visitor: Seeker, db: Db, view: View, hx: HtmxRequest = None
) -> Response:
    status = form.get("status", "")
    if status not in STATUSES:
        names = ", ".join(STATUSES)
        raise Invalid(say("The status of a match must be one of: %(names)s.", names=names))
    async with db.transaction() as tx:
        match = await matches.set_status(
            tx, match_id, status, owner=visitor.owner, actor=visitor.actor.name
        )
        row = await _read_row(tx, match)
    return _respond(row, form, view, is_htmx=bool(hx))


@router.post("/{match_id}/undo")
async def undo(
    match_id: PathId, form: Fields, visitor: Seeker, db: Db, view: View, hx: HtmxRequest = None
) -> Response:
    """Restore the previous status."""
    async with db.transaction() as tx:
        _, match = await matches.undo_status(
            tx, match_id, owner=visitor.owner, actor=visitor.actor.name
        )
        row = await _read_row(tx, match)
    return _respond(row, form, view, is_htmx=bool(hx))


def _respond(row: MatchRow, form: Fields, view: View, *, is_htmx: bool) -> Response:
    """The row if htmx replaces it in a list, else a redirect to the page with the form."""
    back = _checked_path(form.get("back", ""))
    path, _, query = back.partition("?")
    if is_htmx and path == "/matches":
        return view("matches/_row.html", row=row, may_edit=True, back=back)
    if path not in ("/matches", "/matches/board"):
        return RedirectResponse(back, 303)
    others = [part for part in query.split("&") if part and not part.startswith("done=")]
    return RedirectResponse(f"{path}?{'&'.join([*others, f'done={row.match.id}'])}", 303)


def _checked_path(back: str) -> str:
    return back if MATCHES_PATH.fullmatch(back) else "/matches"
