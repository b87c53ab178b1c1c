"""/companies: companies that are followed."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.companies import add_page, detail_page, list_page

router = APIRouter()
# `/companies/new` before `/companies/{company_id}`: the first matching route wins.
for page_module in (list_page, add_page, detail_page):
    router.include_router(page_module.router)
