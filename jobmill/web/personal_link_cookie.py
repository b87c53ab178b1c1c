"""A browser that remembers whose personal link was opened in it, until it is told to forget."""

from __future__ import annotations

import datetime as dt

from fastapi import Request, Response

from jobmill.web import rights
from jobmill.web.rights import LINK

LIFETIME = dt.timedelta(days=30)
"""After the last visit."""
NO_STORE = {"Cache-Control": "no-store"}
"""Nothing about a person stays behind in a browser."""


def set_cookie(response: Response, request: Request, token: str) -> None:
    response.set_cookie(
        LINK,
        token,
        max_age=int(LIFETIME.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=rights.peers(request).is_https(request),
    )


def delete_cookie(response: Response) -> None:
    response.delete_cookie(LINK, httponly=True, samesite="lax")
