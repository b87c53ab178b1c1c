"""/people: people with access, and API keys."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.people import api_keys, detail_page, list_page

router = APIRouter()
# Fixed paths before `/people/{person_id}`: the first matching route wins.
for page_module in (list_page, api_keys, detail_page):
    router.include_router(page_module.router)
