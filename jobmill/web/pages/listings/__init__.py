"""/jobs: every job in the catalog."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.listings import added_page, detail_page, list_page

router = APIRouter()
for page_module in (list_page, added_page, detail_page):
    router.include_router(page_module.router)
