"""/hiring/messages/setup: whether emails are on, how to turn them on, and a test letter."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse

from jobmill.errors import AppError
from jobmill.outside import mail_check
from jobmill.outside.mail import missing_setting
from jobmill.settings import public_base_url
from jobmill.web import rate_limits
from jobmill.web.auth import Recruiter, Viewer
from jobmill.web.form import Fields
from jobmill.web.shell import Page, PageRenderer

router = APIRouter(prefix="/hiring/messages/setup")


@router.get("")
async def show(visitor: Viewer, page: Page) -> HTMLResponse:
    return _render(page)


@router.post("")
async def send_test_letter(form: Fields, visitor: Recruiter, page: Page) -> Response:
    """Send a letter now, not by the queue, so that the page can show what the server says."""
    address = form.get("address", "")
    try:
        rate_limits.check_test_letter(page.request, visitor)
        await mail_check.send_test_letter(page.site_settings.settings, address)
    except AppError as error:
        return _render(page, address=address, error=error)
    return _render(page, address=address, sent=True)


def _render(
    page: PageRenderer, *, address: str = "", error: AppError | None = None, sent: bool = False
) -> HTMLResponse:
    settings = page.site_settings.settings
    return page(
        "hiring/mail_setup.html",
        missing=missing_setting(settings),
        sender=settings.mail_from,
        base_url=public_base_url(settings),
        confirm_address=page.site_settings.confirm_address,
        address=address,
        error=error,
        sent=sent,
    )
