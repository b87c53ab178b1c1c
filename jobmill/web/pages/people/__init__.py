"""/people: who may sign in, and what programs show."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.people import api_keys, changes_page, detail_page, list_page

router = APIRouter()
# Those with names of their own before `/people/{person_id}`.
for pages in (list_page, api_keys, changes_page, detail_page):
    router.include_router(pages.router)
