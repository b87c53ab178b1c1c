"""/queue: what it does now, every item, and where each came from."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.queue import actions, detail_page, lineage_page, list_page, overview_page

router = APIRouter()
for pages in (overview_page, actions, list_page, detail_page, lineage_page):
    router.include_router(pages.router)
