"""/setup: from nothing to the first matches of one's own, in five steps that can each be skipped."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.setup import (
    companies_step,
    matches_step,
    model_step,
    profile_step,
    start_page,
)

router = APIRouter()
for _part in (start_page, profile_step, companies_step, model_step, matches_step):
    router.include_router(_part.router)
