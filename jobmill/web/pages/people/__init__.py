"""/people: people with access, and API keys."""

from __future__ import annotations

from jobmill.web.pages.people import api_keys, detail_page, list_page

# Fixed paths before `/people/{person_id}`: the first matching route wins.
routers = [page.router for page in (list_page, api_keys, detail_page)]
