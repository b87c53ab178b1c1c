"""/sources: where jobs are read from."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.sources import actions, add_page, approvals, detail_page, list_page

router = APIRouter()
# `/sources/new` before `/sources/{source_id}`: the first matching route wins.
for page_module in (list_page, add_page, approvals, detail_page, actions):
    router.include_router(page_module.router)
