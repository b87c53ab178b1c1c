"""The cookie in which a browser remembers an applicant's personal link."""

from __future__ import annotations

import datetime as dt

from fastapi import Request, Response

from jobmill.web import auth
from jobmill.web.auth import LINK_COOKIE

LIFETIME = dt.timedelta(days=30)
"""Counted from the last visit."""


def set_cookie(response: Response, request: Request, token: str) -> None:
    response.set_cookie(
        LINK_COOKIE,
        token,
        max_age=int(LIFETIME.total_seconds()),
        httponly=True,
        samesite="lax",
        secure=auth.get_client_resolver(request).is_https(request),
    )


def delete_cookie(response: Response) -> None:
    response.delete_cookie(LINK_COOKIE, httponly=True, samesite="lax")
