"""/profile: what a person can do and wants, which jobs are scored for."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.profile import detail_page, edit_page, proposed_rules_page, resume_page

router = APIRouter()
for page_module in (detail_page, edit_page, proposed_rules_page, resume_page):
    router.include_router(page_module.router)
