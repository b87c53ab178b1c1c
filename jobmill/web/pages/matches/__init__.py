"""/matches: what fits, why, and what one makes of it."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.matches import board_page, detail_page, export, list_page, saved_view_actions

router = APIRouter()
# `/matches/board` before `/matches/{match_id}`: routes are tried one after the other.
for pages in (list_page, board_page, saved_view_actions, export, detail_page):
    router.include_router(pages.router)
