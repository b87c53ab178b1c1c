"""/applications: the jobs that a person saved or applied to."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.applications import application_page, board_page, csv_pages, entry_actions

router = APIRouter()
# `/applications/import` before `/applications/{match_id}`: the first matching route wins.
for page_module in (board_page, csv_pages, application_page, entry_actions):
    router.include_router(page_module.router)
