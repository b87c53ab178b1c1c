"""/people: who may sign in, and what programs show."""

from __future__ import annotations

from fastapi import APIRouter

from jobmill.web.pages.people import keys, one, roll

router = APIRouter()
# `/people/new` and `/people/keys` before `/people/{person_id}`.
for pages in (roll, keys, one):
    router.include_router(pages.router)
