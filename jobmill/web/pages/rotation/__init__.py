"""/sources/rotation: which sources are read when, and what the reads find."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.rotation import (
    overview_page,
    platforms_page,
    searches_page,
    targets_page,
    yield_page,
)

router = APIRouter()
for page_module in (overview_page, yield_page, targets_page, searches_page, platforms_page):
    router.include_router(page_module.router)
