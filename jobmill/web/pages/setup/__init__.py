"""/setup: from nothing to the first matches of one's own, in five steps that can each be skipped."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.setup import companies, first, model, person, start

router = APIRouter()
for _part in (start, person, companies, model, first):
    router.include_router(_part.router)
