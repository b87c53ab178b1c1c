"""/hiring: the company's openings, their applicants and activity."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.hiring import (
    activity,
    applicant_list,
    applicants,
    message_list,
    opening_changes,
    opening_list,
)

router = APIRouter()
# `/hiring/new` and the lists before `/hiring/{opening_id}`: the first matching route wins.
for pages in (
    opening_list,
    applicant_list,
    message_list,
    opening_changes,
    activity,
    applicants,
):
    router.include_router(pages.router)
