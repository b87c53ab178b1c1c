"""/sources: where jobs are read from."""

from __future__ import annotations

from jobmill.web.pages.sources import actions, add_page, approvals, detail_page, list_page

# `/sources/new` before `/sources/{source_id}`: the first matching route wins.
routers = [page.router for page in (list_page, add_page, approvals, detail_page, actions)]
