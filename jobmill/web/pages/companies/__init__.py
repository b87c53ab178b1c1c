"""/companies: companies that are followed."""

from __future__ import annotations

from jobmill.web.pages.companies import add_page, detail_page, list_page

# `/companies/new` before `/companies/{company_id}`: the first matching route wins.
routers = [page.router for page in (list_page, add_page, detail_page)]
