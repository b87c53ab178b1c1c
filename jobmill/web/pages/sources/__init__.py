"""/sources: where listings come from, how each fares, and what waits for a person's word."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.sources import adding, approvals, changes, lists

router = APIRouter()
# `/sources/new` before `/sources/{source_id}`: routes are tried one after the other.
for pages in (lists, adding, approvals, changes):
    router.include_router(pages.router)
