"""/profile: what a person can do and wants, which jobs are scored for."""

from __future__ import annotations

from jobmill.web.pages.profile import detail_page, edit_page, proposed_rules_page, resume_page

routers = [page.router for page in (detail_page, edit_page, proposed_rules_page, resume_page)]
