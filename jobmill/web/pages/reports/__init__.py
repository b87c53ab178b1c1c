"""/reports: website reports."""

from __future__ import annotations

from jobmill.web.pages.reports import detail_page, list_page

# `/reports/compare` before `/reports/{report_id}`: the first matching route wins.
routers = [page.router for page in (list_page, detail_page)]
