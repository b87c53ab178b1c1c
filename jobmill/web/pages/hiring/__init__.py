"""/hiring: the company's openings, their applicants and activity."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.hiring import activity, applicants, opening_changes, opening_list

router = APIRouter()
# `/hiring/new` before `/hiring/{opening_id}`: the first matching route wins.
for pages in (opening_list, opening_changes, activity, applicants):
    router.include_router(pages.router)
