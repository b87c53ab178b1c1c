"""/documents: resumes and cover letters for matches."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.documents import editor_page, file_pages, list_page

router = APIRouter()
for page_module in (list_page, editor_page, file_pages):
    router.include_router(page_module.router)
