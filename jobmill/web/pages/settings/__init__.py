"""/settings: all settings; the basics and the model keys can be changed."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.settings import actions, overview_page

router = APIRouter()
for page_module in (overview_page, actions):
    router.include_router(page_module.router)
