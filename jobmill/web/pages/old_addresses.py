"""Addresses of earlier versions: bookmarks of /queue and /rotation lead to Activity and Sources, those of
/hiring/company/letters to the email templates."""

from __future__ import annotations

from urllib.parse import quote

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from jobmill.web.auth import Admin, Viewer

hiring_router = APIRouter()
system_router = APIRouter()

MOVED = {
    "/queue": "/activity",
    "/rotation": "/sources/rotation",
    "/hiring/company/letters": "/hiring/company/email-templates",
}


@system_router.get("/queue")
@system_router.get("/rotation")
@system_router.get("/queue/{rest:path}")
@system_router.get("/rotation/{rest:path}")
async def redirect_admin(request: Request, visitor: Admin) -> Response:
    return _redirect(request)


@hiring_router.get("/hiring/company/letters")
@hiring_router.get("/hiring/company/letters/{rest:path}")
async def redirect_viewer(request: Request, visitor: Viewer) -> Response:
    return _redirect(request)


def _redirect(request: Request) -> Response:
    path = request.url.path
    old = next(prefix for prefix in MOVED if path == prefix or path.startswith(f"{prefix}/"))
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(MOVED[old] + quote(path.removeprefix(old)) + query, 308)
