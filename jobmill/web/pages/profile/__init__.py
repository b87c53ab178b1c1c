"""/profile: whom listings are judged for."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.profile import edit, show

router = APIRouter()
for _part in (show, edit):
    router.include_router(_part.router)
