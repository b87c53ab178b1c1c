"""/jobs: every job in the catalog."""

from __future__ import annotations

from jobmill.web.pages.listings import added_page, detail_page, list_page

routers = [page.router for page in (list_page, added_page, detail_page)]
