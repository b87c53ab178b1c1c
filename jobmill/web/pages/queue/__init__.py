"""/activity: the work queue, its tasks and their lineages."""

from __future__ import annotations

from jobmill.web.pages.queue import actions, detail_page, lineage_page, list_page, overview_page

routers = [page.router for page in (overview_page, actions, list_page, detail_page, lineage_page)]
