"""/sources/rotation: which sources are read when, and what the reads find."""

from __future__ import annotations

from jobmill.web.pages.rotation import (
    overview_page,
    platforms_page,
    searches_page,
    targets_page,
    yield_page,
)

routers = [
    page.router for page in (overview_page, yield_page, targets_page, searches_page, platforms_page)
]
