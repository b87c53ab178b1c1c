"""/profile: whom listings are judged for."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.profile import detail_page, edit_page

router = APIRouter()
for _part in (detail_page, edit_page):
    router.include_router(_part.router)
