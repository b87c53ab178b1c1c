"""/matches: what fits, why, and what one makes of it."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.matches import board, files, inbox, match, views

router = APIRouter()
# `/matches/board` before `/matches/{match_id}`: routes are tried one after the other.
for pages in (inbox, board, views, files, match):
    router.include_router(pages.router)
