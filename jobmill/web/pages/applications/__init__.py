"""/applications: the jobs that a person saved or applied to."""

from __future__ import annotations

from jobmill.web.pages.applications import application_page, board_page, csv_pages, entry_actions

# `/applications/import` before `/applications/{match_id}`: the first matching route wins.
routers = [page.router for page in (board_page, csv_pages, application_page, entry_actions)]
