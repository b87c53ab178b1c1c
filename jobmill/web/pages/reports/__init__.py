"""/reports: website reports."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.reports import detail_page, list_page

router = APIRouter()
# `/reports/compare` before `/reports/{report_id}`: the first matching route wins.
for page_module in (list_page, detail_page):
    router.include_router(page_module.router)
