"""/documents: resumes and cover letters for matches."""

from __future__ import annotations

from jobmill.web.pages.documents import editor_page, list_page

routers = [page.router for page in (list_page, editor_page)]
