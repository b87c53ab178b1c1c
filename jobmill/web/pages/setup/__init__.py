"""/setup: from an empty database to the first matches in five optional steps."""

from __future__ import annotations

from jobmill.web.pages.setup import companies_step, matches_step, model_step, profile_step, steps

routers = [page.router for page in (steps, profile_step, companies_step, model_step, matches_step)]
