"""/hiring: the company's openings, who is in them, and what happened."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.hiring import activity, applicants, opening_changes, opening_list

router = APIRouter()
# `/hiring/new` before `/hiring/{opening_id}`: routes are tried one after the other.
for pages in (opening_list, opening_changes, activity, applicants):
    router.include_router(pages.router)
