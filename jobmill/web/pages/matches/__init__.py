"""/matches: jobs that fit a profile."""

from __future__ import annotations

from jobmill.web.pages.matches import (
    detail_page,
    export,
    list_page,
    saved_view_actions,
)

# `/matches/news` before `/matches/{match_id}`: the first matching route wins.
routers = [page.router for page in (list_page, saved_view_actions, export, detail_page)]
