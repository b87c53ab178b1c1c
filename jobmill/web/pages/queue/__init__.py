"""/queue: what it does now, every item, and where each came from."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.queue import acts, glance, item, items, tree

router = APIRouter()
for pages in (glance, acts, items, item, tree):
    router.include_router(pages.router)
