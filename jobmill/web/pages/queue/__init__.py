"""/activity: the work queue, its tasks and their lineages."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.queue import actions, detail_page, lineage_page, list_page, overview_page

router = APIRouter()
for page_module in (overview_page, actions, list_page, detail_page, lineage_page):
    router.include_router(page_module.router)
