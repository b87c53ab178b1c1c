"""/settings: all settings; the basics and the model keys can be changed."""

from __future__ import annotations

from jobmill.web.pages.settings import actions, overview_page

routers = [page.router for page in (overview_page, actions)]
