"""/matches: jobs that fit a profile."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.matches import (
    detail_page,
    export,
    list_page,
    saved_view_actions,
)

router = APIRouter()
# `/matches/news` before `/matches/{match_id}`: the first matching route wins.
for page_module in (list_page, saved_view_actions, export, detail_page):
    router.include_router(page_module.router)
