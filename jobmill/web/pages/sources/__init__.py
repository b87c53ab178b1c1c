"""/sources: where listings come from, how each fares, and what waits for a person's word."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.sources import actions, add_page, approvals, list_page

router = APIRouter()
# `/sources/new` before `/sources/{source_id}`: routes are tried one after the other.
for pages in (list_page, add_page, approvals, actions):
    router.include_router(pages.router)
