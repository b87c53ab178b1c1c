"""/rotation: what is called next, what calls bring, and who comes first."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.rotation import now, past, platforms, searches, targets

router = APIRouter()
for pages in (now, past, targets, searches, platforms):
    router.include_router(pages.router)
