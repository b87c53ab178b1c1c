"""Addresses of earlier versions: bookmarks of /queue and /rotation lead to Activity and Sources."""

from __future__ import annotations

from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from jobmill.web.auth import Admin

router = APIRouter()

MOVED = {"/queue": "/activity", "/rotation": "/sources/rotation"}


@router.get("/queue")
@router.get("/rotation")
@router.get("/queue/{rest:path}")
@router.get("/rotation/{rest:path}")
async def redirect(request: Request, visitor: Admin) -> Response:
    path = request.url.path
    old = next(prefix for prefix in MOVED if path == prefix or path.startswith(f"{prefix}/"))
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(MOVED[old] + quote(path.removeprefix(old)) + query, 308)
