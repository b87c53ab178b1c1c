"""/people: who may sign in, and what programs show."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.people import changes, keys, one, roll

router = APIRouter()
# Those with names of their own before `/people/{person_id}`.
for pages in (roll, keys, changes, one):
    router.include_router(pages.router)
